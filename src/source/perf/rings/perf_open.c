/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opens the kernel's events; see perf.h. perf_event_open(2) and include/uapi/linux/perf_event.h define them.
 *
 * A kernel has, and permits, less than another. So nothing is assumed from its version:
 *
 *	perf_open_probe()	opens a test event of each feed, and drops features until it succeeds
 *	open_tree()		loads the programs that follow the tree; else each task has its events
 *	open_as_permitted()	opens the real ones; rings are halved while locked memory is too little
 *
 * Each step may take something away and never gives anything back, so they end. ->no_wakers and ->by_task say
 * what was taken away.
 *
 * An event of a task is also one of a CPU, since the kernel maps no ring for an inherited event of all CPUs.
 * The events of a CPU share its ring of their feed: the first one has the area, the others write into it
 * (perf_redirect()). So programs that run already take (threads x CPUs x feeds) descriptors, and the limit is
 * raised first.
 *
 * Threads that run already are listed while they begin others. An event is inherited by what its thread
 * begins, so only threads that began between the listing and the event can be missed. The listing is repeated
 * until it finds nothing new, at most PERF_LISTINGS times.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/containers/array.h"
#include "session/clock.h"
#include "source/perf/rings/perf.h"
#include "source/perf/rings/perf_area.h"
#include "source/perf/rings/perf_attr.h"
#include "source/perf/rings/perf_grow.h"

enum {
	PERF_DEEP_MS = 60,    /* of samples with the largest copies that a ring must have room for */
	PERF_DEPTH = 127,     /* the kernel's default for perf_event_max_stack */
	PERF_LISTINGS = 5,    /* of threads, at most, until no new one is found */
	PERF_THREADS = 65536, /* times 64: the largest thread id */
#ifdef __x86_64__
	PERF_REGISTERS = 0xff01ff, /* ax to ip, r8 to r15 */
#else
	PERF_REGISTERS = -1, /* 0 to 32: x0 to pc */
#endif
};

/* How deep stacks are copied: as chosen, or as the kernel permits, unless too few such copies have room in a ring. */
static unsigned stack_bytes(const struct perf *perf)
{
	const struct perf_options *options = &perf->options;
	/* The kernel reserves the whole copy in the ring, however deep the stack is (0026). */
	const size_t deep = (size_t)options->frequency * PERF_STACK_MAX / 1000 * PERF_DEEP_MS;
	const bool bounded = perf->event.clock || perf->event.counting;

	if (!(options->graph & PERF_GRAPH_DWARF))
		return 0;
	if (options->stack_bytes)
		return options->stack_bytes;
	return bounded && deep <= perf_full_bytes(perf) >> perf->shrink ? PERF_STACK_MAX : PERF_STACK_BYTES;
}

/* The number of feeds that are requested and, as far as is known, permitted. */
static unsigned perf_open_feeds(const struct perf *perf)
{
	return !perf->off_cpu ? PERF_SWITCHES : perf->wakes ? PERF_FEEDS : PERF_WAKES;
}

/* ---- kernel features ---- */

/* Wake-ups are not recorded, all else is. */
static void drop_wakers(struct perf *perf, const char *why)
{
	perf->wakes = 0;
	snprintf(perf->no_wakers, sizeof(perf->no_wakers), "%.127s", why);
}

