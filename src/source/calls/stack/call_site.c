/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The event of calls in libburin-calls.a; see call_site.h. */
#include "source/calls/stack/call_site.h"
#include "wire/wire_call.h"
#include "wire/wire_event.h"

static const unsigned char off;

struct burin_site call_static_site = {
	.state = &off,
	.name = WIRE_CALL_EVENT,
	.format = WIRE_CALL_FORMAT,
	.file = __FILE__,
	.types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U16 << 8 | WIRE_U16 << 12,
	.line = __LINE__,
};
