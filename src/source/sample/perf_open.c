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
	PERF_RING_SIDE = 256 << 10,
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

static void fill_samples(const struct perf *perf, struct perf_event_attr *attr)
{
	const struct perf_choice *event = &perf->event;

	*attr = (struct perf_event_attr){ .type = event->type, .config = event->config };
	fill_common(perf, attr);
	attr->sample_type = perf->sample_type;
	if (event->clock) {
		attr->sample_period = 1000000000 / perf->options.frequency;
	} else if (event->counting) {
		attr->freq = 1;
		attr->sample_freq = perf->options.frequency;
	} else {
		attr->sample_period = 1;
	}
	attr->exclude_kernel = attr->exclude_hv = !perf->kernel;
	attr->exclude_idle = 1;
	attr->exclude_callchain_user = perf->options.graph == PERF_GRAPH_DWARF;
	attr->read_format = perf->counts_lost ? PERF_FORMAT_LOST : 0;
	if (perf->options.graph & PERF_GRAPH_DWARF) {
		attr->sample_regs_user = perf->registers;
		attr->sample_stack_user = perf->options.stack_bytes;
	}
}

static void fill_side(const struct perf *perf, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY };
	fill_common(perf, attr);
	if (perf->options.thread) /* other threads of its process map, too */
		attr->inherit = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_period = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->build_id = perf->build_ids;
	attr->ksymbol = perf->kernel && perf->options.system;
}

/* ---- what the kernel can do ---- */

/* Leave out what this kernel does not know, or does not permit. Return: whether there was something to leave out. */
static bool yield(struct perf *perf, int error)
{
	if ((error == -EACCES || error == -EPERM) && perf->kernel && !perf->options.system) {
		perf->kernel = false;
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
	struct perf_event_attr samples, side;
	int fd, error;

	do {
		fill_samples(perf, &samples);
		samples.disabled = 1;
		samples.enable_on_exec = 0;
		error = fd =
			open_event(&samples, perf->options.system ? -1 : 0, perf->options.system ? 0 : -1);
		if (fd < 0)
			continue;
		close(fd);
		fill_side(perf, &side);
		error = fd = open_event(&side, perf->options.system ? -1 : 0, perf->options.system ? 0 : -1);
		if (fd >= 0)
			close(fd);
	} while (error < 0 && yield(perf, error));
	return error < 0 ? error : 0;
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

/* A ring behind an event: as large as is permitted. Return: 0 or -errno. */
static int map_ring(struct perf *perf, struct perf_ring *ring, int fd, size_t bytes)
{
	/* At the edge: who is hung up because its task has ended stays so. */
	struct epoll_event half = { .events = EPOLLIN | EPOLLET };

	for (; bytes >= PERF_RING_MIN; bytes /= 2) {
		void *page = mmap(NULL, PERF_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (page != MAP_FAILED) {
			*ring = (struct perf_ring){
				.fd = fd, .page = page, .bytes = bytes, .cpu = ring->cpu
			};
			epoll_ctl(perf->wake, EPOLL_CTL_ADD, fd, &half); /* or its turn comes all the same */
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM)
			break;
	}
	return -errno;
}

static int keep_source(struct perf *perf, int fd, unsigned cpu, bool samples)
{
	if (perf->source_count == perf->source_room) {
		unsigned room = perf->source_room ? 2 * perf->source_room : 16;
		struct perf_source *sources = realloc(perf->sources, room * sizeof(*sources));

		if (!sources)
			return -ENOMEM;
		perf->sources = sources;
		perf->source_room = room;
	}
	perf->sources[perf->source_count++] = (struct perf_source){ fd, cpu, samples };
	return 0;
}

/* One event of one task on one CPU, which writes into the CPU's ring. A task or a CPU that is gone is no error. */
static int add_source(struct perf *perf, const struct perf_event_attr *attr, pid_t tid, unsigned cpu,
		      bool samples)
{
	struct perf_ring *ring = samples ? &perf->samples[cpu] : &perf->sides[cpu];
	size_t bytes = !samples					? PERF_RING_SIDE
		       : perf->options.graph & PERF_GRAPH_DWARF ? PERF_RING_DWARF
								: PERF_RING_FP;
	int fd = open_event(attr, tid, (int)cpu), error = 0;

	if (fd < 0)
		return fd == -ESRCH || fd == -ENODEV ? 0 : fd;
	if (ring->fd < 0)
		error = map_ring(perf, ring, fd, bytes);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
		error = -errno;
	if (!error)
		error = keep_source(perf, fd, cpu, samples);
	if (error)
		close(fd);
	return error;
}

/* What one task needs. */
static int add_task(struct perf *perf, pid_t tid)
{
	struct perf_event_attr samples, side;
	const pid_t only = perf->options.thread;
	int error = 0;

	fill_samples(perf, &samples);
	fill_side(perf, &side);
	for (unsigned cpu = 0; !error && cpu < perf->cpus; cpu++) {
		error = add_source(perf, &side, tid, cpu, false);
		if (!error && (!only || tid == only))
			error = add_source(perf, &samples, tid, cpu, true);
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

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) { /* two descriptors for each thread and CPU */
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

	perf->wake = epoll_create1(EPOLL_CLOEXEC);
	perf->cpus = cpus < 1 ? 1 : (unsigned)cpus;
	perf->samples = calloc(perf->cpus, sizeof(*perf->samples));
	perf->sides = calloc(perf->cpus, sizeof(*perf->sides));
	if (!perf->samples || !perf->sides)
		return -ENOMEM;
	for (unsigned n = 0; n < perf->cpus; n++)
		perf->samples[n] = perf->sides[n] = (struct perf_ring){ .fd = -1, .cpu = n };
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

int perf_open(struct perf *perf, const struct perf_options *options, char *why, size_t bytes)
{
	int error;

	*perf = (struct perf){
		.options = *options, .kernel = true, .build_ids = true, .counts_lost = true, .wake = -1
	};
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
		error = make_rings(perf);
	if (!error && options->system)
		error = add_task(perf, -1);
	else if (!error && options->command)
		error = add_task(perf, options->command);
	else if (!error)
		error = add_process(perf);
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
	close_rings(perf->samples, perf->cpus);
	close_rings(perf->sides, perf->cpus);
	for (unsigned n = 0; n < perf->source_count; n++)
		close(perf->sources[n].fd);
	free(perf->sources);
	if (perf->wake >= 0)
		close(perf->wake);
	perf->wake = -1;
	perf->samples = perf->sides = NULL;
	perf->sources = NULL;
	perf->source_count = 0;
}
