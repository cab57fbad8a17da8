/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state of counted events that their parts share: options, events, words and maps; see kernel_counts.h. */
#ifndef BURIN_SOURCE_KERNEL_COUNTS_COUNT_STATE_H
#define BURIN_SOURCE_KERNEL_COUNTS_COUNT_STATE_H

#include "source/kernel/bpf/kernel_files.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/in_kernel/counts/kernel_count.h"
#include "source/kernel/points/kernel_follow.h"
#include "source/kernel/programs/kernel_points.h"

enum {
	KERNEL_COUNTS_BY_MAX = KERNEL_COUNT_WORDS - 1,
	KERNEL_COUNTS_ROWS_MAX = 1 << 20,
};

struct kernel_counts_options {
	const char *const *globs; /* of SYSTEM:NAME; ends with NULL */
	const char *const *where; /* conditions (filter/filter_conditions.h); ends with NULL */
	const char *field;	  /* whose values are counted; NULL: none */
	const char *const *by;	  /* fields, and facts of the task */
	unsigned by_count;
	bool times;    /* of system calls, from their entry to their exit: in ns, by call */
	bool all;      /* the whole machine; else those of kernel_counts_command(), kernel_counts_process() */
	bool slots;    /* several intervals are counted: kernel_counts_next() */
	unsigned rows; /* room for so many, of each CPU and combination of values */
};

/* A value by which rows differ: a word of --by, or the field if it is counted by its values. */
struct kernel_counts_word {
	const char *name;
	enum kernel_count_source source; /* of events that have no such field */
	bool is_field;			 /* some event has it */
	unsigned at, bytes;		 /* in a key */
};

/* An event that is counted: a tracepoint, or with ->times a system call. */
struct kernel_counts_event {
	size_t point; /* of a system call: one of its two, which has the words */
	char name[WIRE_NAME_MAX + 1];
	const struct tracepoint_field *words[KERNEL_COUNT_WORDS]; /* NULL: it has no such field */
	const struct tracepoint_field *value; /* that is counted by its numbers; NULL: none */
};

struct kernel_counts {
	struct kernel_counts_options options;
	struct kernel_points points;
	struct kernel_follow follow;
	struct kernel_files files;
	struct kernel_layout layout;
	struct kernel_task_type names; /* by which a task's program is found; layout.task may become poorer */
	struct kernel_counts_event *events; /* by number - 1; of those that are not counted the name is "" */
	size_t event_count;
	struct kernel_counts_word words[KERNEL_COUNT_WORDS];
	unsigned word_count; /* the last one is the field, if `by_value` */
	bool by_value, by_number;
	unsigned key_bytes;
	int rows, pages, state_map, empty, started; /* maps; -1: there is none */
	uint32_t page_count;			    /* of a slot */
	uint64_t (*buckets)[KERNEL_COUNT_BUCKETS];  /* `pages`, mapped */
	struct kernel_count_state *state;	    /* mapped */
	unsigned attached;
	unsigned refused;  /* tracepoints that the kernel does not let attach to ... */
	int refused_error; /* ... of the first one, and its name and why */
	char refused_why[KERNEL_WHY];
	uint64_t
		missed; /* events that the kernel's own protection left out; valid after kernel_counts_stop() */
};

/* counts_pages - how many pages there are. */
static inline size_t counts_pages(const struct kernel_counts *counts)
{
	return (size_t)counts->page_count << counts->options.slots;
}

#endif
