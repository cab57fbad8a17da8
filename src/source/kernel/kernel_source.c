/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's tracepoints; see kernel_source.h.
 *
 * The state of a ring's control says whether programs may append: absent, ready (start_programs()), absent again
 * (stop_programs()). All tracepoints are attached while it is absent, so all of them begin at one moment, and a
 * wake-up is not missing because its tracepoint came last. Only the recorder changes it.
 *
 * The end needs no wait for the kernel. A program takes the ring's lock, then loads the state; the recorder stores
 * the state, then loads the lock. Both order their store before their load: so the program sees that the ring is
 * absent, or the recorder sees the lock and waits for it. Behind that nothing is appended, though programs stay
 * attached. So the recorder itself may append (append_asleep()).
 *
 * `from` and `to` are the times between which nothing is missing, and the trace has them. They keep a distance of
 * EXACT_NS from the stores of the state: by less than that a time may differ if it is converted with other pairs of
 * the clock.
 *
 * A program that the kernel refuses is written again in a poorer form (kernel_attach.h), and probes are attached one at a time. A
 * tracepoint that fails in each form is left out and reported; the recording fails if none is left.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "session/clock.h"
#include "source/kernel/programs/kernel_append.h"
#include "source/kernel/programs/kernel_asleep.h"
#include "source/kernel/programs/kernel_attach.h"
#include "source/kernel/programs/kernel_calls.h"
#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/bpf/kernel_packets.h"
#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/kernel_rights.h"
#include "source/kernel/kernel_share.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/bpf/kernel_types.h"
#include "source/kernel/probes/probe.h"
#include "source/kernel/points/tracefs.h"
#include "source/kernel/mechanisms/tracefs_instance.h"

static const char tracefs_word[] = "tracefs";
enum {
	EXACT_NS = 10000, /* the conversion of a time that is near a pair of the clock is less wrong */
};

/* Whether a mechanism was chosen by the environment. */
static bool is_forced(const char *mechanism)
{
	const char *chosen = getenv(KERNEL_MECHANISM);

	return chosen && strcmp(chosen, mechanism) == 0;
}

/* ---- rings */

static unsigned window_of(uint64_t bytes)
{
	unsigned window = WIRE_RING_PACKETS_MIN;

	while (window < (1 << 14) && (uint64_t)window * 2 * KERNEL_PACKET <= bytes)
		window *= 2;
	return window;
}

/* Compact records of a packet lie within 2^32 ticks; a little less, since the conversion is not exact. */
static unsigned reach_of(uint64_t hz)
{
	const uint64_t ns = (uint64_t)((unsigned __int128)UINT32_MAX * 990000000 / hz);

	return ns < KERNEL_REACH_MAX ? (unsigned)ns : KERNEL_REACH_MAX;
}

static void init_ring(struct kernel_source *source, unsigned n)
{
	struct kernel_ring *shared =
		(struct kernel_ring *)(source->memory + (size_t)n * kernel_ring_bytes(source->layout.window));

	shared->header = source->session->header;
	shared->header.stream_instance = WIRE_KERNEL_INSTANCE + n;
	shared->header.cpu = n / KERNEL_DEPTHS;
	shared->header.sequence = WIRE_SEQUENCE_NONE;
	shared->control.size = source->layout.window;
	source->rings[n] = kernel_ring_view(source->memory, n, &source->layout, &source->session->header);
}

