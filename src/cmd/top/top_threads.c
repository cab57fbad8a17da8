/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The threads of a process, from /proc; see top_threads.h.
 *
 * Two kinds of files. `stat` and `schedstat` need no lock, and are opened below the directory of the process, which stays its own.
 * `syscall`, `wchan`, `stack`, `maps` and `mem` need locks that the process's user can hold, so foreign_contents() opens them, by the
 * pid. If the process has ended meanwhile, the pid may be another's: rows count only if the directory still has threads afterwards.
 */
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "cmd/top/top_threads.h"
#include "file/foreign_file.h"
#include "session/clock.h"
#include "source/kernel/points/syscall_numbers.h"
#include "view/sched/wait_object.h"
#include "wire/wire_terms.h"

enum {
	TOP_CONTENTS = 8192,	  /* bytes of a file of /proc that are read */
	TOP_KERNEL_FRAMES = 64,	  /* of a stack */
	TOP_KERNEL_NAME = 128,	  /* bytes of a function's name */
	TOP_FRAMES_MAX = 1 << 19, /* of a screen's stacks */
	TOP_BRIEF_THREADS = 2000, /* with stacks, of a screen that keys wait for */
	TOP_BRIEF_NS = 1000000000,
	TOP_STAT_SKIP = 11, /* fields between the state and utime */
};

static const char top_threads_too_many[] = "too many threads or frames";

/* A frame of a row until the names are known. */
struct top_threads_place {
	uint32_t location; /* in the names; 0: `kernel` is the function */
	const char *kernel;
};

/* The stack of a row until the names are known. */
struct top_threads_stack {
	struct top_threads_place *places;
	size_t count, room;
};

/* ---- files of /proc */

/* That we have no room for a file says nothing about the process. Return: @error. */
static int top_threads_failed(struct top_threads *threads, int error)
{
	if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
		threads->error = error;
	return error;
}

/* Read a file below the directory of the threads. Return: its bytes, with a NUL behind; below 0: -errno. */
static ssize_t top_threads_file(struct top_threads *threads, uint32_t tid, const char *name, char *out,
				size_t bytes)
{
	char path[48];
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "%u/%s", tid, name);
	file = openat(threads->directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (file < 0)
		return top_threads_failed(threads, -errno);
	got = read(file, out, bytes - 1);
	got = got < 0 ? -errno : got;
	close(file);
	out[got > 0 ? got : 0] = 0;
	return got;
}

/* The same of one that needs a lock. */
static ssize_t top_threads_locked(const struct top_threads *threads, uint32_t tid, const char *name,
				  char *out, size_t bytes)
{
	char path[48];
	size_t done = 0;
	ssize_t got = 0;
	int file;

	out[0] = 0;
	snprintf(path, sizeof(path), "task/%u/%s", tid, name);
	file = foreign_contents(threads->pid, path, bytes - 1);
	if (file < 0)
		return file;
	while (done + 1 < bytes && (got = read(file, out + done, bytes - 1 - done)) > 0)
		done += (size_t)got;
	got = got < 0 && !done ? -errno : (ssize_t)done;
	close(file);
	out[done] = 0;
	return got;
}

static const char *top_threads_keep(struct top_threads *threads, const char *text)
{
	const char *kept = arena_keep(&threads->arena, text, strlen(text));

	return kept ? kept : "";
}

/* ---- one thread */

/* State and processor time of `stat`, in which the name may have any characters. Return: false: the thread has ended. */
static bool top_threads_stat(struct top_threads *threads, struct top_thread *row, uint64_t *begun)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	char text[1024], *at;
	unsigned long long user = 0, system = 0, begin = 0;

	if (top_threads_file(threads, row->tid, "stat", text, sizeof(text)) <= 0)
		return false;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return false;
	row->state = at[2];
	at += 3;
	for (unsigned n = 0; n < TOP_STAT_SKIP && at; n++)
		at = *at ? strchr(at + 1, ' ') : NULL;
	if (at && sscanf(at, "%llu %llu %*s %*s %*s %*s %*s %*s %llu", &user, &system, &begin) >= 2 &&
	    ticks > 0)
		row->cpu_ns = (user + system) * (1000000000 / (unsigned long)ticks);
	*begun = begin;
	return true;
}

