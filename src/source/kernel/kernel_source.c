/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's tracepoints; see kernel_source.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "session/clock.h"
#include "source/kernel/kernel_function.h"
#include "source/kernel/kernel_share.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe.h"
#include "source/kernel/syscall_numbers.h"
#include "source/kernel/tracefs.h"

enum {
	SOURCE_CALLS = 512, /* numbers of system calls; the largest is below */
};

static const unsigned INITIAL_PIDS = 0xEFFFFFFC; /* inode of the initial PID namespace */

/* The tracepoints to attach, and their events. */
struct choice {
	struct tracepoint *points;
	struct session_event *events;
	uint16_t *ids;
	size_t count, room;
	int *files; /* of probes */
	size_t file_count, file_room;
};

/* ---- tracepoints and events */

static int add_point(void *context, const struct tracepoint *point)
{
	struct choice *choice = context;

	for (size_t n = 0; n < choice->count; n++)
		if (choice->points[n].id == point->id)
			return 0;
	if (!array_reserve(choice->points, choice->room, choice->count + 1))
		return -ENOMEM;
	choice->points[choice->count++] = *point;
	return 0;
}

/* Whether a tracepoint of system calls is one that the programs know. */
static const struct syscall_number *number_of(const struct tracepoint *point, bool *enters)
{
#ifdef __x86_64__
	const char *name = tracepoint_syscall(point, enters);

	for (unsigned n = 0; name && n < syscall_count; n++)
		if (strcmp(syscall_numbers[n].name, name) == 0 && syscall_numbers[n].number < SOURCE_CALLS)
			return &syscall_numbers[n];
#else
	(void)point;
	(void)enters;
#endif
	return NULL;
}

/* Leave out system calls whose numbers are unknown. */
static void leave_out(struct choice *choice)
{
	size_t kept = 0;
	bool enters;

	for (size_t n = 0; n < choice->count; n++) {
		if (tracepoint_syscall(&choice->points[n], &enters) &&
		    !number_of(&choice->points[n], &enters))
			continue;
		if (kept != n)
			choice->points[kept] = choice->points[n];
		kept++;
	}
	choice->count = kept;
}

static int register_events(struct kernel_source *source, struct choice *choice)
{
	int error;

	choice->events = calloc(choice->count, sizeof(*choice->events));
	choice->ids = calloc(choice->count, sizeof(*choice->ids));
	if (!choice->events || !choice->ids)
		return -ENOMEM;
	for (size_t n = 0; n < choice->count; n++)
		choice->events[n] = (struct session_event){ .name = choice->points[n].event,
							    .format = choice->points[n].format,
							    .file = "",
							    .types = choice->points[n].types };
	error = session_event_register(source->session, choice->events, (unsigned)choice->count, choice->ids);
	for (size_t n = 0; n < choice->count && !error; n++) {
		/* Two probes of one name may have other arguments; the second one is not recorded. */
		if (!choice->ids[n] && choice->points[n].id < PROBE_FIRST_ID)
			error = -ENOSPC;
		if (strcmp(choice->points[n].event, TRACEPOINT_PREFIX "task:task_newtask") == 0) {
			source->names.made = choice->points[n];
			source->names.made_id = choice->ids[n];
		}
		if (strcmp(choice->points[n].event, TRACEPOINT_PREFIX "task:task_rename") == 0) {
			source->names.renamed = choice->points[n];
			source->names.renamed_id = choice->ids[n];
		}
	}
	source->events = (unsigned)choice->count;
	return error;
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
	shared->control.state = WIRE_RING_READY;
	shared->control.size = source->layout.window;
	source->rings[n] = kernel_ring_view(source->memory, n, &source->layout, &source->session->header);
}

static int make_rings(struct kernel_source *source, uint64_t buffer_bytes)
{
	const unsigned count = source->session->geometry.cpus * KERNEL_DEPTHS;
	unsigned bytes;
	void *memory;

	source->layout.window = window_of(buffer_bytes);
	source->layout.reach = reach_of(session_clock_hz(source->session));
	bytes = kernel_ring_bytes(source->layout.window);
	source->layout.rings = bpf_map_make(
		&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), bytes, count, BPF_F_MMAPABLE });
	if (source->layout.rings < 0)
		return source->layout.rings;
	source->rings = calloc(count, sizeof(*source->rings));
	if (!source->rings)
		return -ENOMEM;
	memory = mmap(NULL, (size_t)bytes * count, PROT_READ | PROT_WRITE, MAP_SHARED, source->layout.rings,
		      0);
	if (memory == MAP_FAILED)
		return -errno;
	source->memory = memory;
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

