/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The calls of one task; see uftrace_task.h.
 *
 * A file has records of begins and ends, each with its depth modulo 2^10. The state is a stack of open calls,
 * and ->base: the depth in the file of the outermost of them. Usually each record has the depth that follows
 * from both. One that does not is explained by follow_depth(): calls were left without ends, which then end
 * now, one for each call of uftrace_task_next(), or begins are missing, and the depths count from there.
 *
 * Arguments lie behind their records, and their size is in tables of uftrace's own. So they are skipped in
 * steps of 8 bytes to the next bytes that continue the calls (uftrace_task_continues()): time, depth and
 * function must fit. Bytes of an argument pass all three only by chance.
 *
 * Where the magic number of a record is missing, the rest of the file is not read, and is counted as damaged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "file/foreign.h"
#include "import/uftrace_task.h"

enum {
	BUFFER = 64 << 10,
	ARGUMENTS_MAX = 8192, /* bytes behind a record */
	DEPTH_MASK = (1 << WIRE_UFTRACE_DEPTH_BITS) - 1,
	JUMP_MAX = 512, /* depths that a record can go back: half of the recorded values */
	EVENT_MAX = 1 << 24,
};

static const uint64_t pause_max =
	UINT64_C(86400) * 1000000000; /* between two records of a task, when arguments are skipped */

/* Only a task with calls that are not taken yet has a buffer. Return: false: no memory. */
static bool make_room(struct uftrace_task *task)
{
	if (!task->buffer)
		task->buffer = malloc(BUFFER);
	if (!task->buffer)
		return false;
	memmove(task->buffer, task->buffer + task->at, task->filled - task->at);
	task->offset += task->at;
	task->filled -= task->at;
	task->at = 0;
	return true;
}

