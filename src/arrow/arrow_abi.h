/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The structs of Arrow's C data and stream interfaces, as their specification has them: libraries pass columns to each other by these, and
 * need no common code. The names are those of the specification.
 */
#ifndef BURIN_ARROW_ARROW_ABI_H
#define BURIN_ARROW_ARROW_ABI_H

#include <stdint.h>

enum {
	ARROW_FLAG_NULLABLE = 2,
};

/* The type of a column, or, with children, of a batch. NULL in `release`: it is released. */
struct ArrowSchema {
	const char *
		format; /* "l": int64; "g": double; "u": utf8; "z": binary; "+s": a struct, whose members are columns */
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

/*
 * The values of a column, or, with children, of a batch. Buffers: a bit for each value that is not NULL, no buffer if all are; then numbers, or
 * int32_t offsets of bytes and the bytes.
 */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

/* Batches of rows, one after the other; one without `release` is behind the last. Functions return 0 or an errno. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *batch);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

#endif
