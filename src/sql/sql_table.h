/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The module of SQLite whose virtual tables are those of a trace; its argument is the number of a table. */
#ifndef BURIN_SQL_SQL_TABLE_H
#define BURIN_SQL_SQL_TABLE_H

#include <sqlite3.h>

extern const sqlite3_module sql_table_module; /* its data: a struct query */

#endif
