/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Replacing a file by rename; see replace.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "drain/replace.h"

int replace_file(int directory, const char *name, const void *data, size_t bytes)
{
	static const char draft[] = ".burin/draft";
	int fd = openat(directory, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), error = 0;
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while (!error && done < bytes) {
		ssize_t wrote = write(fd, (const char *)data + done, bytes - done);

		if (wrote > 0)
			done += (size_t)wrote;
		else if (wrote == 0 || errno != EINTR)
			error = wrote < 0 ? -errno : -ENOSPC;
	}
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(directory, draft, directory, name) != 0)
		error = -errno;
	if (error)
		unlinkat(directory, draft, 0);
	return error;
}
