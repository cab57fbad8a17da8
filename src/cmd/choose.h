/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What records and samples are chosen by on the command line. `name` is that of the subcommand, for messages; what
 * returns an int returns 0 or the exit code.
 */
#ifndef BURIN_CMD_CHOOSE_H
#define BURIN_CMD_CHOOSE_H

#include "burin/read.h"
#include "view/choose.h"

/* A number, decimal or with 0x in front, and nothing else up to *rest. */
bool cmd_number(const char *text, uint64_t limit, uint64_t *value, const char **rest);
/* Numbers separated by commas, added to a set whose array the caller frees. */
int cmd_numbers(const char *name, struct view_set *set, uint64_t limit, const char *option, const char *text);
/* One glob more; the caller frees the array. */
int cmd_glob(const char *name, struct view_globs *globs, const char *glob);
/* --from and --to, either of which may be NULL and then leaves its ticks as they are. */
int cmd_times(const char *name, const struct burin_trace *trace, const char *from, const char *to,
	      uint64_t *from_ticks, uint64_t *to_ticks);

#endif