/* Drop a feature that this kernel does not have or permit. Return: whether one was dropped. */
static bool drop_feature(struct perf *perf, enum perf_feed feed, int error)
{
	const bool forbidden = error == -EACCES || error == -EPERM;

	if (forbidden && feed == PERF_WAKES) {
		drop_wakers(perf, "sched:sched_waking is not permitted; run as root");
		return true;
	}
	if (forbidden && perf->kernel && !perf->options.system) {
		perf->kernel = perf->off_cpu = false;
		return true;
	}
	/*
	 * The kernel does not say which bit of the attributes it does not know. So the newest feature goes
	 * first.
	 */
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

/* ---- the tree ---- */

/*
 * Whether a thread's own event would miss much: it begins with a whole period. One that samples every occurrence misses
 * nothing. Threads that run already keep events of their own: they may be such that wake by timers, between which the
 * timer of a CPU falls too rarely (docs/decisions/0033). Tasks that these begin are sampled by CPU.
 */
static bool tree_helps(const struct perf *perf)
{
	const struct perf_options *options = &perf->options;

	if (options->system || options->thread)
		return false;
	return perf->event.clock || (options->command && perf->event.counting);
}

static void open_tree(struct perf *perf)
{
	if (tree_helps(perf))
		tree_open(&perf->tree, TREE_ROOM, perf->by_task, sizeof(perf->by_task));
}

/* Follow each task by events of its own instead. */
static void drop_tree(struct perf *perf, int error)
{
	tree_close(&perf->tree);
	snprintf(perf->by_task, sizeof(perf->by_task), "PERF_EVENT_IOC_SET_BPF: %s", strerror(-error));
}

/* Whether a CPU's event can be filtered; else there is no tree. */
static void probe_tree(struct perf *perf)
{
	struct perf_event_attr attr;
	int fd, error;

	perf_attr_tree(perf, &attr);
	fd = perf_attr_open(&attr, -1, 0);
	error = fd < 0 ? fd : tree_filter(&perf->tree, fd, false);
	if (error)
		drop_tree(perf, error);
	if (fd >= 0)
		close(fd);
}

/* Find out with test events what is available, before the real ones are opened. */
static int perf_open_probe(struct perf *perf)
{
	const bool system = perf->options.system;
	struct perf_event_attr attr;
	int fd = 0;

	for (unsigned feed = 0; feed < perf_open_feeds(perf) && fd >= 0; feed++) {
		do {
			perf_attr_fill(perf, feed, &attr);
			attr.disabled = 1;
			attr.enable_on_exec = 0;
			fd = perf_attr_open(&attr, system ? -1 : 0, system ? 0 : -1);
		} while (fd < 0 && drop_feature(perf, feed, fd) && feed < perf_open_feeds(perf));
		if (fd < 0 && feed < perf_open_feeds(perf))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	if (perf->tree.open)
		probe_tree(perf);
	return 0;
}

/* Find out whether the kernel publishes its clock as a function of the TSC. */
static void probe_clock(struct perf *perf)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };
	volatile struct perf_event_mmap_page *page;
	int fd = perf_attr_open(&attr, 0, -1);

	if (fd < 0)
		return;
	page = mmap(NULL, PERF_AREA_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		if (perf->options.is_tsc && page->cap_user_time_zero && page->time_mult)
			perf->time = (struct perf_time){ .by_page = true,
							 .zero = page->time_zero,
							 .mult = page->time_mult,
							 .shift = page->time_shift };
		munmap((void *)page, PERF_AREA_PAGE);
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

/* Map an area that begins small. Return: whether the ring has one now. */
static bool map_small(const struct perf *perf, struct perf_ring *ring)
{
	size_t bytes = 0;

	if (!perf_grow_begins_small(perf, &bytes) || perf_carrier(perf, &ring->area, ring->cpu, bytes) != 0)
		return false;
	ring->growth = PERF_SMALL;
	return true;
}

/*
 * A preempted thread does not wait, and its stack is of no use: most of the cost of a switch. Without the filter, which a kernel may not
 * have, the stack is read and not used.
 */
static void leave_out_preempted(const struct perf *perf, int fd)
{
	if (perf->stops)
		(void)ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "prev_state & 255");
}

static int keep_source(struct perf *perf, int fd, const struct perf_ring *ring)
{
	if (!array_reserve(perf->sources, perf->source_room, perf->source_count + 1))
		return -ENOMEM;
	perf->sources[perf->source_count++] = (struct perf_source){ fd, ring->cpu, ring->feed };
	return 0;
}

/* Open an event of one task on one CPU, which writes into the CPU's ring. If either is gone, that is not an error. */
static int add_source(struct perf *perf, const struct perf_event_attr *attr, pid_t tid,
		      struct perf_ring *ring)
{
	int fd = perf_attr_open(attr, tid, (int)ring->cpu), error = 0;

	if (fd < 0)
		return fd == -ESRCH || fd == -ENODEV ? 0 : fd;
	if (ring->feed == PERF_STOPS)
		leave_out_preempted(perf, fd);
	if (!ring->area.page && !(ring->feed == PERF_SAMPLES && map_small(perf, ring)))
		error = perf_area_map(perf, &ring->area, fd, perf_area_bytes(perf, ring->feed));
	else
		error = perf_redirect(fd, &ring->area);
	if (!error && ring->feed == PERF_SAMPLES && perf->tree.open && !attr->inherit)
		error = tree_filter(&perf->tree, fd, tid > 0);
	if (!error)
		error = keep_source(perf, fd, ring);
	if (error)
		close(fd);
	return error;
}

/* Open the events of all CPUs, which sample the tree. */
static int add_tree(struct perf *perf)
{
	struct perf_event_attr attr;
	int error = 0;

	perf_attr_tree(perf, &attr);
	for (unsigned cpu = 0; !error && cpu < perf->cpus; cpu++)
		error = add_source(perf, &attr, -1, &perf->rings[PERF_SAMPLES][cpu]);
	return error;
}

/* Open all events of a task. @tree: what it begins is in the tree, so it is sampled alone, and not at all if it is the command */
static int perf_open_add_task(struct perf *perf, pid_t tid, bool tree)
{
	const bool chosen = !perf->options.thread || tid == perf->options.thread;
	struct perf_event_attr attr;
	int error = 0;

	for (unsigned feed = 0; feed < (chosen ? perf_open_feeds(perf) : PERF_SIDE + 1); feed++) {
		if (feed == PERF_SAMPLES && tree && perf->options.command)
			continue;
		perf_attr_fill(perf, feed, &attr);
		if (feed == PERF_SAMPLES && tree)
			attr.inherit = 0;
		for (unsigned cpu = 0; !error && cpu < perf->cpus; cpu++)
			error = add_source(perf, &attr, tid, &perf->rings[feed][cpu]);
	}
	return error;
}

/* Open events for all threads of a process that are not in `seen`. Return: how many, or -errno. */
static int add_threads(struct perf *perf, pid_t process, char *seen)
{
	const bool tree = perf->tree.open && tree_knows(&perf->tree, process);
	char path[64];
	const struct dirent *entry;
	int count = 0, error = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	directory = opendir(path);
	if (!directory)
		return -ESRCH;
	while (errno = 0, !error && (entry = readdir(directory))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || tid >= PERF_THREADS * 64L || seen[tid / 8] & 1 << tid % 8)
			continue;
		seen[tid / 8] = (char)(seen[tid / 8] | 1 << tid % 8);
		error = perf_open_add_task(perf, (pid_t)tid, tree);
		count++;
	}
	if (!error)
		error = -errno;
	closedir(directory);
	return error ? error : count;
}

