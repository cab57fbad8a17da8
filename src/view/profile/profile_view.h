/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples, counted. Most samples repeat others: the same task in the same stack. So records are first counted by
 * (task, stack). All other work, above all that on names, is done once for each such pair or location.
 *
 *	profile_count.c, pairs.c  records to pairs         profile_keys.c  locations to names
 *	profile_rows.c            pairs to rows            profile_tree.c  pairs to a tree
 *	profile_text.c            rows; trees as text      profile_data.c  trees as JSON
 *	profile_ledger.c          losses and other gaps, and their causes
 */
#ifndef BURIN_VIEW_PROFILE_PROFILE_VIEW_H
#define BURIN_VIEW_PROFILE_PROFILE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/containers/arena.h"
#include "base/containers/hash_table.h"
#include "burin/profile.h"
#include "view/records/where.h"
#include "view/table.h"
#include "view/profile/pairs.h"

struct view_profile_filter {
	struct view_set pids;
	struct view_globs programs, threads, symbols, event;
	struct view_conditions where; /* see where.h: what they mean in each view */
	uint64_t from, to;	      /* ticks; to exclusive, 0: no end */
	bool apart;		      /* at most one event */
	const struct view_windows
		*windows; /* samples in them only; NULL: all. Others than profile_count.c ignore it */
};

/*
 * The state of a thread. Samples of the event sample.off-cpu record how long it was blocked, and where; samples of any
 * other event record where it ran. If both are in ns, they add up to the thread's time as a whole.
 */
enum view_state {
	VIEW_RUNNING,
	VIEW_WAITING,
	VIEW_STATES
};

const char *view_state_name(enum view_state state);

/* A sum of weights, and the part of it that was waiting. */
struct view_cost {
	uint64_t all, waited;
};

static inline void view_cost_add(struct view_cost *cost, const struct view_pair *pair)
{
	cost->all += pair->weight;
	cost->waited += pair->state == VIEW_WAITING ? pair->weight : 0;
}

/* The event whose samples of one state are counted; NULL: there is none. */
struct view_counted {
	const struct burin_event *event;
	uint64_t samples, weight;
};

struct view_profile {
	const struct burin_trace *trace;
	struct burin_profile *profile;
	struct view_pair *pairs; /* by task, stack, state */
	size_t pair_count;
	uint64_t samples, weight;
	double squares; /* of the pairs */
	struct view_counted of[VIEW_STATES];
	bool calls;		  /* weights are self times of calls: see view/calls/call_profile.h */
	uint64_t of_other_events; /* samples of events that are not counted */
	uint64_t from, to;	  /* of the filter */
	struct view_where *where; /* its conditions; of a part: those of the whole */
	const char *unit;	  /* "ns", "events" or "samples" */
};

/* Whether it has times of running and of waiting. */
static inline bool view_profile_mixed(const struct view_profile *counted)
{
	return counted->of[VIEW_RUNNING].event && counted->of[VIEW_WAITING].event;
}

/*
 * Counts the samples that a filter selects: those of the event with most samples, and those of sample.off-cpu if both
 * are in ns and `apart` is not set.
 * Return: 0; -ENODATA: the trace has no samples; -EDOM: see the filter's ->where; -ENOMEM.
 */
int view_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter);
void view_profile_free(struct view_profile *counted);
/*
 * view_profile_part - the same samples within other times.
 * @whole: must outlive it; @filter: that of the whole, with other times
 * Return: 0 or -ENOMEM.
 */
int view_profile_part(struct view_profile *part, const struct view_profile *whole,
		      const struct view_profile_filter *filter);
void view_profile_part_free(struct view_profile *part);
/* The number of tasks that have pairs. */
size_t view_profile_tasks(const struct view_profile *counted);
/* Whether a sample was counted. */
bool view_profile_has(const struct view_profile *counted, const struct burin_record *record,
		      const struct burin_sample *sample);

/*
 * The frame whose self cost the samples are: the innermost one. For a wait it is the program's innermost one, since all
 * waits in the kernel end in the scheduler. Without permission to sample the kernel it is the innermost one anyway.
 */
