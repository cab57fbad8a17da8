/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sessions as commands see them: which there are, their users, and the states of their programs. Other processes write
 * their contents, which are checked.
 */
#ifndef BURIN_CONTROL_TARGET_H
#define BURIN_CONTROL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

enum target_state {
	TARGET_RUNS,	  /* its owner lives */
	TARGET_LEFT,	  /* its owner is dead, but processes that it forked live */
	TARGET_ENDED,	  /* no process uses it; those that had recorded something have exited */
	TARGET_DIED,	  /* no process uses it; a process was killed (session_was_killed()) */
	TARGET_ELSEWHERE, /* of another PID namespace: its processes are not visible here */
};

enum {
	TARGET_PIDS_MAX = 16, /* pids that are listed; `processes` counts all */
};

struct target {
	char path[SESSION_PATH_MAX];
	bool listed;  /* found in a directory of sessions; false: the user gave the path */
	dev_t device; /* of the file */
	ino_t inode;
	uid_t user;
	enum target_state state;
	bool owner_lives; /* even if it does not use the session: it may be in the middle of an exec */
	bool over;	  /* its recorder has ended the recording and left records that it could not write */
	bool paused;
	bool kernel;		       /* the kernel's session, /dev/burin */
	bool unsure;		       /* found by name, but an unreadable session may have the same name */
	struct wire_geometry geometry; /* a checked copy */
	/* To show: the owner, or a process that uses the session, if the owner does not: that of a daemon, or what timeout(1) runs. */
	uint32_t pid;
	char program[WIRE_PROGRAM_MAX];
	uint64_t memory;    /* bytes that the session takes */
	unsigned processes; /* that use it now */
	unsigned unasked;   /* of them, those with incompletely read mappings (session_users.h) */
	uint32_t pids[TARGET_PIDS_MAX];
};

/* A list of targets. Freed by target_list_free(). */
struct target_list {
	struct target *targets;
	unsigned count;
	size_t room;
	unsigned unread;  /* sessions and directories of sessions that could not be read */
	int unread_error; /* -errno of the first one */
	char unread_path[SESSION_PATH_MAX];
};

#define TARGET_KERNEL "kernel" /* the word for the kernel's session, whether or not a program has this name */

/*
 * target_list_all - list every session of this user; for root, of all users, and the kernel's first. Leaves out unused sessions whose
 * processes have exited. Sessions that could not be read are only counted.
 * Context: opens files. Return: 0 or -ENOMEM.
 */
int target_list_all(struct target_list *list);

/*
 * target_list_matching - list the sessions that match a word: a pid (of the owner or of any process that uses it), the name
 * of the program that made it or that is shown, the path of a session file, which contains a slash, or "kernel".
 * Return: 0; -ENOMEM; for a path that is not a session, and for the kernel without one: -errno and *why.
 */
int target_list_matching(struct target_list *list, const char *word, const char **why);

void target_list_free(struct target_list *list);

/* target_open - map a target's session. @write: to change it, else to read it. Return: 0; -errno and *why. */
int target_open(const struct target *target, bool write, struct session *session, const char **why);

/*
 * target_file - open a listed session's file. Fails if its user has replaced the file or its directory since.
 * @write: for session_open(), not session_look()
 * Return: a descriptor; -errno and *why.
 */
int target_file(const struct target *target, bool write, const char **why);

/*
 * target_may_have - whether to believe that a process belongs to a session. The session's user can write any pid there,
 * so processes of other users are rejected, unless the session is root's: a process keeps it when it gives up root.
 */
bool target_may_have(const struct target *target, uint32_t pid);

/* target_is_left - whether its recorder has died and left unwritten records in it. */
bool target_is_left(const struct target *target);

/* target_describe - the state in one word: idle, flight, stream (the kernel's), paused, recording, orphaned, ended, killed, elsewhere. */
const char *target_describe(const struct target *target, bool any_on);

#endif
