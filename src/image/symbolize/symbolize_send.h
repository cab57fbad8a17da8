/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sends the results of a child, as the messages of symbolize_messages.h. */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_SEND_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_SEND_H

#include <stdbool.h>

#include "image/names/symbols.h"
#include "image/symbolize/symbolize_messages.h"
#include "image/symbolize/texts.h"

enum {
	CHILD_OUT_MAX = 1 << 18, /* bytes of buffered messages */
};

struct child {
	const struct child_task *task;
	int pipe, asks;		     /* asks: the socket for requests of files */
	int error;		     /* of writing or of memory; 0: none */
	uint64_t done;		     /* locations */
	size_t filled;		     /* of out */
	unsigned char *message, *at; /* the current message: its begin, its end so far */
	struct texts texts;
	unsigned char out[CHILD_OUT_MAX];
};

/* child_begin, child_put, child_put_text, child_end - build a message; one at a time, at most CHILD_MESSAGE_MAX bytes. */
void child_begin(struct child *child, enum child_message kind);
void child_put(struct child *child, uint64_t number);
void child_put_text(struct child *child, const char *text, size_t bytes);
void child_end(struct child *child);

/* child_done - count a location as done. Sends the count now and then, which also shows that the child is alive. */
void child_done(struct child *child);

/* child_send_image - send the image's final state. @missing: @hint is the missing file of debug information */
void child_send_image(struct child *child, enum wire_symbols_state state, bool missing, const char *hint);
/* child_send_lasting - the answers hold for as long as the files stay what they are: the parent may keep them. */
void child_send_lasting(struct child *child);
/* child_send_unreadable - the same for a file that cannot be read. */
void child_send_unreadable(struct child *child, const char *why);

/*
 * child_text, child_symbol - the number of a text, or of a symbol's name, which is sent the first time.
 * @mangled: the text is sent demangled; its number is that of the mangled text
 * Return: 0: no text.
 */
uint32_t child_text(struct child *child, const char *text, size_t bytes, bool mangled);
uint32_t child_symbol(struct child *child, const struct symbol *symbol);

/* child_flush - write all buffered messages to the pipe. */
void child_flush(struct child *child);

#endif
