/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The traced process: it joins the session before its own code runs. */
#include "source/calls/call_thread.h"
#include "source/calls/interpose_jumps.h"

/* The tracepoint of a call. It is never executed: call_put() writes its records. */
static __attribute__((used)) void describe(unsigned number, unsigned short half)
{
	BURIN_TRACE(WIRE_CALL_EVENT, WIRE_CALL_FORMAT, number, number, half, half);
}

static __attribute__((constructor(101))) void begin(void)
{
	burin_object_join(call_site, call_site + 1, NULL, NULL);
	interpose_jumps_begin();
	call_stack_begin();
	if (tracepoint_session.calls.header)
		call_switches = tracepoint_session.calls.switches;
}
