/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * clone(), for processes that have their parent's memory: thread-local memory, too, unless they are given their own. If the parent waits for
 * its child (CLONE_VFORK), it is as with vfork(). Otherwise two processes would use one stack of open calls at a time.
 * It stands alone, since programs that link libburin.a may have a function of this name.
 */
#ifdef __x86_64__
#include <errno.h>
#include <sched.h>
#include <stdarg.h>

#include "source/tracepoint/process.h"
#include "source/tracepoint/thread.h"

/* The C library's other name. */
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

__attribute__((visibility("default"))) int clone(int (*function)(void *), void *stack, int flags,
						 void *argument, ...)
{
	const bool shares = (flags & (CLONE_VM | CLONE_THREAD | CLONE_SETTLS)) == CLONE_VM,
		   waits = shares && (flags & CLONE_VFORK), stops = shares && !waits && tracepoint_calls.stop;
	pid_t *parent_tid, *child_tid;
	va_list list;
	void *tls;
	int child;

	va_start(list, argument);
	parent_tid = va_arg(list, pid_t *);
	tls = va_arg(list, void *);
	child_tid = va_arg(list, pid_t *);
	va_end(list);
	if (waits)
		tracepoint_vfork_enter();
	else if (stops)
		tracepoint_calls.stop(TRACEPOINT_STOP_SHARED);
	child = __clone(function, stack, flags, argument, parent_tid, tls, child_tid);
	if (waits)
		return (int)tracepoint_vfork_leave(child < 0 ? -errno : child);
	if (stops && child < 0)
		tracepoint_calls.go_on(TRACEPOINT_STOP_SHARED, true);
	else if (stops)
		process_report_shared();
	return child;
}
#endif
