/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A lease: a command switches events on while it runs, and off again.
 *
 * Several commands may hold leases at once. Each locks the events that it has switched on, or that another lease had
 * switched on. The last one to drop a lock switches the event off. The kernel drops the locks of a killed command, and
 * then its events stay on unless another lease has them. Events that were on before, or changed by others, stay as they are.
 *
 * Of several globs that match an event, the last one decides its condition.
 */
#ifndef BURIN_CONTROL_ENABLE_LEASE_H
#define BURIN_CONTROL_ENABLE_LEASE_H

#include "session/session.h"

struct enable_lease {
	struct session *session;
	int file; /* a descriptor of the session's file, which carries the locks */
	const char *const *globs;
	const char *const *wheres;   /* NULL: no glob has a condition */
	struct leased_rule *rules;   /* of each glob */
	unsigned count;		     /* of globs */
	struct leased_event *events; /* by number */
	uint32_t seen;		     /* events that were examined */
	uint32_t before;	     /* events that were there at the beginning */
	uint32_t kept;		     /* events with a condition here that were on, and stay as they are */
};

/* enable_lease_lasting - how many events are on without a lease. @file: as for enable_lease_begin() */
unsigned enable_lease_lasting(struct session *session, int file);

/*
 * enable_lease_begin - switch on matching events that are off, and matching events that are registered later.
 * @file: must stay open until enable_lease_end()
 * @globs: up to NULL; must live as long as the lease
 * @wheres: of each glob the expression of its events, "": all of them; must live as long as the lease. NULL: no conditions
 * @matched: set to the number of events that match now
 * Return: 0; -ETIMEDOUT, -ENOSPC, -ENOMEM: nothing was changed.
 */
int enable_lease_begin(struct enable_lease *lease, struct session *session, int file,
		       const char *const *globs, const char *const *wheres, unsigned *matched);

/* enable_lease_unfit - whether the lease wanted this event, and its condition does not fit. @id: of the event */
bool enable_lease_unfit(const struct enable_lease *lease, unsigned id);

/*
 * enable_lease_calls - hold the selection of functions whose calls are recorded, until @file is closed.
 * @file: as for enable_lease_begin()
 * Return: false: another command holds it, and is to keep it.
 */
bool enable_lease_calls(const struct session *session, int file);

/*
 * enable_lease_code - wait until no other command changes the code of a session's processes, for some seconds. Held until @file is closed.
 * @file: open for writing
 * Return: false: another one still does.
 */
bool enable_lease_code(const struct session *session, int file);

/* enable_lease_refresh - add events that were registered since. */
void enable_lease_refresh(struct enable_lease *lease);

/* enable_lease_end - switch the events off again. Return: 0; -ETIMEDOUT, -ENOSPC: all stay on. */
int enable_lease_end(struct enable_lease *lease);

#endif
