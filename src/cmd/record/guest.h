/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a guest in `burin record`: the plugin that QEMU loads. */
#ifndef BURIN_CMD_RECORD_GUEST_H
#define BURIN_CMD_RECORD_GUEST_H

#include <stdbool.h>

#include "view/records/selection.h"

enum guest_level {
	GUEST_ALL,
	GUEST_KERNEL, /* code in the upper half of the address space */
	GUEST_USER,
};

extern const char *const guest_levels[];

struct guest_options {
	bool on;
	unsigned level;		  /* enum guest_level */
	struct view_globs ranges; /* of addresses, "BEGIN-END" */
	const char *start, *stop; /* addresses; NULL: none */
	const char *kernel;	  /* a file with its types; NULL: none */
	bool report;
};

/* guest_check - check the options. Return: 0 or CMD_USAGE. */
int guest_check(const struct guest_options *options);

/*
 * guest_command - the command with the plugin as its last arguments. It is never freed.
 * Return: NULL after a message.
 */
char **guest_command(const struct guest_options *options, char **command);

#endif
