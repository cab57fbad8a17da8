/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where the parts of a session file lie: decided when it is made, checked when it is joined. */
#ifndef BURIN_SESSION_LAYOUT_H
#define BURIN_SESSION_LAYOUT_H

#include "session/session.h"

/* layout_decide - fill in the offsets and the size of the file from the counts and sizes in *geometry. */
void layout_decide(struct wire_geometry *geometry);

/* layout_check - NULL if a header that came from a file of this size can be trusted, else what is wrong with
 * it. */
const char *layout_check(const struct wire_geometry *geometry, uint64_t file_bytes);

/*
 * layout_attach - point a session into its mapping, session->base and ->geometry being set.
 * Return: 0 or -ENOMEM.
 */
int layout_attach(struct session *session);

/* Identity of the PID namespace of this process, 0 if unknown: thread ids mean something only within one. */
uint64_t layout_pid_namespace(void);

#endif
