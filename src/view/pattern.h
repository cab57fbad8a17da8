/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An event's printf format, compiled once into pieces, so that a record's fields are rendered without looking
 * at the format again and without calling printf for integers and strings.
 */
#ifndef BURIN_VIEW_PATTERN_H
#define BURIN_VIEW_PATTERN_H

#include <stdint.h>

#include "burin/read.h"

struct view_piece;

struct view_pattern {
	struct view_piece *pieces;
	unsigned count;
	uint32_t bound; /* bytes of output for everything of bounded size; strings and bytes come on top */
	char *text;	/* what the pieces' literals point into */
};

enum {
	VIEW_PATTERN_PER_BYTE =
		4, /* bytes of output for each byte of payload, at most, on top of the bound */
};

/* Return: 0 or -ENOMEM. */
int view_pattern_compile(struct view_pattern *pattern, const struct burin_event *event);
/* Renders a record's fields; out has room for bound + VIEW_PATTERN_PER_BYTE * payload_bytes. Returns the end.
 */
char *view_pattern_render(const struct view_pattern *pattern, const struct burin_record *record, char *out);
void view_pattern_free(struct view_pattern *pattern);

#endif