/* The memory of the rings: a map of the kernel, or our own. Return: NULL: errno. */
static void *make_memory(struct kernel_source *source, unsigned bytes, unsigned count)
{
	int flags = MAP_SHARED;
	void *memory;

	if (source->mechanism != KERNEL_BY_BPF) {
		flags = MAP_PRIVATE | MAP_ANONYMOUS;
	} else {
		source->layout.rings = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
								       bytes, count, BPF_F_MMAPABLE });
		if (source->layout.rings < 0) {
			errno = -source->layout.rings;
			return NULL;
		}
	}
	memory = mmap(NULL, (size_t)bytes * count, PROT_READ | PROT_WRITE, flags, source->layout.rings, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static int kernel_source_make_rings(struct kernel_source *source, uint64_t buffer_bytes)
{
	const unsigned count = kernel_ring_count();
	unsigned bytes;

	source->layout.window = window_of(buffer_bytes);
	source->layout.reach = reach_of(session_clock_hz(source->session));
	bytes = kernel_ring_bytes(source->layout.window);
	source->rings = calloc(count, sizeof(*source->rings));
	if (!source->rings)
		return -ENOMEM;
	source->memory = make_memory(source, bytes, count);
	if (!source->memory)
		return -errno;
	source->memory_bytes = (size_t)bytes * count;
	for (unsigned n = 0; n < count; n++)
		init_ring(source, n);
	source->more.rings = source->rings;
	source->more.count = count;
	return kernel_reader_begin(&source->reader, source->rings, count, &source->clock,
				   source->layout.overwrite ? NULL : &source->names, source->layout.context);
}

/* Make a flight recorder's own parts: a pass for names, and the clock for snapshots by other processes. */
static int make_flight(struct kernel_source *source)
{
	const unsigned count = source->more.count;
	int error = kernel_reader_begin(&source->watcher, source->rings, count, &source->clock,
					&source->names, source->layout.context);

	if (!error)
		error = kernel_reader_begin(&source->snapshot, source->rings, count, &source->clock, NULL,
					    source->layout.context);
	source->cursors = calloc(count, sizeof(*source->cursors));
	source->packet = aligned_alloc(4096, KERNEL_PACKET);
	if (error || !source->cursors || !source->packet)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++)
		source->cursors[n].passive = true;
	return kernel_share(source->session, source->layout.rings, source->memory, &source->clock_map,
			    &source->published);
}

/* ---- programs */

/* A point and its program. */
struct attached {
	const struct kernel_source *source;
	const struct kernel_points *points;
	size_t n;
};

static bool write_point(const void *context, struct bpf_program *code)
{
	const struct attached *at = context;

	return kernel_program_write(code, &at->source->layout, &at->points->points[at->n],
				    kernel_points_filter(at->points, at->n), at->points->ids[at->n]);
}

static int attach_point(struct kernel_source *source, const struct kernel_points *points, size_t n)
{
	if (!points->ids[n])
		return -EEXIST;
	return kernel_attach_point(&source->files, &source->layout, &points->points[n], write_point,
				   &(struct attached){ source, points, n });
}

/*
 * Attach one program to probes that are alike, from the first one on. If the kernel refuses, one of them may be the reason, so
 * it is tried with fewer.
 * Return: how many; 0: the kernel cannot
 */
static size_t attach_alike(struct kernel_source *source, const struct kernel_points *all, size_t first)
{
	const struct tracepoint *points = &all->points[first];
	struct bpf_program code;
	size_t count = 0;
	int program;

	while (first + count < all->count && all->ids[first + count] && probe_is_like(points, &points[count]))
		count++;
	if (count < 2 || source->one_by_one ||
	    !kernel_program_write(&code, &source->layout, points, kernel_points_filter(all, first), 0))
		return 0;
	program = kernel_files_keep_program(&source->files, bpf_load_places(&code));
	for (; program >= 0 && count >= 2; count /= 2)
		if (kernel_files_keep(&source->files, probe_attach_all(points, &all->ids[first],
								       (unsigned)count, program)) == 0)
			return count;
	source->one_by_one = true;
	return 0;
}

static void note_refused(struct kernel_source *source, const struct tracepoint *point, int error)
{
	const char *name = point->event + sizeof(TRACEPOINT_PREFIX) - 1;

	if (error && !source->refused++) {
		if (point->refused)
			snprintf(source->refused_why, KERNEL_WHY, "%s: %s", name, point->refused);
		else
			kernel_rights_describe(source->refused_why, KERNEL_WHY, error, name);
		source->refused_error = error;
	}
	source->events -= error != 0;
}

/* Attach to all that can be. Return: 0; -errno: to none. */
static int kernel_source_attach(struct kernel_source *source, const struct kernel_points *points)
{
	const bool untyped = is_forced("bpf-untyped");
	bool calls = false, enters;
	int error = 0;

	if (!untyped)
		kernel_types_task(&source->layout.task);
	if (kernel_has_registers(&source->layout) && kernel_points_have(points, TRACEPOINT_INTERRUPT))
		kernel_packets_attach(&source->files, &source->layout, source->more.count / KERNEL_DEPTHS);
	for (size_t n = 0, alike; n < points->count; n += alike ? alike : 1) {
		alike = 0;
		if (points->points[n].refused) {
			note_refused(source, &points->points[n], -ENOTSUP);
			continue;
		}
		if (points->points[n].is_late || tracepoint_syscall(&points->points[n], &enters)) {
			calls = true;
			continue;
		}
		if (points->points[n].is_probe)
			alike = attach_alike(source, points, n);
		error = alike ? 0 : attach_point(source, points, n);
		note_refused(source, &points->points[n], error);
	}
	error = calls ? kernel_calls_attach(&source->files, &source->layout, points, untyped) : 0;
	return error ? error : source->events ? 0 : source->refused_error;
}