uint32_t view_own_frame(const struct burin_profile *profile, const struct view_pair *pair);

/* The program of a task: the last part of its path. It may have any bytes. */
const char *view_program(const struct burin_profile *profile, uint32_t task);
const char *view_thread(const struct burin_profile *profile, uint32_t task);

/* ---- Strings, each once */
struct view_strings {
	const char **texts; /* by number; 0 is "" */
	uint32_t count;
	size_t room;
	struct hash_table numbers;
	struct arena copies;
	bool failed; /* no memory: texts may be missing */
};

/* Finds or copies a text. Return: its number; 0: "", or no memory (->failed). */
uint32_t view_string(struct view_strings *strings, const char *text);
void view_strings_free(struct view_strings *strings);

/* ---- Keys: the parts by which frames differ */
enum view_part {
	VIEW_PROGRAM,
	VIEW_THREAD,
	VIEW_PID,
	VIEW_TID,
	VIEW_TASK_PARTS, /* the parts above are of a sample's task, those below of its frames */
	VIEW_IMAGE = VIEW_TASK_PARTS,
	VIEW_SYMBOL,
	VIEW_LINE,
	VIEW_PARTS
};

const char *view_part_name(enum view_part part);

struct view_frame {
	uint32_t parts[VIEW_PARTS]; /* numbers of strings; 0: part not selected */
};

struct view_keys {
	const struct burin_profile *profile;
	unsigned parts; /* 1 << enum view_part, of images, symbols and lines */
	bool fold;	/* a location has one key: inlined functions count to the function that they are in */
	struct view_strings strings;
	struct view_frame *keys; /* by number, from 1 */
	uint32_t count;
	size_t room, truncated_room;
	struct hash_table numbers;
	struct view_location_keys {
		uint32_t first, count; /* in `lists`; count 0: not looked up yet */
	} * locations;
	uint32_t *lists;
	size_t list_count, list_room;
	uint32_t *names; /* strings, by number of a function's name in the profile; 0: not looked up yet */
	size_t name_room;
	bool *truncated; /* by key: it marks a truncated stack */
	bool failed;	 /* no memory */
};

/* Whether memory was missing for some key or string. */
static inline bool view_keys_failed(const struct view_keys *keys)
{
	return keys->failed || keys->strings.failed;
}

/* Return: 0 or -ENOMEM; call view_keys_free() in both cases. */
int view_keys_make(struct view_keys *keys, const struct burin_profile *profile, unsigned parts, bool fold);
void view_keys_free(struct view_keys *keys);
/* The keys of a location, the innermost inlined function first. Location 0 is that of samples without a stack. The
 * result is valid until the next call. */
const uint32_t *view_keys_of(struct view_keys *keys, uint32_t location, uint32_t *count);
static inline const char *view_key_text(const struct view_keys *keys, uint32_t key, enum view_part part)
{
	return keys->strings.texts[keys->keys[key].parts[part]];
}

/* The keys of a stack, innermost first, at most VIEW_STACK_KEYS_MAX. */
enum {
	VIEW_STACK_KEYS_MAX = 8192,
};
uint32_t view_keys_of_stack(struct view_keys *keys, uint32_t stack, uint32_t out[VIEW_STACK_KEYS_MAX]);

/* ---- Rows */
struct view_row {
	uint32_t task[VIEW_TASK_PARTS]; /* strings; 0: part not selected */
	uint32_t key;
	struct view_cost self, total;
	uint64_t samples; /* of self */
};

struct view_rows {
	struct view_keys keys;
	struct view_row *rows; /* largest self first, then largest total */
	size_t count, room;
};

/* `parts`: 1 << enum view_part. Return: 0 or -ENOMEM. */
int view_rows_make(struct view_rows *rows, const struct view_profile *counted, unsigned parts, bool fold);
void view_rows_free(struct view_rows *rows);
const char *view_row_text(const struct view_rows *rows, const struct view_row *row, enum view_part part);

