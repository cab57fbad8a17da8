/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The private directory in which a user's sessions lie. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"

/* Memory-backed places, best first. */
static int directory_name(char *path, size_t path_bytes)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int length;

	if (access("/dev/shm", W_OK | X_OK) == 0)
		length = snprintf(path, path_bytes, "/dev/shm/burin-%u", (unsigned)geteuid());
	else if (runtime && runtime[0] == '/')
		length = snprintf(path, path_bytes, "%s/burin", runtime);
	else
		return -ENOENT;
	return length > 0 && (size_t)length < path_bytes ? 0 : -ENAMETOOLONG;
}

int session_directory(char *path, size_t path_bytes, const char **why)
{
	struct stat status;
	int error = directory_name(path, path_bytes);

	if (error) {
		*why = "neither /dev/shm nor XDG_RUNTIME_DIR can be written to";
		return error;
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		*why = "the directory for sessions cannot be made";
		return -errno;
	}
	/* Somebody else may have made it first, to look at what we trace. */
	if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & 077) != 0) {
		*why = "the directory for sessions is not private to this user";
		return -EPERM;
	}
	return 0;
}