/* ---- threads that sleep all the time */

/* Beside switches, and at the end only, which a flight recorder's rings have no room for. */
static void prepare_asleep(struct kernel_source *source)
{
	struct tracepoint event;

	for (size_t n = 0; n < source->points.count && !source->asleep; n++) {
		if (source->layout.overwrite || !tracepoint_has_calls(&source->points.points[n]))
			continue;
		source->asleep_program = kernel_asleep_open(&source->layout);
		kernel_asleep_describe(&event);
		if (source->asleep_program < 0 ||
		    kernel_files_keep(&source->files, source->asleep_program) != 0 ||
		    kernel_points_register_one(&event, source->session, &source->asleep) != 0)
			return;
	}
	source->begin_ns = clock_ns(CLOCK_MONOTONIC);
}

/* Append a thread to the first ring, to which nothing else appends any more. */
static void append_asleep(void *context, const struct kernel_asleep *thread)
{
	struct kernel_source *source = context;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), asleep = now - source->begin_ns;
	struct kernel_ring *ring = (struct kernel_ring *)source->memory;
	char payload[sizeof(asleep) + sizeof(*thread)], *end = payload;

	if (source->layout.members >= 0 && (thread->tid >= KERNEL_FOLLOW_TASKS ||
					    source->follow.tasks[thread->tid] != KERNEL_FOLLOW_RECORDED))
		return;
	end = mempcpy(end, &asleep, sizeof(asleep));
	end = mempcpy(end, &thread->tid, sizeof(thread->tid));
	end = mempcpy(end, &thread->state, sizeof(thread->state));
	end = mempcpy(end, &thread->call, sizeof(thread->call));
	end = stpcpy(end, thread->stack) + 1;
	if (!kernel_append(ring, &source->layout,
			   &(struct kernel_record){ .id = source->asleep,
						    .tid = thread->tid,
						    .ns = now,
						    .payload = payload,
						    .bytes = (unsigned)(end - payload) }))
		__atomic_fetch_add(&ring->control.lost[WIRE_LOST_FULL], 1, __ATOMIC_RELAXED);
}

/* The moment in ticks. A record of the same moment differs by less than EXACT_NS, whatever pairs of the clock follow. */
static uint64_t kernel_source_ticks_of(struct kernel_source *source, int64_t ns)
{
	kernel_clock_round(&source->clock);
	return kernel_clock_ticks(&source->clock, (uint64_t)ns);
}

/* Let all programs append from one moment on: a wake-up is not missing because another tracepoint was attached before. */
static void start_programs(struct kernel_source *source)
{
	for (unsigned n = 0; n < source->more.count; n++)
		__atomic_store_n(&source->rings[n].control->state, WIRE_RING_READY, __ATOMIC_SEQ_CST);
	source->from = kernel_source_ticks_of(source, (int64_t)clock_ns(CLOCK_MONOTONIC) + EXACT_NS);
}

/* ---- the drain's side */

static void count_missed(struct kernel_source *source)
{
	uint64_t missed = 0;

	for (size_t n = 0; n < source->files.program_count; n++)
		missed += bpf_missed(source->files.programs[n]);
	if (missed > source->missed && source->memory)
		__atomic_fetch_add(&source->rings[0].control->lost[WIRE_LOST_BUSY], missed - source->missed,
				   __ATOMIC_RELAXED);
	source->missed = missed;
}

/* A call that has not ended, or whose thread was killed in it, is not read any more. */
static void kernel_source_count_unread(struct kernel_source *source)
{
	uint32_t key;

	if (source->layout.late < 0)
		return;
	source->unread =
		bpf_map_count(source->layout.late, &key, KERNEL_LATE_CALLS) +
		__atomic_load_n(&((const struct kernel_ring *)source->memory)->unread, __ATOMIC_RELAXED);
}

/*
 * The flight recorder's rounds: names of threads must be asked for while they live, and announced before a snapshot, which
 * may be another process.
 */
