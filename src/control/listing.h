/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checked copies of a session's events and their states. */
#ifndef BURIN_CONTROL_LISTING_H
#define BURIN_CONTROL_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "wire/wire_format.h"

/* One event. The strings belong to the listing. */
struct listed_event {
	uint16_t id;
	uint8_t kind, level;
	uint8_t want;	  /* enum wire_switch: the desired state */
	uint16_t refused; /* how often the name was registered with another format */
	uint32_t line, refused_line, pid;
	uint64_t types;
	const char *name, *format, *file, *refused_file;
	const char *enums;	     /* valid (wire/wire_enum.h) */
	struct wire_condition check; /* if want is WIRE_CONDITIONAL */
	const char *where;	     /* the filter's text, also of WIRE_UNFIT; "": there is none */
	const char *why;	     /* of WIRE_UNFIT: the reason; otherwise "" */
};

struct listing {
	struct listed_event *events;
	unsigned count;
	bool paused; /* tracing is paused */
	char *text;  /* the strings */
};

/*
 * listing_read - read all events at one moment, before or after a change of several events but never in between.
 * Context: waits up to 0.1 s for a change to finish. It completes one whose process has died, if the session is open for changes.
 * Return: 0; -ENOMEM; -EBUSY: a change is not finished, and the session is open for reading only.
 */
int listing_read(struct listing *listing, struct session *session);
void listing_free(struct listing *listing);

#endif
