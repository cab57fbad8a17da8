/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* See chunks_text.h. */
#include "view/chunks_text.h"

#include "base/text.h"

void view_chunks_text(const struct burin_trace *trace, struct view_buffer *out)
{
	const uint32_t first = burin_trace_chunk(trace, 0);
	char number[TEXT_SHORT];

	if (burin_trace_chunks(trace) && first > 1)
		view_buffer_print(out, "the recording's first %s chunk%s not here: removed, or elsewhere\n",
				  text_count(number, first - 1), first == 2 ? " is" : "s are");
}
