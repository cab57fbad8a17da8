/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arguments and results in uftrace's form: behind the records of begins and ends. Which ones a function has is in the text of
 * `info`, by the function's name.
 */
#ifndef BURIN_EXPORT_UFTRACE_UFTRACE_VALUES_H
#define BURIN_EXPORT_UFTRACE_UFTRACE_VALUES_H

#include "burin/calls.h"
#include "view/buffer.h"

/* Of one call: words of 8 bytes, those of the arguments first. */
struct uftrace_values {
	uint32_t arguments, results; /* how many words */
	uint64_t words[];
};

enum {
	UFTRACE_VALUES_WORDS =
		512, /* of the arguments or the results of a call, at most; longer ones are left out */
};

/* uftrace_values_make - those of a record. @values: receives NULL if it has none. Return: 0 or -ENOMEM. */
int uftrace_values_make(const struct burin_calls *calls, const struct burin_record *record,
			struct uftrace_values **values);

/* uftrace_values_spec - "open@arg1/s,arg2/x32;", and the same of the result. Nothing if it has none, or its name does not fit. */
void uftrace_values_spec(const struct burin_event *event, const char *function, struct view_buffer *arguments,
			 struct view_buffer *results);

#endif
