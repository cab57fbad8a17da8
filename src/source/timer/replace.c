/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of libc that are replaced by ones that do the same, and besides what sampling needs: threads that begin,
 * names that change, libraries that are closed. Those of the signal are in signal.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pid.h"
#include "source/timer/next.h"
#include "source/timer/timer.h"

#define EACH(what) what(pthread_create) what(prctl) what(pthread_setname_np) what(dlclose)
NEXT_OF(EACH)

/* ---- threads */

struct start {
	void *(*function)(void *);
	void *argument;
	uint32_t creator;
	size_t stack; /* bytes */
};

static void *run(void *data)
{
	const struct start start = *(const struct start *)data;
	/* glibc keeps its own of a thread at the top of the thread's stack. */
	const char *top = (const char *)pthread_self();
	char name[16] = "";

	free(data);
	if (timer_thread_begin(top - start.stack, top)) {
		timer_tell_fork(timer_process.pid, start.creator);
		/* Others may have given it a name, and told it, before it was known. */
		if (syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0) == 0)
			timer_tell_name(timer_thread->tid, name, false);
		timer_thread_start(timer_thread);
	}
	return start.function(start.argument);
}

static size_t stack_of(const pthread_attr_t *wanted)
{
	pthread_attr_t usual;
	size_t bytes = 0;

	if (wanted)
		return pthread_attr_getstacksize(wanted, &bytes) == 0 ? bytes : 0;
	if (pthread_attr_init(&usual) != 0)
		return 0;
	pthread_attr_getstacksize(&usual, &bytes);
	pthread_attr_destroy(&usual);
	return bytes;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
			  void *argument)
{
	struct start *start = timer_is_ours() && timer_thread ? malloc(sizeof(*start)) : NULL;
	int error;

	if (!start)
		return NEXT(pthread_create)(thread, attributes, function, argument);
	*start = (struct start){ function, argument, timer_thread->tid, stack_of(attributes) };
	error = NEXT(pthread_create)(thread, attributes, run, start);
	if (error)
		free(start);
	return error;
}

/* ---- names */

PUBLIC int prctl(int option, ...)
{
	unsigned long arguments[4];
	char name[16] = "";
	va_list list;
	int result;

	va_start(list, option);
	for (unsigned n = 0; n < 4; n++)
		arguments[n] = va_arg(list, unsigned long);
	va_end(list);
	result = NEXT(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
	if (option == PR_SET_NAME && result == 0 && timer_is_ours() && timer_thread &&
	    syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0) == 0)
		timer_tell_name(timer_thread->tid, name, false);
	return result;
}

PUBLIC int pthread_setname_np(pthread_t thread, const char *name)
{
	const int result = NEXT(pthread_setname_np)(thread, name);

	if (result == 0 && timer_is_ours() && timer_thread)
		timer_tell_name(pid_of_thread(thread), name, false);
	return result;
}

/* ---- libraries */

PUBLIC int dlclose(void *library)
{
	const int result = NEXT(dlclose)(library);

	timer_maps_stale();
	return result;
}
