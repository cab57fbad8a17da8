/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is in a session: its events and what they do, its rings and how full they are. Copies, checked. */
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
	uint8_t effect;	  /* what it does now */
	uint16_t refused; /* times that the name came with another format */
	uint32_t line, refused_line, pid;
	uint64_t types;
	const char *name, *format, *file, *refused_file;
	struct wire_check check; /* if want or effect is WIRE_CHECKED */
	const char *where;	 /* the filter's text; "" if there is none */
};

struct listing {
	struct listed_event *events;
	unsigned count;
	bool stopped;
	bool torn;  /* a change was cut short, or changes came all the time: this may show a part of one */
	char *text; /* what the strings point into */
};

/*
 * listing_read - all events as they are at one moment: of a change of several, all is seen or nothing.
 * Context: waits up to 0.1 s for a change that goes on.
 * Return: 0 or -ENOMEM.
 */
int listing_read(struct listing *listing, struct session *session);
void listing_free(struct listing *listing);

/* One ring's state. */
struct ring_state {
	uint64_t written; /* records, ever */
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t clock_steps;
	uint32_t packets_used; /* of those that the ring has */
	uint32_t packets;
	bool used;
};

/* ring_state_read - how a ring stands. Context: any; a scribbled ring gives nonsense, no fault. */
void ring_state_read(struct session *session, unsigned index, struct ring_state *state);

/* Sums over the rings of a session. */
struct session_stat {
	uint64_t written, lost[WIRE_LOST_CAUSES], clock_steps;
	uint64_t names_written, names_lost;
	uint64_t sampled_out, limited;
	uint64_t used_bytes, room_bytes; /* of the buffers that have been used */
	unsigned rings;			 /* that have been used */
};

void session_stat_read(struct session *session, struct session_stat *stat);

#endif
