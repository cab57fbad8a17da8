/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A shared object with tracepoints of its own. */
#include "shared.h"

void object_trace(int value)
{
	BURIN_TRACE("t.object", "%d", value);
	trace_in_header(value, "object");
}
