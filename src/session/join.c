/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Map an existing session: a traced program joins it, a command opens it or only reads it.
 *
 * The path comes from an environment or a directory, so the file may be anything. It is opened without
 * effects (no link, no wait for a pipe), then judged by its descriptor: a regular file, private to this user
 * or root, with one name. Commands of root take a file of any user. The geometry is read into private memory,
 * checked there, and used from there only (layout.c).
 *
 * All purposes but a look need the PID namespace of the session. A program joins only if its address space
 * keeps room for itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "session/clock.h"
#include "session/layout.h"

enum {
	FILE_TRIES = 1000,
};

int session_file(int directory, const char *name, bool write, const char **why)
{
	/* The file may be of any kind: do not wait for the other end of a pipe, and do not acquire a terminal. */
	const int flags = (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = openat(directory, name, flags);

	/* A process of another PID namespace asks at this moment whether it is used (namespaces_file_is_unused). */
	for (unsigned n = 0; fd < 0 && errno == EWOULDBLOCK && n < FILE_TRIES; n++) {
		sched_yield();
		fd = openat(directory, name, flags);
	}
	if (fd >= 0)
		return fd;
	*why = errno == ELOOP ? "it is a link" : "it cannot be opened";
	return -errno;
}

/* Check that it is a regular file which only its owner can open. */
static int check_file(int fd, enum layout_purpose purpose, uint64_t *bytes, const char **why)
{
	const bool any = purpose != LAYOUT_JOIN && nolibc_user() == 0;
	struct stat status;

	if (fstat(fd, &status) != 0) {
		*why = "it cannot be read";
		return -errno;
	}
	if (!S_ISREG(status.st_mode) || (!any && status.st_uid != nolibc_user() && status.st_uid != 0) ||
	    (status.st_mode & 077) != 0 || status.st_nlink > 1) {
		*why = "it is not a private file of this user";
		return -EPERM;
	}
	*bytes = (uint64_t)status.st_size;
	return 0;
}

static int map_session(struct session *session, int fd, enum layout_purpose purpose, uint64_t bytes,
		       const char **why)
{
	struct wire_geometry *geometry = &session->geometry;
	const ssize_t got = pread(fd, geometry, sizeof(*geometry), 0);
	int error;

	if (got < 0 || (got != (ssize_t)sizeof(*geometry) && bytes >= sizeof(*geometry))) {
		*why = "it cannot be read";
		return got < 0 ? -errno : -EIO;
	}
	if (got != (ssize_t)sizeof(*geometry)) {
		*why = "it is not a session file";
		return -EINVAL;
	}
	*why = layout_check(geometry, bytes);
	if (*why)
		return -EINVAL;
	/* A writer takes locks, which contain thread ids. */
	if (purpose != LAYOUT_LOOK && geometry->pid_namespace != 0 &&
	    geometry->pid_namespace != layout_pid_namespace()) {
		*why = "it belongs to another PID namespace";
		return -EREMOTE;
	}
	if (purpose == LAYOUT_JOIN && !layout_has_room(bytes)) {
		*why = "it would take more than a quarter of the address space (ulimit -v)";
		return -ENOMEM;
	}
	error = layout_map(session, fd, purpose);
	if (error) {
		*why = "it cannot be mapped";
		return error;
	}
	*why = "no memory";
	return layout_attach(session);
}

static int join_map(struct session *session, int fd, enum layout_purpose purpose, const char **why)
{
	uint64_t bytes = 0;
	int error = check_file(fd, purpose, &bytes, why);

	*session = (struct session){ 0 };
	if (!error)
		error = map_session(session, fd, purpose, bytes, why);
	session->looked = purpose == LAYOUT_LOOK;
	if (error)
		session_leave(session);
	return error;
}

uint64_t session_clock_hz(const struct session *session)
{
	const struct wire_geometry *geometry = &session->geometry;

	return geometry->clock_hz ? geometry->clock_hz : clock_rate(geometry->clock == WIRE_CLOCK_TSC);
}

int session_join(struct session *session, const char *path, const char **why)
{
	int fd = session_file(AT_FDCWD, path, true, why), error;

	*session = (struct session){ 0 };
	if (fd < 0)
		return fd;
	error = join_map(session, fd, LAYOUT_JOIN, why);
	close(fd);
	if (error)
		return error;
	__atomic_fetch_add(&session->shared->joined, 1, __ATOMIC_RELAXED);
	session_enter(session);
	return 0;
}

int session_open(struct session *session, int fd, const char **why)
{
	return join_map(session, fd, LAYOUT_OPEN, why);
}

int session_look(struct session *session, int fd, const char **why)
{
	return join_map(session, fd, LAYOUT_LOOK, why);
}
