/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A snapshot of another process's session, with the kernel's rings of its recorder. */
#ifndef BURIN_CMD_RECORD_RECORDER_TARGET_SNAPSHOT_H
#define BURIN_CMD_RECORD_RECORDER_TARGET_SNAPSHOT_H

#include "cmd/record/recorder/recording.h"

/* target_snapshot - as recording_snapshot(). @options: ->more is set */
int target_snapshot(struct session *session, const struct target *target, int directory, const char *path,
		    struct drain_options *options, struct drain_totals *totals);

#endif
