/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Replacing a file by rename; see replace.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "drain/replace.h"
#include "drain/write.h"

int replace_file(int directory, const char *name, const void *data, size_t bytes)
{
	static const char draft[] = ".burin/draft";
	int fd = openat(directory, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), error;

	if (fd < 0)
		return -errno;
	error = write_fully(fd, data, bytes, 0);
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(directory, draft, directory, name) != 0)
		error = -errno;
	if (error)
		unlinkat(directory, draft, 0);
	return error;
}
