/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by the files that read or check samples: the tables that samples refer to, in memory. */
#ifndef BURIN_READ_PROFILE_PROFILE_PARTS_H
#define BURIN_READ_PROFILE_PROFILE_PARTS_H

#include "base/containers/hash_table.h"
#include "burin/profile.h"
#include "read/profile/tables.h"
#include "wire/wire_profile.h"

/* An event whose records are samples. */
struct read_sample_event {
	bool sample, weighted;	  /* weighted: each record has a weight of its own */
	uint32_t context, weight; /* byte offsets in the payload */
	uint64_t all;		  /* otherwise the weight of each */
	const char *unit;
};

struct read_sample_context {
	uint32_t task, stack; /* task 0: the entry could not be read */
};

struct read_stack {
	uint32_t caller, location; /* location 0: the entry could not be read */
	uint32_t depth;
};

struct read_location {
	uint64_t offset;
	uint64_t begin, size;
	uint32_t image;
	uint32_t frame, frames; /* index of the first, and how many */
};

struct read_function {
	uint32_t name, file; /* numbers of texts, 0 unknown */
	uint32_t line;
};

/* A function whose name holds for all locations in it. */
struct read_range {
	uint64_t begin, size;
	uint32_t image;
	uint32_t frame, frames; /* as in read_location */
};

/* The state of an image's names, from the table of symbols. */
struct read_image_state {
	uint32_t image, state;
	const char *hint;
};

/* The files of the tables: of the samples, or of the calls. */
struct read_profile_files {
	const char *images, *stacks, *symbols;
};

struct burin_profile {
	const struct burin_trace *trace;
	const struct read_profile_files *files;
	struct read_recording values;	  /* .burin/profile */
	bool has_values;		  /* that file exists */
	struct read_sample_event *events; /* by id - 1 */
	struct arena arena;

	struct burin_task *tasks; /* by number - 1; name NULL: the entry could not be read */
	struct burin_image *images;
	struct read_stack *stacks;
	struct read_sample_context *contexts;
	/* By chunk, and one more: how many entries the earlier chunks have. Each numbers its own. */
	uint32_t *context_bases, *task_bases, *stack_bases;
	size_t text_base; /* the texts of earlier chunks, while symbols are read */
	unsigned newest;  /* the chunk whose images are read: it has all */
	uint32_t task_count, image_count, stack_count, context_count;

	struct read_vector locations; /* struct read_location, by number - 1 */
	struct hash_table location_numbers;
	struct read_vector functions; /* struct read_function */
	struct read_vector texts;     /* const char *, by number - 1 */
	uint32_t *text_same;	      /* by number: the first equal text */
	struct read_vector states;    /* struct read_image_state */
	struct read_vector ranges;    /* struct read_range */
};

static inline struct read_location *read_location_at(const struct burin_profile *profile, uint32_t number)
{
	return number - 1 < profile->locations.count
		       ? (struct read_location *)profile->locations.items + (number - 1)
		       : NULL;
}

/*
 * One table each. Faults are reported; entries that cannot be read are left out. Return: 0 or -ENOMEM.
 */
int read_profile_values_load(struct burin_profile *profile); /* profile_values.c */
int read_sample_events_load(struct burin_profile *profile);  /* profile_samples.c */
int read_sample_contexts_load(struct burin_profile *profile);
/* Makes the contexts' tasks and stacks, once these are read, numbers among those of all chunks. */
void read_sample_contexts_join(struct burin_profile *profile);
/* The number of a chunk's context among those of all chunks; 0: there is none. */
uint32_t read_sample_context_number(const struct burin_profile *profile, uint32_t chunk, uint32_t number);
int read_stacks_load(struct burin_profile *profile); /* profile_locations.c */
int read_tasks_load(struct burin_profile *profile);
int read_symbols_load(struct burin_profile *profile);
int read_images_load(struct burin_profile *profile); /* after the symbols, which have the states of images */

/* profile_open.c: the functions of calls as a profile, in which function n is the location of stack n (by chunk, see
 * stack_bases). Return: 0; -ENODATA: there are none; -ENOMEM. */
int read_call_functions_open(struct burin_profile **profile, const struct burin_trace *trace);

/* calls.c: take the functions of calls away from them, to change them. Then only burin_calls_close() is allowed. */
struct burin_calls;
struct burin_profile *read_calls_take_functions(struct burin_calls *calls);
/* calls.c: whether functions have counts and nothing else: no call has a time. Return: 0 or 1; -ENOMEM. */
int read_calls_only_counted(const struct burin_calls *calls);
/* calls.c: the number in the session of an open call's stack, which burin_calls_open_call() shows only where it is needed. */
uint32_t read_calls_open_stack(const struct burin_calls *calls, uint32_t n);
/* calls.c: the stack that a thread was on; 0: it had only one. */
uint32_t read_calls_stack(const struct burin_calls *calls, uint32_t tid, uint64_t time);

/* profile_memory.c: bytes of all tables that have been read so far; struct read_table.memory. */
uint64_t read_profile_memory(const void *profile);
/* profile_locations.c: the number of a location, which is added if it is new; 0: no memory. */
uint32_t read_location_find(struct burin_profile *profile, uint32_t image, uint64_t offset);

#endif
