/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program's control of its own tracing; see burin/control.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plain.h"
#include "burin/control.h"
#include "session/stat.h"
#include "source/user/process.h"
#include "source/user/thread.h"

#ifndef BURIN_COMMAND
#define BURIN_COMMAND "/usr/local/bin/burin"
#endif

static const char *command = BURIN_COMMAND;

static int switch_glob(const char *glob, enum wire_switch want)
{
	unsigned matched;
	int error;

	if (!user_session.base)
		return -ENOTCONN;
	if (!glob || !*glob)
		return -EINVAL;
	error = session_switch_glob(&user_session, glob, want, WIRE_LEVEL_MAX, &matched);
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

int burin_status(struct burin_session_status *status)
{
	struct session_stat stat;

	if (!user_session.base)
		return -ENOTCONN;
	if (!status || status->size != sizeof(*status))
		return -EINVAL;
	session_stat_read(&user_session, &stat);
	*status = (struct burin_session_status){ .size = sizeof(*status),
						 .written = stat.written,
						 .left_out = stat.sampled_out + stat.limited,
						 .used_bytes = stat.used_bytes,
						 .room_bytes = stat.room_bytes,
						 .events = session_event_count(&user_session),
						 .stopped = user_session.shared->stopped != 0 };
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		status->lost += stat.lost[cause];
	for (uint32_t n = 0; n < status->events; n++)
		status->on += user_session.wants[n] != WIRE_OFF;
	return 0;
}

/* In the child of a vfork: nothing but what the kernel does. */
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
	pid_t child, got;

	if (!user_session.base || !*session)
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
		got = waitpid(child, &status, 0);
	} while (got < 0 && errno == EINTR);
	errno = saved;
	if (got != child) /* somebody else has reaped it */
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EIO;
}

static __attribute__((constructor(101))) void find_command(void)
{
	const char *named = plain_environment("BURIN_COMMAND");

	if (named && *named)
		command = named;
}
