/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Snapshots that `burin record --mode flight` writes while its command runs: for SIGUSR1, and when a guest wants one. */
#ifndef BURIN_CMD_RECORD_SNAPSHOTS_H
#define BURIN_CMD_RECORD_SNAPSHOTS_H

#include <stdbool.h>

#include "cmd/record/kernel_events.h"
#include "session/session.h"

struct snapshots {
	const char *output; /* of the recording: snapshots are beside it */
	struct kernel_events *kernel;
	bool private; /* no other user may read them */
	bool quiet;
	unsigned asked;	 /* by signals, and not yet written */
	unsigned number; /* of the last one */
	bool failed;	 /* one could not be written */
	bool for_guest;	 /* one was: memory that others write to cannot fill the disk */
};

/* snapshots_write - write one if it is wanted. Context: between two rounds of the drain. */
void snapshots_write(struct snapshots *snapshots, struct session *session);

#endif
