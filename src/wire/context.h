/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context: what the records of a session carry besides their payload, in front of it, right behind the tid
 * (docs/format.md, "Context"). Chosen when the session is made, the same for all of its records; those of the
 * names stream have none.
 */
#ifndef BURIN_WIRE_CONTEXT_H
#define BURIN_WIRE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* The fields, in the order in which they are stored, packed. */
enum wire_context {
	WIRE_CONTEXT_CORRELATION = 1, /* u64, what the program has said of the thread */
	WIRE_CONTEXT_DEPTH = 2,	      /* u32, spans that are open in the thread */
	WIRE_CONTEXT_ALL = 3,
};

enum {
	WIRE_CONTEXT_TEXT = 32, /* bytes of their names, with the NUL */
};

/* Bytes of the fields of a context. */
static inline uint32_t wire_context_bytes(uint32_t context)
{
	return (context & WIRE_CONTEXT_CORRELATION ? 8 : 0) + (context & WIRE_CONTEXT_DEPTH ? 4 : 0);
}

/*
 * context_parse - the fields that a text names: "correlation,depth".
 * Return: whether it names nothing else, and at least one.
 */
bool context_parse(const char *text, uint32_t *context);

/* context_text - the text that names them; "" for none. Return: @text, of WIRE_CONTEXT_TEXT bytes. */
const char *context_text(uint32_t context, char *text);

#endif
