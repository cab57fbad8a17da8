/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mapping a session that exists: joining it from a traced program, or looking at it from outside. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/layout.h"

/* Open a session file, which must be a plain file of ours (or of root, who may trace anybody). */
static int open_session(const char *path, int access, uint64_t *bytes, const char **why)
{
	struct stat status;
	/* Neither wait for somebody at a pipe nor become a terminal's session: it may be anything. */
	int fd = open(path, access | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		*why = "it cannot be opened";
		return -errno;
	}
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (status.st_uid != geteuid() && status.st_uid != 0) || (status.st_mode & 077) != 0) {
		close(fd);
		*why = "it is not a private file of this user";
		return -EPERM;
	}
	*bytes = (uint64_t)status.st_size;
	return fd;
}

static int map_session(struct session *session, int fd, int protection, uint64_t bytes, const char **why)
{
	struct wire_session *geometry = &session->geometry;
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
	base = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		*why = "it cannot be mapped";
		return -errno;
	}
	session->base = base;
	*why = "no memory";
	return layout_attach(session);
}

static int map_file(struct session *session, const char *path, int access, int protection, const char **why)
{
	uint64_t bytes = 0;
	int fd = open_session(path, access, &bytes, why), error;

	if (fd < 0)
		return fd;
	error = map_session(session, fd, protection, bytes, why);
	close(fd);
	if (error)
		session_leave(session);
	return error;
}

int session_join(struct session *session, const char *path, const char **why)
{
	int error = map_file(session, path, O_RDWR, PROT_READ | PROT_WRITE, why);

	if (!error)
		__atomic_fetch_add(&((struct wire_session *)session->base)->joined, 1, __ATOMIC_RELAXED);
	return error;
}

int session_look(struct session *session, const char *path, const char **why)
{
	return map_file(session, path, O_RDONLY, PROT_READ, why);
}
