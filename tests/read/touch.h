/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads all of a record, for tests with damaged traces: a sanitizer reports reads beyond its end. */
#ifndef BURIN_TESTS_TOUCH_H
#define BURIN_TESTS_TOUCH_H

#include <stdbool.h>
#include <string.h>

#include "burin/read.h"

/* Reads every field in every way. @sum: prevents optimization. Return: whether strings have the right length. */
static inline bool touch_record(const struct burin_record *record, uint64_t *sum)
{
	bool sound = true;

	*sum += record->time + record->tid + record->cpu + strlen(record->file);
	for (unsigned n = 0; n <= record->event->fields; n++) {
		uint64_t bits = 0;
		int64_t number = 0;
		double value = 0;
		const char *text = "";
		const void *data = "";
		size_t bytes = 0;

		burin_record_u64(record, n, &bits);
		burin_record_i64(record, n, &number);
		burin_record_double(record, n, &value);
		if (!burin_record_string(record, n, &text, &bytes))
			sound &= strlen(text) == bytes;
		if (!burin_record_bytes(record, n, &data, &bytes))
			for (size_t at = 0; at < bytes; at++)
				*sum += ((const unsigned char *)data)[at];
		*sum += bits + (uint64_t)number + (value > 0);
	}
	return sound;
}

#endif
