/* SPDX-License-Identifier: GPL-2.0-only */
/* All parts of burin.ko share the session, which is one as programs have (src/session/session.h), and its lock. */
#ifndef BURIN_KERNEL_STATE_H
#define BURIN_KERNEL_STATE_H

#include <linux/mutex.h>

#define BURIN__KERNEL_OWN /* burin_emit() is the function here */
#include "burin/kernel.h"
#include "session/session.h"

enum {
	EVENTS_MAX = 4096,
};

extern struct session burin_session;

/* Held by all that registers or switches events, changes the session, or lists it. */
extern struct mutex burin_mutex;

#endif
