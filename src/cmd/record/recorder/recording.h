/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the commands that write traces: signals, output directories, messages, summary. */
#ifndef BURIN_CMD_RECORD_RECORDER_RECORDING_H
#define BURIN_CMD_RECORD_RECORDER_RECORDING_H

#include <signal.h>
#include <stdbool.h>

#include "cmd/progress.h"
#include "control/target.h"
#include "drain/drain.h"

/*
 * recording_signals - block the signals that end a recording, and those of write errors, which are reported as errors:
 * SIGXFSZ (a file larger than the limit) and SIGPIPE (a closed pipe).
 * @more: other signals for the signalfd, up to 0; NULL: none
 * @before: receives the former mask; may be NULL
 * Return: a signalfd, without SIGXFSZ and SIGPIPE; -1 and errno.
 */
int recording_signals(const int *more, sigset_t *before);

/*
 * recording_output - choose the directory of a trace: the first of NAME.burin, NAME-2.burin, ... that does not exist.
 * @given: the user's choice, which is used as it is; NULL: none
 * @name: a path, of which the last part is used
 * @first: the first number to try; 0: no number
 */
void recording_output(const char *given, const char *name, unsigned first, char *path, size_t bytes);

/*
 * recording_last - select the last @ns of a session.
 * @ended: its program has ended, so they end with its last record; otherwise they end now
 */
void recording_last(struct drain_options *options, const struct session *session, uint64_t ns, bool ended);

/*
 * recording_create - create the directory of a trace; print an error.
 * @option: the option that chooses another directory
 * @private: no other user may read it, whatever the umask
 * Return: a descriptor; -1.
 */
int recording_create(const char *option, const char *output, bool private);

/* recording_refused - print why a trace could not be begun; remove and close its directory. Return: CMD_FAULTS. */
int recording_refused(const char *output, int directory, int error);

/*
 * recording_snapshot - take a snapshot; print an error. Packets that were written before the error stay.
 * @target: of the session; NULL: it is our own
 * @directory: of the trace; it is closed; @path: for messages
 * Return: 0 or CMD_FAULTS.
 */
int recording_snapshot(struct session *session, const struct target *target, int directory, const char *path,
		       const struct drain_options *options, struct drain_totals *totals);

/* recording_kept - print that a session could not be removed. @error: -errno, or 0: it was removed. Return: 0 or CMD_FAULTS. */
int recording_kept(const char *path, int error);

/* recording_progress - update the line of progress. @apart, @apart_lost: what is not recorded through the drain */
void recording_progress(struct progress *progress, struct drain *drain, uint64_t apart, uint64_t apart_lost);

/* recording_trimmed - print a line if old chunks of a split recording could not be removed. Return: 0 or CMD_FAULTS. */
int recording_trimmed(const struct drain_totals *totals, const char *output);

/* recording_events - print how many events were recorded into which directory, and the losses by cause. */
void recording_events(const struct drain_totals *totals, const char *output);

/* recording_chunks - print which changes from outside there were, and how many chunks the trace has. */
void recording_chunks(const struct drain_totals *totals);

/* recording_summary - both. */
void recording_summary(const struct drain_totals *totals, const char *output);

#endif
