/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a trace begins within its session; see trace_origin.h. */
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "writer/trace_origin.h"
#include "file/create.h"
#include "file/write.h"

static const char file_name[] = ".burin/origin";

int origin_write(int directory, const struct wire_origin *origins, unsigned count)
{
	const size_t bytes = count * sizeof(*origins);
	int fd = create_file(directory, file_name), error;

	if (fd < 0)
		return fd;
	error = write_fully(fd, origins, bytes, 0);
	close(fd);
	return error;
}

/* Reading starts at these offsets, and the file may be damaged: accept only offsets that a packet can have. */
static int trace_origin_check(const struct wire_origin *origins, unsigned count)
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
	int fd = create_reopen(directory, file_name), error = 0;
	ssize_t got;

	memset(origins, 0, bytes);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	got = read(fd, origins, bytes);
	if (got != (ssize_t)bytes)
		error = got < 0 ? -errno : -EBADMSG;
	close(fd);
	return error ? error : trace_origin_check(origins, count);
}
