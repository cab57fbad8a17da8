/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The layout of a session file, as a process that joins checks and uses it. */
#ifndef BURIN_SESSION_LAYOUT_H
#define BURIN_SESSION_LAYOUT_H

#include "session/session.h"

/* layout_check - check the header of a file of this size. Return: NULL: it can be trusted; or the reason why not. */
const char *layout_check(const struct wire_geometry *geometry, uint64_t file_bytes);

/* layout_has_magic - whether it is the header of a session, of any version. */
bool layout_has_magic(const struct wire_geometry *geometry);

enum layout_purpose {
	LAYOUT_JOIN, /* record into it, in a traced program */
	LAYOUT_OPEN, /* switch and read */
	LAYOUT_LOOK, /* only read */
};

/* layout_has_room - whether a program may map so much and keep most of its address space (RLIMIT_AS): its own threads need some. */
bool layout_has_room(uint64_t bytes);

/*
 * layout_map - map the session's file. session->geometry is set before. A traced program may lock its memory (mlockall(2)): that allocates
 * all to which it has access. So it gets access to each ring when it uses it.
 * Return: 0 or -errno.
 */
int layout_map(struct session *session, int fd, enum layout_purpose purpose);

/*
 * layout_attach - set the pointers of a session into its mapping. session->base and ->geometry are set before.
 * Return: 0 or -ENOMEM.
 */
int layout_attach(struct session *session);

/* The inode of this process's PID namespace; 0: unknown. Thread ids are valid only within one. */
uint64_t layout_pid_namespace(void);

#endif