static const struct top_threads_past *top_threads_before(const struct top_threads *threads, uint32_t tid)
{
	size_t low = 0, high = threads->past_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (threads->past[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < threads->past_count && threads->past[low].tid == tid ? &threads->past[low] : NULL;
}

/* Its shares of the time since the last reading. Kernels without statistics of the scheduler count by ticks, and have no queue. */
static void top_threads_shares(struct top_threads *threads, struct top_thread *row, uint64_t interval,
			       struct top_threads_past *now)
{
	const struct top_threads_past *before = top_threads_before(threads, row->tid);
	char text[128];

	now->tid = row->tid;
	now->run = row->cpu_ns;
	now->queued = 0;
	if (top_threads_file(threads, row->tid, "schedstat", text, sizeof(text)) > 0 &&
	    sscanf(text, "%" SCNu64 " %" SCNu64, &now->run, &now->queued) == 2)
		row->cpu_ns = now->run;
	row->whole = interval;
	if (!interval || !before || before->begun != now->begun || now->run < before->run ||
	    now->queued < before->queued)
		return;
	row->shares = (struct top_shares){ .known = 1,
					   .run = now->run - before->run,
					   .queued = now->queued - before->queued };
}

/* Whether a call is one of 64 bits. A program of 32 bits has its stack in the lowest 4 GiB, where few others have theirs. */
static bool top_threads_is_wide(const struct top_threads *threads, const struct sleeper_call *call)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	ssize_t got;
	int file;

	if (call->stack >> 32)
		return true;
	file = foreign_contents(threads->pid, "exe", sizeof(ident));
	if (file < 0)
		return false;
	got = read(file, ident, sizeof(ident));
	close(file);
	return got > EI_CLASS && ident[EI_CLASS] == ELFCLASS64;
}

/* The name of the system call, whose number is that of another table in a program of 32 bits. */
static const char *top_threads_call(struct top_threads *threads, const struct sleeper_call *call)
{
	bool wide;
	char text[32];

	if (call->running || call->number < 0 || !call->stack) /* threads of the kernel make none */
		return "";
	wide = top_threads_is_wide(threads, call);
	for (unsigned n = 0; n < syscall_count && wide; n++)
		if (syscall_numbers[n].number == call->number)
			return syscall_numbers[n].name;
	snprintf(text, sizeof(text), "%" PRId64, call->number);
	return top_threads_keep(threads, text);
}

static bool top_threads_place(struct top_threads_stack *stack, uint32_t location, const char *kernel)
{
	if (!array_reserve(stack->places, stack->room, stack->count + 1))
		return false;
	stack->places[stack->count++] = (struct top_threads_place){ location, kernel };
	return true;
}

/* The kernel's part, which only root may read: lines such as "[<0>] pipe_read+0x1b/0x40". */
static void top_threads_kernel(struct top_threads *threads, struct top_thread *row,
			       struct top_threads_stack *stack)
{
	char text[TOP_CONTENTS], name[TOP_KERNEL_NAME], *line, *rest = text;
	unsigned frames = 0;

	if (top_threads_locked(threads, row->tid, "stack", text, sizeof(text)) <= 0)
		return;
	while (frames < TOP_KERNEL_FRAMES && (line = strsep(&rest, "\n"))) {
		const char *object;

		if (sscanf(line, "[<%*[^>]>] %127[^+ \n]", name) != 1)
			continue;
		frames++;
		object = *row->object ? NULL : wait_object(name);
		row->object = object ? object : row->object;
		top_threads_place(stack, 0, top_threads_keep(threads, name));
	}
}

/* Why a thread has no stack. */
static const char *top_threads_why(int error)
{
	switch (error) {
	case -EAGAIN:
		return "it runs: no stack";
	case -ESRCH:
		return "it has ended";
	case -ETIMEDOUT:
		return "the process keeps its readers waiting";
	case -ENODATA:
		return "its stack cannot be unwound";
	case -EPERM:
	case -EACCES:
		return "it may not be read";
	default:
		return "its memory cannot be read";
	}
}

/* The program's part. Locations are noted; the names are looked up for all threads together. */
static void top_threads_user(struct top_threads *threads, struct top_thread *row,
			     const struct sleeper_call *call, struct top_threads_stack *stack)
{
	struct sleeper_stacks *sleepers = &threads->sleepers;
	struct attributed found = { .stack = 0 };
	int error;

	if (!call->running && !call->stack)
		return;
	error = sleeper_stack(&sleepers->attribution, threads->pid, row->tid, call, &found);
	if (error) {
		row->note = top_threads_why(top_threads_failed(threads, error));
		return;
	}
	for (uint32_t number = found.stack; number; number = sleepers->stacks.nodes[number - 1].caller) {
		const struct stacks_node *node = &sleepers->stacks.nodes[number - 1];

		const uint32_t location =
			node->image ? top_names_find(&threads->names, node->image, node->offset) : 0;

		if (!node->image)
			row->note = "the rest of the stack is not known";
		else if (!location || !top_threads_place(stack, location, NULL))
			row->note = "no memory for the stack";
	}
}

/* Return: 0 or -errno. */
static int top_threads_now(struct top_threads *threads, struct top_thread *row, struct sleeper_call *call)
{
	char wchan[TOP_KERNEL_NAME];
	const char *object;
	const int error = sleeper_call_read(threads->pid, row->tid, call);

	row->unknown = error != 0;
	if (error)
		return top_threads_failed(threads, error);
	row->call = top_threads_call(threads, call);
	if (row->state != 'R' && top_threads_locked(threads, row->tid, "wchan", wchan, sizeof(wchan)) > 0 &&
	    strcmp(wchan, "0") != 0)
		row->wchan = top_threads_keep(threads, wchan);
	object = wait_object(row->wchan);
	row->object = object ? object : "";
	return 0;
}

void top_threads_describe(struct top_threads *threads, struct top_thread *row)
{
	struct sleeper_call call;

	if (row->unknown)
		top_threads_now(threads, row, &call);
}

static void top_threads_wait(struct top_threads *threads, struct top_thread *row,
			     struct top_threads_stack *stack)
{
	struct sleeper_call call;
	const int error = top_threads_now(threads, row, &call);

	if (error) {
		row->note = top_threads_why(error);
		return;
	}
	if (row->state == 'Z' || row->state == 'X') {
		row->note = top_threads_why(-ESRCH);
		return;
	}
	if (!call.running)
		top_threads_kernel(threads, row, stack);
	top_threads_user(threads, row, &call, stack);
}

/* ---- all threads */

static int top_threads_compare_past(const void *one, const void *other)
{
	const struct top_threads_past *a = one, *b = other;

	return number_order(a->tid, b->tid);
}

/* Most time on a CPU first, then most in the queue of one, then by tid. */
static int top_threads_compare(const void *one, const void *other)
{
	const struct top_thread *a = one, *b = other;

	return number_order(b->shares.run, a->shares.run) ?: number_order(b->shares.queued, a->shares.queued)
			       ?: number_order(a->tid, b->tid);
}

static uint64_t top_threads_hash(const struct top_thread *row, const struct top_threads_stack *stack)
{
	uint64_t hash = hash_pair(hash_text(row->call) ^ (uint64_t)row->state ^ (uint64_t)row->unknown << 32,
				  hash_text(row->wchan));

	for (size_t n = 0; n < stack->count; n++)
		hash = hash_pair(hash, stack->places[n].location ? stack->places[n].location
								 : hash_text(stack->places[n].kernel));
	return hash_pair(hash, stack->count);
}

/*
 * Threads that wait at the same place are one row: a pool of workers is one fact, not thousands. Their hash alone decides, of 64 bits
 * and a secret that no process knows. Return: whether the row was added to another one.
 */
static bool top_threads_join(struct top_threads *threads, struct hash_table *joined, uint64_t *hashes,
			     const struct top_thread *row, uint64_t hash)
{
	uint32_t number;

	if ((row->note && row->note != top_threads_too_many) || row->state == 'R')
		return false;
	for (size_t at = 0; (number = hash_table_next(joined, hash, &at));) {
		struct top_thread *first = &threads->rows[number - 1];

		if (hashes[number - 1] != hash)
			continue;
		first->count++;
		first->whole += row->whole;
		first->shares.known &= row->shares.known;
		first->shares.run += row->shares.run;
		first->shares.queued += row->shares.queued;
		first->cpu_ns += row->cpu_ns;
		return true;
	}
	if (hash_table_reserve(joined))
		hash_table_add(joined, hash, (uint32_t)threads->count + 1);
	return false;
}

/* Frames with names, in memory of the arena. */
static void top_threads_frames(struct top_threads *threads, struct top_thread *row,
			       const struct top_threads_stack *stack)
{
	struct top_frame *frames;
	size_t room = 0;

	for (size_t n = 0; n < stack->count; n++)
		room += stack->places[n].location &&
					top_names_at(&threads->names, stack->places[n].location)->count
				? top_names_at(&threads->names, stack->places[n].location)->count
				: 1;
	frames = calloc(room + 1, sizeof(*frames));
	for (size_t n = 0; frames && n < stack->count; n++) {
		const struct top_threads_place *place = &stack->places[n];
		const struct top_location *at =
			place->location ? top_names_at(&threads->names, place->location) : NULL;

		if (!at) {
			frames[row->frames++] =
				(struct top_frame){ .function = place->kernel, .image = "[kernel]" };
			continue;
		}
		for (unsigned inner = 0; inner < (at->count ? at->count : 1); inner++) {
			struct top_frame *frame = &frames[row->frames++];

			*frame = at->frames[inner];
			frame->image = at->program;
			frame->offset = at->offset;
			frame->inlined = inner + 1 < at->count;
		}
	}
	row->stack = frames;
}

static void top_threads_forget(struct top_threads *threads)
{
	for (size_t n = 0; n < threads->count; n++)
		free((void *)threads->rows[n].stack);
	threads->count = 0;
	threads->sum = 0;
	arena_free(&threads->arena);
	threads->arena = (struct arena){ .chunks = NULL };
}

/* The reading that is under way. */
struct top_threads_round {
	struct top_threads_past *past;
	size_t past_count, past_room;
	struct top_threads_stack *stacks; /* of each row */
	uint64_t *hashes;
	size_t stack_room, hash_room;
	struct hash_table joined;
	uint64_t interval, begin; /* ns */
	size_t described, frames; /* threads, and frames of their stacks */
	bool failed;		  /* no memory */
};

/* A process can have any number of threads with any number of frames: what a screen costs has a bound. */
static bool top_threads_may(const struct top_threads *threads, const struct top_threads_round *round)
{
	if (round->frames >= TOP_FRAMES_MAX || threads->names.count >= 2 * TOP_NAMES_MAX)
		return false;
	return !threads->brief || (round->described < TOP_BRIEF_THREADS &&
				   clock_ns(CLOCK_MONOTONIC) - round->begin < TOP_BRIEF_NS);
}

static void top_threads_look(struct top_threads *threads, struct top_threads_round *round,
			     struct top_thread *row, struct top_threads_stack *stack)
{
	row->unknown = row->state != 'R';
	if (!threads->stacks)
		return;
	if (!top_threads_may(threads, round)) {
		row->unknown = true;
		row->note = top_threads_too_many;
		return;
	}
	top_threads_wait(threads, row, stack);
	round->described++;
	round->frames += stack->count;
}

static void top_threads_add(struct top_threads *threads, struct top_threads_round *round, uint32_t tid)
{
	struct top_thread row = {
		.count = 1, .pid = threads->pid, .tid = tid, .call = "", .object = "", .wchan = ""
	};
	struct top_threads_stack stack = { .count = 0 };
	char name[FOREIGN_NAME_MAX];
	ssize_t name_bytes;
	uint64_t hash, begun;

	if (!array_reserve(round->past, round->past_room, round->past_count + 1) ||
	    !array_reserve(threads->rows, threads->room, threads->count + 1) ||
	    !array_reserve(round->stacks, round->stack_room, threads->count + 1) ||
	    !array_reserve(round->hashes, round->hash_room, threads->count + 1)) {
		round->failed = true;
		return;
	}
	if (!top_threads_stat(threads, &row, &begun))
		return;
	threads->sum++;
	name_bytes = top_threads_file(threads, tid, "comm", name, sizeof(name));
	name[name_bytes > 0 ? name_bytes - 1 : 0] = 0; /* it ends with a newline, and may have others */
	row.name = top_threads_keep(threads, name);
	round->past[round->past_count].begun = begun;
	top_threads_shares(threads, &row, round->interval, &round->past[round->past_count++]);
	top_threads_look(threads, round, &row, &stack);
	hash = top_threads_hash(&row, &stack);
	if (threads->joined && top_threads_join(threads, &round->joined, round->hashes, &row, hash)) {
		free(stack.places);
		return;
	}
	round->hashes[threads->count] = hash;
	round->stacks[threads->count] = stack;
	threads->rows[threads->count++] = row;
}

/* Return: whether the process has threads. */
static bool top_threads_list(struct top_threads *threads, struct top_threads_round *round)
{
	const int again = openat(threads->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	bool any = false;

	if (!directory)
		top_threads_failed(threads, -errno);
	if (again >= 0 && !directory)
		close(again);
	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0])) {
			any = true;
			top_threads_add(threads, round, (uint32_t)strtoul(entry->d_name, NULL, 10));
		}
	if (directory)
		closedir(directory);
	return any;
}

