/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by symbolize.c, which runs the children, and symbolize_receive.c, which reads their messages. */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_PARTS_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_PARTS_H

#include <sys/types.h>

#include "image/symbolize/names_cache.h"
#include "image/symbolize/symbolize_messages.h"
#include "image/symbolize/texts.h"

enum {
	CHILDREN_MAX = 64,
};

/* The state of an image, combined from its children's messages. */
struct result {
	uid_t owner; /* of the image's file: it must be able to read the files that the image names */
	uint64_t
		foreign_bytes; /* of a file that another user may have written, plus one; 0: it is another file */
	bool received;	       /* from at least one child; the fields are those of the worst state */
	enum wire_symbols_state state;
	bool missing; /* the debug information is missing; `hint` is its file */
	bool damaged, late;
	bool fetched; /* `debug` has been asked for */
	int debug[2]; /* as in struct child_task */
	char *hint;
	struct names_cache cache;
	bool lasting; /* the child's answers may be kept */
	bool parts;   /* it asked for files, of which the key of the cache has nothing */
};

/* A part of an image's locations, and its child. */
struct job {
	struct child_task task;
	struct result *result;
	uint64_t *left; /* the locations, if they are left from a child that died */
	bool *answered; /* for each location */
	pid_t child;
	int pipe, asks;			/* asks: the socket for requests of files */
	uint64_t done, last_message_ms; /* locations; when the last message came */
	bool finished;			/* the message about the image has come, the last one */
	bool wrong;			/* it sent an invalid message */
	bool wants;			/* it found no names */
	struct function {
		uint64_t begin, size;
		uint32_t name;
	} function;	 /* the last one with an entry */
	uint32_t *texts; /* the trace's numbers, by the child's */
	size_t text_count, text_room;
	unsigned char *buffer; /* of incomplete messages */
	size_t filled;
};

struct symbolize {
	const struct symbolize_options *options;
	struct symbolize_counts *counts;
	const char *root;
	struct job **queue; /* all, in the order of their starts */
	size_t job_count, job_room, next;
	struct job *running[CHILDREN_MAX];
	unsigned running_count, children_max;
	uint64_t done;	      /* locations of jobs that ended */
	uint64_t deadline_ms; /* on now_ms()'s clock; 0: none */
	uint64_t memory_max;  /* bytes, of each child */
	int cache;	      /* the directory of kept names; negative: there is none */
	struct texts texts;
	unsigned char *entry; /* room for one */
};

/* ---- symbolize_open.c */

/* Answers a child's request for a file, if the image may name it. Return: false: the child has ended. */
bool symbolize_open(const struct job *job);

/* ---- symbolize_receive.c */

/*
 * Gives the names that are kept of an image. @job: its image and offsets; NULL buffer
 * Return: how many offsets are left, in @left; a negative errno.
 */
ssize_t symbolize_kept(struct symbolize *all, struct job *job, uint64_t *left);
/* Processes a child's complete messages; sets ->wrong if one is invalid. Return: 0 or a negative errno. */
int symbolize_receive(struct symbolize *all, struct job *job);
/* Appends a text to an entry. Return: the byte after it. */
unsigned char *symbolize_put_text(unsigned char *at, const char *text, size_t bytes);
/* Passes the complete entry on. Return: as symbolize_options.entry. */
int symbolize_emit_entry(const struct symbolize *all, const unsigned char *end);
/* Sets the hint, to a copy of the text. Return: 0 or -ENOMEM. */
int symbolize_hint(struct result *result, const char *text, size_t bytes);

#endif
