/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mapping a session that exists: joining it from a traced program, or looking at it from outside. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "session/clock.h"
#include "session/layout.h"

/* What somebody wants of a session. */
enum purpose {
	JOIN, /* to trace into it: ours, or root's, who may trace anybody */
	OPEN, /* to switch and to read: root may do so with anybody's */
	LOOK, /* only to read */
};

/* Open a session file, which must be a plain file that is its owner's alone. */
static int open_session(const char *path, enum purpose purpose, uint64_t *bytes, const char **why)
{
	const bool any = purpose != JOIN && plain_user() == 0;
	struct stat status;
	/* Neither wait for somebody at a pipe nor become a terminal's session: it may be anything. */
	int fd = open(path,
		      (purpose == LOOK ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		*why = errno == ELOOP ? "it is a link" : "it cannot be opened";
		return -errno;
	}
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (!any && status.st_uid != plain_user() && status.st_uid != 0) || (status.st_mode & 077) != 0 ||
	    status.st_nlink > 1) {
		close(fd);
		*why = "it is not a private file of this user";
		return -EPERM;
	}
	*bytes = (uint64_t)status.st_size;
	return fd;
}

static int map_session(struct session *session, int fd, enum purpose purpose, uint64_t bytes,
		       const char **why)
{
	struct wire_geometry *geometry = &session->geometry;
	void *base;

	if (pread(fd, geometry, sizeof(*geometry), 0) != (ssize_t)sizeof(*geometry)) {
		*why = "it is not a session file";
		return -EINVAL;
	}
	*why = layout_check(geometry, bytes);
	if (*why)
		return -EINVAL;
	if (geometry->pid_namespace != 0 && geometry->pid_namespace != layout_pid_namespace()) {
		*why = "it belongs to another PID namespace";
		return -EPERM;
	}
	base = mmap(NULL, bytes, purpose == LOOK ? PROT_READ : PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED) {
		*why = "it cannot be mapped";
		return -errno;
	}
	session->base = base;
	*why = "no memory";
	return layout_attach(session);
}

static int map(struct session *session, const char *path, enum purpose purpose, const char **why)
{
	uint64_t bytes = 0;
	int fd = open_session(path, purpose, &bytes, why), error;

	*session = (struct session){ 0 };
	if (fd < 0)
		return fd;
	error = map_session(session, fd, purpose, bytes, why);
	close(fd);
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
	int error = map(session, path, JOIN, why);

	if (error)
		return error;
	__atomic_fetch_add(&session->shared->joined, 1, __ATOMIC_RELAXED);
	session_enter(session);
	return 0;
}

int session_open(struct session *session, const char *path, const char **why)
{
	return map(session, path, OPEN, why);
}

int session_look(struct session *session, const char *path, const char **why)
{
	return map(session, path, LOOK, why);
}
