/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process and its threads; see timer.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "source/timer/timer.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	/* Below the first thread's stack the kernel leaves at least so much free for it to grow. */
	TIMER_MAIN_STACK = 128 << 20,
};

struct timer_process timer_process;
__thread struct timer_thread *timer_thread;

static pthread_key_t key; /* its destructor tells that a thread ends */

bool timer_is_ours(void)
{
	return timer_process.session.base && (uint32_t)getpid() == timer_process.pid;
}

static void complain(const char *what, const char *why, int error)
{
	dprintf(STDERR_FILENO, "burin: %.250s: %s (%s); no samples of this program\n", what, why,
		strerror(-error));
}

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

/* In this order: a sample behind the end would be one of nobody. */
static void leave(struct timer_thread *self)
{
	if (self->timer >= 0)
		syscall(SYS_timer_delete, self->timer);
	self->timer = -1;
	timer_tell_exit();
}

static void end_thread(void *data)
{
	struct timer_thread *self = data;

	leave(self);
	timer_thread = NULL; /* before it goes: a signal may still be on its way */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	munmap(self, sizeof(*self));
}

/* Timers are not inherited. */
static void begin_after_fork(void)
{
	const uint32_t parent = timer_process.pid;
	struct timer_thread *self = timer_thread;
	uint32_t parent_tid;

	timer_process.pid = (uint32_t)getpid();
	timer_maps_forked();
	if (!self)
		return;
	parent_tid = self->tid;
	self->tid = (uint32_t)syscall(SYS_gettid);
	timer_tell_fork(parent, parent_tid);
	timer_thread_start(self);
}

/* Return: whether there is a session for samples. */
static bool join(void)
{
	const char *wanted = secure_getenv(WIRE_TIMER_ENVIRONMENT), *why = "";
	struct timespec tick = { 0 };
	unsigned hz = 0;
	int path = 0, error;

	if (!wanted)
		return false;
	if (sscanf(wanted, "%u %u %n", &hz, &timer_process.graph, &path) < 2 || hz == 0 || !path) {
		complain(WIRE_TIMER_ENVIRONMENT, "it was not set by burin record", -EINVAL);
		return false;
	}
	error = session_join(&timer_process.session, wanted + path, &why);
	if (error) {
		if (error != -ENOENT) /* the recording is over */
			complain(wanted + path, why, error);
		return false;
	}
	timer_process.period = 1000000000 / hz;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	timer_process.tick = (uint64_t)tick.tv_nsec;
	timer_process.pid = (uint32_t)getpid();
	timer_process.signal = SIGRTMAX - 3;
	return true;
}

/* glibc gives constructors what it gives main(). The first thread's stack begins at its arguments. */
static __attribute__((constructor)) void begin(int argc, char **argv)
{
	const char *top = (const char *)argv;
	const int saved = errno;
	char name[16] = "";
	int error;

	(void)argc;
	if (!join())
		return;
	error = pthread_key_create(&key, end_thread) ? -EAGAIN : timer_signal_install();
	if (error)
		complain("the timer's signal", "it cannot be had", error);
	if (error || !timer_thread_begin(top - TIMER_MAIN_STACK, top)) {
		session_leave(&timer_process.session);
		return;
	}
	pthread_atfork(NULL, NULL, begin_after_fork);
	prctl(PR_GET_NAME, name);
	timer_tell_name(timer_thread->tid, name, true);
	timer_maps_look(0);
	timer_thread_start(timer_thread);
	errno = saved;
}

static __attribute__((destructor)) void end(void)
{
	if (timer_is_ours() && timer_thread)
		leave(timer_thread);
}
