/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record --auto-args: which arguments the functions of a command have, by its debug information.
 *
 * The file is foreign. A process without rights reads it before the command starts (image/symbolize/symbolize.h), and
 * the recorder stores what it reports in the session, in the form of --args (session/call_arguments.h).
 */
#ifndef BURIN_CMD_RECORD_AUTO_ARGUMENTS_H
#define BURIN_CMD_RECORD_AUTO_ARGUMENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct auto_arguments {
	char path[PATH_MAX];	 /* of the command's file; "": it was not looked for */
	uint64_t known, unknown; /* functions whose arguments or result are known, or cannot be known */
	uint64_t left;		 /* for which there was no room */
};

/*
 * auto_arguments_find - read the command's file, and store what is known of its functions in a session that nothing uses yet.
 * @deadline_ns: 0: none
 * Without debug information, a message reports what is missing, unless @quiet; the recording goes on.
 */
void auto_arguments_find(struct auto_arguments *found, const char *command, struct session *session,
			 uint64_t deadline_ns, bool quiet);

/* auto_arguments_summary - print the counts. */
void auto_arguments_summary(const struct auto_arguments *found);

#endif