/* Each tracepoint needs two descriptors. The limit of the recorder itself is raised; the command has begun before. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int keep_file(struct kernel_source *source, int file)
{
	if (file < 0)
		return file;
	if (!array_reserve(source->files, source->file_room, source->file_count + 1)) {
		close(file);
		return -ENOMEM;
	}
	source->files[source->file_count++] = file;
	return 0;
}

/* Keep a program. Return: its descriptor, which the source keeps; -errno. */
static int keep_program(struct kernel_source *source, int program)
{
	int error = keep_file(source, program);

	if (!error && !array_reserve(source->programs, source->program_room, source->program_count + 1))
		error = -ENOMEM;
	if (error)
		return error;
	source->programs[source->program_count++] = program;
	return program;
}

static int load(struct kernel_source *source, enum bpf_prog_type type, const struct bpf_program *code)
{
	return keep_program(source, bpf_load(type, code));
}

static int attach_point(struct kernel_source *source, const struct tracepoint *point, uint16_t id)
{
	struct bpf_program code;
	int program;

	if (!id)
		return -EEXIST;
	if (!kernel_program_write(&code, &source->layout, point, id))
		return -E2BIG;
	if (point->function) {
		program = keep_program(source, bpf_load_function(&code, point->function, point->is_return));
		return program < 0 ? program : keep_file(source, bpf_attach_function(program));
	}
	program = load(source, point->is_probe ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACEPOINT, &code);
	if (program < 0)
		return program;
	return keep_file(source, point->is_probe ? probe_attach(point, program)
						 : bpf_attach_tracepoint(point->id, program));
}

/* Describe a system call to the programs. */
static void describe_call(struct kernel_syscall *call, const struct tracepoint *point, bool enters,
			  uint16_t id)
{
	if (!enters) {
		call->exit = id;
		return;
	}
	call->enter = id;
	call->count = (uint8_t)(point->count < 6 ? point->count : 6);
	for (unsigned n = 0; n < call->count; n++) {
		call->shorts |= (uint8_t)((point->fields[n].bytes == 4) << n);
		call->texts |= (uint8_t)((point->fields[n].kind == TRACEPOINT_USER_TEXT) << n);
	}
}

static int attach_calls(struct kernel_source *source, const struct choice *choice)
{
	struct kernel_syscall calls[SOURCE_CALLS] = { { 0 } };
	bool enter = false, leave = false, enters;
	struct bpf_program code;
	int map, program, error = 0;

	for (size_t n = 0; n < choice->count; n++) {
		const struct syscall_number *number = number_of(&choice->points[n], &enters);

		if (!number)
			continue;
		describe_call(&calls[number->number], &choice->points[n], enters, choice->ids[n]);
		enter |= enters;
		leave |= !enters;
	}
	if (!enter && !leave)
		return 0;
	map = bpf_map_make(
		&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(calls[0]), SOURCE_CALLS, 0 });
	error = keep_file(source, map);
	for (uint32_t n = 0; n < SOURCE_CALLS && !error; n++)
		if (calls[n].enter || calls[n].exit)
			error = bpf_map_set(map, &n, &calls[n]);
	for (int which = 0; which < 2 && !error; which++) {
		if (!(which ? leave : enter))
			continue;
		(which ? kernel_program_exit : kernel_program_enter)(&code, &source->layout, map,
								     SOURCE_CALLS);
		program = load(source, BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
		error = program < 0 ? program
				    : keep_file(source, bpf_watch(which ? "sys_exit" : "sys_enter", program));
	}
	return error;
}

/*
 * Attach one program to probes that are alike, from the first one on. If the kernel refuses, one of them may be the reason, so
 * it is tried with fewer.
 * Return: how many; 0: the kernel cannot
 */
static size_t attach_alike(struct kernel_source *source, const struct choice *choice, size_t first)
{
	const struct tracepoint *points = &choice->points[first];
	struct bpf_program code;
	size_t count = 0;
	int program;

	while (first + count < choice->count && choice->ids[first + count] &&
	       probe_is_like(points, &points[count]))
		count++;
	if (count < 2 || source->one_by_one || !kernel_program_write(&code, &source->layout, points, 0))
		return 0;
	program = keep_program(source, bpf_load_places(&code));
	for (; program >= 0 && count >= 2; count /= 2)
		if (keep_file(source,
			      probe_attach_all(points, &choice->ids[first], (unsigned)count, program)) == 0)
			return count;
	source->one_by_one = true;
	return 0;
}

