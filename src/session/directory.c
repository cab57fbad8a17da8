/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The private directory in which a user's sessions lie. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/directory.h"

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

int directory_of_sessions(char *path, size_t path_bytes, const char **why)
{
	struct stat status;
	int error = directory_name(path, path_bytes);

	if (error) {
		*why = "neither /dev/shm nor XDG_RUNTIME_DIR can be written to";
		return error;
	}
	if (mkdir(path, 0700) == 0) {
		chmod(path, 0700); /* whatever the umask */
	} else if (errno != EEXIST) {
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

int directory_file(char *path, size_t path_bytes, const struct wire_session *geometry, const char **why)
{
	int error = directory_of_sessions(path, path_bytes, why), bytes;
	size_t length = error ? 0 : strlen(path);

	if (error)
		return error;
	if (geometry->owner_kind == WIRE_OWNER_PROGRAM)
		bytes = snprintf(path + length, path_bytes - length, "/%u.%llx", geometry->owner,
				 (unsigned long long)geometry->owner_start);
	else
		bytes = snprintf(path + length, path_bytes - length, "/%u-%02x%02x%02x%02x", geometry->owner,
				 geometry->uuid[0], geometry->uuid[1], geometry->uuid[2], geometry->uuid[3]);
	if (bytes < 0 || (size_t)bytes >= path_bytes - length) {
		*why = "its name is too long";
		return -ENAMETOOLONG;
	}
	return 0;
}
