/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How rows are printed. */
#ifndef BURIN_SQL_SQL_FORMAT_H
#define BURIN_SQL_SQL_FORMAT_H

enum sql_format {
	SQL_TABLE,
	SQL_CSV,
	SQL_JSON, /* an object for each row, in a line */
	SQL_MARKDOWN,
};

#endif
