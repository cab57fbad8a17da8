/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Areas; see perf_area.h. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/perf/rings/perf_area.h"
#include "source/perf/rings/perf_attr.h"

enum {
	PERF_RING_FP = 512 << 10,  /* of each CPU, bytes: 1.7 s at 1 kHz with 30 frames */
	PERF_RING_STOPS = 8 << 20, /* with frame pointers only: 0.2 s of 100,000 switches a second */
	PERF_RING_SIDE = 256 << 10,
	PERF_RING_SWITCHES = 1 << 20, /* 80 ms of 200,000 switches a second */
};

size_t perf_full_bytes(const struct perf *perf)
{
	if (perf->options.buffer_bytes)
		return perf->options.buffer_bytes;
	return perf->options.graph & PERF_GRAPH_DWARF ? PERF_RING_DWARF : PERF_RING_FP;
}

size_t perf_area_bytes(const struct perf *perf, enum perf_feed feed)
{
	const size_t chosen = perf->options.buffer_bytes,
		     stops = chosen > PERF_RING_STOPS ? chosen : PERF_RING_STOPS;
	const size_t full[PERF_FEEDS] = {
		[PERF_SIDE] = PERF_RING_SIDE,
		[PERF_SAMPLES] = perf_full_bytes(perf),
		[PERF_SWITCHES] = PERF_RING_SWITCHES,
		[PERF_STOPS] = stops,
		[PERF_WAKES] = stops,
	};
	const size_t bytes = full[feed] >> perf->shrink;

	return bytes < PERF_RING_MIN ? PERF_RING_MIN : bytes;
}

/* Wake up once each time that the area becomes half full, which is the kernel's default watermark. */
static int watch_area(const struct perf *perf, const struct perf_area *area)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(perf->wake, EPOLL_CTL_ADD, area->fd, &event) == 0 ? 0 : -errno;
}

int perf_area_map(const struct perf *perf, struct perf_area *area, int fd, size_t bytes)
{
	void *page = mmap(NULL, PERF_AREA_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return errno == EPERM || errno == ENOMEM ? -ENOBUFS : -errno;
	*area = (struct perf_area){ .fd = fd, .page = page, .bytes = bytes };
	return watch_area(perf, area);
}

void perf_area_free(struct perf_area *area)
{
	if (area->page)
		munmap(area->page, PERF_AREA_PAGE + area->bytes);
	if (area->carrier)
		close(area->fd);
	*area = (struct perf_area){ .fd = -1 };
}

int perf_carrier(const struct perf *perf, struct perf_area *area, unsigned cpu, size_t bytes)
{
	struct perf_event_attr attr;
	int fd, error;

	perf_attr_carrier(perf, &attr);
	fd = perf_attr_open(&attr, 0, (int)cpu);
	if (fd < 0)
		return fd;
	error = perf_area_map(perf, area, fd, bytes);
	if (error) {
		if (area->page)
			perf_area_free(area);
		close(fd);
		return error;
	}
	area->carrier = true;
	return 0;
}

int perf_redirect(int event, const struct perf_area *area)
{
	return ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, area->fd) == 0 ? 0 : -errno;
}
