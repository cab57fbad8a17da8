/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing whole files; see write.h. */
#include <errno.h>
#include <unistd.h>

#include "file/create.h"
#include "file/write.h"

int write_fully(int fd, const void *data, size_t bytes, uint64_t at)
{
	while (bytes > 0) {
		ssize_t wrote = pwrite(fd, data, bytes, (off_t)at);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return wrote < 0 ? -errno : -ENOSPC;
		data = (const char *)data + wrote;
		at += (uint64_t)wrote;
		bytes -= (size_t)wrote;
	}
	return 0;
}

int replace_file(int directory, const char *name, const void *data, size_t bytes)
{
	int fd = create_draft(directory), error;

	if (fd < 0)
		return fd;
	error = write_fully(fd, data, bytes, 0);
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error)
		error = create_rename(directory, CREATE_DRAFT, name);
	if (error)
		create_remove(directory, CREATE_DRAFT);
	return error;
}
