/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which processes use which sessions. Other processes write a session's list of processes, so any number of sessions may
 * name any number of processes. The mappings of each process are therefore read once, or again if it has very many of our
 * files, and the total is bounded. Beyond the bound a process counts as a user, as does one that keeps readers
 * waiting; `unasked` counts these answers.
 */
#ifndef BURIN_CONTROL_SESSION_USERS_H
#define BURIN_CONTROL_SESSION_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/containers/hash_table.h"
#include "session/places/namespaces.h"

enum {
	USERS_LINES = 1 << 20, /* bound of the lines of mappings read */
	USERS_AGAIN = 1 << 18, /* the same for mappings read again */
};

/* The processes whose mappings were read; all 0 at first. Freed by users_free(). */
struct users {
	struct user_process *processes; /* by number - 1 */
	size_t room;
	uint32_t count;
	struct hash_table numbers;
	uint64_t lines, lines_again; /* of mappings read */
	uint64_t unasked;	     /* answers "true" without complete reading */
	struct namespaces namespaces;
};

/* users_map - whether a process has a file mapped; true if its mappings cannot be read, or the bound was reached. */
bool users_map(struct users *users, uint32_t pid, const struct stat *file);
void users_free(struct users *users);

#endif
