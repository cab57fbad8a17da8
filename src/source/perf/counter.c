/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting; see counter.h. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "source/perf/counter.h"

static int counter_open_event(const struct counter *counter)
{
	struct perf_event_attr attr = { .type = counter->event.type,
					.size = sizeof(attr),
					.config = counter->event.config,
					.disabled = 1,
					.inherit = 1,
					.enable_on_exec = 1,
					.exclude_kernel = counter->user,
					.exclude_hv = counter->user,
					.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						       PERF_FORMAT_TOTAL_TIME_RUNNING };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int counter_open(struct counter *counter)
{
	int fd = counter_open_event(counter);

	if ((fd == -EACCES || fd == -EPERM) && !counter->user) {
		counter->user = true;
		fd = counter_open_event(counter);
	}
	counter->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

int counter_read(const struct counter *counter, struct counter_value *value)
{
	const ssize_t bytes = read(counter->fd, value, sizeof(*value));

	return bytes == (ssize_t)sizeof(*value) ? 0 : bytes < 0 ? -errno : -EIO;
}

void counter_close(struct counter *counter)
{
	if (counter->fd >= 0)
		close(counter->fd);
	counter->fd = -1;
}
