/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Replaced functions of libc. They do the same, and also what sampling needs: they record new threads, changed names
 * and closed libraries. The functions for signals are in interpose_signal.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pid.h"
#include "source/preload/next.h"
#include "source/preload/preload.h"

#define EACH(macro) macro(pthread_create) macro(prctl) macro(pthread_setname_np) macro(dlclose)
NEXT_OF(EACH)

/* ---- threads */

struct start {
	void *(*function)(void *);
	void *argument;
	uint32_t creator;
	size_t stack; /* bytes */
};

enum {
	NAME_TRIES = 8,
};

static bool get_own_name(char name[16])
{
	return syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0) == 0;
}

/* Another thread may change the name, and record it, between our look at it and our record: then we record it again, so the last one is right. */
static void put_own_name(void)
{
	char name[16] = "", put[16];
	bool known = get_own_name(name);

	for (unsigned n = 0; n < NAME_TRIES && known; n++) {
		memcpy(put, name, sizeof(put));
		preload_put_name(preload_thread->tid, put, false);
		known = get_own_name(name) && strcmp(name, put) != 0;
	}
}

static void *run(void *data)
{
	const struct start start = *(const struct start *)data;
	/* pthread_self() is the top of the stack: glibc keeps its data of a thread there. */
	const char *top = (const char *)pthread_self();

	free(data);
	if (preload_thread_begin(top - start.stack, top)) {
		preload_put_fork(preload_process.pid, start.creator);
		/* Another thread may have named it before its record of the fork. */
		put_own_name();
		preload_thread_start(preload_thread);
	}
	return start.function(start.argument);
}

static size_t stack_of(const pthread_attr_t *attributes)
{
	pthread_attr_t defaults;
	size_t bytes = 0;

	if (attributes)
		return pthread_attr_getstacksize(attributes, &bytes) == 0 ? bytes : 0;
	if (pthread_attr_init(&defaults) != 0)
		return 0;
	pthread_attr_getstacksize(&defaults, &bytes);
	pthread_attr_destroy(&defaults);
	return bytes;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
			  void *argument)
{
	struct start *start = preload_is_ours() && preload_thread ? malloc(sizeof(*start)) : NULL;
	int error;

	if (!start)
		return NEXT(pthread_create)(thread, attributes, function, argument);
	*start = (struct start){ function, argument, preload_thread->tid, stack_of(attributes) };
	error = NEXT(pthread_create)(thread, attributes, run, start);
	if (error)
		free(start);
	return error;
}

/* ---- names */

PUBLIC int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;
	int result;

	va_start(list, option);
	for (unsigned n = 0; n < 4; n++)
		arguments[n] = va_arg(list, unsigned long);
	va_end(list);
	result = NEXT(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
	if (option == PR_SET_NAME && result == 0 && preload_is_ours() && preload_thread)
		put_own_name();
	return result;
}

PUBLIC int pthread_setname_np(pthread_t thread, const char *name)
{
	const int result = NEXT(pthread_setname_np)(thread, name);

	if (result == 0 && preload_is_ours() && preload_thread)
		preload_put_name(pid_of_thread(thread), name, false);
	return result;
}

/* ---- libraries */

PUBLIC int dlclose(void *library)
{
	const int result = NEXT(dlclose)(library);

	preload_maps_invalidate();
	return result;
}
