/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The life of a recording: one trace, one drain, and a list of sources (source.h). Commands call these functions in their order:
 *
 *	recorder_open      the trace and the sources
 *	recorder_begin     what is recorded starts behind it, or just before it if it runs already
 *	recorder_round     until it has ended
 *	recorder_finish    the sources
 *	recorder_complete  the trace, and the names in it
 *	recorder_summary
 *
 * recorder_discard() removes the trace if there was nothing to record. burin watch has sources without a trace:
 * recorder_open_sources() and recorder_close_sources().
 */
#ifndef BURIN_CMD_RECORD_RECORDER_RECORDER_H
#define BURIN_CMD_RECORD_RECORDER_RECORDER_H

#include "cmd/record/recorder/attach.h"
#include "cmd/progress.h"
#include "cmd/record/recorder/source.h"
#include "session/session.h"
#include "view/records/selection.h"

enum {
	RECORDER_IDLE_MS = 50, /* between rounds while rings are nearly empty */
	RECORDER_LIBRARIES = 4,
};

/* Set by the command, before recorder_open(): */
struct recorder {
	struct session *session;
	const struct source *sources;
	pid_t command;		       /* a child before its exec; 0: there is none */
	const char *program;	       /* that it executes; NULL: none */
	struct attachment *attachment; /* to a program that runs already; NULL: none */
	const struct view_set *processes;
	bool all;	   /* the tasks of the whole machine */
	bool overwrite;	   /* keep the last records of each CPU, for snapshots and the end */
	bool private;	   /* no other user may read the trace */
	bool quiet;	   /* no notes, no summary */
	bool no_symbols;   /* no look-up of names */
	uint64_t names_ns; /* its deadline for each source; 0: none */

	bool needs_source; /* no program can take part: without a source that records there is no recording */
	struct drain_options options;
	char output[4096]; /* the directory of the trace */

	/* The recorder's: */
	unsigned opened; /* sources */
	int directory;
	struct drain drain;
	struct drain_totals totals;
	struct progress progress;
	bool faulted;	/* a source could not do everything; it has reported that */
	bool converted; /* set by the command: the trace has become something else */
};

/*
 * recorder_open - make the directory of the trace, open the sources, and begin the trace.
 * Return: 0; CMD_USAGE or CMD_FAULTS after a message: nothing stays.
 */
int recorder_open(struct recorder *recorder);

/*
 * recorder_open_sources - only these. Return: 0; CMD_USAGE or CMD_FAULTS after a message, and they are closed.
 * recorder_close_sources - finish and close those that were opened.
 */
int recorder_open_sources(struct recorder *recorder);
void recorder_close_sources(struct recorder *recorder);

/* recorder_environment - write assignments for the command's environment. Return: false and errno. */
bool recorder_environment(const struct recorder *recorder, int file);

/* recorder_libraries - those that the command loads. Return: how many there are. */
unsigned recorder_libraries(const struct recorder *recorder, const char *libraries[RECORDER_LIBRARIES]);

void recorder_begin(struct recorder *recorder);

/* recorder_wake - as source_ops.wake, of the first source that has one. */
int recorder_wake(const struct recorder *recorder);

/* recorder_pause_ms - how long the next round may wait while rings are nearly empty. @most: the command's own limit */
int recorder_pause_ms(const struct recorder *recorder, int most);

/*
 * recorder_round - one round of the drain and of each source, and the line of progress.
 * @fullest: set to how full the fullest ring was, in percent
 * Return: whether everything could be written.
 */
bool recorder_round(struct recorder *recorder, unsigned *fullest);

void recorder_child_ended(const struct recorder *recorder, pid_t child);

/* recorder_snapshot_rings - rings of a source that belong to a snapshot; NULL: none. */
const struct drain_more *recorder_snapshot_rings(const struct recorder *recorder);

void recorder_finish(struct recorder *recorder);

/* recorder_complete - @result: how the program ended. Everything is closed, but ->directory. */
void recorder_complete(struct recorder *recorder, const char *result);

/* recorder_discard - remove the trace. */
void recorder_discard(const struct recorder *recorder);

/* recorder_summary - print what was recorded and lost. @joined: a process with tracepoints took part */
void recorder_summary(const struct recorder *recorder, bool joined);

/* recorder_result - report what could not be written. Return: 0; CMD_FAULTS: not everything was recorded. */
int recorder_result(const struct recorder *recorder);

#endif
