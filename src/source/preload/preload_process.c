/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process joins the recorder's session, forks, and exits; see preload.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/c_library.h"
#include "base/print.h"
#include "source/preload/preload.h"

enum {
	/* The kernel leaves at least this much free below the first thread's stack for it to grow. */
	PRELOAD_MAIN_STACK = 128 << 20,
};

static void report_failure(const char *subject, const char *why, int error)
{
	char line[1024];

	print_text(line, sizeof(line), "burin: %.200s: %s (%s); this program is not sampled\n", subject, why,
		   strerror(-error));
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

/* Timers are not inherited. */
static void begin_after_fork(void)
{
	const uint32_t parent = preload_process.pid;
	struct preload_thread *self = preload_thread;
	uint32_t parent_tid;

	preload_process.pid = (uint32_t)getpid();
	preload_maps_forked();
	if (!self)
		return;
	parent_tid = self->tid;
	self->tid = (uint32_t)syscall(SYS_gettid);
	preload_put_fork(parent, parent_tid);
	preload_thread_start(self);
}

/* Return: whether there is a session for samples. */
static bool join(void)
{
	const char *settings = secure_getenv(WIRE_PRELOAD_ENVIRONMENT), *why = "";
	struct timespec tick = { 0 };
	unsigned hz = 0;
	int path = 0, error;

	if (!settings)
		return false;
	if (sscanf(settings, "%u %u %n", &hz, &preload_process.graph, &path) < 2 || hz == 0 ||
	    hz > 1000000000 || !path) {
		report_failure(WIRE_PRELOAD_ENVIRONMENT, "not set by burin record", -EINVAL);
		return false;
	}
	error = session_join(&preload_process.session, settings + path, &why);
	if (error) {
		if (error != -ENOENT) /* the recording is over */
			report_failure(settings + path, why, error);
		return false;
	}
	preload_process.period = 1000000000 / hz;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	preload_process.tick = (uint64_t)tick.tv_nsec;
	preload_process.pid = (uint32_t)getpid();
	preload_process.signal = SIGRTMAX - 3;
	return true;
}

/* @top: of the first thread's stack */
static void begin(const char *top)
{
	char name[16] = "";
	int error;

	if (!join())
		return;
	error = preload_threads_init();
	if (!error)
		error = preload_signal_install(preload_on_signal);
	if (error)
		report_failure("the timer's signal", "cannot install its handler", error);
	if (error || !preload_thread_begin(top - PRELOAD_MAIN_STACK, top)) {
		session_leave(&preload_process.session);
		return;
	}
	pthread_atfork(NULL, NULL, begin_after_fork);
	prctl(PR_GET_NAME, name);
	preload_put_name(preload_thread->tid, name, true);
	preload_maps_look(0);
	preload_thread_start(preload_thread);
}

/* glibc passes main()'s arguments to constructors. The first thread's stack begins at argv. */
static __attribute__((constructor)) void begin_at_load(int argc, char **argv)
{
	const int saved = errno;

	(void)argc;
	c_library_bind();
	begin((const char *)argv);
	errno = saved;
}

static __attribute__((destructor)) void end(void)
{
	if (preload_is_ours() && preload_thread)
		preload_thread_stop(preload_thread);
}
