/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The event of the records of calls; its state is the switch of all calls. */
#ifndef BURIN_SOURCE_CALLS_STACK_CALL_SITE_H
#define BURIN_SOURCE_CALLS_STACK_CALL_SITE_H

#include <stdbool.h>

#include "burin/burin.h"
#include "session/session.h"

/* In libburin-calls.a: the section of sites is the program's. */
extern struct burin_site call_static_site;

#ifdef CALLS_STATIC
#define call_site (&call_static_site)
#else
/* The only site of this object (call_process.c), so the object's section of sites begins with it. */
#define call_site (__start_burin_sites)
extern struct burin_site __start_burin_sites[] __attribute__((visibility("hidden")));
#endif

/*
 * call_switch - the switch of all calls, by way of the page that a fork clears. WIRE_OFF, too: the process has not begun, or is a child for
 * which no handler of the fork ran; call_is_new() decides.
 */
static inline uint8_t call_switch(void)
{
	const int64_t distance = __atomic_load_n(&session_identity.calls, __ATOMIC_RELAXED);

	return __atomic_load_n((const uint8_t *)&session_identity + distance, __ATOMIC_RELAXED);
}

static inline bool call_is_new(void)
{
	return __builtin_expect(__atomic_load_n(&session_identity.calls, __ATOMIC_RELAXED) == 0, 0);
}

#endif
