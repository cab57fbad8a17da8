/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that this library replaces, in a program that has loaded it late (x86-64).
 *
 * A library that is loaded before the program's own is found first by all who ask for its functions. One that is loaded later is
 * found by none: the slots through which objects call these functions lead to the C library and libgcc already. So the slots
 * are changed.
 */
#ifndef BURIN_SOURCE_CALLS_INTERPOSE_LATE_H
#define BURIN_SOURCE_CALLS_INTERPOSE_LATE_H

#include <stdbool.h>

#if defined(__x86_64__) && !defined(CALLS_STATIC)
/*
 * interpose_late_can - whether all that the program does can be replaced: not if it runs on stacks that it has made before.
 * Context: any thread, not in signal handlers.
 */
bool interpose_late_can(void);

/*
 * interpose_late - change the slots of all objects; if this library was loaded late, which interpose_late_can() has found out.
 * Context: as above, before code is patched.
 */
void interpose_late(void);
#else
static inline bool interpose_late_can(void)
{
	return true;
}

static inline void interpose_late(void)
{
}
#endif

#endif
