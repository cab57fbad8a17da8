/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * libc's functions behind the ones that the preload library replaces. Each file that replaces some lists them once,
 * with NEXT_OF(), and calls libc's by NEXT(name).
 */
#ifndef BURIN_SOURCE_PRELOAD_NEXT_H
#define BURIN_SOURCE_PRELOAD_NEXT_H

#include <dlfcn.h>
#include <stdbool.h>

#define PUBLIC		   __attribute__((visibility("default")))

#define NEXT_DECLARE(name) __typeof__(&(name)) name##_;
#define NEXT_FIND(name)	   *(void **)&next.name##_ = dlsym(RTLD_NEXT, #name);

/* A constructor finds them, since a signal handler may not call dlsym(). */
#define NEXT_OF(each)                                                 \
	static struct {                                               \
		each(NEXT_DECLARE) bool found;                        \
	} next;                                                       \
	static __attribute__((constructor(101))) void next_find(void) \
	{                                                             \
		each(NEXT_FIND) next.found = true;                    \
	}

/* A library whose constructors run earlier may call a replaced function before the constructor here. */
#define NEXT(name) (next.found ? (void)0 : next_find(), next.name##_)

#endif
