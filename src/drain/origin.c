/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a trace begins within its session; see origin.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "drain/origin.h"
#include "drain/write.h"

static const char file_name[] = ".burin/origin";

int origin_write(int directory, const struct wire_origin *origins, unsigned count)
{
	const size_t bytes = count * sizeof(*origins);
	int fd = openat(directory, file_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error;

	if (fd < 0)
		return -errno;
	error = write_fully(fd, origins, bytes, 0);
	close(fd);
	return error;
}

/* Whoever made the file: what a cursor is made of must be one. */
static int check(const struct wire_origin *origins, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		if (origins[n].offset % 8 != 0 || origins[n].offset > WIRE_PACKET_MAX ||
		    (origins[n].offset && origins[n].offset < sizeof(struct wire_packet)))
			return -EBADMSG;
	return 0;
}

int origin_read(int directory, struct wire_origin *origins, unsigned count)
{
	const size_t bytes = count * sizeof(*origins);
	int fd = openat(directory, file_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error = 0;
	ssize_t got;

	memset(origins, 0, bytes);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	got = read(fd, origins, bytes);
	if (got != (ssize_t)bytes)
		error = got < 0 ? -errno : -EBADMSG;
	close(fd);
	return error ? error : check(origins, count);
}

int origin_load(const char *path, struct wire_origin *origins, unsigned count)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

	if (directory < 0)
		return -errno;
	error = origin_read(directory, origins, count);
	close(directory);
	return error;
}
