/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How a child that symbolises says what it finds, in the messages of symbolise_child.h. */
#ifndef BURIN_IMAGE_SYMBOLISE_SAY_H
#define BURIN_IMAGE_SYMBOLISE_SAY_H

#include <stdbool.h>

#include "image/symbolise_child.h"
#include "image/symbols.h"
#include "image/texts.h"

enum {
	CHILD_OUT_MAX = 1 << 18, /* bytes of messages that wait for being sent */
};

struct child {
	const struct child_task *task;
	int pipe;
	int error;		     /* the first of writing or of memory */
	uint64_t done;		     /* places */
	size_t filled;		     /* of out */
	unsigned char *message, *at; /* the one that is being written: its begin, its end so far */
	struct texts texts;
	unsigned char out[CHILD_OUT_MAX];
};

/* child_begin, child_put, child_put_text, child_end - a message; one at a time, of CHILD_MESSAGE_MAX bytes at most. */
void child_begin(struct child *child, enum child_message kind);
void child_put(struct child *child, uint64_t number);
void child_put_text(struct child *child, const char *text, size_t bytes);
void child_end(struct child *child);

/* child_done - one more place is done with. Says now and then how far it is, which also says that it lives. */
void child_done(struct child *child);

/* child_say_image - what is known of the image in the end. @missing: @remedy is the debug information's file */
void child_say_image(struct child *child, enum wire_symbols_state state, bool missing, const char *remedy);
/* child_say_unreadable - the same of a file that cannot be read. */
void child_say_unreadable(struct child *child, const char *why);

/*
 * child_text, child_symbol - the number of a text, which is said when it comes first; of a symbol's name.
 * @mangled: it is said as people write it; its number is that of how it was written
 * Return: 0: none.
 */
uint32_t child_text(struct child *child, const char *text, size_t bytes, bool mangled);
uint32_t child_symbol(struct child *child, const struct symbol *symbol);

/* child_flush - what was said is on its way. */
void child_flush(struct child *child);

/* ---- symbolise_elf.c */

/* child_elf - an ELF image: its symbols, and its lines unless the task's level forbids it. Return: 0 or -ENOMEM. */
int child_elf(struct child *child);

#endif
