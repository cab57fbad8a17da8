/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The types of sites and of their records; see site_types.h. */
#include "source/tracepoint/fields/site_types.h"

#include <stddef.h>

#include "wire/wire_format.h"

/* A type in the place of argument n. */
static uint64_t replace_type(uint64_t types, unsigned n, uint64_t old, uint64_t new)
{
	return types ^ (old ^ new) << 4 * n;
}

uint64_t site_types_complete(const char *format, uint64_t types)
{
	struct format_field field;
	size_t offset = 0;

	for (unsigned n = 0; n < WIRE_ARGS_MAX &&
			     format_conversion_next(format, &offset, &field, &(const char *){ NULL }) > 0;
	     n++) {
		const unsigned type = types >> 4 * n & 15,
			       next = n + 1 < WIRE_ARGS_MAX ? types >> 4 * (n + 1) & 15 : 0;

		if (format_has_length(format, &field)) {
			if (type == WIRE_I32 && next == WIRE_STR)
				types = replace_type(types, n, WIRE_I32, WIRE_END);
			n++;
		} else if (type == WIRE_END) {
			n++; /* a pair already */
		} else if (type == WIRE_STR && field.conversion == 'p') {
			types = replace_type(types, n, WIRE_STR, WIRE_PTR);
		}
	}
	return types;
}

uint64_t site_types_of_records(uint64_t types)
{
	uint64_t out = 0;

	for (unsigned shift = 0; types; types >>= 4, shift += 4) {
		/* A text or bytes have the same form in a record whether the program gave a length or not. */
		if ((types & 15) == WIRE_END &&
		    ((types >> 4 & 15) == WIRE_STR || (types >> 4 & 15) == WIRE_BYTES))
			types >>= 4;
		out |= (types & 15) << shift;
		if ((types & 15) == WIRE_END) {
			types >>= 4;
			shift += 4;
			out |= (types & 15) << shift;
		}
	}
	return out;
}
