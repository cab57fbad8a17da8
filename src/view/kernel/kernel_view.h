/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's events of a trace, as the views of system calls and of the scheduler need them. A record is decoded by its
 * event's names and types: an event without the fields that are needed, or with other types, counts as one that the view
 * does not know.
 */
#ifndef BURIN_VIEW_KERNEL_KERNEL_VIEW_H
#define BURIN_VIEW_KERNEL_KERNEL_VIEW_H

#include "base/text.h"
#include "burin/read.h"
#include "view/profile/profile_view.h"

enum kernel_kind {
	KERNEL_OTHER,	/* of the kernel, by the current thread */
	KERNEL_FOREIGN, /* not of the kernel, or about another thread */
	KERNEL_SWITCH,
	KERNEL_WAKING,
	KERNEL_NEWTASK,
	KERNEL_EXIT,
	KERNEL_MIGRATE,
	KERNEL_ASLEEP, /* a thread that sleeps at the end of the recording */
	KERNEL_ENTER,  /* of a system call */
	KERNEL_LEAVE,
	KERNEL_LATE, /* arguments of a system call, read at its end: memory was missing at its begin */
	KERNEL_KINDS
};

/* What is known of an event. */
struct kernel_event {
	enum kernel_kind kind;
	uint32_t call; /* of a system call: the string of its name, if each record is about the same one */
	bool compat;   /* its calls are those of 32-bit programs, and have no names */
	int fields[5]; /* numbers of the fields that its kind has; -1: none */
};

struct kernel_view {
	const struct burin_trace *trace;
	struct kernel_event *events; /* by id; 0 is none */
	unsigned count;		     /* the largest id */
	bool has[KERNEL_KINDS];
	struct view_strings *strings; /* the caller's */
	uint32_t *calls; /* strings of system calls by their number in sched_switch; 0: not looked up yet */
	const struct burin_field *call_field; /* of sched_switch */
};

enum {
	KERNEL_CALLS = 1024,   /* numbers of system calls; larger ones have no name */
	KERNEL_CALL_NONE = -1, /* of sched_switch: the thread is in none */
	KERNEL_CALL_UNKNOWN = -2,
	KERNEL_ERRNO_MAX = 4095, /* a result from -4095 to -1 is an error */
};

/* By what a record of a wake-up is made. */
enum kernel_wake {
	KERNEL_WAKE_THREAD,
	KERNEL_WAKE_INTERRUPT,
	KERNEL_WAKE_PACKET, /* of the thread, which an interrupt delivers */
};

/* A switch between threads. */
struct kernel_switch {
	uint32_t prev, next; /* thread ids; 0: idle */
	int64_t state;	     /* of the leaving thread, as the kernel has it: 0: it wants to run on */
	uint32_t call;	     /* the string of the system call that it is in; 0: none, or unknown */
};

/* kernel_view_make - look at the events of a trace. @strings: for names of calls; of the caller. Return: 0; -ENOMEM. */
int kernel_view_make(struct kernel_view *view, const struct burin_trace *trace, struct view_strings *strings);
void kernel_view_free(struct kernel_view *view);

static inline const struct kernel_event *kernel_view_event(const struct kernel_view *view,
							   const struct burin_record *record)
{
	const uint32_t id = record->event->id;

	return &view->events[id <= view->count && record->ring != UINT32_MAX ? id : 0];
}

/* The fields of a record of that kind. Return: false: it has not the type that it should have. */
bool kernel_view_switch(struct kernel_view *view, const struct kernel_event *event,
			const struct burin_record *record, struct kernel_switch *out);
/* The thread that a record of wake-up, fork or migration is about. */
bool kernel_view_thread(const struct kernel_event *event, const struct burin_record *record, uint32_t *tid);
/* Whether an interrupt woke, and which: KERNEL_WAKE_THREAD if it is unknown. */
enum kernel_wake kernel_view_wake(const struct kernel_event *event, const struct burin_record *record);
/*
 * The begin of the call that arguments read at its end are of, in ticks.
 * @open: the begin of the call of the same name that the thread is in; 0: of none
 * Return: @open if it is this call, which has a record of its begin then.
 */
uint64_t kernel_view_begin(const struct kernel_view *view, const struct burin_record *record, uint64_t open);
/* kernel_view_is_begin - whether a begin that was found so is that of the call that began at @open. */
bool kernel_view_is_begin(const struct kernel_view *view, uint64_t begin, uint64_t open);
/* A thread that sleeps. */
struct kernel_asleep {
	uint64_t ns; /* for which it slept, at least */
	uint32_t tid;
	int64_t state; /* as that of a switch */
	uint32_t call; /* the same */
	const char *
		stack; /* names of functions of the kernel, from the innermost one on, with a space between */
};

bool kernel_view_asleep(struct kernel_view *view, const struct kernel_event *event,
			const struct burin_record *record, struct kernel_asleep *out);

/*
 * kernel_view_unnamed - what a system call without a name is called: `syscall_666` or `compat_syscall_20`. Return: @text; NULL: its event has
 * a name. Context: any thread.
 * kernel_view_call - the string of the system call that a record is about.
 */
const char *kernel_view_unnamed(const struct kernel_event *event, const struct burin_record *record,
				char text[TEXT_SHORT]);
uint32_t kernel_view_call(struct kernel_view *view, const struct kernel_event *event,
			  const struct burin_record *record);
/* The result of a system call. */
bool kernel_view_result(const struct kernel_event *event, const struct burin_record *record, int64_t *result);

/*
 * kernel_view_ended - the string of the call that has ended: that of an execveat that succeeds has the number of execve at its end.
 * @call: as the record of the end has it; @open: that the thread was in
 */
uint32_t kernel_view_ended(const struct kernel_view *view, uint32_t call, int64_t result, uint32_t open);

static inline bool kernel_is_error(int64_t result)
{
	return result < 0 && result >= -KERNEL_ERRNO_MAX;
}

/* kernel_never_ends - whether no tracepoint sees the end of a system call. @call: its name */
bool kernel_never_ends(const char *call);
/* kernel_ends_twice - whether a child also returns from a system call, whose begin only the parent has: then the result is 0. */
bool kernel_ends_twice(const char *call);

/* kernel_number_field - the field with the number of a system call that has no name; -1: it has one. @call: as its event has it */
int kernel_number_field(const struct burin_event *event, const char *call);

/* kernel_errno_name - "ENOENT"; of an error without a name, its number in @text. @error: above 0 */
const char *kernel_errno_name(int error, char text[TEXT_SHORT]);

#endif
