/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Removing the session that a dead program or a killed recorder has left. Its path may come from a trace, and its
 * directory may belong to another user. No file other than that session is ever removed.
 */
#ifndef BURIN_CONTROL_REMAINS_H
#define BURIN_CONTROL_REMAINS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * remains_directory - open the directory of a session.
 * @owner: of the session; the directory must belong to the same user, and no other user may write to it
 * @base: set to the session's name in the directory, a part of @path
 * Return: a descriptor; -EPERM: the directory is not like that; -errno.
 */
int remains_directory(const char *path, uid_t owner, const char **base);

/*
 * remains_remove - remove a session.
 * @directory: the descriptor from remains_directory()
 * @uuid: of the session; NULL: the caller has made the session, whose uuid others may have overwritten
 * Return: 0; -EPERM: it is another file, or its user is not the directory's; -errno.
 */
int remains_remove(int directory, const char *base, const uint8_t *uuid);

/* remains_remove_path - do both. */
int remains_remove_path(const char *path, uid_t owner, const uint8_t *uuid);

#endif
