/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Attach a command to a running program: switch events on meanwhile, read passively, and end with the program, on a
 * signal, or when the time is up. The program is not disturbed.
 */
#ifndef BURIN_CMD_RECORD_RECORDER_ATTACH_H
#define BURIN_CMD_RECORD_RECORDER_ATTACH_H

#include <sys/stat.h>

#include "cmd/record/recorder/process_ends.h"
#include "cmd/target_argument.h"
#include "control/enable_lease.h"

enum {
	ATTACH_PAUSE_MS = 10, /* between rounds while few records come: 0.4 % of a CPU */
};

struct attachment {
	const char *word; /* the TARGET argument */
	struct target target;
	struct session session;
	struct enable_lease lease;
	struct stat identity; /* of the session's file */
	int file;	      /* the same, open */
	int signals;	      /* a signalfd: SIGINT, SIGTERM, SIGHUP, SIGQUIT */
	struct process_ends processes;
	uint64_t until;	   /* CLOCK_MONOTONIC, ns */
	uint64_t searched; /* when the processes were last searched for users of the session */
	bool interrupted;
	bool ended;	/* no process uses the session any more */
	bool truncated; /* its file was truncated: there is nothing to read */
};

/*
 * attach_begin - find a running program whose session is its own, and map that.
 * Return: 0; CMD_USAGE or CMD_FAULTS after a message.
 */
int attach_begin(struct attachment *attachment, const char *word);

/*
 * attach_switch - switch on events that match.
 * @globs: a list that ends with NULL; if it is empty and no event is on, all are switched on
 * @wheres: NULL, or the condition of each glob, as of enable_lease_begin(); both must live up to attach_restore()
 * @quiet: print no notes
 * Return: 0; CMD_FAULTS after a message.
 */
int attach_switch(struct attachment *attachment, const char *const *globs, const char *const *wheres,
		  bool quiet);

/* attach_limit - end after this duration from now, ns; 0: no limit, the default. */
void attach_limit(struct attachment *attachment, uint64_t duration);

/* attach_wait - sleep at most @ms; a signal or the end of a process wakes. Return: whether to go on. */
bool attach_wait(struct attachment *attachment, int ms);

/* attach_process - the owner of the session or, after its end, another process that uses it. Return: 0: there is none. */
pid_t attach_process(const struct attachment *attachment);

/* attach_restore - switch off the events that were switched on. Return: 0; CMD_FAULTS after a message. */
int attach_restore(struct attachment *attachment);

/* attach_result - the state of the program: running; exit or killed, as the last of its processes ended; unknown if its session was truncated. */
const char *attach_result(const struct attachment *attachment);

/* attach_end - free everything; print a line if the session was truncated. Return: @result, or CMD_FAULTS if it was 0. */
int attach_end(struct attachment *attachment, int result);

#endif
