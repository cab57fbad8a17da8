/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* SQLite's functions: of the library, or, in the extension, those of the program that has loaded it. */
#ifndef BURIN_SQL_SQL_LIBRARY_H
#define BURIN_SQL_SQL_LIBRARY_H

#ifdef SQL_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#endif