/* Files are opened for each buffer: there may be more tasks than descriptors. */
static int uftrace_task_refill(struct uftrace_task *task, const struct uftrace_spaces *spaces)
{
	char name[32];
	ssize_t got;
	int fd;

	if (task->ended || task->filled - task->at > ARGUMENTS_MAX + sizeof(struct wire_uftrace_record))
		return 0;
	snprintf(name, sizeof(name), "%u.dat", task->tid);
	fd = foreign_open(&(struct foreign){ 0 }, spaces->directory, name);
	if (fd == -ENOENT && faccessat(spaces->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -ENOTSUP; /* a link that leads out of the directory */
	if (fd == -ENOENT && !task->offset && !task->at) {
		task->ended = true; /* a task without calls */
		return 0;
	}
	if (fd < 0)
		return fd;
	if (!make_room(task)) {
		close(fd);
		return -ENOMEM;
	}
	got = pread(fd, task->buffer + task->filled, BUFFER - task->filled,
		    (off_t)(task->offset + task->filled));
	close(fd);
	if (got < 0)
		return -errno;
	task->ended = (size_t)got < BUFFER - task->filled;
	task->filled += (size_t)got;
	return 0;
}

static uint32_t space_at(const struct uftrace_task *process, uint64_t time)
{
	uint32_t space = UINT32_MAX;

	for (size_t n = 0; process && n < process->program_count; n++)
		if (!n || process->programs[n].time <= time)
			space = process->programs[n].space;
	return space;
}

/* The depth that the next call has, as uftrace records it. */
static uint32_t next_depth(const struct uftrace_task *task)
{
	return (task->base + (uint32_t)task->depth) & DEPTH_MASK;
}

static uint32_t uftrace_task_depth_of(uint64_t word)
{
	return word >> 6 & DEPTH_MASK;
}

/* Whether bytes behind arguments continue the calls. */
static bool uftrace_task_continues(const struct uftrace_task *task, const struct uftrace_task *process,
				   struct uftrace_spaces *spaces, const unsigned char *at)
{
	const uint64_t time = number_load64(at), word = number_load64(at + 8);
	const uint64_t address = wire_uftrace_address(word);
	const uint32_t space = space_at(process, time);

	if (wire_uftrace_magic(word) != WIRE_UFTRACE_RECORD_MAGIC)
		return false;
	if (wire_uftrace_type(word) == WIRE_UFTRACE_LOST)
		return !time && address < EVENT_MAX; /* an argument 0 and a time look like it otherwise */
	if (time < task->last || time - task->last > pause_max)
		return false;
	switch (wire_uftrace_type(word)) {
	case WIRE_UFTRACE_ENTRY:
		return uftrace_task_depth_of(word) == next_depth(task) &&
		       uftrace_space_maps(spaces, space, address);
	case WIRE_UFTRACE_EXIT:
		return task->depth && uftrace_task_depth_of(word) == ((next_depth(task) - 1) & DEPTH_MASK) &&
		       uftrace_space_function(spaces, space, address) ==
			       task->stack[task->depth - 1].function;
	default:
		return address < EVENT_MAX;
	}
}

static void skip_arguments(struct uftrace_task *task, const struct uftrace_task *process,
			   struct uftrace_spaces *spaces)
{
	const size_t record = sizeof(struct wire_uftrace_record);
	size_t at = task->at + 8;

	while (at + record <= task->filled && at - task->at <= ARGUMENTS_MAX &&
	       !uftrace_task_continues(task, process, spaces, task->buffer + at))
		at += 8;
	/* The last record of the file may have arguments, too. */
	task->at = at + record <= task->filled ? at : task->filled;
}

static int uftrace_task_begin_call(struct uftrace_task *task, const struct uftrace_task *process,
				   struct uftrace_spaces *spaces, uint64_t word)
{
	const uint32_t function =
		uftrace_space_function(spaces, space_at(process, task->last), wire_uftrace_address(word));

	if (!function || !array_reserve(task->stack, task->room, task->depth + 1))
		return -ENOMEM;
	task->stack[task->depth++] = (struct uftrace_open){ task->last, function };
	return 0;
}

/* Take the innermost call off the stack: it ends now. */
static void uftrace_task_end_call(struct uftrace_task *task, struct uftrace_call *call)
{
	const struct uftrace_open open = task->stack[--task->depth];

	*call = (struct uftrace_call){ open.begin, task->last, open.function, (uint32_t)task->depth };
}

/*
 * A record at a lower depth than the open calls: longjmp or an exception has ended them. At a higher one: begins are
 * missing, and the depths count from there.
 */
static void follow_depth(struct uftrace_task *task, uint64_t word)
{
	const bool exit = wire_uftrace_type(word) == WIRE_UFTRACE_EXIT;
	const uint32_t open =
		(uftrace_task_depth_of(word) + exit) & DEPTH_MASK; /* calls that are open before it */
	uint32_t above;

	if (!task->known)
		task->base = open;
	task->known = true;
	above = (next_depth(task) - open) & DEPTH_MASK;
	if (above && above < JUMP_MAX && above <= task->depth)
		task->unwind = above;
	else if (above)
		task->base = (open - (uint32_t)task->depth) & DEPTH_MASK;
}

/* Take a record. Return: 1: a call has ended; 0: go on; -errno. */
static int uftrace_task_take(struct uftrace_task *task, const struct uftrace_task *process,
			     struct uftrace_spaces *spaces, struct uftrace_left *left,
			     struct uftrace_call *call)
{
	const unsigned char *at = task->buffer + task->at;
	const uint64_t time = number_load64(at), word = number_load64(at + 8);
	const unsigned type = wire_uftrace_type(word);
	int result = 0;

	if (wire_uftrace_magic(word) != WIRE_UFTRACE_RECORD_MAGIC) {
		left->damaged++;
		task->at = task->filled = 0;
		task->ended = true;
		return 0;
	}
	if (type != WIRE_UFTRACE_LOST && time > task->last && time < (uint64_t)INT64_MAX)
		task->last = time;
	if (type == WIRE_UFTRACE_ENTRY || type == WIRE_UFTRACE_EXIT) {
		follow_depth(task, word);
		if (task->unwind) {
			task->unwind--;
			uftrace_task_end_call(task, call);
			return 1; /* the record is taken when they have ended */
		}
	}
	task->at += sizeof(struct wire_uftrace_record);
	if (type == WIRE_UFTRACE_ENTRY) {
		result = uftrace_task_begin_call(task, process, spaces, word);
	} else if (type == WIRE_UFTRACE_EXIT && task->depth) {
		uftrace_task_end_call(task, call);
		result = 1;
	} else if (type == WIRE_UFTRACE_EXIT) {
		left->ends++;
		task->base = uftrace_task_depth_of(word);
	} else if (type == WIRE_UFTRACE_LOST) {
		task->lost_now += wire_uftrace_address(word);
		left->lost += wire_uftrace_address(word);
	} else {
		left->events++;
	}
	if (result >= 0 && wire_uftrace_more(word)) {
		left->arguments += type <= WIRE_UFTRACE_EXIT;
		skip_arguments(task, process, spaces);
	}
	return result;
}

int uftrace_task_next(struct uftrace_task *task, const struct uftrace_task *process,
		      struct uftrace_spaces *spaces, struct uftrace_left *left, struct uftrace_call *call)
{
	int result;

	do {
		result = uftrace_task_refill(task, spaces);
		if (!result && task->filled - task->at < sizeof(struct wire_uftrace_record)) {
			left->damaged += task->filled != task->at;
			task->at = task->filled;
			free(task->buffer);
			task->buffer = NULL;
			return 0;
		}
		if (!result)
			result = uftrace_task_take(task, process, spaces, left, call);
	} while (!result);
	return result;
}

void uftrace_task_free(struct uftrace_task *task)
{
	free(task->programs);
	free(task->buffer);
	free(task->stack);
}
