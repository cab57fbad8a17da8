/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report --spans. */
#ifndef BURIN_CMD_REPORT_REPORT_SPANS_H
#define BURIN_CMD_REPORT_REPORT_SPANS_H

#include "view/calls/call_rows.h"

/* The options about spans. */
struct report_spans {
	struct view_globs names; /* --span */
	struct view_globs pairs; /* --pair */
	const char *by;		 /* --by; NULL: rows by name only */
	bool histogram;
	const char *slowest; /* --slowest; NULL: all are counted */
};

/* Return: the exit code. */
int report_spans(const char *path, const struct report_spans *options, const struct view_report *report,
		 enum call_order order);

#endif
