/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checked copies of a session's functions, their states and counts; and changes of their states from outside. */
#ifndef BURIN_CONTROL_CALL_LISTING_H
#define BURIN_CONTROL_CALL_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct listed_image {
	char *path; /* "": memory without a file */
	unsigned char build_id[WIRE_CALL_BUILD_ID_MAX];
	uint32_t build_id_bytes;
};

/* A function. Name and file belong to the caller (cmd/control/listing_names.h). */
struct listed_function {
	uint32_t number, image; /* from 1; image 0: it is damaged */
	uint64_t offset, count; /* calls that were only counted */
	uint8_t state;		/* enum wire_call_switch */
	const char *name, *file;
};

struct call_listing {
	struct listed_function *functions; /* by number */
	size_t count;
	struct listed_image *images;
	size_t image_count;
};

/* call_listing_read - read all functions. Return: 0 or -ENOMEM. */
int call_listing_read(struct call_listing *listing, const struct session *session);
void call_listing_free(struct call_listing *listing);

/* call_listing_image - the path of a function's image. */
const char *call_listing_image(const struct call_listing *listing, const struct listed_function *function);

/*
 * call_change - set the states of functions, and those of functions that register later.
 * @listing: with the names; its states are set to the new ones
 * @sign: '+', '-' or '#', as in struct wire_calls
 * @words: of call_selection_parse(), valid; ends with NULL
 * @matched: receives the number of functions that match
 * Context: a command; waits up to a second. Return: 0; -EAGAIN: functions have registered since the listing was read: the
 * rules have changed, read again; -ETIMEDOUT; -ENOSPC: there is no room for the rules.
 */
int call_change(struct session *session, struct call_listing *listing, char sign, char *const *words,
		size_t *matched);

/*
 * call_select - replace all rules, and set the states of all functions by them.
 * @rules: as in struct wire_calls; @words: for the history
 * @on: receives the number of functions that are not off
 * Context, return: as call_change().
 */
int call_select(struct session *session, struct call_listing *listing, const char *rules, char *const *words,
		size_t *on);

#endif