static void note_names(struct kernel_source *source)
{
	struct ring_piece piece;

	for (unsigned n = 0; n < source->more.count; n++)
		for (unsigned pieces = source->layout.window + 2; pieces > 0; pieces--) {
			if (ring_copy(&source->rings[n], &source->cursors[n], source->packet, &piece) <= 0)
				break;
			kernel_reader_convert(&source->watcher, n, (struct wire_packet *)source->packet,
					      &piece);
		}
}

static void kernel_source_round_begins(void *context)
{
	struct kernel_source *source = context;

	if (source->mechanism == KERNEL_BY_PERF)
		kernel_perf_read(&source->perf, false);
	if (source->mechanism == KERNEL_BY_TRACEFS)
		kernel_tracefs_read(&source->tracefs, false);
	kernel_clock_round(&source->clock);
	if (!source->cursors)
		return;
	kernel_clock_publish(source->published, &source->clock);
	note_names(source);
}

static void kernel_source_translate(void *context, unsigned ring, struct wire_packet *packet,
				    const struct ring_piece *piece)
{
	struct kernel_source *source = context;

	kernel_reader_convert(&source->reader, ring, packet, piece);
}

/* ---- the whole */

/* Whether only programs can do what was asked for. Return: 0; -ENOTSUP and *@why. */
static int needs_programs(const struct kernel_options *options, const struct kernel_points *points,
			  char why[KERNEL_WHY])
{
	const char *what = options->overwrite ? "the flight recorder" : NULL;

	for (size_t n = 0; n < points->count && !what; n++)
		if (points->points[n].id >= PROBE_FIRST_ID)
			what = points->points[n].event + sizeof(TRACEPOINT_PREFIX) - 1;
	if (!what)
		return 0;
	snprintf(why, KERNEL_WHY, "%.80s takes programs in the kernel (BPF), which may not be loaded here",
		 what);
	return -ENOTSUP;
}

/* Records of tracefs have no process id, so a filter by it takes perf events. */
static int check_tracefs(struct kernel_source *source, char why[KERNEL_WHY])
{
	for (size_t n = 0; n < source->points.count; n++)
		if (kernel_filter_needs_pid(kernel_points_filter(&source->points, n))) {
			source->mechanism = KERNEL_BY_PERF;
			break;
		}
	if (source->mechanism == KERNEL_BY_TRACEFS || !is_forced(tracefs_word))
		return 0;
	snprintf(why, KERNEL_WHY, "records of tracefs have no process id for --k-where");
	return -ENOTSUP;
}

/* Choose the tracepoints and their filters. */
static int kernel_source_choose(struct kernel_source *source, const struct kernel_options *options,
				int events, char why[KERNEL_WHY])
{
	struct kernel_points *points = &source->points;
	const bool programs = source->mechanism == KERNEL_BY_BPF;
	int error = kernel_points_choose(points, events, options->globs, programs, why);

	if (!error && !programs)
		error = needs_programs(options, points, why);
	if (!error && !programs)
		source->without_texts = kernel_points_without_texts(points);
	source->without_unnamed = points->has_unnamed && !programs;
	if (!error && programs)
		error = kernel_points_add_late(points, events);
	if (!error && options->where)
		error = kernel_points_compile(points, "--k-where", options->where, programs, why);
	if (!error && source->mechanism == KERNEL_BY_TRACEFS)
		error = check_tracefs(source, why);
	if (error && error != -ENOENT && error != -ENOTSUP)
		kernel_rights_describe(why, KERNEL_WHY, error, tracefs_word);
	return error;
}

static int attach_perf(struct kernel_source *source, const struct kernel_options *options, int events)
{
	const unsigned cpus = source->more.count / KERNEL_DEPTHS;
	int error = kernel_perf_open(&source->perf, events, &source->points, &source->layout, source->memory,
				     cpus, options->buffer_bytes / 2);

	if (!error && options->all)
		error = kernel_perf_follow(&source->perf, -1, false);
	return error;
}

static int attach_tracefs(struct kernel_source *source, const struct kernel_options *options, int events)
{
	const unsigned cpus = source->more.count / KERNEL_DEPTHS;
	int error = kernel_tracefs_open(&source->tracefs, events, &source->points, &source->layout,
					source->memory, cpus, options->buffer_bytes / 2);

	for (size_t n = 0; n < source->points.count && !error; n++)
		note_refused(source, &source->points.points[n],
			     kernel_tracefs_enable(&source->tracefs, &source->points.points[n]));
	if (!error && !source->events)
		error = source->refused_error;
	if (!error && options->all)
		error = kernel_tracefs_follow(&source->tracefs, -1, false);
	return error;
}

