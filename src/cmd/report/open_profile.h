/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the subcommands that read samples: options that select samples, opening, output. */
#ifndef BURIN_CMD_REPORT_OPEN_PROFILE_H
#define BURIN_CMD_REPORT_OPEN_PROFILE_H

#include <sys/stat.h>

#include "cmd/selection_options.h"
#include "cmd/cmd.h"
#include "view/profile/profile_view.h"
#include "view/profile/windows.h"

struct cmd_profile {
	bool calls;	   /* of calls, not samples */
	bool apart;	   /* count at most one event */
	bool foot;	   /* the output has no ledger: a line on standard error says what was lost */
	bool may_be_empty; /* without samples that the options select */
	const struct view_globs *spans; /* only samples within spans of these names; NULL: all */
	const char *slowest;		/* and of these the slowest; see span_windows.h */
	bool private; /* only the trace's owner may read it: new files made of it are private, too */
	struct burin_trace *trace;
	struct view_profile_filter filter; /* by which they are counted */
	struct view_profile counted;
	struct view_windows windows;
	struct cmd_faults faults;
};

/* To which function a sample in inlined code counts, in rows: to the one that it was inlined into, or to its own. */
enum {
	CMD_INLINE_FOLD,
	CMD_INLINE_SHOW
};
extern unsigned cmd_inline;
extern const char *const cmd_inline_names[];
#define CMD_INLINE                                                                                           \
	OPTION_CHOICE(                                                                                       \
		"--inline HOW", &cmd_inline, cmd_inline_names,                                               \
		"fold: inlined functions count to the function that they are in (default); show: they have " \
		"rows of their own")

/* Options that select samples, and the last one that was given, but for times. */
extern const struct cmd_option cmd_profile_options[];
extern char cmd_profile_given[OPTION_NAME];
/* What these options select; without times. */
const struct view_profile_filter *cmd_profile_filter(void);
/* Opens a trace and counts its selected samples. Return: 0; an exit code after a message. */
int cmd_profile_open(struct cmd_profile *profile, const char *path);
/* Reports faults and frees everything. @result: the exit code so far. Return: the exit code. */
int cmd_profile_close(struct cmd_profile *profile, const char *path, int result);
/* Opens an output file, or standard output for NULL and "-". Return: a descriptor; -1 after a message. */
int cmd_profile_create(const struct cmd_profile *profile, const char *path);
/* Prints why a trace has no calls with times: none, or only counts. Return: the exit code. */
int cmd_no_calls(const struct burin_trace *trace, const char *path);
/* Prints losses and faults of a trace on standard error. */
void cmd_losses_foot(const struct burin_trace *trace, const struct cmd_faults *faults, const char *path);
/* Prints what a trace lost in a line on standard error, if it lost anything; @about: as for view_losses_line(). */
void cmd_losses_line(const struct burin_trace *trace, const char *about, const char *path);
/* Whether only its owner may read a trace. */
bool cmd_profile_is_private(int directory);
/* Writes the buffer, frees it and closes the file. @path: of the file, as given. Return: the exit code. */
int cmd_profile_write(struct view_buffer *out, int file, const char *path);
/* Removes an incomplete output file, so that it is not mistaken for a complete one. @made: of the file when it was open */
void cmd_profile_remove(const char *path, const struct stat *made);
/* Ends the output. @result: 0, or -errno of the writing: then an incomplete file is removed. Return: the exit code. */
int cmd_profile_ended(int result, const char *path, const struct stat *made);

#endif
