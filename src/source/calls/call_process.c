/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The traced process: it joins the session before its own code runs. */
#include "source/calls/call_fork.h"
#include "source/calls/call_patch.h"
#include "source/calls/call_thread.h"
#include "source/calls/hook_entry.h"
#include "source/calls/interpose_jumps.h"

#define HOOK __attribute__((visibility("default")))

#ifndef CALLS_STATIC
/* The tracepoint of a call. It is never executed: call_put() writes its records. */
static __attribute__((used)) void describe(unsigned number, unsigned short half)
{
	BURIN_TRACE(WIRE_CALL_EVENT, WIRE_CALL_FORMAT, number, number, half, half);
}
#endif

/* A library's constructors may come before ours: call_loaded(). */
static __attribute__((constructor(101))) void begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	burin_object_join(call_site, call_site + 1, NULL, NULL);
	interpose_jumps_begin();
	call_fork_begin();
	if (tracepoint_session.calls.header)
		call_switches = tracepoint_session.calls.switches;
	call_hook_prepare();
	call_returns_begin();
	call_patch_load();
}

/*
 * The C library's startup code in each object calls this function, if there is one, before the object's constructors run.
 * It was meant for profiling; that of -pg calls the second one, and the third at the end, which would write gmon.out.
 */
HOOK void __gmon_start__(void);
HOOK void __monstartup(unsigned long low, unsigned long high);
HOOK void _mcleanup(void);

void __gmon_start__(void)
{
	begin();
	call_patch_load();
}

void __monstartup(unsigned long low, unsigned long high)
{
	(void)low;
	(void)high;
	__gmon_start__();
}

void _mcleanup(void)
{
}
