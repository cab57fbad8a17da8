/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The layout of a session file: decided when the file is made, checked when a process joins. */
#ifndef BURIN_SESSION_LAYOUT_H
#define BURIN_SESSION_LAYOUT_H

#include "session/session.h"

/* layout_decide - fill in the offsets and the size of the file from the counts and sizes in *geometry. */
void layout_decide(struct wire_geometry *geometry);

/* layout_check - check the header of a file of this size. Return: NULL: it can be trusted; or the reason why not. */
const char *layout_check(const struct wire_geometry *geometry, uint64_t file_bytes);

/* layout_has_magic - whether it is the header of a session, of any version. */
bool layout_has_magic(const struct wire_geometry *geometry);

/*
 * layout_attach - set the pointers of a session into its mapping. session->base and ->geometry are set before.
 * Return: 0 or -ENOMEM.
 */
int layout_attach(struct session *session);

/* layout_ring_bytes - from one ring of records to the next. */
static inline uint64_t layout_ring_bytes(const struct wire_geometry *geometry)
{
	return (uint64_t)geometry->ring_packets * geometry->packet_bytes;
}

/* layout_place - of it, the pointers other than ->rings. layout_ring - the constants of one ring. */
void layout_place(struct session *session);
void layout_ring(struct session *session, unsigned index);

/* The inode of this process's PID namespace; 0: unknown. Thread ids are valid only within one. */
uint64_t layout_pid_namespace(void);

#endif
