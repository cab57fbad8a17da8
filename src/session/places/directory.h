/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The directories and names of session files. */
#ifndef BURIN_SESSION_PLACES_DIRECTORY_H
#define BURIN_SESSION_PLACES_DIRECTORY_H

#include <string.h>
#include <sys/stat.h>

#include "session/session.h"

/* Prefix of a recorder's session for samples, which is not listed. */
#define DIRECTORY_SAMPLES "samples."

static inline bool directory_is_of_samples(const char *name)
{
	return strncmp(name, DIRECTORY_SAMPLES, sizeof(DIRECTORY_SAMPLES) - 1) == 0;
}

#define DIRECTORY_FULL "there is no space for it (/dev/shm full?)"

enum directory_place {
	DIRECTORY_USUAL,
	DIRECTORY_SPARE, /* where sessions are made while the usual place is full */
	DIRECTORY_PLACES
};

/*
 * directory_of_sessions - the private directory of this user's sessions. It is the first
 * candidate (directory.c) that is a directory (not a link) of mode 0700 and belongs to this user. All programs of the
 * user find the same one, as long as the candidates do not change.
 * @make: make it if it is missing
 * Return: 0 or -errno and *why; -ENOSPC: the place is full.
 */
int directory_of_sessions(char *path, size_t path_bytes, enum directory_place place, bool make,
			  const char **why);

/*
 * directory_is_own - whether a directory (not a link) is this user's, and no other user can rename files in it.
 * $XDG_RUNTIME_DIR may be another user's, since sudo can keep it.
 */
bool directory_is_own(const char *path);

/*
 * directory_each - visit every directory that may have sessions of this user; @all_users: of all users. Only those that
 * are private to the user in their name: /dev/shm/burin-UID, burin-UID.RANDOM, /run/user/UID/burin,
 * $XDG_RUNTIME_DIR/burin.
 * @visit: @fd is closed afterwards; negative: -errno, the directory or its parent cannot be read
 */
void directory_each(bool all_users, void (*visit)(void *data, int fd, const char *path, uint32_t user),
		    void *data);

/* directory_is_spare - whether a session file lies in the spare place, since the usual one was full. */
bool directory_is_spare(const char *path);

/* directory_is_taken - whether another directory replaces the usual one, since that is another user's. */
bool directory_is_taken(char *usual, size_t bytes, char *directory, size_t directory_bytes);

/*
 * directory_file - the path of an owner's session file. A program's path follows from the process, so that the process
 * finds it again after an exec. A recorder passes its path to the programs that shall join.
 * @place, @make: as above
 * @geometry: owner_kind, owner, owner_start and uuid are used
 * Return: 0 or -errno and *why.
 */
int directory_file(char *path, size_t path_bytes, enum directory_place place, bool make,
		   const struct wire_geometry *geometry, const char **why);

/*
 * directory_has_form - whether a file's name has the form of directory_file(): PID.START of a program, PID-RANDOM of a
 * recorder. Other files in the directory are neither listed nor opened.
 */
bool directory_has_form(const char *name);

struct directory_gc {
	struct session_limits limits;
	bool thorough; /* detect a new process with the owner's pid; slower */
	bool dry_run;  /* remove nothing */
	/* Called with the name in the directory of each session that goes; NULL: not called. */
	void (*visit)(void *data, const char *name);
	void *data;
};

/*
 * directory_gc - remove the sessions of a directory that are not needed: their processes have left, or were killed
 * without having recorded anything, or exceed the limits (the oldest go first). Sessions of another PID namespace stay, unless
 * namespaces.h shows that none of its processes is left.
 * Context: any process of the user; time grows with the sessions. Return: the number of removed ones.
 */
unsigned directory_gc(const char *path, const struct directory_gc *how);

/*
 * How /proc/PID/maps is opened. NULL: as any file, in traced programs, which look at processes of their own user. The command
 * sets it to foreign_maps(), since other users can keep a reader waiting.
 * Return: a descriptor; -ETIMEDOUT: the process keeps readers waiting; or another -errno.
 */
extern int (*directory_open_maps)(uint32_t pid);

/*
 * directory_mapped - visit the inode of each of Burin's files that a process has mapped.
 * @lines: how many lines of /proc/PID/maps may still be read, counted down; a process can have very many
 * Return: 0: all were read, or the process has ended; -ETIMEDOUT: it keeps readers waiting; another -errno: they cannot be read,
 * or not completely.
 */
int directory_mapped(uint32_t pid, uint64_t *lines, void (*visit)(void *data, uint64_t inode), void *data);

/* directory_maps - whether a process has a file mapped; true if its mappings cannot be read. @lines: as above */
bool directory_maps(uint32_t pid, const struct stat *file, uint64_t *lines);

#endif
