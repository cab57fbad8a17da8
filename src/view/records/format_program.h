/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An event's printf format, compiled once into pieces. Rendering a record then neither parses the format nor calls
 * printf for integers and strings.
 */
#ifndef BURIN_VIEW_RECORDS_FORMAT_PROGRAM_H
#define BURIN_VIEW_RECORDS_FORMAT_PROGRAM_H

#include <stdint.h>

#include "burin/read.h"

struct view_piece;

struct view_format_program {
	struct view_piece *pieces;
	unsigned count;
	uint32_t bound;	   /* bytes of output, without strings and arrays */
	uint32_t per_byte; /* and for each byte of payload, at most, in addition */
	char *text;	   /* the pieces' literals point into it */
};

/* Return: 0 or -ENOMEM. */
int view_format_program_compile(struct view_format_program *program, const struct burin_event *event);
/* Renders a record's fields; out has room for bound + per_byte * payload_bytes. Return: the end. */
char *view_format_program_render(const struct view_format_program *program, const struct burin_record *record,
				 char *out);
void view_format_program_free(struct view_format_program *program);

#endif
