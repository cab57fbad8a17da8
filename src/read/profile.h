/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the files share that read the samples, or check them: what samples refer to, in memory. */
#ifndef BURIN_READ_PROFILE_H
#define BURIN_READ_PROFILE_H

#include "burin/profile.h"
#include "read/tables.h"
#include "wire/profile.h"

/* What is known of an event whose records are samples. */
struct read_sample_event {
	bool sample, weighted; /* weighted: each record has a weight of its own */
	uint32_t spot, weight; /* byte offsets in the payload */
	uint64_t all;	       /* otherwise the weight of all */
	const char *unit;
};

struct read_spot {
	uint32_t task, stack; /* task 0: the entry could not be read */
};

struct read_stack {
	uint32_t caller, place; /* place 0: the entry could not be read */
	uint32_t depth;
};

struct read_place {
	uint64_t offset;
	uint64_t begin, size;
	uint32_t image;
	uint32_t frame, frames; /* index of the first, and how many */
};

struct read_function {
	uint32_t name, file; /* numbers of texts, 0 unknown */
	uint32_t line;
};

/* A function that names all places in it. */
struct read_range {
	uint64_t begin, size;
	uint32_t image;
	uint32_t frame, frames; /* as of a place */
};

/* What the table of symbols tells of an image. */
struct read_image_state {
	uint32_t image, state;
	const char *remedy;
};

struct burin_profile {
	const struct burin_trace *trace;
	struct read_recording values;	  /* .burin/profile */
	bool told;			  /* it is there */
	struct read_sample_event *events; /* by id - 1 */
	struct arena arena;

	struct burin_task *tasks; /* by number - 1; pid and tid of one that cannot be read: name NULL */
	struct burin_image *images;
	struct read_stack *stacks;
	struct read_spot *spots;
	uint32_t task_count, image_count, stack_count, spot_count;

	struct read_vector places; /* struct read_place, by number - 1 */
	uint32_t *place_index;	   /* open addressing: numbers by (image, offset) */
	size_t place_room;
	struct read_vector functions; /* struct read_function */
	struct read_vector texts;     /* const char *, by number - 1 */
	uint32_t *text_same;	      /* by number: the first that says the same */
	struct read_vector states;    /* struct read_image_state */
	struct read_vector ranges;    /* struct read_range */
};

static inline struct read_place *read_place_at(const struct burin_profile *profile, uint32_t number)
{
	return number - 1 < profile->places.count ? (struct read_place *)profile->places.items + (number - 1)
						  : NULL;
}

/*
 * The parts, each in its file. Return: 0 or -ENOMEM; faults have been reported, and what cannot be read is left
 * out.
 */
int read_profile_values_load(struct burin_profile *profile); /* profile_values.c */
int read_sample_events_load(struct burin_profile *profile);  /* samples.c */
int read_spots_load(struct burin_profile *profile);
int read_stacks_load(struct burin_profile *profile); /* places.c */
int read_tasks_load(struct burin_profile *profile);
int read_symbols_load(struct burin_profile *profile);
int read_images_load(struct burin_profile *profile); /* after the symbols, which tell of images */

/* places.c: the number of a place, new or known; 0: no memory. */
uint32_t read_place_find(struct burin_profile *profile, uint32_t image, uint64_t offset);

#endif
