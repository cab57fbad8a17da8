/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Snapshots that `burin record --mode flight` writes while its command runs: for SIGUSR1, and when a guest wants one. */
#ifndef BURIN_CMD_RECORD_RECORDER_SNAPSHOTS_H
#define BURIN_CMD_RECORD_RECORDER_SNAPSHOTS_H

#include <stdbool.h>

#include "cmd/record/recorder/recorder.h"

struct snapshots {
	unsigned asked;	 /* by signals, and not yet written */
	unsigned number; /* of the last one */
	bool failed;	 /* one could not be written */
	bool for_guest;	 /* one was: memory that others write to cannot fill the disk */
};

/* snapshots_write - write one next to the recording's trace if it is wanted. Context: between two rounds. */
void snapshots_write(struct snapshots *snapshots, const struct recorder *recorder);

#endif
