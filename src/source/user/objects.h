/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The loaded objects that have tracepoints, and the process's joining of a session.
 */
#ifndef BURIN_SOURCE_USER_OBJECTS_H
#define BURIN_SOURCE_USER_OBJECTS_H

#include "burin/burin.h"

/* Held while objects come and go and while callbacks change. Context: threads, not signal handlers. */
void objects_lock(void);
void objects_unlock(void);

/* objects_each_site - call `visit` for every site of every loaded object; the lock is held. */
void objects_each_site(void (*visit)(struct burin_site *site, void *data), void *data);

/* The byte that switches a site: the session's if the site is registered, else one that is always off. */
const unsigned char *objects_session_switch(const struct burin_site *site);

#endif
