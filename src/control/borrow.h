/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events that a command switches on for as long as it looks, and off again.
 *
 * Several may look at once. Each holds a lock on what it has switched on, or found switched on by another of
 * its kind; who is the last to let go switches off. The kernel drops the locks of who is killed: then what it
 * switched on alone stays on. What was on before, and what somebody else has changed meanwhile, is left as it
 * is.
 */
#ifndef BURIN_CONTROL_BORROW_H
#define BURIN_CONTROL_BORROW_H

#include "session/session.h"

struct borrow {
	struct session *session;
	int file; /* a descriptor of the session's file, which carries the locks */
	const char *const *globs;
	struct borrowed_rule *rules; /* of each glob */
	unsigned count;		     /* of globs */
	uint8_t *held;		     /* of each event: whether it is to go off */
	uint32_t known;		     /* events that were looked at */
	uint32_t before;	     /* those of them that were there at the beginning */
};

/* borrow_lasting - how many events are on, whether anybody looks or not. @file: as for borrow_begin() */
unsigned borrow_lasting(struct session *session, int file);

/*
 * borrow_begin - switch on what matches and is off; also what is registered later.
 * @file: stays open until borrow_end()
 * @globs: NULL ends; live as long as the borrow
 * @matched: set to the number of events that match now
 * Return: 0; -ETIMEDOUT, -ENOSPC, -ENOMEM: nothing was changed.
 */
int borrow_begin(struct borrow *borrow, struct session *session, int file, const char *const *globs,
		 unsigned *matched);

/* borrow_refresh - take note of events that were registered meanwhile. */
void borrow_refresh(struct borrow *borrow);

/* borrow_end - switch off again. Return: 0; -ETIMEDOUT, -ENOSPC: all stays on. */
int borrow_end(struct borrow *borrow);

#endif
