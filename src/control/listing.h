/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is in a session: its events and what they do. Copies, checked. */
#ifndef BURIN_CONTROL_LISTING_H
#define BURIN_CONTROL_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "wire/format.h"

/* One event. The strings belong to the listing. */
struct listed_event {
	uint16_t id;
	uint8_t kind, level;
	uint8_t want;	  /* enum wire_switch: what it is to do */
	uint16_t refused; /* times that the name came with another format */
	uint32_t line, refused_line, pid;
	uint64_t types;
	const char *name, *format, *file, *refused_file;
	struct wire_check check; /* if want is WIRE_CHECKED */
	const char *where;	 /* the filter's text; "" if there is none */
};

struct listing {
	struct listed_event *events;
	unsigned count;
	bool stopped;
	char *text; /* what the strings point into */
};

/*
 * listing_read - all events as they are at one moment: of a change of several, all is seen or nothing.
 * Context: waits up to 0.1 s for a change that goes on.
 * Return: 0 or -ENOMEM.
 */
int listing_read(struct listing *listing, struct session *session);
void listing_free(struct listing *listing);

#endif
