/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The session that a program makes for itself, when nobody has given it one.
 *
 * It is named after the process, so that the process finds it again after an exec, and events that it recorded
 * before are still there.
 */
#include <sys/prctl.h>
#include <unistd.h>

#include "base/plain.h"
#include "session/directory.h"

/* The one that this process made before it executed another program. */
static bool join_former(struct session *session, const char *path)
{
	const char *why;

	if (access(path, F_OK) != 0 || session_join(session, path, &why) != 0)
		return false;
	if (session->geometry.owner_kind == WIRE_OWNER_PROGRAM && session->geometry.owner == plain_pid()) {
		prctl(PR_GET_NAME, session->shared->geometry.program, 0, 0, 0); /* 16 bytes of the 32 */
		return true;
	}
	session_leave(session);
	return false;
}

int session_own(struct session *session, const struct session_options *options, char *path, const char **why)
{
	const struct wire_geometry self = { .owner_kind = WIRE_OWNER_PROGRAM,
					    .owner = plain_pid(),
					    .owner_start = session_start_time(plain_pid()) };
	int error = directory_file(path, SESSION_PATH_MAX, &self, why);

	if (error)
		return error;
	if (join_former(session, path))
		return 0;
	unlink(path); /* not ours, in our private directory and by our name: it cannot serve anybody */
	error = session_create(session, options, path, SESSION_PATH_MAX, why);
	if (error)
		return error;
	session->shared->joined = 1;
	session_enter(session);
	return 0;
}
