/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The session that a program makes for itself, if BURIN_SESSION names none.
 *
 * Its path follows from the process, so that the process finds it again after an exec, with its earlier records.
 */
#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "session/places/directory.h"
#include "session/layout.h"

/*
 * Join the session that this process made before it executed this program.
 * Return: 0; -EREMOTE: a process of another PID namespace has it; another error: no process can use it.
 */
static int join_former(struct session *session, const char *path, const char **why)
{
	int error = session_join(session, path, why);

	if (error)
		return error;
	if (session->geometry.pid_namespace != layout_pid_namespace()) {
		session_leave(session);
		*why = "a process of another PID namespace has a session of that name";
		return -EREMOTE;
	}
	if (session->geometry.owner_kind == WIRE_OWNER_PROGRAM && session->geometry.owner == nolibc_pid()) {
		prctl(PR_GET_NAME, session->shared->geometry.program, 0, 0, 0); /* 16 bytes of the 32 */
		return 0;
	}
	session_leave(session);
	return -EINVAL;
}

int session_open_per_process(struct session *session, const struct session_options *options, char *path,
			     const char **why)
{
	const struct wire_geometry self = { .owner_kind = WIRE_OWNER_PROGRAM,
					    .owner = nolibc_pid(),
					    .owner_start = session_start_time(0) };
	int error;

	for (enum directory_place place = DIRECTORY_USUAL; place < DIRECTORY_PLACES; place++) {
		if (directory_file(path, SESSION_PATH_MAX, place, false, &self, why) != 0)
			continue;
		error = access(path, F_OK) == 0 ? join_former(session, path, why) : -ENOENT;
		/* After a lack of memory or descriptors the file may be valid, with this process's earlier records: keep it. */
		if (error != -ENOENT && error != -EINVAL && error != -EPERM && error != -ELOOP)
			return error;
		unlink(path); /* it has our name in our private directory but is not ours: no process can use it */
	}
	error = session_create(session, options, path, SESSION_PATH_MAX, why);
	if (error)
		return error;
	session->shared->joined = 1;
	session_enter(session);
	return 0;
}
