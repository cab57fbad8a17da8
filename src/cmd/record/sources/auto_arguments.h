/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record --auto-args, --calls=file:GLOB: which arguments and source files the functions of a command have, and of the
 * libraries that are loaded with it, by their debug information.
 *
 * The files are foreign. Processes without rights read them before the command starts (image/symbolize/symbolize.h), and
 * the recorder stores what they report in the session (struct wire_call_spec).
 */
#ifndef BURIN_CMD_RECORD_SOURCES_AUTO_ARGUMENTS_H
#define BURIN_CMD_RECORD_SOURCES_AUTO_ARGUMENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct auto_arguments_options {
	const char *option;   /* the one that needs it, for messages */
	uint64_t deadline_ns; /* 0: none */
	bool libcalls;	      /* libraries without hooks are read, too */
	bool quiet;
};

struct auto_arguments {
	char path[PATH_MAX];	     /* of the command's file; "": it was not looked for */
	uint32_t libraries;	     /* that were read, too */
	uint64_t known, unknown;     /* functions whose arguments or result are known, or cannot be known */
	uint64_t left;		     /* for which there was no room */
	uint32_t later;		     /* files that were read after the start */
	uint32_t files, specs, used; /* entries and bytes of text that are stored in the session */
	struct auto_arguments_options options;
};

/*
 * auto_arguments_find - read the command's file and libraries, and store what is known of their functions in a session that
 * nothing uses yet. Without debug information of the command, a message reports what is missing; the recording goes on.
 */
void auto_arguments_find(struct auto_arguments *found, const char *command, struct session *session,
			 const struct auto_arguments_options *options);

/*
 * auto_arguments_later - the same of a file that a process has loaded since. @image: of the session; @path: its path.
 * As root, a file that other users may not read is left out, with a message.
 */
void auto_arguments_later(struct auto_arguments *found, const char *path, const struct wire_call_image *image,
			  struct session *session);

/* auto_arguments_summary - print the counts. */
void auto_arguments_summary(const struct auto_arguments *found);

#endif
