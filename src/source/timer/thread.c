/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A thread that is sampled, from its beginning to its end; see timer.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "source/timer/timer.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

__thread struct timer_thread *timer_thread;

static pthread_key_t key; /* its destructor tells that a thread ends */

/* Once: what is true of one thread is so of all that come. */
static void complain_of_thread(int error)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		dprintf(STDERR_FILENO, "burin: a thread of process %u has no timer (%s); it is not sampled\n",
			timer_process.pid, strerror(-error));
}

static struct timespec in_ns(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

/*
 * Some time within the first period, so that threads that end before theirs is over have their share of
 * samples; half a tick early, since the kernel is late by as much.
 */
static uint64_t first_time(void)
{
	const uint64_t random = (ring_clock() * UINT64_C(0x9e3779b97f4a7c15) >> 32) % timer_process.period,
		       early = timer_process.tick / 2;

	return timer_process.period > timer_process.tick && random > early ? random - early : 1;
}

/*
 * By system calls: glibc's timer_create() may allocate memory, and its timers do not survive a fork either.
 */
static int start_timer(struct timer_thread *self)
{
	const struct itimerspec when = { .it_interval = in_ns(timer_process.period),
					 .it_value = in_ns(first_time()) };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = timer_process.signal,
				  .sigev_value.sival_ptr = self };

	event.sigev_notify_thread_id = (pid_t)self->tid;
	self->timer = -1;
	self->begun = false;
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) != 0 ||
	    syscall(SYS_timer_settime, self->timer, 0, &when, NULL) != 0)
		return -errno;
	return 0;
}

void timer_thread_start(struct timer_thread *self)
{
	const int saved = errno, error = start_timer(self);

	if (error)
		complain_of_thread(error);
	errno = saved;
}

struct timer_thread *timer_thread_begin(const char *low, const char *top)
{
	struct timer_thread *self = mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (self == MAP_FAILED) {
		complain_of_thread(-errno);
		return NULL;
	}
	self->tid = (uint32_t)syscall(SYS_gettid);
	self->timer = -1;
	self->low = low;
	self->top = top;
	timer_thread = self;
	pthread_setspecific(key, self);
	return self;
}

void timer_thread_stop(struct timer_thread *self)
{
	if (self->timer >= 0)
		syscall(SYS_timer_delete, self->timer);
	self->timer = -1;
	timer_tell_exit(); /* last: a sample behind it would be one of nobody */
}

static void end_thread(void *data)
{
	struct timer_thread *self = data;

	timer_thread_stop(self);
	timer_thread = NULL; /* before it goes: a signal may still be on its way */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	munmap(self, sizeof(*self));
}

int timer_threads_init(void)
{
	return pthread_key_create(&key, end_thread) ? -EAGAIN : 0;
}