/* Attach by the mechanism; without tracefs by perf events. */
static int attach_by(struct kernel_source *source, const struct kernel_options *options, int events)
{
	int error;

	if (source->mechanism == KERNEL_BY_BPF)
		return kernel_source_attach(source, &source->points);
	if (source->mechanism == KERNEL_BY_TRACEFS) {
		error = attach_tracefs(source, options, events);
		if (!error || is_forced(tracefs_word))
			return error;
		kernel_tracefs_close(&source->tracefs);
		source->refused = 0;
		source->events = (unsigned)source->points.count;
		source->mechanism = KERNEL_BY_PERF;
	}
	return attach_perf(source, options, events);
}

static int open_mechanism(struct kernel_source *source, const struct kernel_options *options, int events)
{
	int error = 0;

	if (!options->all && source->mechanism == KERNEL_BY_BPF) {
		error = kernel_follow_open(&source->follow, events);
		source->layout.members = source->follow.members;
		source->layout.met = source->follow.met;
	}
	if (!error)
		error = kernel_source_make_rings(source, options->buffer_bytes);
	if (!error)
		error = task_names_begin(&source->names, source->session, source->layout.met);
	if (!error)
		error = kernel_points_register(&source->points, source->session);
	if (error)
		return error;
	source->events = (unsigned)source->points.count - source->points.late;
	kernel_points_names(&source->points, &source->names);
	kernel_clock_begin(&source->clock, source->session->geometry.clock,
			   session_clock_hz(source->session));
	source->clock.all = options->overwrite;
	if (options->overwrite)
		error = make_flight(source);
	if (error)
		return error;
	kernel_files_raise_limit();
	error = attach_by(source, options, events);
	if (error)
		return error;
	if (source->mechanism == KERNEL_BY_BPF)
		prepare_asleep(source);
	start_programs(source);
	return 0;
}

static int kernel_source_open_parts(struct kernel_source *source, const struct kernel_options *options,
				    int events, char why[KERNEL_WHY])
{
	const bool forced = is_forced("perf") || is_forced(tracefs_word);
	const int refused = forced ? -ENOSYS : kernel_rights_programs();
	int error;

	source->mechanism = !refused ? KERNEL_BY_BPF : is_forced("perf") ? KERNEL_BY_PERF : KERNEL_BY_TRACEFS;
	error = kernel_source_choose(source, options, events, why);
	if (error)
		return error;
	error = open_mechanism(source, options, events);
	if (error == -E2BIG && options->where) {
		snprintf(why, KERNEL_WHY,
			 "--k-where is too long for a program of the kernel; use fewer comparisons, above "
			 "all with arrays");
		return -ENOENT;
	}
	if (error && source->mechanism == KERNEL_BY_TRACEFS)
		snprintf(why, KERNEL_WHY, "tracefs gives no instance: %s", strerror(-error));
	else if (error)
		kernel_rights_describe(why, KERNEL_WHY, refused && refused != -ENOSYS ? refused : error,
				       refused ? "BPF and perf events" : "BPF");
	return error;
}

int kernel_source_open(struct kernel_source *source, struct session *session,
		       const struct kernel_options *options, char why[KERNEL_WHY])
{
	int events, error;

	*source = (struct kernel_source){
		.session = session,
		.points = { .names_tasks = true },
		.follow = { .met = -1, .members = -1 },
		.layout = { .rings = -1,
			    .members = -1,
			    .met = -1,
			    .late = -1,
			    .packets = -1,
			    .overwrite = options->overwrite,
			    .context = session->geometry.context },
		.clock_map = -1,
		.tracefs = { .events = -1, .instance = -1, .tasks = -1 },
	};
	for (unsigned n = 0; n < KERNEL_FOLLOW_PROGRAMS; n++)
		source->follow.watches[n] = source->follow.programs[n] = -1;
	source->more = (struct drain_more){ .round = kernel_source_round_begins,
					    .translate = kernel_source_translate,
					    .context = source };
	events = kernel_rights_tracefs(why, KERNEL_WHY);
	if (events < 0)
		return events;
	tracefs_instance_sweep(events);
	error = kernel_source_open_parts(source, options, events, why);
	close(events);
	if (error) {
		kernel_source_finish(source);
		kernel_source_close(source);
	}
	return error;
}

