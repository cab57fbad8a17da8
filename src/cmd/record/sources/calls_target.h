/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a program that runs already, in `burin record`. */
#ifndef BURIN_CMD_RECORD_SOURCES_CALLS_TARGET_H
#define BURIN_CMD_RECORD_SOURCES_CALLS_TARGET_H

#include "cmd/record/recorder/attach.h"
#include "cmd/record/sources/record_calls.h"

enum {
	CALLS_TARGET_WORD = 16,
};

struct calls_target {
	const struct calls_options *options;
	struct attachment *attachment;
	bool quiet;
	bool on;	     /* functions were switched on, and are to be switched off */
	size_t functions;    /* that are on */
	uint64_t longest_ns; /* that a thread of the program stood still */
};

/*
 * calls_target_open - make sure that a program has a session with calls: load the library into it if need be.
 * @word: the TARGET; @pid: receives its pid as text, if it had no session
 * Return: the word of its session; NULL after a message.
 */
const char *calls_target_open(const char *word, char pid[CALLS_TARGET_WORD]);

/* Of a struct calls_target whose options are set. */
extern const struct source_ops calls_target_source;

#endif
