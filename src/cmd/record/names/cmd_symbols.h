/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Symbolize a profile: at the end of a recording, and later by `burin symbols`. */
#ifndef BURIN_CMD_RECORD_NAMES_CMD_SYMBOLS_H
#define BURIN_CMD_RECORD_NAMES_CMD_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/target.h"
#include "view/records/selection.h"

/* The default deadline of symbolizing, as text for --help and in ns. */
#define CMD_SYMBOLS_DEADLINE_TEXT "2m"
static const uint64_t CMD_SYMBOLS_DEADLINE_NS = UINT64_C(120000000000);

struct cmd_symbols_options {
	const char *root;     /* the directory tree to search for files; NULL: this system */
	bool force;	      /* write even if fewer names were found than before */
	bool quiet;	      /* print no summary and no missing files */
	bool progress;	      /* print progress on a terminal */
	bool calls;	      /* of the functions of calls, not of the samples */
	bool servers;	      /* get debug files from the servers of DEBUGINFOD_URLS */
	bool cached;	      /* also use and keep names of the user's earlier recordings */
	uint64_t deadline_ns; /* for all images together; 0: none */
	/* Return: a descriptor of an image's file, which the callee owns, or -1. NULL: open files by path. */
	int (*file)(void *data, uint32_t number);
	void *data;
	const struct target *target; /* its session named the images; NULL: a session of our own */
	struct view_globs guests;    /* of guests: "vmlinux=FILE", "prog=FILE@SPACE" */
};

/*
 * cmd_symbols_find - symbolize a trace and write `.burin/symbols`.
 * @directory: of the trace, the caller's; @path: for messages
 * Return: 0, or the exit code after a message.
 */
int cmd_symbols_find(int directory, const char *path, const struct cmd_symbols_options *options);

/*
 * cmd_symbols_calls - name the functions of a trace's calls, if it has calls.
 * @options: a deadline, whether there is progress, target and guests; the rest is chosen here
 */
void cmd_symbols_calls(int directory, const char *path, const struct cmd_symbols_options *options);

#endif
