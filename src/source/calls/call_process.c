/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The traced process: it joins the session before its own code runs. */
#include <errno.h>
#include <string.h>

#include "base/c_library.h"
#include "base/nolibc.h"
#include "source/calls/functions/call_apart.h"
#include "source/calls/call_fork.h"
#include "source/calls/patch/call_patch.h"
#include "source/calls/stack/call_thread.h"
#include "source/calls/hooks/hook_entry.h"
#include "source/calls/interpose_exec.h"
#include "source/calls/interpose_jumps.h"
#include "source/calls/interpose_late.h"

#define HOOK __attribute__((visibility("default")))

#ifndef CALLS_STATIC
/* The tracepoint of a call. It is never executed: call_put() writes its records. */
static __attribute__((used)) void describe(unsigned number, unsigned short half)
{
	BURIN_TRACE(WIRE_CALL_EVENT, WIRE_CALL_FORMAT, number, number, half, half);
}
#endif

static bool begun;

static void load_more(void);

static void join(void)
{
	begun = true;
#if RING_HAVE_RSEQ
	ring_rseq_offset = __rseq_offset;
#endif
	burin_object_join(call_site, call_site + 1, NULL, NULL);
	interpose_jumps_begin();
	call_fork_begin();
	if (tracepoint_session.calls.header)
		call_switches = tracepoint_session.calls.switches;
	call_cpu_begin();
	call_apart_begin();
}

/* A library's constructors may come before ours: call_loaded(). A library that was loaded later waits for burin_calls_attach(). */
static __attribute__((constructor(101))) void begin(void)
{
	if (begun)
		return;
	c_library_bind();
	interpose_exec_begin();
	if (!nolibc_environment("BURIN_SESSION")) {
		tracepoint_calls_max =
			WIRE_CALL_FUNCTIONS; /* of the session that the first object will make */
		return;
	}
	join();
	call_patch_load();
	call_patch_startup((const void *)(uintptr_t)load_more);
}

#ifndef CALLS_STATIC
/* For commands: until it is 1, a thread is loading this library, and no other may execute its code, whose slots are not filled yet. */
HOOK uint32_t burin_calls_ready;

static __attribute__((constructor)) void be_ready(void)
{
	__atomic_store_n(&burin_calls_ready, 1, __ATOMIC_RELEASE);
}
#endif

/*
 * burin_calls_attach - prepare a program that runs: its own session, with all functions off. A command calls it, in a thread
 * that it has stopped where a library may be loaded (control/running/load_calls.h). Return: enum wire_patch_attach.
 */
HOOK uint64_t burin_calls_attach(void);

uint64_t burin_calls_attach(void)
{
	static const char off[] = "-f:*";
	static uint32_t busy; /* pid: a child of fork has none of the threads */
	const uint32_t self = nolibc_pid();
	const int saved = errno;
	uint64_t answer = WIRE_PATCH_READY;

	/* Commands may be killed, and come again while a thread does this for the one before. */
	if (__atomic_exchange_n(&busy, self, __ATOMIC_ACQUIRE) == self)
		return WIRE_PATCH_BUSY;
	if (!begun && !interpose_late_can()) {
		answer = WIRE_PATCH_CONTEXTS;
	} else if (!begun) {
		/* From here on: interpose_late() may load libgcc, whose startup code calls __gmon_start__(). */
		call_patch_attaching(true);
		join();
		if (tracepoint_session.calls.header) {
			memcpy(tracepoint_session.calls.header->rules, off, sizeof(off));
			interpose_late();
			call_patch_load();
		}
		call_patch_attaching(false);
	}
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	if (answer == WIRE_PATCH_READY && !tracepoint_session.calls.header)
		answer = tracepoint_session.base ? WIRE_PATCH_NO_CALLS : WIRE_PATCH_NO_SESSION;
	errno = saved;
	return answer;
}

/*
 * The C library's startup code in each object calls this function, if there is one, before the object's constructors run.
 * It was meant for profiling; that of -pg calls the second one, and the third at the end, which would write gmon.out.
 */
HOOK void __gmon_start__(void);
HOOK void __monstartup(unsigned long low, unsigned long high);
HOOK void _mcleanup(void);

static void load_more(void)
{
	begin();
	if (!begun)
		return;
	interpose_late();
	call_patch_load();
}

void __gmon_start__(void)
{
	load_more();
}

void __monstartup(unsigned long low, unsigned long high)
{
	(void)low;
	(void)high;
	load_more(); /* not by its other name: that may be the program's */
}

void _mcleanup(void)
{
}
