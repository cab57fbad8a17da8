/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A line of progress on a terminal, erased at the end.
 *
 * It is written to standard error behind the cursor, which then returns: the next output on the terminal overwrites it.
 */
#ifndef BURIN_CMD_PROGRESS_H
#define BURIN_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool enabled;
	bool shown;
	uint64_t begun, next; /* CLOCK_MONOTONIC, ns; next: when the next line is due */
};

/*
 * progress_begin - @wanted: print progress, if standard error is a capable terminal
 * @command: a child runs meanwhile; print nothing if its output goes to the same terminal
 */
void progress_begin(struct progress *progress, bool wanted, bool command);

/* progress_due - whether the next line is due: a second after the beginning or the line before. */
bool progress_due(struct progress *progress);

/* progress_seconds - seconds since the beginning. */
unsigned progress_seconds(const struct progress *progress);

/* progress_show - print "burin: " and the text, cut to the terminal's width. ASCII only. */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* progress_clear - erase the line; called before any other message. */
void progress_clear(struct progress *progress);

#endif
