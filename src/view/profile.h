/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples, counted. Most samples say what others have said: the same task in the same stack. So records are first
 * counted by (task, stack), and everything else, names above all, is done once for each such pair, or place.
 *
 *	profile_count.c, pairs.c   records to pairs      profile_keys.c   places to names
 *	profile_rows.c    pairs to rows          profile_tree.c   pairs to a tree
 *	profile_text.c    rows and trees as text      profile_data.c   the same as JSON and CSV
 *	profile_ledger.c  what is missing, and why
 */
#ifndef BURIN_VIEW_PROFILE_H
#define BURIN_VIEW_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "burin/profile.h"
#include "view/buffer.h"
#include "view/choose.h"
#include "view/pairs.h"

struct view_profile_filter {
	struct view_set pids;
	struct view_globs programs, threads, symbols, event;
	uint64_t from, to; /* ticks; to exclusive, 0: no end */
	bool apart;	   /* no more than one event */
};

/*
 * What a thread did with its time. Samples of the event sample.off-cpu tell for how long it was blocked, and where;
 * those of any other event, where it ran. If both are in ns they add up to its time as a whole.
 */
enum view_state {
	VIEW_RUNNING,
	VIEW_WAITING,
	VIEW_STATES
};

const char *view_state_name(enum view_state state);

/* Weights, and how much of them was waited. */
struct view_cost {
	uint64_t all, waited;
};

static inline void view_cost_add(struct view_cost *cost, const struct view_pair *pair)
{
	cost->all += pair->weight;
	cost->waited += pair->state == VIEW_WAITING ? pair->weight : 0;
}

/* An event whose samples are counted; NULL: none of that state are. */
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
	uint64_t of_other_events; /* samples of events that are not counted */
	uint64_t from, to;	  /* as the filter had them */
	const char *unit;
};

/* Whether times of running and of waiting are together in it. */
static inline bool view_profile_mixed(const struct view_profile *counted)
{
	return counted->of[VIEW_RUNNING].event && counted->of[VIEW_WAITING].event;
}

/*
 * Counts the samples that a filter lets through, of the events that it names, or of all: those of the event with most
 * samples, and sample.off-cpu's too, if both are in ns, and `apart` does not forbid it.
 * Return: 0; -ENODATA: the trace has no samples; -ENOMEM.
 */
int view_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter);
void view_profile_free(struct view_profile *counted);
/* How many tasks the pairs are of. */
size_t view_profile_tasks(const struct view_profile *counted);
/* Whether a sample is among those that were counted. */
bool view_profile_has(const struct view_profile *counted, const struct burin_record *record,
		      const struct burin_sample *sample);

/*
 * The frame whose own cost the samples are: the innermost. Of a wait it is the program's innermost: in the kernel all
 * waits end in the scheduler, and where it may not be sampled they end here anyway.
 */
uint32_t view_own_frame(const struct burin_profile *profile, const struct view_pair *pair);

/* The program of a task: the last part of its path. Any bytes. */
const char *view_program(const struct burin_profile *profile, uint32_t task);
const char *view_thread(const struct burin_profile *profile, uint32_t task);

/* ---- Strings, each once */
struct view_strings {
	const char **texts; /* by number; 0 is "" */
	uint32_t count, room;
	uint32_t *index;
	size_t index_room;
	struct arena copies;
};

/* The number of a text, a copy of which is kept; 0: no memory, or "". */
uint32_t view_string(struct view_strings *strings, const char *text);
void view_strings_free(struct view_strings *strings);

/* ---- Keys: what frames are told apart by */
enum view_part {
	VIEW_PROGRAM,
	VIEW_THREAD,
	VIEW_IMAGE,
	VIEW_SYMBOL,
	VIEW_LINE,
	VIEW_PARTS
};

const char *view_part_name(enum view_part part);

struct view_frame {
	uint32_t parts[VIEW_PARTS]; /* numbers of strings; 0 where it is not asked for */
};

struct view_keys {
	const struct burin_profile *profile;
	unsigned wanted; /* 1 << enum view_part, of images, symbols and lines */
	struct view_strings strings;
	struct view_frame *keys; /* by number, from 1 */
	uint32_t count, room;
	uint32_t *index;
	size_t index_room;
	struct view_place_keys {
		uint32_t first, count; /* in `lists`; count 0: not looked at yet */
	} * places;
	uint32_t *lists;
	size_t list_count, list_room;
	uint32_t *names; /* strings, by number of a function's name in the profile; 0: not looked at yet */
	size_t name_room;
	bool *cut;   /* by key: it is a mark */
	bool failed; /* no memory */
};

