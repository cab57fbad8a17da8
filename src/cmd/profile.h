/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the subcommands that read samples share: the options that choose samples, and opening. */
#ifndef BURIN_CMD_PROFILE_H
#define BURIN_CMD_PROFILE_H

#include <getopt.h>

#include "cmd/choose.h"
#include "cmd/cmd.h"
#include "view/profile.h"

struct cmd_profile {
	const char *name; /* of the subcommand */
	struct view_profile_filter filter;
	const char *from, *to;
	struct burin_trace *trace;
	struct view_profile counted;
	struct cmd_faults faults;
};

/* Values of the long options that choose samples; those of a subcommand begin behind them. */
enum {
	CMD_PROFILE_EVENT = 256,
	CMD_PROFILE_FROM,
	CMD_PROFILE_TO,
	CMD_PROFILE_PROGRAM,
	CMD_PROFILE_THREAD,
	CMD_PROFILE_SYMBOL,
	CMD_PROFILE_OWN
};

/* The lines of a table of options, and of a help. */
#define CMD_PROFILE_OPTIONS                                                                               \
	{ "event", required_argument, NULL, CMD_PROFILE_EVENT }, { "pid", required_argument, NULL, 'p' }, \
		{ "program", required_argument, NULL, CMD_PROFILE_PROGRAM },                              \
		{ "thread", required_argument, NULL, CMD_PROFILE_THREAD },                                \
		{ "symbol", required_argument, NULL, CMD_PROFILE_SYMBOL },                                \
		{ "from", required_argument, NULL, CMD_PROFILE_FROM },                                    \
	{                                                                                                 \
		"to", required_argument, NULL, CMD_PROFILE_TO                                             \
	}
#define CMD_PROFILE_HELP                                                                      \
	"      --event GLOB     samples of this event; otherwise of the one with most, and\n" \
	"                       of waiting, if both are times\n"                              \
	"  -p, --pid N,...      only these processes\n"                                       \
	"      --program GLOB   only programs of this name; may be given several times\n"     \
	"      --thread GLOB    only threads of this name; may be given several times\n"      \
	"      --symbol GLOB    only stacks with this function; may be given several times\n" \
	"      --from TIME      from this time on, as in burin dump\n"                        \
	"      --to TIME        up to this time\n"

/*
 * Takes all options: these itself, the subcommand's own by @take, which returns 0, an exit code, or -1 if there is no
 * such option. Return: 0 or an exit code; optind is behind them.
 */
int cmd_profile_options(struct cmd_profile *profile, int argc, char **argv, const char *letters,
			const struct option *options, int (*take)(void *data, int option, const char *value),
			void *data);
/* Opens a trace and counts its samples; says why not. Return: 0 or an exit code. */
int cmd_profile_open(struct cmd_profile *profile, const char *path);
/* Tells faults, gives everything back. Return: the exit code, given that of the work. */
int cmd_profile_close(struct cmd_profile *profile, const char *path, int result);
/* Opens a file for output, or standard output for NULL and "-". Return: a descriptor; -1, told. */
int cmd_profile_create(const char *name, const char *path);
/* Writes the buffer there and gives both back. Return: the exit code. */
int cmd_profile_write(const char *name, struct view_buffer *out, int file);

#endif
