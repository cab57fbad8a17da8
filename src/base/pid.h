/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Ids of processes and threads. */
#ifndef BURIN_BASE_PID_H
#define BURIN_BASE_PID_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* pid_lives - whether a process exists; a zombie does. Context: any, signal handlers. */
static inline bool pid_lives(uint32_t pid)
{
	const int saved = errno;
	const bool lives = pid != 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);

	errno = saved;
	return lives;
}

/*
 * pid_of_thread - the thread id of a thread of this process; 0: it has ended.
 *
 * glibc has no function for it, but the id of the thread's CPU clock contains it: inverted, above three bits for the
 * kind of clock.
 */
static inline uint32_t pid_of_thread(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? ~(uint32_t)(clock >> 3) : 0;
}

#endif
