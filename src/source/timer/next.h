/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of libc that ours take the place of. Each file that replaces some lists them once, with NEXT_OF(), and
 * calls libc's by NEXT(name).
 */
#ifndef BURIN_SOURCE_TIMER_NEXT_H
#define BURIN_SOURCE_TIMER_NEXT_H

#include <dlfcn.h>
#include <stdbool.h>

#define PUBLIC		   __attribute__((visibility("default")))

#define NEXT_DECLARE(name) __typeof__(&(name)) name##_;
#define NEXT_FIND(name)	   *(void **)&next.name##_ = dlsym(RTLD_NEXT, #name);

/* Found before a handler might have to: dlsym() is nothing for it. */
#define NEXT_OF(each)                                                 \
	static struct {                                               \
		each(NEXT_DECLARE) bool found;                        \
	} next;                                                       \
	static __attribute__((constructor(101))) void next_find(void) \
	{                                                             \
		each(NEXT_FIND) next.found = true;                    \
	}

/* Who was loaded before us may call before that. */
#define NEXT(name) (next.found ? (void)0 : next_find(), next.name##_)

#endif
