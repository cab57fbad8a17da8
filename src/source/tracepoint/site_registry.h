/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The loaded objects with tracepoints, and their sites. */
#ifndef BURIN_SOURCE_TRACEPOINT_SITE_REGISTRY_H
#define BURIN_SOURCE_TRACEPOINT_SITE_REGISTRY_H

#include <stdbool.h>

#include "burin/burin.h"

/* Held while objects are loaded or unloaded and while callbacks change. Context: threads, not signal handlers. */
void site_registry_lock(void);
void site_registry_unlock(void);

/*
 * site_registry_add - add an object by its sites; the lock is held.
 * Return: false: it is there already, or there is no memory.
 */
bool site_registry_add(struct burin_site *begin, struct burin_site *end);

/* site_registry_remove - remove an object; the lock is held. */
void site_registry_remove(const struct burin_site *begin);

/* site_registry_each_site - call `visit` for every site of every loaded object; the lock is held. */
void site_registry_each_site(void (*visit)(struct burin_site *site, void *data), void *data);

/* The switch of a site: the session's if the site is registered, otherwise a byte that is always off. */
const unsigned char *site_registry_session_switch(const struct burin_site *site);

#endif