/* Attach to all that can be. Return: 0; -errno: to none. */
static int attach(struct kernel_source *source, const struct choice *choice)
{
	int error = 0;
	bool enters;

	for (size_t n = 0, alike; n < choice->count; n += alike ? alike : 1) {
		alike = 0;
		if (tracepoint_syscall(&choice->points[n], &enters))
			continue;
		if (choice->points[n].is_probe)
			alike = attach_alike(source, choice, n);
		error = alike ? 0 : attach_point(source, &choice->points[n], choice->ids[n]);
		if (error && !source->refused++) {
			snprintf(source->refused_name, sizeof(source->refused_name), "%s:%s",
				 choice->points[n].system, choice->points[n].name);
			source->refused_error = error;
		}
		source->events -= error != 0;
	}
	error = attach_calls(source, choice);
	return error ? error : source->events ? 0 : source->refused_error;
}

/* ---- the drain's side */

static void count_missed(struct kernel_source *source)
{
	uint64_t missed = 0;

	for (size_t n = 0; n < source->program_count; n++)
		missed += bpf_missed(source->programs[n]);
	if (missed > source->missed && source->memory)
		__atomic_fetch_add(&source->rings[0].control->lost[WIRE_LOST_BUSY], missed - source->missed,
				   __ATOMIC_RELAXED);
	source->missed = missed;
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

static void round_begins(void *context)
{
	struct kernel_source *source = context;

	kernel_clock_round(&source->clock);
	if (!source->cursors)
		return;
	kernel_clock_publish(source->published, &source->clock);
	note_names(source);
}

static void translate(void *context, unsigned ring, struct wire_packet *packet,
		      const struct ring_piece *piece)
{
	struct kernel_source *source = context;

	kernel_reader_convert(&source->reader, ring, packet, piece);
}

/* ---- the whole */

/* Say which right or part of the kernel is missing. */
static void explain(char why[KERNEL_WHY], int error, const char *what)
{
	if (error == -EPERM || error == -EACCES)
		snprintf(why, KERNEL_WHY,
			 "%.100s: no permission; run as root, or with CAP_BPF and CAP_PERFMON", what);
	else if (error == -ENOSYS)
		snprintf(why, KERNEL_WHY, "%.100s: the kernel has no BPF (CONFIG_BPF_SYSCALL)", what);
	else
		snprintf(why, KERNEL_WHY, "%.100s: %s", what, strerror(-error));
}

static bool is_initial_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PIDS;
}

static int open_tracefs(char why[KERNEL_WHY])
{
	const int events = tracefs_open();

	if (events == -ENODEV)
		snprintf(why, KERNEL_WHY, "the kernel has no tracefs (CONFIG_TRACING)");
	else if (events < 0)
		explain(why, events, "tracefs");
	return events;
}

/* Find the probes among what was asked for. @globs: set to the rest, which is of tracepoints */
static int choose_probes(const struct kernel_options *options, struct choice *choice, const char **globs,
			 char why[KERNEL_WHY])
{
	char text[PROBE_WHY] = "";
	unsigned kept = 0;
	int error = 0;

	for (const char *const *at = options->globs; *at && !error; at++) {
		if (kernel_function_is_one(*at)) {
			error = kernel_function_find(*at, add_point, choice, text);
			continue;
		}
		if (!probe_is_one(*at)) {
			globs[kept++] = *at;
			continue;
		}
		if (!array_reserve(choice->files, choice->file_room, choice->file_count + 1))
			return -ENOMEM;
		error = probe_find(*at, &choice->files[choice->file_count], add_point, choice, text);
		choice->file_count++;
	}
	globs[kept] = NULL;
	if (*text)
		snprintf(why, KERNEL_WHY, "%s", text);
	else if (error)
		explain(why, error, "probes");
	return error && *text ? -ENOENT : error;
}

static int choose_points(int events, const char *const *globs, struct choice *choice, char why[KERNEL_WHY])
{
	const size_t before = choice->count;
	const int error = *globs ? tracefs_each(events, globs, add_point, choice) : 0;

	leave_out(choice);
	if (error)
		explain(why, error, "tracefs");
	if (error || !*globs || choice->count != before)
		return error;
	snprintf(why, KERNEL_WHY, "no tracepoint of the kernel matches %.60s; see burin events kernel",
		 globs[0]);
	return -ENOENT;
}

static int choose(int events, const struct kernel_options *options, struct choice *choice,
		  char why[KERNEL_WHY])
{
	static const char *const names[] = { "task:task_newtask", "task:task_rename", NULL };
	const char **globs;
	size_t count = 0;
	int error;

	while (options->globs[count])
		count++;
	globs = calloc(count + 1, sizeof(*globs));
	if (!globs)
		return -ENOMEM;
	error = choose_probes(options, choice, globs, why);
	if (!error)
		error = choose_points(events, globs, choice, why);
	free(globs);
	if (error)
		return error;
	error = tracefs_each(events, names, add_point, choice);
	if (error)
		explain(why, error, "tracefs");
	return error;
}

