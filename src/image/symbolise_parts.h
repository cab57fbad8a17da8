/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What symbolise.c, which has the children, and symbolise_hear.c, which takes what they say, share. */
#ifndef BURIN_IMAGE_SYMBOLISE_PARTS_H
#define BURIN_IMAGE_SYMBOLISE_PARTS_H

#include <sys/types.h>

#include "image/symbolise_child.h"
#include "image/texts.h"

enum {
	CHILDREN_MAX = 64,
};

/* What is known of an image, put together from what its children say. */
struct result {
	bool told; /* a child has told of it; the fields are from the one that knows least */
	enum wire_symbols_state state;
	bool missing; /* the debug information; `remedy` is the file that was looked for */
	bool damaged;
	char *remedy;
};

/* A part of an image's places, and the child that has it. */
struct job {
	struct child_task task;
	struct result *result;
	uint64_t *left; /* the places, if it has them from a child that died */
	bool *answered; /* of each place */
	pid_t child;
	int pipe;
	uint64_t done, heard_ms; /* places; when it spoke last */
	bool finished;		 /* it has told of the image, which comes last */
	bool wrong;		 /* it said what it cannot mean */
	struct function {
		uint64_t begin, size;
		uint32_t name;
	} function;	 /* the last that has an entry */
	uint32_t *texts; /* their numbers, by the child's */
	size_t text_count, text_room;
	unsigned char *buffer; /* of messages that have not come as a whole */
	size_t filled;
};

struct symbolise {
	const struct symbolise_options *options;
	struct symbolise_counts *counts;
	const char *root;
	struct job **queue; /* all, in the order of their beginnings */
	size_t job_count, job_room, next;
	struct job *running[CHILDREN_MAX];
	unsigned running_count, children_max;
	uint64_t done; /* places of jobs that ended */
	struct texts texts;
	unsigned char *entry; /* room for one */
};

/* ---- symbolise_hear.c */

/* Take what has come from a child as a whole; ->wrong: it makes no sense. Return: 0 or a negative errno. */
int symbolise_hear(struct symbolise *all, struct job *job);
/* A text of an entry that is put together. Return: behind it. */
unsigned char *symbolise_put_text(unsigned char *at, const char *text, size_t bytes);
/* The entry is complete. Return: as symbolise_options.entry. */
int symbolise_hand_out(const struct symbolise *all, const unsigned char *end);
/* What would supply the rest, a copy. Return: 0 or -ENOMEM. */
int symbolise_remedy(struct result *result, const char *text, size_t bytes);

#endif
