/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sessions of other PID namespaces: whether any process can use them. */
#ifndef BURIN_SESSION_PLACES_NAMESPACES_H
#define BURIN_SESSION_PLACES_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NAMESPACES_MAX = 256, /* with more living ones, none is taken for gone */
};

/* The PID namespaces below this one that have a living process. Begins as zeros. */
struct namespaces {
	bool asked, known;
	unsigned count;
	uint64_t living[NAMESPACES_MAX];
};

/*
 * namespaces_file_is_unused - whether no process has a session's file mapped or open for writing, in whatever namespace.
 * @fd: a descriptor for reading only; only root, or the file's owner, gets an answer
 * Context: not for a session of this namespace, whose processes can be asked: a process that opens it at this moment has to repeat
 * that (session_file()). Return: false, too, if the kernel does not answer.
 */
bool namespaces_file_is_unused(int fd);

/*
 * namespaces_is_gone - whether a PID namespace has no living process any more. Only root of the first namespace sees all processes;
 * to others none is gone.
 * Context: reads all of /proc, once for each @all.
 */
bool namespaces_is_gone(struct namespaces *all, uint64_t inode);

#endif
