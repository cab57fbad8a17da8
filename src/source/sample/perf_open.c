/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opening the kernel's events; see perf.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "session/clock.h"
#include "source/sample/perf.h"

enum {
	PERF_PAGE = 4096,
	PERF_RING_FP = 512 << 10, /* of each CPU, bytes: 1.7 s at 1 kHz with 30 frames */
	PERF_RING_DWARF = 8 << 20,
	PERF_RING_STOPS = 8 << 20, /* frame pointers alone: 0.2 s of 100,000 switches a second */
	PERF_RING_SIDE = 256 << 10,
	PERF_RING_SWITCHES = 1 << 20, /* 80 ms of 200,000 switches a second */
	PERF_RING_MIN = 16 << 10,
	PERF_DEPTH = 127,     /* what kernels give if they are not told otherwise */
	PERF_LISTINGS = 5,    /* of threads, until no new one is found */
	PERF_THREADS = 65536, /* that are attached to */
#ifdef __x86_64__
	PERF_REGISTERS = 0xff01ff, /* ax to ip, r8 to r15 */
#else
	PERF_REGISTERS = -1, /* 0 to 32: x0 to pc */
#endif
};

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

static int open_event(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* What both kinds of events have. */
static void fill_common(const struct perf *perf, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->inherit = !perf->options.system && !perf->options.thread;
	attr->disabled = perf->options.command && !perf->options.system;
	attr->enable_on_exec = attr->disabled;
	attr->use_clockid = !perf->time.by_page;
	if (attr->use_clockid)
		attr->clockid = 1; /* CLOCK_MONOTONIC */
}

/* What samples consist of. */
static void fill_contents(const struct perf *perf, struct perf_event_attr *attr, unsigned stack_bytes)
{
	attr->sample_type = perf->sample_type;
	attr->exclude_callchain_user = perf->options.graph == PERF_GRAPH_DWARF;
	attr->read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0;
	if (perf->options.graph & PERF_GRAPH_DWARF) {
		attr->sample_regs_user = perf->registers;
		attr->sample_stack_user = stack_bytes;
	}
}

static void fill_samples(const struct perf *perf, struct perf_event_attr *attr)
{
	const struct perf_choice *event = &perf->event;

	attr->type = event->type;
	attr->config = event->config;
	fill_contents(perf, attr, perf->options.stack_bytes);
	attr->disabled = 1; /* until it is known who is there */
	attr->sample_period = perf_weight(perf);
	if (event->counting) {
		attr->freq = 1;
		attr->sample_freq = perf->options.frequency;
	}
	attr->exclude_kernel = attr->exclude_hv = !perf->kernel;
	attr->exclude_idle = 1;
}

static void fill_stops(const struct perf *perf, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fill_contents(perf, attr, perf->options.stack_bytes / 16 * 8); /* there may be many: half as much */
	attr->sample_period = 1;
}

/* Nothing happens but what is told beside. */
static void fill_dummy(struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_period = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
}

static void fill_side(const struct perf *perf, struct perf_event_attr *attr)
{
	fill_dummy(attr);
	if (perf->options.thread) /* other threads of its process map, too */
		attr->inherit = 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->build_id = perf->build_ids;
	attr->ksymbol = perf->kernel && perf->options.system;
}

static void fill(const struct perf *perf, enum perf_feed feed, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){ 0 };
	fill_common(perf, attr);
	switch (feed) {
	case PERF_SAMPLES:
		fill_samples(perf, attr);
		break;
	case PERF_SWITCHES:
		fill_dummy(attr);
		attr->context_switch = 1;
		attr->read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0;
		break;
	case PERF_STOPS:
		fill_stops(perf, attr);
		break;
	default:
		fill_side(perf, attr);
	}
}

/* Those that are wanted, and that can be had as far as is known. */
static unsigned feeds(const struct perf *perf)
{
	return perf->off_cpu ? PERF_FEEDS : PERF_SWITCHES;
}

/* ---- what the kernel can do ---- */

/* Leave out what this kernel does not know, or does not permit. Return: whether there was something to leave out. */
static bool yield(struct perf *perf, int error)
{
	if ((error == -EACCES || error == -EPERM) && perf->kernel && !perf->options.system) {
		perf->kernel = perf->off_cpu = false;
		return true;
	}
	if (error != -EINVAL)
		return false;
	if (perf->counts_lost)
		perf->counts_lost = false;
	else if (perf->build_ids)
		perf->build_ids = false;
	else
		return false;
	return true;
}

/* Find out by events of our own what can be had, before any is opened in earnest. */
static int probe(struct perf *perf)
{
	struct perf_event_attr attr;
	int fd;

	for (unsigned feed = 0; feed < feeds(perf); feed++) {
		do {
			fill(perf, feed, &attr);
			attr.disabled = 1;
			attr.enable_on_exec = 0;
			fd = open_event(&attr, perf->options.system ? -1 : 0, perf->options.system ? 0 : -1);
		} while (fd < 0 && yield(perf, fd));
		if (fd < 0)
			return fd;
		close(fd);
	}
	return 0;
}

