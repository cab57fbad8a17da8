/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A line on a terminal that tells how far something is, and goes when that has ended.
 *
 * It is written to standard error, behind what is there, and the cursor goes back to where it was: who else writes to
 * the terminal writes over it.
 */
#ifndef BURIN_CMD_PROGRESS_H
#define BURIN_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool wanted;
	bool shown;
	uint64_t begun, next; /* CLOCK_MONOTONIC, ns: the next line is not before that */
};

/*
 * progress_begin - @wanted: if standard error is a terminal that can do it
 * @command: a command of ours runs meanwhile: not if its output goes to the same terminal
 */
void progress_begin(struct progress *progress, bool wanted, bool command);

/* progress_due - whether it is time for another line: a second after the beginning, and after each. */
bool progress_due(struct progress *progress);

/* progress_seconds - since the beginning. */
unsigned progress_seconds(const struct progress *progress);

/* progress_show - "burin: ", and the text, cut to the terminal's width. ASCII only. */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* progress_clear - the line goes; before anything else is said. */
void progress_clear(struct progress *progress);

#endif
