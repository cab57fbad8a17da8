/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Options of burin hist and burin count. */
#ifndef BURIN_CMD_LIVE_HIST_OPTIONS_H
#define BURIN_CMD_LIVE_HIST_OPTIONS_H

#include "view/hist/hist.h"

/* hist_options_by - the words of --by. @by: NULL: none. Return: 0 or CMD_USAGE. */
int hist_options_by(struct hist_options *options, const char *by);

/* hist_options_form - the form of a report by --json and --csv. Return: 0 or CMD_USAGE. */
int hist_options_form(struct view_report *report, bool json, bool csv);

#endif
