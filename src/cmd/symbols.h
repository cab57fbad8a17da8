/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Naming the code of a profile: at the end of a recording, and later by `burin symbols`. */
#ifndef BURIN_CMD_SYMBOLS_H
#define BURIN_CMD_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct cmd_symbols_options {
	const char *root; /* where files are looked for; NULL: this system */
	bool force;	  /* write even if less is known than before */
	bool quiet;	  /* no summary, nothing of what is missing */
	bool progress;	  /* on a terminal */
	/* A descriptor of an image's file by its number, the callee's own, or -1; NULL: there are none. */
	int (*file)(void *data, uint32_t number);
	void *data;
};

/*
 * cmd_symbols_find - write `.burin/symbols`.
 * @command: whose messages these are
 * @path: of the trace
 * Return: 0 or the exit code; a line on stderr says why.
 */
int cmd_symbols_find(const char *command, const char *path, const struct cmd_symbols_options *options);

#endif