/* Open events for the threads of all processes that are known. Return: how many, or -errno. */
static int add_listed(struct perf *perf, char *seen)
{
	int count = 0;

	for (size_t n = 0; n < perf->processes.count; n++) {
		const pid_t process = perf->processes.pids[n];
		const int error = perf->tree.open ? tree_add(&perf->tree, process, TREE_PARENT) : 0,
			  found = error ? error : add_threads(perf, process, seen);

		if (found == -ESRCH) /* its end may have come before its entry */
			tree_remove(&perf->tree, process);
		else if (found < 0)
			return found;
		else
			count += found;
	}
	return count;
}

/*
 * Open events for all threads of running processes and of their descendants. New ones inherit them, are added by the
 * kernel, or are found by the next listing.
 */
static int add_processes(struct perf *perf)
{
	struct rlimit limit;
	char *seen = calloc(PERF_THREADS, 64 / 8);
	int found = 1, threads = 0, error = seen ? 0 : -ENOMEM;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) { /* there is a descriptor per thread, CPU and feed */
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	perf->processes.count = 0;
	for (size_t n = 0; !error && n < perf->options.process_count; n++)
		error = process_list_add(&perf->processes, (pid_t)perf->options.processes[n]);
	for (unsigned n = 0; !error && found > 0 && n < PERF_LISTINGS; n++) {
		if (!perf->options.thread)
			error = process_list_extend(&perf->processes);
		found = error ? error : add_listed(perf, seen);
		error = found < 0 ? found : 0;
		threads += found;
	}
	free(seen);
	return error ? error : threads ? 0 : -ESRCH;
}

void perf_forget_ended(struct perf *perf)
{
	struct process_list *list = &perf->processes;

	for (size_t n = 0; perf->tree.open && n < list->count;) {
		if (kill(list->pids[n], 0) == 0 || errno != ESRCH) {
			n++;
			continue;
		}
		tree_remove(&perf->tree, list->pids[n]);
		list->pids[n] = list->pids[--list->count];
	}
}

static int perf_open_make_rings(struct perf *perf)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	perf->cpus = cpus < 1 ? 1 : (unsigned)cpus;
	perf->wake = epoll_create1(EPOLL_CLOEXEC);
	return perf->wake < 0 ? -errno : perf_make_rings(perf);
}

int perf_make_rings(struct perf *perf)
{
	for (unsigned feed = 0; feed < perf_open_feeds(perf); feed++) {
		struct perf_ring *rings = calloc(perf->cpus, sizeof(*rings));

		if (!rings)
			return -ENOMEM;
		for (unsigned n = 0; n < perf->cpus; n++)
			rings[n] = (struct perf_ring){ .area = { .fd = -1 },
						       .larger = { .fd = -1 },
						       .former = { .fd = -1 },
						       .cpu = n,
						       .feed = feed };
		perf->rings[feed] = rings;
	}
	return 0;
}

