/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Threads, by the kernel's numbers. */
#ifndef BURIN_BASE_THREAD_H
#define BURIN_BASE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/*
 * thread_tid - the kernel's number of a thread of this process; 0: it has ended.
 *
 * glibc does not tell it, but the id of the thread's CPU clock is made of it: inverted, above three bits that say which
 * clock is meant.
 */
static inline uint32_t thread_tid(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? ~(uint32_t)(clock >> 3) : 0;
}

#endif
