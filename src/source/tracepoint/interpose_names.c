/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Notice that threads are renamed: the two functions that do it are replaced by ones that do the same and also announce
 * the name. A write to /proc/self/comm or a bare system call is not noticed.
 *
 * prctl() also takes the processor's counter away from a thread: strict seccomp does (which permits no system call but four, either), and
 * PR_SET_TSC. A tracepoint would kill such a thread, so from then on its records count as lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pid.h"
#include "source/tracepoint/process.h"
#include "source/tracepoint/thread.h"

enum {
	RENAME_MAX = 15, /* bytes of a name, without its NUL */
};

static bool forbids_clock(int option, unsigned long value)
{
	return (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT) ||
	       (option == PR_SET_TSC && value == PR_TSC_SIGSEGV);
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
	const bool had_clock = !tracepoint_thread.no_clock, recorded = tracepoint_thread.tid != 0;
	unsigned long arguments[4];
	va_list list;
	bool forbids;
	int result;

	va_start(list, option);
	for (unsigned n = 0; n < 4; n++)
		arguments[n] = va_arg(list, unsigned long);
	va_end(list);
	forbids = forbids_clock(option, arguments[0]);
	if (forbids)
		tracepoint_clock_forbid();
	result = (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
	if (forbids && result == 0)
		process_report_clock(recorded);
	else if (forbids && had_clock)
		tracepoint_clock_permit(true);
	if (option == PR_SET_TSC && arguments[0] == PR_TSC_ENABLE && result == 0)
		tracepoint_clock_permit(false);
	if (option == PR_SET_NAME && result == 0)
		tracepoint_thread_renamed((const char *)arguments[0]);
	return result;
}

/* By system calls only: pthread_setname_np() is not a cancellation point. Return: 0 or an errno. */
static int write_name(uint32_t tid, const char *name)
{
	char path[48];
	long fd, wrote, bytes = (long)strlen(name);
	int error = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	do {
		wrote = syscall(SYS_write, fd, name, bytes);
	} while (wrote < 0 && errno == EINTR);
	if (wrote != bytes)
		error = wrote < 0 ? errno : EIO;
	syscall(SYS_close, fd);
	return error;
}

__attribute__((visibility("default"))) int pthread_setname_np(pthread_t thread, const char *name)
{
	const int saved = errno;
	uint32_t tid;
	int error;

	if (strlen(name) > RENAME_MAX)
		return ERANGE;
	if (pthread_equal(thread, pthread_self())) {
		error = prctl(PR_SET_NAME, name) == 0 ? 0 : errno;
	} else {
		tid = pid_of_thread(thread);
		error = tid ? write_name(tid, name) : ESRCH;
		if (!error)
			tracepoint_thread_rename(tid, name);
	}
	errno = saved;
	return error;
}
