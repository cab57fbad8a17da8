/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A command that follows a running program: it switches events on for that time, looks on passively, and goes
 * when the program ends, when it is told to, or when its time is up. The program never notices.
 */
#ifndef BURIN_CMD_ATTACH_H
#define BURIN_CMD_ATTACH_H

#include <sys/stat.h>

#include "cmd/target.h"
#include "control/borrow.h"

enum {
	ATTACH_PAUSE_MS = 10, /* from look to look while little comes: 0.4 % of a CPU */
};

struct attachment {
	const char *name; /* of the subcommand */
	const char *word; /* the target, as the user said it */
	struct target target;
	struct session session;
	struct borrow borrow;
	struct stat identity; /* of the session's file */
	int file;	      /* the same, open */
	int signals;	      /* a signalfd: SIGINT, SIGTERM, SIGHUP, SIGQUIT */
	int owner;	      /* a pidfd; -1: the owner is gone, others go on */
	uint64_t until;	      /* CLOCK_MONOTONIC, ns */
	uint64_t looked;      /* when the processes were looked at */
	uint64_t unused;      /* since when nobody has been found to use the session; 0: somebody was */
	bool interrupted;
	bool ended; /* nobody uses the session any more */
};

/*
 * attach_begin - find a program that runs and is not recorded by its parent, map its session.
 * Return: 0, CMD_USAGE or CMD_FAULTS, and a line on stderr.
 */
int attach_begin(struct attachment *attachment, const char *name, const char *word);

/*
 * attach_switch - switch on events that match.
 * @globs: NULL ends; empty: all, if nothing is on; what is on is left as it is
 * @quiet: do not say that it is
 * Return: 0 or CMD_FAULTS, and a line on stderr.
 */
int attach_switch(struct attachment *attachment, const char *const *globs, bool quiet);

/* attach_limit - go on for so long from now, ns; 0: without end, as it is before. */
void attach_limit(struct attachment *attachment, uint64_t duration);

/* attach_wait - let so many ms go by, or fewer if something happens. Return: whether to go on. */
bool attach_wait(struct attachment *attachment, int ms);

/* attach_process - the process whose session it is, or, if that has ended, another one that uses it. Return: 0: none does. */
pid_t attach_process(const struct attachment *attachment);

/* attach_restore - switch off what was switched on. */
void attach_restore(struct attachment *attachment);

/* attach_result - what became of the program: running, exit or killed. */
const char *attach_result(const struct attachment *attachment);

/* attach_ago - how long ago the program ended, ns; 0: it goes on. */
uint64_t attach_ago(const struct attachment *attachment);

void attach_end(struct attachment *attachment);

#endif
