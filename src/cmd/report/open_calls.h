/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the subcommands that read calls. */
#ifndef BURIN_CMD_REPORT_OPEN_CALLS_H
#define BURIN_CMD_REPORT_OPEN_CALLS_H

#include "cmd/report/open_profile.h"

struct cmd_calls {
	struct burin_trace *trace;
	struct view_profile_filter filter; /* what the options select, with times */
	struct cmd_faults faults;
};

/* Options that select calls, for commands that read no samples; and what they select. */
extern const struct cmd_option cmd_calls_options[];
const struct view_profile_filter *cmd_calls_filter(void);
/* Opens a trace. @filter: without times. Return: 0; an exit code after a message. */
int cmd_calls_open(struct cmd_calls *calls, const char *path, const struct view_profile_filter *filter);
/* Prints why nothing was counted. @result: a negative errno. Return: the exit code. */
int cmd_calls_failed(const struct burin_trace *trace, const char *path, int result);
/* Reports faults and closes the trace. @result: the exit code so far. Return: the exit code. */
int cmd_calls_close(struct cmd_calls *calls, const char *path, int result);

/* burin report --calls --suggest (suggest_calls.c). Return: the exit code. */
int cmd_calls_suggest(const char *path);

#endif
