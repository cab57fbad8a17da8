/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The history of a session in a trace: file `changes`, records burin.change (docs/format.md, "History").
 *
 * The file is made with the first change, so a trace without changes has no such file. It begins with the states of all
 * events at the trace's beginning and ends with those at its end. Every record counts the earlier changes that the
 * session had overwritten before they were read.
 */
#ifndef BURIN_DRAIN_CHANGELOG_H
#define BURIN_DRAIN_CHANGELOG_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/stream_output.h"
#include "session/session.h"

struct changelog {
	const struct session *session;
	struct stream stream;
	char *buffer;	      /* of one packet */
	uint8_t *on;	      /* bitmap of events: the state when first seen, or when last read */
	uint8_t *unfit;	      /* bitmap of events: they are WIRE_UNFIT, and the file does not have that yet */
	uint32_t unfit_first; /* the id of one of these; 0: there is none */
	uint32_t seen;	      /* events in the bitmap */
	uint32_t stated;      /* events whose state is in the file */
	uint64_t taken;	      /* number of the last change that was read */
	uint64_t written;     /* at the end: number of the last change that is in the file, or dropped */
	uint64_t dropped;     /* changes that were overwritten unread, or are above CHANGELOG_RECORDS_MAX */
	uint64_t lost_before; /* the session's count of lost entries when the trace began */
	uint64_t begin;	      /* when the trace begins, ticks */
	uint64_t time;	      /* of the last record */
	uint64_t packets, records;
	uint64_t others; /* changes by processes other than the calling one */
	bool paused;	 /* tracing was paused when the states were read */
	bool past;	 /* the trace includes the session's earlier changes */
	bool begun;	 /* the file has records */
};

/*
 * changelog_begin - begin the history of a trace that begins now.
 * @past: include the earlier changes that the session still has
 * Return: 0 or -ENOMEM; the caller must call changelog_free() in both cases.
 */
int changelog_begin(struct changelog *log, const struct session *session, int directory, bool past);

/* changelog_resume - continue the file of a trace whose writer has died. Return: 0; -errno; -EBADMSG: damaged. */
int changelog_resume(struct changelog *log, const struct session *session, int directory);

/* changelog_round - write new changes. Return: 0 or -errno. */
int changelog_round(struct changelog *log);

/* changelog_finish - write the remaining changes and the states at the end. Return: 0 or -errno. */
int changelog_finish(struct changelog *log);

/*
 * changelog_next - after changelog_finish(): begin the history of the next chunk. Changes that came in between are in it.
 * Return: as changelog_begin().
 */
int changelog_next(struct changelog *log, int directory);

/* changelog_bytes - the used size of the file. */
uint64_t changelog_bytes(const struct changelog *log);

void changelog_free(struct changelog *log);

#endif
