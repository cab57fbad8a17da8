/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the commands that write traces share: the signals that end them, and what they say at the end. */
#ifndef BURIN_CMD_RECORDING_H
#define BURIN_CMD_RECORDING_H

#include <signal.h>
#include <stdbool.h>

#include "cmd/progress.h"
#include "cmd/sampling.h"
#include "drain/drain.h"

/*
 * recording_signals - block the signals that end a recording, and SIGXFSZ: a trace that is larger than the limit on
 * files is an error of writing, not our death.
 * @more: one that is waited for besides; 0: none
 * @before: receives the mask as it was; NULL: nobody wants it
 * Return: a signalfd, without SIGXFSZ; -1 and errno.
 */
int recording_signals(int more, sigset_t *before);

/*
 * recording_output - where the trace goes: NAME.burin, or NAME-2.burin, ..., the first that does not exist.
 * @wanted: instead; NULL: nothing was asked for
 * @name: a path, whose last part is taken
 * @first: the number to begin with; 0: without one
 */
void recording_output(const char *wanted, const char *name, unsigned first, char *path, size_t bytes);

/* recording_moment - the moment @ns before now, in the session's ticks; 0: before its clock began. */
uint64_t recording_moment(const struct session *session, uint64_t ns);

/* recording_refused - say why a trace could not be begun, and remove what there is of it. Return: CMD_FAULTS. */
int recording_refused(const char *command, const char *output, int error);

/* recording_progress - how far it is, on a terminal, now and then. */
void recording_progress(struct progress *progress, struct drain *drain, const struct sampling *sampling);

/* recording_summary - one line on stderr: how much was recorded where, and what was lost by which cause. */
void recording_summary(const struct drain_totals *totals, const char *output, bool joined);

#endif