/* Whether the kernel's clock is a function of the TSC that it tells. */
static void look_at_clock(struct perf *perf)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };
	volatile struct perf_event_mmap_page *page;
	int fd = open_event(&attr, 0, -1);

	if (fd < 0)
		return;
	page = mmap(NULL, PERF_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		if (perf->options.is_tsc && page->cap_user_time_zero && page->time_mult)
			perf->time = (struct perf_time){ .by_page = true,
							 .zero = page->time_zero,
							 .mult = page->time_mult,
							 .shift = page->time_shift };
		munmap((void *)page, PERF_PAGE);
	}
	close(fd);
}

static unsigned max_depth(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned depth = PERF_DEPTH;

	if (file) {
		if (fscanf(file, "%u", &depth) != 1 || depth == 0)
			depth = PERF_DEPTH;
		fclose(file);
	}
	return depth;
}

/* ---- opening ---- */

/* Of samples, as asked for. */
static size_t wanted_bytes(const struct perf_options *options)
{
	if (options->buffer_bytes)
		return options->buffer_bytes;
	return options->graph & PERF_GRAPH_DWARF ? PERF_RING_DWARF : PERF_RING_FP;
}

static size_t ring_bytes(const struct perf *perf, enum perf_feed feed)
{
	const size_t full[PERF_FEEDS] = {
		[PERF_SIDE] = PERF_RING_SIDE,
		[PERF_SAMPLES] = wanted_bytes(&perf->options),
		[PERF_SWITCHES] = PERF_RING_SWITCHES,
		[PERF_STOPS] = PERF_RING_STOPS,
	};
	const size_t bytes = full[feed] >> perf->shrink;

	return bytes < PERF_RING_MIN ? PERF_RING_MIN : bytes;
}

/* Be told once each time that the kernel finds it half full; that is all that it tells if nothing else is asked for. */
static int watch_ring(const struct perf *perf, const struct perf_ring *ring)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(perf->wake, EPOLL_CTL_ADD, ring->fd, &event) == 0 ? 0 : -errno;
}

/* A ring behind an event. Return: 0; -ENOBUFS: so much memory is not permitted; -errno. */
static int map_ring(const struct perf *perf, struct perf_ring *ring, int fd)
{
	const size_t bytes = ring_bytes(perf, ring->feed);
	void *page = mmap(NULL, PERF_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return errno == EPERM || errno == ENOMEM ? -ENOBUFS : -errno;
	ring->fd = fd;
	ring->page = page;
	ring->bytes = bytes;
	return watch_ring(perf, ring);
}

static int keep_source(struct perf *perf, int fd, const struct perf_ring *ring)
{
	if (perf->source_count == perf->source_room) {
		unsigned room = perf->source_room ? 2 * perf->source_room : 16;
		struct perf_source *sources = realloc(perf->sources, room * sizeof(*sources));

		if (!sources)
			return -ENOMEM;
		perf->sources = sources;
		perf->source_room = room;
	}
	perf->sources[perf->source_count++] = (struct perf_source){ fd, ring->cpu, ring->feed };
	return 0;
}

/* One event of one task on one CPU, which writes into the CPU's ring. A task or a CPU that is gone is no error. */
static int add_source(struct perf *perf, const struct perf_event_attr *attr, pid_t tid,
		      struct perf_ring *ring)
{
	int fd = open_event(attr, tid, (int)ring->cpu), error = 0;

	if (fd < 0)
		return fd == -ESRCH || fd == -ENODEV ? 0 : fd;
	if (ring->fd < 0)
		error = map_ring(perf, ring, fd);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
		error = -errno;
	if (!error)
		error = keep_source(perf, fd, ring);
	if (error)
		close(fd);
	return error;
}

/* What one task needs. */
static int add_task(struct perf *perf, pid_t tid)
{
	const bool chosen = !perf->options.thread || tid == perf->options.thread;
	struct perf_event_attr attr;
	int error = 0;

	for (unsigned feed = 0; feed < (chosen ? feeds(perf) : PERF_SIDE + 1); feed++) {
		fill(perf, feed, &attr);
		for (unsigned cpu = 0; !error && cpu < perf->cpus; cpu++)
			error = add_source(perf, &attr, tid, &perf->rings[feed][cpu]);
	}
	return error;
}

/* The threads that are there and were not seen. Return: how many, or -errno. */
static int add_threads(struct perf *perf, char *seen)
{
	char path[64];
	const struct dirent *entry;
	int count = 0, error = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", perf->options.process);
	directory = opendir(path);
	if (!directory)
		return -ESRCH;
	while (!error && (entry = readdir(directory))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || tid >= PERF_THREADS * 64L || seen[tid / 8] & 1 << tid % 8)
			continue;
		seen[tid / 8] = (char)(seen[tid / 8] | 1 << tid % 8);
		error = add_task(perf, (pid_t)tid);
		count++;
	}
	closedir(directory);
	return error ? error : count;
}

