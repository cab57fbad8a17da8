/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finding out which sessions processes use; see session_users.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "control/session_users.h"
#include "session/places/directory.h"

enum {
	USERS_FILES = 8, /* remembered files of a process: its session and its samples */
};

struct user_process {
	uint32_t pid;
	uint32_t count;	 /* of its files; USERS_FILES + 1: more than are remembered */
	bool unreadable; /* its mappings cannot be read */
	bool unasked; /* its mappings were not read completely, since the bound was reached, or it keeps readers waiting */
	uint64_t inodes[USERS_FILES];
};

static void session_users_note(void *data, uint64_t inode)
{
	struct user_process *process = data;

	for (unsigned n = 0; n < process->count && n < USERS_FILES; n++)
		if (process->inodes[n] == inode)
			return;
	if (process->count < USERS_FILES)
		process->inodes[process->count] = inode;
	process->count += process->count <= USERS_FILES;
}

/* Read a process's mappings. Other users decide how many there are, so reading is bounded (session_users.h). */
static void read_mappings(struct users *users, struct user_process *process)
{
	uint64_t left = USERS_LINES - users->lines;
	const int error = directory_mapped(process->pid, &left, session_users_note, process);

	users->lines = USERS_LINES - left;
	process->unasked = !left || error == -ETIMEDOUT;
	process->unreadable = error && !process->unasked;
}

/* Find or add a process. Return: NULL: no memory. */
static struct user_process *session_users_find(struct users *users, uint32_t pid)
{
	const uint64_t hash = hash_pair(pid, 0);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&users->numbers, hash, &at));)
		if (users->processes[number - 1].pid == pid)
			return &users->processes[number - 1];
	if (!array_reserve(users->processes, users->room, (size_t)users->count + 1) ||
	    !hash_table_reserve(&users->numbers))
		return NULL;
	users->processes[users->count++] = (struct user_process){ .pid = pid };
	hash_table_add(&users->numbers, hash, users->count);
	read_mappings(users, &users->processes[users->count - 1]);
	return &users->processes[users->count - 1];
}

/* Search the mappings of a process with more files than are remembered. */
static bool search_mappings(struct users *users, uint32_t pid, const struct stat *file)
{
	uint64_t left = USERS_AGAIN - users->lines_again;
	const bool found = directory_maps(pid, file, &left);

	users->lines_again = USERS_AGAIN - left;
	users->unasked += !left;
	return found;
}

bool users_map(struct users *users, uint32_t pid, const struct stat *file)
{
	const struct user_process *process = session_users_find(users, pid);

	if (!process)
		return search_mappings(users, pid, file);
	for (unsigned n = 0; n < process->count && n < USERS_FILES; n++)
		if (process->inodes[n] == file->st_ino)
			return true;
	users->unasked += process->unasked;
	if (process->unasked || process->count <= USERS_FILES)
		return process->unasked || process->unreadable;
	return search_mappings(users, pid, file);
}

void users_free(struct users *users)
{
	free(users->processes);
	hash_table_free(&users->numbers);
	*users = (struct users){ 0 };
}
