/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A sampled thread, from its start to its end; see preload.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "source/preload/preload.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static pthread_key_t key; /* its destructor runs when a thread ends */

/* Only once: the other threads fail for the same reason. */
static void report_thread_failure(int error)
{
	static bool reported;

	if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		dprintf(STDERR_FILENO, "burin: a thread of process %u has no timer (%s); it is not sampled\n",
			preload_process.pid, strerror(-error));
}

static struct timespec in_ns(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

/*
 * A random time within the first period, so that threads that end within it get their share of samples. It is half a
 * tick early, since the kernel is late by as much.
 */
static uint64_t first_time(void)
{
	const uint64_t random = (ring_clock() * UINT64_C(0x9e3779b97f4a7c15) >> 32) % preload_process.period,
		       early = preload_process.tick / 2;

	return preload_process.period > preload_process.tick && random > early ? random - early : 1;
}

/*
 * By system calls: glibc's timer_create() may allocate memory, and its timers do not survive a fork either.
 */
static int start_timer(struct preload_thread *self)
{
	const struct itimerspec when = { .it_interval = in_ns(preload_process.period),
					 .it_value = in_ns(first_time()) };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = preload_process.signal,
				  .sigev_value.sival_ptr = self };

	event.sigev_notify_thread_id = (pid_t)self->tid;
	self->timer = -1;
	self->begun = false;
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) != 0 ||
	    syscall(SYS_timer_settime, self->timer, 0, &when, NULL) != 0)
		return -errno;
	return 0;
}

void preload_thread_start(struct preload_thread *self)
{
	const int saved = errno, error = start_timer(self);

	if (error)
		report_thread_failure(error);
	errno = saved;
}

struct preload_thread *preload_thread_begin(const char *low, const char *top)
{
	struct preload_thread *self = mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (self == MAP_FAILED) {
		report_thread_failure(-errno);
		return NULL;
	}
	self->tid = (uint32_t)syscall(SYS_gettid);
	self->timer = -1;
	self->low = low;
	self->top = top;
	preload_thread = self;
	pthread_setspecific(key, self);
	return self;
}

void preload_thread_stop(struct preload_thread *self)
{
	if (self->timer >= 0)
		syscall(SYS_timer_delete, self->timer);
	self->timer = -1;
	preload_put_exit(); /* last: a sample behind it would have no thread */
}

static void end_thread(void *data)
{
	struct preload_thread *self = data;

	preload_thread_stop(self);
	preload_thread = NULL; /* before munmap: a signal may still be pending */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	munmap(self, sizeof(*self));
}

int preload_threads_init(void)
{
	return pthread_key_create(&key, end_thread) ? -EAGAIN : 0;
}