static bool top_threads_lives(struct top_threads *threads)
{
	char text[16];

	return top_threads_file(threads, threads->pid, "comm", text, sizeof(text)) > 0;
}

static int top_threads_open(struct top_threads *threads)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/task", threads->pid);
	threads->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return threads->directory >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
}

static void top_threads_close(struct top_threads *threads)
{
	if (threads->directory >= 0)
		close(threads->directory);
	threads->directory = -1;
}

/* Names for all rows, and an end to the round. */
static void top_threads_finish(struct top_threads *threads, struct top_threads_round *round)
{
	if (threads->stacks)
		top_names_look_up(&threads->names, &threads->sleepers.images);
	for (size_t n = 0; n < threads->count; n++) {
		top_threads_frames(threads, &threads->rows[n], &round->stacks[n]);
		free(round->stacks[n].places);
	}
	free(round->stacks);
	free(round->hashes);
	hash_table_free(&round->joined);
	free(threads->past);
	threads->past = round->past;
	threads->past_count = round->past_count;
	if (threads->past_count)
		qsort(threads->past, threads->past_count, sizeof(*threads->past), top_threads_compare_past);
	if (threads->count)
		qsort(threads->rows, threads->count, sizeof(*threads->rows), top_threads_compare);
}

int top_threads_read(struct top_threads *threads)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct top_threads_round round = { .interval = threads->read ? now - threads->read : 0,
					   .begin = now };
	bool lives;
	int error;

	top_threads_forget(threads);
	threads->error = 0;
	error = threads->stacks ? 0 : top_threads_open(threads);
	if (error)
		return error;
	if (threads->stacks) {
		top_names_begin(&threads->names);
		budget_round(&threads->sleepers.images.budget);
		sleeper_stacks_scan(&threads->sleepers, threads->pid);
	}
	lives = top_threads_list(threads, &round) && top_threads_lives(threads);
	top_threads_finish(threads, &round);
	if (!threads->stacks)
		top_threads_close(threads);
	threads->read = now;
	return round.failed ? -ENOMEM : threads->error ? threads->error : lives ? 0 : -ESRCH;
}

int top_threads_begin(struct top_threads *threads, uint32_t pid, bool stacks)
{
	struct sleeper_call call;
	int error;

	*threads = (struct top_threads){ .pid = pid, .stacks = stacks, .directory = -1 };
	if (!stacks)
		return 0;
	error = top_threads_open(threads);
	if (!error)
		error = sleeper_call_read(pid, pid, &call);
	if (!error)
		error = sleeper_stacks_begin(&threads->sleepers);
	return error;
}

void top_threads_end(struct top_threads *threads)
{
	top_threads_forget(threads);
	if (threads->sleepers.tasks.buckets)
		sleeper_stacks_free(&threads->sleepers);
	top_names_free(&threads->names);
	free(threads->past);
	free(threads->rows);
	top_threads_close(threads);
	*threads = (struct top_threads){ .directory = -1 };
}