/* All threads of a process that runs: those that begin while we look are children of ones that we have, or found next time. */
static int add_process(struct perf *perf)
{
	struct rlimit limit;
	char *seen = calloc(PERF_THREADS, 64 / 8);
	int found = seen ? 1 : -ENOMEM;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) { /* a descriptor for each thread, CPU and feed */
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (unsigned n = 0; found > 0 && n < PERF_LISTINGS; n++)
		found = add_threads(perf, seen);
	free(seen);
	return found < 0 ? found : 0;
}

static int make_rings(struct perf *perf)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	perf->cpus = cpus < 1 ? 1 : (unsigned)cpus;
	perf->wake = epoll_create1(EPOLL_CLOEXEC);
	return perf->wake < 0 ? -errno : perf_make_rings(perf);
}

int perf_make_rings(struct perf *perf)
{
	for (unsigned feed = 0; feed < feeds(perf); feed++) {
		struct perf_ring *rings = calloc(perf->cpus, sizeof(*rings));

		if (!rings)
			return -ENOMEM;
		for (unsigned n = 0; n < perf->cpus; n++)
			rings[n] = (struct perf_ring){ .fd = -1, .cpu = n, .feed = feed };
		perf->rings[feed] = rings;
	}
	return 0;
}

/* Why it failed, and what to do. */
static void explain(const struct perf *perf, int error, char *why, size_t bytes)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		snprintf(why, bytes,
			 perf->options.system ? "all of the system is seen with root's rights only (or "
						"kernel.perf_event_paranoid <= 0)"
					      : "the kernel does not permit it; run as root, or set "
						"kernel.perf_event_paranoid to 2 or less");
		break;
	case ENOBUFS:
		snprintf(why, bytes, "the limit on locked memory is too low (ulimit -l)");
		break;
	case ENOSYS:
		snprintf(why, bytes, "perf events are closed here (by seccomp, or not in this kernel)");
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		snprintf(why, bytes, "this machine has no event '%.60s'; try cpu-clock", perf->event.name);
		break;
	case EMFILE:
		snprintf(why, bytes, "too many threads for the limit on open files (ulimit -n)");
		break;
	case ESRCH:
		snprintf(why, bytes, "there is no such process");
		break;
	default:
		snprintf(why, bytes, "perf_event_open: %s", strerror(-error));
	}
}

static int open_all(struct perf *perf)
{
	const int error = make_rings(perf);

	if (error)
		return error;
	if (perf->options.system)
		return add_task(perf, -1);
	return perf->options.command ? add_task(perf, perf->options.command) : add_process(perf);
}

/* What is permitted of memory is for all rings: they become smaller together. */
static int open_as_permitted(struct perf *perf)
{
	const size_t samples = wanted_bytes(&perf->options);
	const size_t largest = samples > PERF_RING_DWARF ? samples : PERF_RING_DWARF;
	int error;

	while ((error = open_all(perf)) == -ENOBUFS && largest >> perf->shrink > PERF_RING_MIN) {
		perf_close(perf);
		perf->shrink++;
	}
	return error;
}

int perf_open(struct perf *perf, const struct perf_options *options, char *why, size_t bytes)
{
	int error;

	*perf = (struct perf){ .options = *options,
			       .kernel = true,
			       .off_cpu = options->off_cpu,
			       .wake = -1,
			       .build_ids = true,
			       .counts_lost = true };
	error = perf_event_find(&perf->event, options->event, why, bytes);
	if (error)
		return error;
	perf->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (perf->event.counting)
		perf->sample_type |= PERF_SAMPLE_PERIOD;
	if (options->graph != PERF_GRAPH_NONE)
		perf->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (options->graph & PERF_GRAPH_DWARF) {
		perf->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		perf->registers = PERF_REGISTERS == -1 ? (UINT64_C(1) << 33) - 1 : (uint64_t)PERF_REGISTERS;
	}
	perf->max_depth = max_depth();
	look_at_clock(perf);
	error = probe(perf);
	if (!error)
		error = open_as_permitted(perf);
	if (error) {
		explain(perf, error, why, bytes);
		perf_close(perf);
		return error;
	}
	perf_tell_time(perf);
	return 0;
}

static void close_rings(struct perf_ring *rings, unsigned count)
{
	for (unsigned n = 0; rings && n < count; n++)
		if (rings[n].page)
			munmap(rings[n].page, PERF_PAGE + rings[n].bytes);
	free(rings);
}

void perf_close(struct perf *perf)
{
	for (unsigned feed = 0; feed < PERF_FEEDS; feed++) {
		close_rings(perf->rings[feed], perf->cpus);
		perf->rings[feed] = NULL;
	}
	for (unsigned n = 0; n < perf->source_count; n++)
		close(perf->sources[n].fd);
	if (perf->wake >= 0)
		close(perf->wake);
	perf->wake = -1;
	free(perf->sources);
	perf->sources = NULL;
	perf->source_count = perf->source_room = 0;
}
