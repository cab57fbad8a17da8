/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process: it joins the recorder's session, forks, and ends; see timer.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "source/timer/timer.h"

enum {
	/* Below the first thread's stack the kernel leaves at least so much free for it to grow. */
	TIMER_MAIN_STACK = 128 << 20,
};

struct timer_process timer_process;

static void complain(const char *what, const char *why, int error)
{
	dprintf(STDERR_FILENO, "burin: %.250s: %s (%s); no samples of this program\n", what, why,
		strerror(-error));
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
	error = timer_threads_init();
	if (!error)
		error = timer_signal_install(timer_on_signal);
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
		timer_thread_stop(timer_thread);
}
