/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Output to a path that the user has given: a directory for a trace, or a file.
 *
 * In /tmp, or in a directory of theirs, other users may have put files at that path. There, links of other users are not
 * followed. Their files and pipes, and files with several names, are not written to. Elsewhere, and for the user's own
 * files, links, /dev/stdout, /dev/null and pipes work as in a shell. The kernel has a similar rule
 * (fs.protected_symlinks and others), but it is not switched on everywhere.
 */
#ifndef BURIN_FILE_NAMED_H
#define BURIN_FILE_NAMED_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum {
	NAMED_WHY = 512, /* bytes of a reason */
};

/*
 * named_directory - make a directory and open it.
 * @private: mode 0700; otherwise by the umask
 * @why: set to the reason of a refusal, and what to do; "": the error is enough
 * Return: a descriptor; use it, not the path, from then on; -errno.
 */
int named_directory(const char *path, bool private, char why[NAMED_WHY]);

/* named_file - make or empty a file and open it for writing. @private: a new one has the mode 0600. Return: a descriptor; -errno and *why. */
int named_file(const char *path, bool private, char why[NAMED_WHY]);

/*
 * named_remove - remove a regular file that named_file() opened. Its directory may have been replaced since, by one of other
 * files with this name.
 * @made: of the opened file
 * Return: 0; -ESTALE: the path leads to another file; -errno.
 */
int named_remove(const char *path, const struct stat *made);

/*
 * named_own - open an existing directory, to write into it.
 * @owner: set to its owner, if it is not the calling user
 * Return: a descriptor; -EPERM: it belongs to @owner; -errno.
 */
int named_own(const char *path, uid_t *owner);

#endif
