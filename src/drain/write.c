/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing all of it; see write.h. */
#include <errno.h>
#include <unistd.h>

#include "drain/write.h"

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
