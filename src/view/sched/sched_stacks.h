/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stacks of waits: of the thread that slept, and of the one that woke it, from the samples of `burin record --sched=wakers`.
 *
 * Samples and the kernel's events are recorded at the same moments, but apart from each other. A sample belongs to the wait of its
 * thread that it overlaps, since a thread has one wait at a time.
 */
#ifndef BURIN_VIEW_SCHED_SCHED_STACKS_H
#define BURIN_VIEW_SCHED_SCHED_STACKS_H

#include "base/containers/hash_table.h"
#include "burin/profile.h"
#include "view/profile/profile_view.h"

/* A sample: of a wait, its begin and end; of a wake-up, its time. ns */
struct sched_stack {
	uint32_t tid; /* of the thread that slept */
	uint32_t stack;
	uint64_t begin, end;
};

struct sched_stack_list {
	struct sched_stack *stacks; /* by thread and time */
	size_t count, room;
};

struct sched_stacks {
	const struct burin_trace *trace;
	struct burin_profile *profile; /* NULL: there are no stacks */
	struct view_strings *strings;  /* the caller's */
	struct sched_stack_list sleepers, wakers;
	uint32_t *texts; /* by stack: its string; 0: not made yet */
};

enum {
	SCHED_FRAMES = 16,     /* functions of a stack that count, the innermost first */
	SCHED_FRAMES_TEXT = 6, /* that are printed */
};

/* sched_stacks_make - read the stacks of a trace. Return: 0, also if it has none; -ENOMEM. */
int sched_stacks_make(struct sched_stacks *stacks, const struct burin_trace *trace,
		      struct view_strings *strings);
void sched_stacks_free(struct sched_stacks *stacks);

static inline bool sched_stacks_exist(const struct sched_stacks *stacks)
{
	return stacks->profile != NULL;
}

/*
 * sched_stacks_sleeper - the stack in which a thread was blocked between two times.
 * sched_stacks_waker - that of what woke it at a time.
 * Return: a string: the object of the wait, which may be empty, then the functions, a line each; 0: it is not in the trace.
 */
uint32_t sched_stacks_sleeper(struct sched_stacks *stacks, uint32_t tid, uint64_t begin, uint64_t end);
uint32_t sched_stacks_waker(struct sched_stacks *stacks, uint32_t tid, uint64_t time);

/*
 * sched_frame_name - the name of a frame's function: of that into which the compiler has put the others; without a name, its address.
 * @room: for an address
 */
const char *sched_frame_name(const struct burin_profile *profile, uint32_t location, char *room,
			     size_t bytes);

/* sched_stack_of - the same string of a stack of the kernel: names of functions from the innermost one on, with a space between, or any text. */
uint32_t sched_stack_of(struct view_strings *strings, const char *names);

/* sched_stack_join - the object of a stack of the kernel, and the functions of a stack of the program; either may be 0. */
uint32_t sched_stack_join(struct view_strings *strings, uint32_t kernel, uint32_t program);

/* sched_stack_same - whether two of them are printed the same way. */
bool sched_stack_same(const char *one, const char *other);

/* sched_stack_text, sched_stack_json - print such a string: "for pipe, at read < take < main"; an array. */
void sched_stack_text(const char *stack, struct view_buffer *out);
void sched_stack_json(const char *stack, const char *key, struct json *json);

#endif
