/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A scan of a table as a stream of Arrow: batches of rows, whose columns are arrays.
 *
 *	QUERY_INTEGER	int64, also times: nanoseconds since 1970, which other columns of nanoseconds can be added to
 *	QUERY_REAL	double
 *	QUERY_TEXT	utf8; bytes of a trace that are not UTF-8 are U+FFFD
 *	QUERY_BLOB	binary
 */
#ifndef BURIN_ARROW_ARROW_STREAM_H
#define BURIN_ARROW_ARROW_STREAM_H

#include "arrow/arrow_abi.h"

struct query;
struct query_table;
struct query_bounds;

/*
 * arrow_stream_open - make a stream of the rows of a table that are within bounds.
 * @query, @table: valid until the stream is released, which its user does by its own function
 * Its functions return 0 or ENOMEM.
 * Return: 0; -ENOMEM.
 */
int arrow_stream_open(struct ArrowArrayStream *stream, struct query *query, struct query_table *table,
		      const struct query_bounds *bounds);

#endif
