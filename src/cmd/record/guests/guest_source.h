/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a guest as a source of records: what the recorder does for the plugin in QEMU. */
#ifndef BURIN_CMD_RECORD_GUESTS_GUEST_SOURCE_H
#define BURIN_CMD_RECORD_GUESTS_GUEST_SOURCE_H

#include "cmd/record/guests/guest.h"
#include "cmd/record/guests/guest_trigger.h"
#include "cmd/record/recorder/source.h"

struct guest_source {
	const struct guest_options *options;
	struct guest_trigger trigger;
	const struct session *session;
	bool quiet;
};

/* Of a struct guest_source whose options are set. */
extern const struct source_ops guest_source;

#endif
