/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Options that choose spans, and the samples within them: --span, --slowest. */
#ifndef BURIN_CMD_REPORT_SPAN_WINDOWS_H
#define BURIN_CMD_REPORT_SPAN_WINDOWS_H

#include "view/profile/windows.h"
#include "view/spans/span_pick.h"

/* cmd_slowest_parse - "10", or "1%" of each name's. Return: 0; CMD_USAGE after a message. */
int cmd_slowest_parse(const char *text, struct span_pick_options *pick);

/* cmd_spans_failed - print why a trace's spans could not be read. @missing: of span_pick_make(). Return: the exit code. */
int cmd_spans_failed(const char *path, const struct burin_trace *trace, int error,
		     const struct view_globs *names, const char *missing);

/*
 * cmd_span_windows - the times of the spans of these names, or of the slowest ones.
 * @slowest: as of cmd_slowest_parse(); NULL: of all
 * @filter: selects spans
 * Return: 0; an exit code after a message.
 */
int cmd_span_windows(struct view_windows *windows, const struct burin_trace *trace, const char *path,
		     const struct view_globs *names, const char *slowest,
		     const struct view_profile_filter *filter);

#endif