/* Return: 0 or -ENOMEM; view_keys_free() in any case. */
int view_keys_make(struct view_keys *keys, const struct burin_profile *profile, unsigned wanted);
void view_keys_free(struct view_keys *keys);
/* The keys of a place, the innermost inlined function first; 0 is that of samples without a stack. They hold until
 * the next call. */
const uint32_t *view_keys_of(struct view_keys *keys, uint32_t place, uint32_t *count);
static inline const char *view_key_text(const struct view_keys *keys, uint32_t key, enum view_part part)
{
	return keys->strings.texts[keys->keys[key].parts[part]];
}

/* The keys of a stack, the innermost first, at most so many. */
enum {
	VIEW_STACK_KEYS_MAX = 8192,
};
uint32_t view_keys_of_stack(struct view_keys *keys, uint32_t stack, uint32_t out[VIEW_STACK_KEYS_MAX]);

/* ---- Rows */
struct view_row {
	uint32_t program, thread; /* strings; 0 if not asked for */
	uint32_t key;
	struct view_cost self, total;
	uint64_t samples; /* of self */
};

struct view_rows {
	struct view_keys keys;
	struct view_row *rows; /* most self first; of the same, most total */
	size_t count, room;
};

/* `parts`: 1 << enum view_part. Return: 0 or -ENOMEM. */
int view_rows_make(struct view_rows *rows, const struct view_profile *counted, unsigned parts);
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
	struct view_node *nodes; /* nodes[0] is the root; siblings: most total first */
	uint32_t count, room;
	uint32_t *index; /* open addressing, by parent, part and key */
	size_t index_room;
};

struct view_tree_options {
	enum view_direction direction;
	const char *symbol; /* a glob, with callers and callees */
	unsigned roots;	    /* 1 << VIEW_PROGRAM, 1 << VIEW_THREAD: nodes for these come first */
};

/* Several trees may have their keys in common; these must stay for as long as a tree, and tell symbols apart. */
int view_tree_make(struct view_tree *tree, struct view_keys *keys, const struct view_profile *counted,
		   const struct view_tree_options *options);
void view_tree_free(struct view_tree *tree);
const char *view_node_text(const struct view_tree *tree, uint32_t node);

/* ---- Output */
struct view_report {
	enum view_part by[VIEW_PARTS];
	unsigned by_count;
	bool by_total; /* order */
	double min;    /* percent of all, of the whole in trees: less is left out */
	bool outwards; /* a tree of callers: what ends at one is not its own time */
	bool color;
	uint64_t limit; /* rows; UINT64_MAX: all */
};

/* A line for each event that is counted, and one if there are others. */
void view_head_text(const struct view_profile *counted, struct view_buffer *out);
/* A cost in percent of all, and, where times of waiting are told apart, how much of it was waited; NULL: blanks. The
 * second column's title. */
void view_cost_text(const struct view_profile *counted, const struct view_cost *cost,
		    struct view_buffer *out);
static inline const char *view_waited_title(const struct view_profile *counted)
{
	return view_profile_mixed(counted) ? " WAITED  " : "";
}

void view_rows_text(const struct view_profile *counted, struct view_rows *rows,
		    const struct view_report *report, struct view_buffer *out);
void view_rows_json(const struct view_profile *counted, struct view_rows *rows,
		    const struct view_report *report, struct view_buffer *out);
void view_rows_csv(const struct view_profile *counted, struct view_rows *rows,
		   const struct view_report *report, struct view_buffer *out);
/* Sorts the rows as the report wants them, and leaves those out that it does not want. */
void view_rows_choose(const struct view_profile *counted, struct view_rows *rows,
		      const struct view_report *report, size_t *left_out);
void view_tree_text(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out);
void view_tree_json(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out);

/* What is missing, with its remedies: losses, cut stacks, images without names (by what `counted`, if it is not NULL,
 * has in them), limits. */
void view_ledger_text(const struct burin_profile *profile, const struct view_profile *counted, bool color,
		      struct view_buffer *out);
void view_ledger_json(const struct burin_profile *profile, struct view_buffer *out);

#endif