static int open_parts(struct kernel_source *source, const struct kernel_options *options, int events,
		      struct choice *choice, char why[KERNEL_WHY])
{
	int error = choose(events, options, choice, why);

	if (error)
		return error;
	if (!options->all) {
		error = kernel_follow_open(&source->follow, events);
		source->layout.members = source->follow.members;
	}
	if (!error)
		error = make_rings(source, options->buffer_bytes);
	if (!error)
		error = task_names_begin(&source->names, source->session);
	if (!error)
		error = register_events(source, choice);
	if (error) {
		explain(why, error, "BPF");
		return error;
	}
	kernel_clock_begin(&source->clock, source->session->geometry.clock,
			   session_clock_hz(source->session));
	source->clock.all = options->overwrite;
	if (options->overwrite)
		error = make_flight(source);
	if (error) {
		explain(why, error, "BPF");
		return error;
	}
	raise_limit();
	error = attach(source, choice);
	if (error)
		explain(why, error, "BPF");
	return error;
}

int kernel_source_open(struct kernel_source *source, struct session *session,
		       const struct kernel_options *options, char why[KERNEL_WHY])
{
	struct choice choice = { .count = 0 };
	int events, error;

	*source = (struct kernel_source){
		.session = session,
		.follow = { .members = -1 },
		.layout = { .rings = -1,
			    .members = -1,
			    .overwrite = options->overwrite,
			    .context = session->geometry.context },
		.clock_map = -1,
	};
	for (unsigned n = 0; n < KERNEL_FOLLOW_PROGRAMS; n++)
		source->follow.watches[n] = source->follow.programs[n] = -1;
	source->more =
		(struct drain_more){ .round = round_begins, .translate = translate, .context = source };
	if (!is_initial_namespace()) {
		snprintf(why, KERNEL_WHY,
			 "this process is in a PID namespace of its own; run it outside the container");
		return -ENOTSUP;
	}
	events = open_tracefs(why);
	if (events < 0)
		return events;
	error = open_parts(source, options, events, &choice, why);
	close(events);
	for (size_t n = 0; n < choice.file_count; n++)
		if (choice.files[n] >= 0)
			close(choice.files[n]);
	free(choice.files);
	free(choice.points);
	free(choice.events);
	free(choice.ids);
	if (error) {
		kernel_source_finish(source);
		kernel_source_close(source);
	}
	return error;
}

/* Let no program append any more: those that have not seen the state hold a lock. */
static void stop_programs(struct kernel_source *source)
{
	for (unsigned n = 0; n < source->more.count; n++)
		__atomic_store_n(&source->rings[n].control->state, WIRE_RING_ABSENT, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; n < source->more.count; n++)
		while (__atomic_load_n(&source->rings[n].control->lock, __ATOMIC_SEQ_CST))
			sched_yield();
}

/*
 * Closing a tracepoint for the last time waits for all CPUs, some 50 ms each. A child does that, so that the recorder does not
 * wait: it ends when the recorder's descriptors, the pipe's last, are closed. It holds nothing else.
 */
static void detach(struct kernel_source *source)
{
	int pipe[2] = { -1, -1 };
	char byte;

	if (pipe2(pipe, O_CLOEXEC) == 0 && fork() == 0) {
		close(pipe[1]);
		syscall(SYS_close_range, 0, 2, 0);
		if (read(pipe[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	for (size_t n = 0; n < source->file_count; n++)
		close(source->files[n]);
	source->file_count = 0;
	kernel_follow_close(&source->follow);
	close(pipe[0]);
	close(pipe[1]);
}

const struct drain_more *kernel_source_snapshot(struct kernel_source *source)
{
	round_begins(source);
	memset(source->snapshot.times, 0, source->more.count * sizeof(*source->snapshot.times));
	return &source->snapshot.more;
}

void kernel_source_finish(struct kernel_source *source)
{
	if (source->published)
		kernel_share_end(source->session);
	stop_programs(source);
	count_missed(source);
	detach(source);
}

void kernel_source_close(struct kernel_source *source)
{
	if (source->memory)
		munmap(source->memory, source->memory_bytes);
	if (source->layout.rings >= 0)
		close(source->layout.rings);
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
	free(source->files);
	free(source->programs);
	*source = (struct kernel_source){ .layout = { .rings = -1, .members = -1 }, .clock_map = -1 };
}
