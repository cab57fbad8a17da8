/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program's control of its own tracing; see burin/control.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/options.h"
#include "base/nolibc.h"
#include "burin/control.h"
#include "burin/version.h"
#include "session/session_stat.h"
#include "source/tracepoint/process.h"
#include "source/tracepoint/thread.h"

#ifndef BURIN_COMMAND
#define BURIN_COMMAND "/usr/local/bin/burin"
#endif

static const char *command = BURIN_COMMAND;

static int switch_glob(const char *glob, enum wire_switch desired)
{
	unsigned matched;
	int error;

	if (!tracepoint_session.base)
		return -ENOTCONN;
	if (!glob || !*glob)
		return -EINVAL;
	error = session_switch_glob(&tracepoint_session, glob, desired, WIRE_LEVEL_MAX, &matched);
	return error ? error : (int)matched;
}

int burin_enable(const char *glob)
{
	return switch_glob(glob, WIRE_ON);
}

int burin_disable(const char *glob)
{
	return switch_glob(glob, WIRE_OFF);
}

const char *burin_version(void)
{
	return BURIN_VERSION;
}

int burin_status(struct burin_session_status *status)
{
	struct burin_session_status now;
	struct session_stat stat;

	if (!tracepoint_session.base)
		return -ENOTCONN;
	session_stat_read(&tracepoint_session, &stat);
	now = (struct burin_session_status){ .written = stat.written,
					     .left_out = stat.sampled_out + stat.limited,
					     .used_bytes = stat.used_bytes,
					     .room_bytes = stat.room_bytes,
					     .events = session_event_count(&tracepoint_session),
					     .lost = wire_lost_sum(stat.lost),
					     .paused = tracepoint_session.shared->paused != 0 };
	for (uint32_t n = 0; n < now.events; n++)
		now.on += wire_is_on(tracepoint_session.desired[n]);
	return options_give(status, &now, sizeof(now));
}

/* In the child of a vfork, which shares the parent's memory: system calls only. */
static _Noreturn void become_command(const char *session, const char *directory)
{
	const char *const arguments[] = { "burin", "snapshot", "-q", "-o", directory, "--", session, NULL };

	execve(command, (char *const *)(uintptr_t)arguments, environ);
	for (;;)
		syscall(SYS_exit_group, errno == ENOENT ? 127 : 126);
}

int burin_snapshot(const char *directory)
{
	const char *session = process_session_path();
	int saved = errno, status = 0;
	pid_t child, reaped;

	if (!tracepoint_session.base || !*session)
		return -ENOTCONN;
	if (!directory || !*directory)
		return -EINVAL;
	child = vfork();
	if (child == 0)
		become_command(session, directory);
	if (child < 0) {
		int error = -errno;

		errno = saved;
		return error;
	}
	do {
		reaped = waitpid(child, &status, 0);
	} while (reaped < 0 && errno == EINTR);
	errno = saved;
	if (reaped != child) /* the program has reaped it elsewhere, or ignores SIGCHLD */
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EIO;
}

static __attribute__((constructor(101))) void find_command(void)
{
	const char *path = nolibc_environment("BURIN_COMMAND");

	if (path && *path)
		command = path;
}
