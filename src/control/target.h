/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sessions as they are seen from outside: which there are, whose they are, and what has become of their
 * programs. Everything in them was written by others and is checked.
 */
#ifndef BURIN_CONTROL_TARGET_H
#define BURIN_CONTROL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

enum target_state {
	TARGET_RUNS,  /* its owner lives */
	TARGET_LEFT,  /* its owner does not, but processes that it forked do */
	TARGET_ENDED, /* nobody uses it; its processes left by exit */
	TARGET_DIED,  /* nobody uses it; a process was killed (session_was_killed()) */
};

enum {
	TARGET_PIDS_MAX = 16, /* of those that are named; `processes` counts all */
};

struct target {
	char path[SESSION_PATH_MAX];
	uid_t user;
	enum target_state state;
	bool owner_lives;	    /* using the session or not: it may be in the midst of an exec */
	struct wire_session header; /* a copy, which has been checked */
	uint64_t memory;	    /* bytes that the session takes */
	unsigned processes;	    /* that use it now */
	uint32_t pids[TARGET_PIDS_MAX];
};

/* A list of targets. Freed by target_list_free(). */
struct target_list {
	struct target *targets;
	unsigned count;
};

/*
 * target_list_all - every session of this user; for root, of everybody.
 * Context: opens files. Return: 0 or -ENOMEM.
 */
int target_list_all(struct target_list *list);

/*
 * target_list_matching - those that a user means by a word: a pid (of the owner or of any process that uses
 * it), a program's name, or the path of a session file, which contains a slash.
 * Return: 0; -ENOMEM; for a path that is no session: -errno and *why.
 */
int target_list_matching(struct target_list *list, const char *word, const char **why);

void target_list_free(struct target_list *list);

/* target_describe - in one word: idle, flight, stopped, recording, ended, killed. */
const char *target_describe(const struct target *target, bool any_on);

#endif
