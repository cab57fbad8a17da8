/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of libc that are replaced by ones that do the same, and besides what sampling needs: threads
 * that begin, names that change, libraries that are closed; and the signal, which the program must be able
 * to use as if we were not there.
 *
 * Of the latter: the handler stays ours, and what the program wants done is kept and done when the signal
 * is not one of our timers'. A set of (nearly) all signals is blocked without it: that is what programs do
 * that do not want to be interrupted in a thread, and it would be without samples. Who asks for it by name
 * gets it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/timer/timer.h"

#define PUBLIC __attribute__((visibility("default")))

#define EACH(what)                                                                                           \
	what(pthread_create) what(prctl) what(pthread_setname_np) what(dlclose) what(sigaction) what(signal) \
		what(pthread_sigmask) what(sigprocmask)

/* The functions that ours have taken the place of. */
#define DECLARE(name) __typeof__(&(name)) name##_;
static struct {
	EACH(DECLARE)
	bool found;
} next;

/* Before a handler might have to: dlsym() is nothing for it. */
#define FIND(name) *(void **)&next.name##_ = dlsym(RTLD_NEXT, #name);
static __attribute__((constructor(101))) void find(void)
{
	EACH(FIND)
	next.found = true;
}

/* Who was loaded before us may call before that. */
#define NEXT(name) (next.found ? (void)0 : find(), next.name##_)

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

/*
 * The kernel's number of a thread: its CPU clock is named after it, in all but the lowest three bits,
 * inverted.
 */
static uint32_t tid_of(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? ~(uint32_t)(clock >> 3) : 0;
}

PUBLIC int pthread_setname_np(pthread_t thread, const char *name)
{
	const int result = NEXT(pthread_setname_np)(thread, name);

	if (result == 0 && timer_is_ours() && timer_thread)
		timer_tell_name(tid_of(thread), name, false);
	return result;
}

/* ---- libraries */

PUBLIC int dlclose(void *library)
{
	const int result = NEXT(dlclose)(library);

	timer_maps_stale();
	return result;
}

/* ---- the signal */

/* What the program wants done. Two, so that one is whole while the other is written. */
static struct sigaction wanted[2];
static unsigned wanted_now;

static const struct sigaction *program_action(void)
{
	return &wanted[__atomic_load_n(&wanted_now, __ATOMIC_ACQUIRE)];
}

int timer_signal_install(void)
{
	struct sigaction action = { .sa_sigaction = timer_on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	sigset_t ours;

	sigfillset(&action.sa_mask);
	sigemptyset(&ours);
	sigaddset(&ours, timer_process.signal);
	if (NEXT(sigaction)(timer_process.signal, &action, &wanted[0]) != 0)
		return -errno;
	/* A mask is inherited from who has started the program. */
	return NEXT(sigprocmask)(SIG_UNBLOCK, &ours, NULL) == 0 ? 0 : -errno;
}

void timer_signal_pass(int number, siginfo_t *info, void *context)
{
	const struct sigaction *action = program_action();
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t set;

	if (action->sa_flags & SA_SIGINFO) {
		action->sa_sigaction(number, info, context);
	} else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
		action->sa_handler(number);
	} else if (action->sa_handler == SIG_DFL && info->si_code != SI_TIMER) {
		/* It ends the program, which is what was meant. */
		NEXT(sigaction)(number, &usual, NULL);
		sigemptyset(&set);
		sigaddset(&set, number);
		NEXT(sigprocmask)(SIG_UNBLOCK, &set, NULL);
		syscall(SYS_tgkill, timer_process.pid, syscall(SYS_gettid), number);
	}
}

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	const unsigned other = !__atomic_load_n(&wanted_now, __ATOMIC_RELAXED);
	const struct sigaction before = *program_action();

	if (!timer_is_ours() || number != timer_process.signal)
		return NEXT(sigaction)(number, action, old);
	if (action) {
		wanted[other] = *action;
		__atomic_store_n(&wanted_now, other, __ATOMIC_RELEASE);
	}
	if (old)
		*old = before;
	return 0;
}

PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigaction old;

	if (!timer_is_ours() || number != timer_process.signal)
		return NEXT(signal)(number, handler);
	return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* The set without our signal, if it is one of all; otherwise as it is. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	const int number = timer_process.signal;

	if (!set || how == SIG_UNBLOCK || sigismember(set, number) != 1 ||
	    sigismember(set, number - 1) != 1 || sigismember(set, number + 1) != 1 || !timer_is_ours())
		return set;
	*copy = *set;
	sigdelset(copy, number);
	return copy;
}

PUBLIC int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return NEXT(pthread_sigmask)(how, without_ours(how, set, &copy), old);
}

PUBLIC int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return NEXT(sigprocmask)(how, without_ours(how, set, &copy), old);
}
