/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The arguments of open calls, as records (`.burin/calls.values`). */
#ifndef BURIN_READ_PROFILE_TRACE_OPEN_VALUES_H
#define BURIN_READ_PROFILE_TRACE_OPEN_VALUES_H

#include <stdbool.h>

#include "base/containers/arena.h"
#include "burin/calls.h"

struct read_open_value;

struct read_open_values {
	struct read_open_value *list;
	uint32_t count;
	struct arena payloads;
};

/*
 * read_open_values_load - read the table of a chunk.
 * @kinds: by event id - 1: its records are calls
 * @open_count: entries of `.burin/calls.open`
 * Return: 0 or -ENOMEM.
 */
int read_open_values_load(struct read_open_values *values, const struct burin_trace *trace, unsigned chunk,
			  const bool *kinds, uint32_t open_count);

/* read_open_values_call - the entry in `.burin/calls.open` of the n-th, from 1; 0: the table has no more. */
uint32_t read_open_values_call(const struct read_open_values *values, uint32_t n);

/* read_open_values_set - the call that the n-th belongs to. */
void read_open_values_set(struct read_open_values *values, uint32_t n, const struct burin_call *call);

/* read_open_values_record - the n-th, from 1; NULL: none. */
const struct burin_record *read_open_values_record(const struct read_open_values *values, uint32_t n);

void read_open_values_free(struct read_open_values *values);

#endif
