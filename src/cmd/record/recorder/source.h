/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A source of records: what the recorder drives, and all that it knows of it.
 *
 * Sources open, begin and have their rounds in the order of their list, and end in the opposite order. A
 * source that is not permitted reports that in one line, and opens without recording anything; the others go on.
 *
 *	open          nothing is recorded yet
 *	describe      what the trace has to say of it
 *	begin         the trace is there, its program does not run yet or is not recorded yet
 *	round         between two rounds of the drain, until the end
 *	finish        no record comes from now on; the drain does its last round behind it
 *	names, close  the trace is finished
 *	summary       its lines
 *
 * After an error at any step, finish and close follow, also of a source that could not be opened. docs/design/recorder.md
 * shows how to write one.
 */
#ifndef BURIN_CMD_RECORD_RECORDER_SOURCE_H
#define BURIN_CMD_RECORD_RECORDER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "drain/drain.h"

struct recorder;

/* The functions of a kind of source. Each may be NULL: there is nothing to do. @state: struct source.state */
struct source_ops {
	/* Return: 0; CMD_USAGE or CMD_FAULTS after a message: there is no recording. */
	int (*open)(void *state, struct recorder *recorder);

	/* Whether it records although no program takes part in the session. */
	bool (*records)(const void *state);

	/* Whether what it records goes to tables of its own, and not through the drain. */
	bool (*is_apart)(const void *state);

	void (*describe)(void *state, const struct recorder *recorder, struct drain_options *options);

	/* Write assignments for the command's environment, each with a NUL. Return: false and errno. */
	bool (*environment)(const void *state, int file);

	/* The library that the command loads for it; "": none. */
	const char *(*library)(const void *state);

	void (*begin)(void *state, struct recorder *recorder);

	/* A descriptor that is readable when a round should come early; -1: there is none. */
	int (*wake)(const void *state);

	/* The longest pause before its next round, in ms. */
	int (*pause_ms)(const void *state);

	/* @fullest: raised to the fill of its fullest ring, in percent */
	void (*round)(void *state, struct recorder *recorder, unsigned *fullest);

	/* A child of the recorder has ended. */
	void (*child_ended)(void *state, pid_t child);

	/* Rings for a snapshot; NULL: none. */
	const struct drain_more *(*snapshot)(void *state);

	/* Add what is recorded apart and what is lost of it. */
	void (*so_far)(const void *state, uint64_t *records, uint64_t *lost);

	void (*finish)(void *state, struct recorder *recorder);

	/* Name what is in one finished trace, which may be a chunk. @deadline_ns: the time that is left for it; 0: no limit */
	void (*names)(void *state, int directory, const char *path, uint64_t deadline_ns);

	void (*close)(void *state);

	/* @output: the trace's directory, if no line has named it yet; else NULL */
	void (*summary)(const void *state, const struct recorder *recorder, const char *output);
};

struct source {
	const struct source_ops *ops; /* NULL: the end of a list */
	void *state;		      /* the source's own, with its options */
};

#endif