bool kernel_source_has_all_calls(const struct kernel_source *source)
{
	return source->mechanism == KERNEL_BY_BPF && !source->refused &&
	       kernel_tells_interfaces(&source->layout) && kernel_points_have_all_calls(&source->points);
}

/* Let no program append any more: those that have not seen the state hold a lock. */
static void stop_programs(struct kernel_source *source)
{
	source->to = kernel_source_ticks_of(source, (int64_t)clock_ns(CLOCK_MONOTONIC) - EXACT_NS);
	for (unsigned n = 0; n < source->more.count; n++)
		__atomic_store_n(&source->rings[n].control->state, WIRE_RING_ABSENT, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; n < source->more.count; n++)
		while (__atomic_load_n(&source->rings[n].control->lock, __ATOMIC_SEQ_CST))
			sched_yield();
}

static void kernel_source_detach(struct kernel_source *source)
{
	const int holder = kernel_files_hold();

	kernel_files_close(&source->files);
	for (size_t n = 0; n < source->perf.count; n++)
		close(source->perf.events[n]);
	source->perf.count = 0;
	kernel_follow_close(&source->follow);
	kernel_files_release(holder);
}

const struct drain_more *kernel_source_snapshot(struct kernel_source *source)
{
	kernel_source_round_begins(source);
	memset(source->snapshot.times, 0, source->more.count * sizeof(*source->snapshot.times));
	return &source->snapshot.more;
}

int kernel_source_command(struct kernel_source *source, pid_t child)
{
	if (source->mechanism == KERNEL_BY_PERF)
		return kernel_perf_follow(&source->perf, child, true);
	if (source->mechanism == KERNEL_BY_TRACEFS)
		return kernel_tracefs_follow(&source->tracefs, child, true);
	kernel_follow_command(&source->follow, child);
	return 0;
}

/* Each thread has its own perf events, or is named to tracefs. One that has ended meanwhile has none. */
static int follow_thread(void *context, pid_t thread)
{
	struct kernel_source *source = context;
	const int error = source->mechanism == KERNEL_BY_PERF
				  ? kernel_perf_follow(&source->perf, thread, false)
				  : kernel_tracefs_follow(&source->tracefs, thread, false);

	return error == -ESRCH ? 0 : error;
}

int kernel_source_process(struct kernel_source *source, pid_t process)
{
	if (source->mechanism != KERNEL_BY_BPF)
		return kernel_follow_threads(process, follow_thread, source);
	return kernel_follow_process(&source->follow, process);
}

void kernel_source_finish(struct kernel_source *source)
{
	if (source->published)
		kernel_share_end(source->session);
	if (source->mechanism == KERNEL_BY_PERF) {
		kernel_perf_stop(&source->perf);
		kernel_perf_read(&source->perf, true);
	} else if (source->mechanism == KERNEL_BY_TRACEFS) {
		kernel_tracefs_stop(&source->tracefs);
		kernel_tracefs_read(&source->tracefs, true);
		kernel_tracefs_close(&source->tracefs);
	} else {
		stop_programs(source);
		count_missed(source);
		kernel_source_count_unread(source);
		if (source->asleep)
			kernel_asleep_each(source->asleep_program, append_asleep, source);
	}
	kernel_source_detach(source);
}

void kernel_source_close(struct kernel_source *source)
{
	if (source->memory)
		munmap(source->memory, source->memory_bytes);
	if (source->layout.rings >= 0)
		close(source->layout.rings);
	kernel_perf_close(&source->perf);
	kernel_tracefs_close(&source->tracefs);
	kernel_points_free(&source->points);
	task_names_free(&source->names);
	if (source->published)
		munmap(source->published, sizeof(*source->published));
	if (source->clock_map >= 0)
		close(source->clock_map);
	kernel_reader_free(&source->reader);
	kernel_reader_free(&source->watcher);
	kernel_reader_free(&source->snapshot);
	free(source->cursors);
	free(source->packet);
	free(source->rings);
	kernel_files_free(&source->files);
	*source = (struct kernel_source){ .layout = { .rings = -1, .members = -1, .late = -1, .packets = -1 },
					  .clock_map = -1,
					  .tracefs = { .events = -1, .instance = -1, .tasks = -1 } };
}
