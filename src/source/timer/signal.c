/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The signal, which the program must be able to use as if we were not there: the functions of libc that have to do
 * with it are replaced.
 *
 * The handler stays ours, and what the program wants done is kept and done when the signal is not one of our timers'.
 * A set of (nearly) all signals is blocked without it: that is what programs do that do not want to be interrupted
 * in a thread, and it would be without samples. Who asks for it by name gets it.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/timer/next.h"
#include "source/timer/timer.h"

#define EACH(what) what(sigaction) what(signal) what(pthread_sigmask) what(sigprocmask)
NEXT_OF(EACH)

/* What the program wants done. Two, so that one is whole while the other is written. */
static struct sigaction wanted[2];
static unsigned wanted_now;

static const struct sigaction *program_action(void)
{
	return &wanted[__atomic_load_n(&wanted_now, __ATOMIC_ACQUIRE)];
}

int timer_signal_install(void (*handler)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = handler,
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
