/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads of readers; see view_threads.h. The program may be another's, such as one that has loaded burin.so: its signals are for its
 * own threads.
 */
#include "view/view_threads.h"

#include <sched.h>
#include <signal.h>

enum {
	VIEW_THREADS_MAX = 16,
};

unsigned view_threads(void)
{
	cpu_set_t set;
	const int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return count < 1 ? 1 : count > VIEW_THREADS_MAX ? VIEW_THREADS_MAX : (unsigned)count;
}

bool view_thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
	static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t blocked, before;
	bool runs;

	sigfillset(&blocked);
	for (size_t n = 0; n < sizeof(faults) / sizeof(*faults); n++)
		sigdelset(&blocked, faults[n]);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	runs = !pthread_create(thread, NULL, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return runs;
}
