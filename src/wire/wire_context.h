/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context: fields of each record between the tid and the payload (docs/format.md, "Context"). It is chosen when the
 * session is made and is the same for all of its records. Those of the names stream have none.
 */
#ifndef BURIN_WIRE_WIRE_CONTEXT_H
#define BURIN_WIRE_WIRE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* The fields, in the order in which they are stored, packed. */
enum wire_context {
	WIRE_CONTEXT_CORRELATION = 1, /* u64, the id that the program has set for the thread */
	WIRE_CONTEXT_DEPTH = 2,	      /* u32, open spans of the thread */
	WIRE_CONTEXT_ALL = 3,
};

enum {
	WIRE_CONTEXT_TEXT = 32, /* bytes of context_text(), with the NUL */
};

/* Bytes of the fields of a context. */
static inline uint32_t wire_context_bytes(uint32_t context)
{
	return (context & WIRE_CONTEXT_CORRELATION ? 8 : 0) + (context & WIRE_CONTEXT_DEPTH ? 4 : 0);
}

/*
 * context_parse - parse names of fields: "correlation,depth".
 * Return: false: the text is empty or has an unknown name.
 */
bool context_parse(const char *text, uint32_t *context);

/* context_text - the names of a context's fields; "" for none. Return: @text, of WIRE_CONTEXT_TEXT bytes. */
const char *context_text(uint32_t context, char *text);

#endif
