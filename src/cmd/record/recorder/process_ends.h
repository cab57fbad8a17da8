/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The processes that use a session, and how each of them ends.
 *
 * A process that leaves takes itself from the session's list before it ends; one that is killed stays in it. So the end of each
 * counts for itself: that of a server's worker is seen at once, and does not make the server's own end a crash. A process that
 * executes another program leaves the session as well; from then on its end is none of ours.
 */
#ifndef BURIN_CMD_RECORD_RECORDER_PROCESS_ENDS_H
#define BURIN_CMD_RECORD_RECORDER_PROCESS_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "session/session.h"

struct process_ends {
	struct process_end *all; /* those that are watched */
	size_t room;
	unsigned count;
	int ends;	/* an epoll file with a pidfd of each: readable when one of them has ended */
	uint32_t *dead; /* pids of those that were killed, since the user has set their count to 0 */
	size_t dead_room;
	unsigned dead_count;
	struct buried_process *buried; /* those that were killed, and are in the session's list */
	size_t buried_room;
	unsigned buried_count;
	uint64_t used; /* CLOCK_MONOTONIC, ns: when a search last found a user; the first search */
	bool begun;    /* the list was searched once: those that were killed before do not count */
	bool any;      /* one has left or ended; then ... */
	bool killed;   /* ... whether the last one was killed */
};

/* process_ends_begin - Return: 0 or -errno; process_ends_end() is needed in both cases. */
int process_ends_begin(struct process_ends *processes);
void process_ends_end(struct process_ends *processes);

/*
 * process_ends_search - look for processes that have joined, and for those that executed another program.
 * @identity: of the session's file
 * Return: whether a process uses the session, or may join it soon: a child between its fork and its first steps, or a process that
 * executes another program.
 */
bool process_ends_search(struct process_ends *processes, const struct wire_session *header,
			 const struct stat *identity);

/* process_ends_any - the pid of one that is watched. Context: there is one. */
uint32_t process_ends_any(const struct process_ends *processes);

/* process_ends_look - look which of the watched processes have ended. */
void process_ends_look(struct process_ends *processes, const struct wire_session *header);

#endif