/* Write the reason of an error, and what to do. */
static void perf_open_explain(const struct perf *perf, int error, char *why, size_t bytes)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		snprintf(why, bytes,
			 perf->options.system
				 ? "sampling the whole system is not permitted; run as root, or set "
				   "kernel.perf_event_paranoid to 0 or less"
				 : "perf_event_open is not permitted; run as root, or set "
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
		snprintf(why, bytes, "no such process");
		break;
	default:
		snprintf(why, bytes, "perf_event_open: %s", strerror(-error));
	}
}

static int open_all(struct perf *perf)
{
	int error = perf->rings[PERF_SIDE] ? 0 : perf_open_make_rings(perf);

	if (error)
		return error;
	if (perf->options.system)
		return perf_open_add_task(perf, -1, false);
	if (perf->tree.open)
		error = add_tree(perf);
	if (!error && perf->tree.open && perf->options.command)
		error = tree_add(&perf->tree, perf->options.command, TREE_WAITS);
	if (error)
		return error;
	return perf->options.command ? perf_open_add_task(perf, perf->options.command, perf->tree.open)
				     : add_processes(perf);
}

static void close_rings(struct perf_ring *rings, unsigned count)
{
	for (unsigned n = 0; rings && n < count; n++) {
		perf_area_free(&rings[n].area);
		perf_area_free(&rings[n].former);
	}
	free(rings);
}

static void perf_open_close_events(struct perf *perf)
{
	perf_grow_end(perf);
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

/* The limit on locked memory is for all rings together, so all of them become smaller. */
static int open_as_permitted(struct perf *perf)
{
	const size_t samples = perf_full_bytes(perf);
	const size_t largest = samples > PERF_RING_DWARF ? samples : PERF_RING_DWARF;
	int error;

	while ((error = open_all(perf)) == -ENOBUFS && largest >> perf->shrink > PERF_RING_MIN) {
		perf_open_close_events(perf);
		perf->shrink++;
		perf->stack_bytes = stack_bytes(perf);
	}
	return error;
}

/* A ring without an area gets one later. */
static void *map_all_small(void *data)
{
	struct perf *perf = data;

	for (unsigned n = 0; n < perf->cpus && map_small(perf, &perf->rings[PERF_SAMPLES][n]); n++)
		;
	return NULL;
}

/*
 * Open the tree, and meanwhile let a thread map the rings that begin small. The kernel takes a millisecond for the one, and as
 * long for two of the others. Not the other way round: the end of a thread needs the lock that is held while a ring is mapped.
 */
static int open_tree_and_areas(struct perf *perf)
{
	size_t bytes;
	pthread_t thread;
	const int error = perf_open_make_rings(perf);
	const bool beside = !error && tree_helps(perf) && perf_grow_begins_small(perf, &bytes) &&
			    pthread_create(&thread, NULL, map_all_small, perf) == 0;

	open_tree(perf);
	if (beside)
		pthread_join(thread, NULL);
	return error;
}

/* Probe what is available. If that is less, the rings so far may be wrong. */
static int probe_rings(struct perf *perf)
{
	const bool kernel = perf->kernel, off_cpu = perf->off_cpu, counts_lost = perf->counts_lost,
		   wakes = perf->wakes;
	const int error = perf_open_probe(perf);

	if (kernel != perf->kernel || off_cpu != perf->off_cpu || counts_lost != perf->counts_lost ||
	    wakes != (perf->wakes != 0))
		perf_open_close_events(perf);
	return error;
}

/* Find the tracepoints of stops and wake-ups. Without the right to read tracefs, stops are by a software event. */
static void find_tracepoints(struct perf *perf)
{
	static const char waking[] = "sched:sched_waking";
	struct perf_choice event;
	char why[256];

	if (!perf->off_cpu)
		return;
	if (perf_event_find(&event, "sched:sched_switch", why, sizeof(why)) == 0)
		perf->stops = event.config;
	if (!perf->options.wakers)
		return;
	if (perf_event_find(&event, waking, why, sizeof(why)) != 0)
		drop_wakers(perf, why);
	else if (perf_event_field(waking, "pid", &perf->woken) != 0)
		drop_wakers(perf, "the kernel describes no pid of sched:sched_waking");
	else
		perf->wakes = event.config;
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
	if (options->label)
		snprintf(perf->event.name, sizeof(perf->event.name), "%s", options->label);
	find_tracepoints(perf);
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
	probe_clock(perf);
	perf->stack_bytes = stack_bytes(perf);
	error = open_tree_and_areas(perf);
	if (!error)
		error = probe_rings(perf);
	if (!error)
		error = open_as_permitted(perf);
	if (error) {
		perf_open_explain(perf, error, why, bytes);
		perf_close(perf);
		return error;
	}
	perf_update_clock(perf);
	return 0;
}

void perf_close(struct perf *perf)
{
	perf_open_close_events(perf);
	tree_close(&perf->tree);
	process_list_free(&perf->processes);
}
