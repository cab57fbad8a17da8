/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Options that select a part of a trace by time. */
#ifndef BURIN_CMD_SELECTION_OPTIONS_H
#define BURIN_CMD_SELECTION_OPTIONS_H

#include "burin/read.h"
#include "cmd/option_table.h"
#include "view/records/where.h"

/* --where: conditions of records, struct view_globs. Behind it: its help, and other members of the option. */
#define CMD_WHERE(target, ...) OPTION_LIST("-w, --where EXPR", (target), __VA_ARGS__)
#define CMD_WHERE_RECORDS                                                         \
	"only records of which EXPR is true, such as 'ms > 20 && $pid == 4711'; " \
	"'GLOB: EXPR' is for the events of these names; may be repeated. See burin-enable(1)"
/* Why conditions do not fit; those of all views are reported there. */
extern struct view_where_fault cmd_where_fault;
/* cmd_where_failed - report conditions that do not fit. Return: CMD_USAGE. */
int cmd_where_failed(void);

/* --from and --to. */
extern const struct cmd_option cmd_time_options[];
/* Converts the given times into ticks; without an option, its ticks stay as they are. Return: 0 or CMD_USAGE. */
int cmd_times(const struct burin_trace *trace, uint64_t *from_ticks, uint64_t *to_ticks);
/* The same, if seconds count from another time than that of the first record. */
int cmd_times_since(const struct burin_trace *trace, uint64_t begin, uint64_t *from_ticks,
		    uint64_t *to_ticks);
/* Whether one of them is given. */
bool cmd_times_given(void);

#endif
