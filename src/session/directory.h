/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where session files lie, and what they are called. */
#ifndef BURIN_SESSION_DIRECTORY_H
#define BURIN_SESSION_DIRECTORY_H

#include <string.h>
#include <sys/stat.h>

#include "session/session.h"

/* In front of the name of a recorder's session for samples, which is for nobody else to see. */
#define DIRECTORY_SAMPLES "samples."

static inline bool directory_is_of_samples(const char *name)
{
	return strncmp(name, DIRECTORY_SAMPLES, sizeof(DIRECTORY_SAMPLES) - 1) == 0;
}

/*
 * directory_of_sessions - the private directory of this user's sessions; made if it is missing, refused unless
 * it is a directory (no link) of mode 0700 that belongs to this user. Return: 0 or -errno and *why.
 */
int directory_of_sessions(char *path, size_t path_bytes, const char **why);

/*
 * directory_file - what the session file of an owner is called. A program's tells which process it is, so that
 * it is found again after an exec; of a recorder's those who shall join are told.
 * @geometry: owner_kind, owner, owner_start and uuid count
 * Return: 0 or -errno and *why.
 */
int directory_file(char *path, size_t path_bytes, const struct wire_geometry *geometry, const char **why);

/*
 * directory_collect - remove sessions that nobody needs: their processes have left, or were killed without
 * having recorded anything, or are older than the limits allow to keep.
 * @thorough: do not take another process for the owner whose pid it has; slower
 * Context: any process of the user; takes as long as there are sessions. Return: how many were removed.
 */
unsigned directory_collect(const struct session_limits *limits, bool thorough);

/* directory_maps - whether a process has a file mapped; true if it cannot be asked. */
bool directory_maps(uint32_t pid, const struct stat *file);

#endif