/* ---- Trees */
enum view_direction {
	VIEW_WHOLE,   /* from the outermost frame inwards */
	VIEW_CALLEES, /* from the outermost frame of a symbol inwards */
	VIEW_CALLERS, /* from there outwards */
};

struct view_node {
	uint32_t parent, child, next; /* nodes; 0: none */
	uint32_t key;		      /* of nodes of programs and threads: a string */
	unsigned part;		      /* VIEW_PROGRAM, VIEW_THREAD or VIEW_SYMBOL */
	struct view_cost self, total;
};

struct view_tree {
	struct view_keys *keys;	 /* the caller's */
	struct view_node *nodes; /* nodes[0] is the root; siblings: largest total first */
	uint32_t count;
	size_t room;
	struct hash_table numbers; /* by parent, part and key */
};

struct view_tree_options {
	enum view_direction direction;
	const char *symbol; /* a glob, with callers and callees */
	unsigned roots;	    /* 1 << VIEW_PROGRAM, 1 << VIEW_THREAD: nodes for these come first */
};

/* Several trees may share their keys. The keys must outlive the trees, and have symbols. */
int view_tree_make(struct view_tree *tree, struct view_keys *keys, const struct view_profile *counted,
		   const struct view_tree_options *options);
void view_tree_free(struct view_tree *tree);
const char *view_node_text(const struct view_tree *tree, uint32_t node);

/* ---- Output */

/* Options of a report: which rows are printed, and which parts of them. Also of calls and of threads. */
struct view_report {
	enum view_part by[VIEW_PARTS];
	unsigned by_count;
	bool by_total; /* order */
	double min; /* percent of all samples or time, in trees of the root; rows and nodes below are left out */
	bool outwards; /* a tree of callers: it has no self costs */
	bool color;
	uint64_t limit; /* rows; UINT64_MAX: all */
	enum table_form form;
};

/* view_report_parts - what `by` chooses: 1 << enum view_part. */
unsigned view_report_parts(const struct view_report *report);

/* view_report_names - add the columns that `by` chooses to a table, and its colour. */
void view_report_names(const struct view_report *report, struct table *table);

/* A line for each counted event, and one for samples of other events. */
void view_head_text(const struct view_profile *counted, struct view_buffer *out);
/* A cost in percent of all, and, with times of waiting, a column for the part that was waiting; NULL: blanks. */
void view_cost_text(const struct view_profile *counted, const struct view_cost *cost,
		    struct view_buffer *out);
/* The title of that column. */
static inline const char *view_waited_title(const struct view_profile *counted)
{
	return view_profile_mixed(counted) ? " WAITED  " : "";
}

/* view_rows_print - the rows within the report's limits, in its order and form. The others are removed. */
void view_rows_print(const struct view_profile *counted, struct view_rows *rows,
		     const struct view_report *report, struct view_buffer *out);
/* A part of it. */
void view_rows_json(const struct view_profile *counted, const struct table *rows, struct view_buffer *out);
/* A weight, with the unit in its key: "self_ns". */
void view_weight_json(struct json *json, const struct view_profile *counted, const char *name,
		      uint64_t weight);
void view_tree_text(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out);
void view_tree_json(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out);

/*
 * All that is missing, with hints: losses, truncated stacks, images without names, limits.
 * @counted: NULL, or the images are sorted by their weight in it
 * @lines: the sums are always printed, their parts only as far as there is room in so many lines
 */
void view_ledger_text(const struct burin_trace *trace, const struct burin_profile *profile,
		      const struct view_profile *counted, bool color, size_t lines, struct view_buffer *out);
/* Its part about images without names; also of calls (view_profile.calls). */
void view_ledger_nameless(const struct burin_profile *profile, const struct view_profile *counted, bool color,
			  struct view_buffer *out);
/* Its first line: how many samples were lost. Return: whether any were, or that is not known. view_ledger_lost(): the number. */
uint64_t view_ledger_lost(const struct burin_profile *profile);
bool view_ledger_line(const struct burin_profile *profile, struct view_buffer *out);
void view_ledger_json(const struct burin_profile *profile, struct json *json, const char *key);

#endif
