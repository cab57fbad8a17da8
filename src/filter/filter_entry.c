/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Filters as they lie in a session; see filter_entry.h. */
#include "filter/filter_entry.h"

#include <string.h>

int filter_entry_make(struct filter_entry *entry, const char *text, const char *format, const char *enums,
		      uint64_t types, struct filter_error *fault)
{
	struct wire_filter *filter = (struct wire_filter *)entry->bytes;
	size_t bytes = strlen(text) + 1;
	int error;

	memset(entry, 0, sizeof(*entry));
	error = filter_compile(text, format, enums, types, filter, WIRE_FILTER_MAX, fault);
	if (error)
		return error;
	if (bytes > sizeof(entry->bytes) - filter->bytes)
		bytes = 0;
	memcpy(entry->bytes + filter->bytes, text, bytes);
	entry->size = (uint32_t)((filter->bytes + bytes + WIRE_FILTER_ALIGN - 1) &
				 ~(size_t)(WIRE_FILTER_ALIGN - 1));
	return 0;
}
