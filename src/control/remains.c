/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Removing a session that was left behind; see remains.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/remains.h"
#include "file/create.h"
#include "wire/wire_session.h"

int remains_directory(const char *path, uid_t owner, const char **base)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	struct stat status;
	size_t bytes;
	int fd;

	if (!slash || slash == path || !slash[1])
		return -EPERM;
	bytes = (size_t)(slash - path);
	if (bytes >= sizeof(directory))
		return -ENAMETOOLONG;
	memcpy(directory, path, bytes);
	directory[bytes] = 0;
	*base = slash + 1;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && status.st_uid == owner && !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -EPERM;
}

static bool is_session(int fd, const uint8_t *uuid)
{
	struct wire_geometry geometry;

	return !uuid || (pread(fd, &geometry, sizeof(geometry), 0) == (ssize_t)sizeof(geometry) &&
			 memcmp(geometry.uuid, uuid, sizeof(geometry.uuid)) == 0);
}

int remains_remove(int directory, const char *base, const uint8_t *uuid)
{
	int fd = create_read(directory, base), error;

	if (fd < 0)
		return fd;
	error = is_session(fd, uuid) ? create_remove(directory, base) : -EPERM;
	close(fd);
	return error;
}

int remains_remove_path(const char *path, uid_t owner, const uint8_t *uuid)
{
	const char *base;
	int directory = remains_directory(path, owner, &base), error;

	if (directory < 0)
		return directory;
	error = remains_remove(directory, base, uuid);
	close(directory);
	return error;
}
