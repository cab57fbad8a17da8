/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files that start and stop the recording of a guest when they exist: --guest-start file:PATH and --guest-stop file:PATH. The
 * recorder looks between two rounds of its drain; the guest's processors read one word of the session.
 */
#ifndef BURIN_CMD_RECORD_GUESTS_GUEST_TRIGGER_H
#define BURIN_CMD_RECORD_GUESTS_GUEST_TRIGGER_H

#include "session/session.h"

struct guest_trigger {
	const char *start, *stop; /* paths that do not exist yet; NULL: none, or its turn is over */
};

/* guest_trigger_path - the path in "file:PATH"; NULL: it is something else. */
const char *guest_trigger_path(const char *word);

/* guest_trigger_check - check what both options have. Return: 0; CMD_USAGE: by files, nothing would be recorded. */
int guest_trigger_check(const char *start, const char *stop);

/* guest_trigger_begin - the same options, before the guest begins. */
void guest_trigger_begin(struct guest_trigger *trigger, const char *start, const char *stop,
			 const struct session *session);

/* guest_trigger_look - start or stop if the next one of the files exists now. */
void guest_trigger_look(struct guest_trigger *trigger, const struct session *session);

#endif
