/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's events, counted in the kernel; see kernel_counts.h.
 *
 * All programs are attached before the first one counts: they look at the state, which is one word of memory, so all counts begin and end at
 * one moment, and attaching to many tracepoints counts nothing of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include "base/number.h"
#include "source/kernel/counts/count_calls.h"
#include "source/kernel/counts/count_events.h"
#include "source/kernel/counts/count_words.h"
#include "source/kernel/counts/kernel_counts.h"
#include "source/kernel/kernel_rights.h"

static const char counts_untyped[] = "bpf-untyped"; /* KERNEL_MECHANISM */

/* Ids of threads are below this. */
static uint32_t thread_ids(void)
{
	char text[32] = "";
	const int file = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC);
	unsigned long ids;

	if (file >= 0 && read(file, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	if (file >= 0)
		close(file);
	ids = strtoul(text, NULL, 10);
	return ids && ids < KERNEL_FOLLOW_TASKS ? (uint32_t)ids + 1 : KERNEL_FOLLOW_TASKS;
}

/* Make a map, and keep it. @map: receives it. Return: 0 or -errno. */
static int counts_make_map(struct kernel_counts *counts, int *map, enum bpf_map_type type, unsigned key,
			   unsigned value, unsigned entries, unsigned flags)
{
	*map = bpf_map_make(&(struct bpf_map){ type, key, value, entries, flags });
	return kernel_files_keep(&counts->files, *map);
}

static int counts_map_memory(int map, size_t bytes, void **out)
{
	*out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (*out != MAP_FAILED)
		return 0;
	*out = NULL;
	return -errno;
}

static size_t counts_pages_bytes(const struct kernel_counts *counts)
{
	return counts_pages(counts) * sizeof(*counts->buckets);
}

static int make_pages(struct kernel_counts *counts)
{
	void *memory = NULL;
	int error;

	/* a multiple of what a page of memory has */
	counts->page_count = (counts->options.rows + 3) & ~3u;
	error = counts_make_map(counts, &counts->pages, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
				sizeof(*counts->buckets), (unsigned)counts_pages(counts), BPF_F_MMAPABLE);
	if (!error)
		error = counts_map_memory(counts->pages, counts_pages_bytes(counts), &memory);
	counts->buckets = memory;
	return error;
}

static int make_maps(struct kernel_counts *counts)
{
	const bool values = counts->by_number || counts->options.times;
	const struct kernel_count_row empty = { .least = UINT64_MAX };
	const unsigned bytes = values ? sizeof(empty) : sizeof(empty.records);
	void *memory = NULL;
	int error = counts_make_map(counts, &counts->rows, BPF_MAP_TYPE_HASH, counts->key_bytes, bytes,
				    counts->options.rows, 0);

	if (!error)
		error = counts_make_map(counts, &counts->state_map, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
					sizeof(*counts->state), 1, BPF_F_MMAPABLE);
	if (!error)
		error = counts_map_memory(counts->state_map, sizeof(*counts->state), &memory);
	counts->state = memory;
	if (error)
		return error;
	counts->empty = bpf_map_constant(&empty, bytes);
	error = kernel_files_keep(&counts->files, counts->empty);
	if (!error && values)
		error = make_pages(counts);
	if (!error && counts->options.times)
		error = counts_make_map(counts, &counts->started, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
					sizeof(uint64_t), thread_ids(), 0);
	return error;
}

static void counts_note_refused(struct kernel_counts *counts, const struct tracepoint *point, int error)
{
	const char *name = point->event + sizeof(TRACEPOINT_PREFIX) - 1;

	if (!counts->refused++) {
		if (point->refused)
			snprintf(counts->refused_why, KERNEL_WHY, "%s: %s", name, point->refused);
		else
			kernel_rights_describe(counts->refused_why, KERNEL_WHY, error, name);
		counts->refused_error = error;
	}
}

/* Return: 0; -errno: to none. */
static int counts_attach(struct kernel_counts *counts)
{
	const char *mechanism = getenv("BURIN_KERNEL_MECHANISM");
	const bool untyped = mechanism && strcmp(mechanism, counts_untyped) == 0;
	bool calls = false, enters;
	int error = 0;

	kernel_types_task(&counts->names);
	if (!untyped)
		counts->layout.task = counts->names;
	kernel_files_raise_limit();
	for (size_t n = 0; n < counts->points.count; n++) {
		const struct tracepoint *point = &counts->points.points[n];

		if (tracepoint_syscall(point, &enters)) {
			calls = true;
			counts->attached++;
			continue;
		}
		error = point->refused ? -ENOTSUP : count_events_attach(counts, n);
		if (error)
			counts_note_refused(counts, point, error);
		else
			counts->attached++;
	}
	error = calls ? count_calls_attach(counts, untyped) : 0;
	return error ? error : counts->attached ? 0 : counts->refused_error;
}

/* The name of a program's file is found by the kernel's types. */
static int counts_check_program(const struct kernel_counts *counts, char why[KERNEL_WHY])
{
	struct kernel_task_type task;

	for (unsigned n = 0; n < counts->word_count; n++) {
		if (counts->words[n].source != KERNEL_COUNT_PROGRAM)
			continue;
		kernel_types_task(&task);
		if (task.memory && task.file && task.entry)
			return 0;
		snprintf(why, KERNEL_WHY,
			 "--by program: this kernel has no types (BTF) by which its programs find it; use "
			 "thread or pid");
		return -ENOENT;
	}
	return 0;
}

static int counts_open_parts(struct kernel_counts *counts, int events, char why[KERNEL_WHY])
{
	const struct kernel_counts_options *options = &counts->options;
	int error = kernel_rights_programs();

	if (error) {
		kernel_rights_describe(why, KERNEL_WHY, error, "BPF");
		return error;
	}
	error = kernel_points_choose(&counts->points, events, options->globs, true, why);
	if (!error)
		error = kernel_counts_choose(counts, why);
	if (!error)
		error = counts_check_program(counts, why);
	if (!error)
		error = kernel_points_compile(&counts->points, "--where", options->where, true, why);
	if (error == -ENOENT)
		return error;
	if (!error && !options->all) {
		error = kernel_follow_open(&counts->follow, events);
		counts->layout.members = counts->follow.members;
	}
	if (!error)
		error = make_maps(counts);
	if (!error)
		error = counts_attach(counts);
	if (error == -E2BIG)
		snprintf(why, KERNEL_WHY,
			 "--where is too long for a program of the kernel; use fewer comparisons");
	else if (error)
		kernel_rights_describe(why, KERNEL_WHY, error, "BPF");
	return error == -E2BIG ? -ENOENT : error;
}

int kernel_counts_open(struct kernel_counts *counts, const struct kernel_counts_options *options,
		       char why[KERNEL_WHY])
{
	int events, error;

	*counts = (struct kernel_counts){
		.options = *options,
		.follow = { .met = -1, .members = -1 },
		.layout = { .rings = -1, .members = -1, .met = -1, .late = -1, .packets = -1 },
		.rows = -1,
		.pages = -1,
		.state_map = -1,
		.empty = -1,
		.started = -1,
	};
	for (unsigned n = 0; n < KERNEL_FOLLOW_PROGRAMS; n++)
		counts->follow.watches[n] = counts->follow.programs[n] = -1;
	events = kernel_rights_tracefs(why, KERNEL_WHY);
	if (events < 0)
		return events;
	error = counts_open_parts(counts, events, why);
	close(events);
	if (error)
		kernel_counts_close(counts);
	return error;
}

void kernel_counts_command(const struct kernel_counts *counts, pid_t child)
{
	kernel_follow_command(&counts->follow, child);
}

int kernel_counts_process(struct kernel_counts *counts, pid_t process)
{
	return kernel_follow_process(&counts->follow, process);
}

void kernel_counts_start(struct kernel_counts *counts)
{
	__atomic_store_n(&counts->state->on, 1, __ATOMIC_SEQ_CST);
}

/*
 * Wait until every program that runs now has ended. Programs run in sections that this waits for: a barrier of all processes. Without
 * it, with CPUs that have no ticks, some time.
 */
static void wait_for_programs(void)
{
	const struct timespec some = { .tv_nsec = 20000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		nanosleep(&some, NULL);
}

void kernel_counts_next(struct kernel_counts *counts)
{
	__atomic_fetch_add(&counts->state->slot, 1, __ATOMIC_SEQ_CST);
	wait_for_programs();
}

void kernel_counts_stop(struct kernel_counts *counts)
{
	__atomic_store_n(&counts->state->on, 0, __ATOMIC_SEQ_CST);
	wait_for_programs();
	for (size_t n = 0; n < counts->files.program_count; n++)
		counts->missed += bpf_missed(counts->files.programs[n]);
}

void kernel_counts_close(struct kernel_counts *counts)
{
	int holder;

	if (counts->buckets)
		munmap(counts->buckets, counts_pages_bytes(counts));
	if (counts->state)
		munmap(counts->state, sizeof(*counts->state));
	holder = kernel_files_hold();
	kernel_files_close(&counts->files);
	kernel_files_free(&counts->files);
	kernel_follow_close(&counts->follow);
	kernel_files_release(holder);
	kernel_points_free(&counts->points);
	free(counts->events);
	counts->buckets = NULL;
	counts->state = NULL;
	counts->events = NULL;
}
