/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The program must be able to use the signal as if this library were not loaded. So libc's functions for signals are
 * replaced.
 *
 * The handler stays ours. The program's action is stored, and run when the signal is not from one of our timers.
 * A program that blocks (nearly) all signals of a thread blocks them without ours, or the thread would have no
 * samples. A program that blocks ours by number gets what it asks for.
 */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/preload/next.h"
#include "source/preload/preload.h"

#define EACH(macro) macro(sigaction) macro(signal) macro(pthread_sigmask) macro(sigprocmask)
NEXT_OF(EACH)

/*
 * The program's action: actions[version & 1]. Two, so that one is complete while the other is written: a handler may
 * have interrupted the writer, and must not wait for it.
 */
static struct sigaction actions[2];
static unsigned version;
static bool writing; /* a lock */

static struct sigaction program_action(void)
{
	struct sigaction action;
	unsigned before;

	do {
		before = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
		action = actions[before & 1];
		/* Pairs with the fence in set_action(): the slot is written again only when the version has changed. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&version, __ATOMIC_RELAXED) != before);
	return action;
}

/* Signals are blocked: a handler that sets an action, too, would wait for the thread that it interrupted. */
static struct sigaction set_action(const struct sigaction *action)
{
	struct sigaction before;
	sigset_t all, mask;

	sigfillset(&all);
	NEXT(pthread_sigmask)(SIG_SETMASK, &all, &mask);
	while (__atomic_exchange_n(&writing, true, __ATOMIC_ACQUIRE))
		sched_yield();
	before = program_action();
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with the fence in program_action() */
	actions[!(version & 1)] = *action;
	__atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&writing, false, __ATOMIC_RELEASE);
	NEXT(pthread_sigmask)(SIG_SETMASK, &mask, NULL);
	return before;
}

int preload_signal_install(void (*handler)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	sigset_t ours;

	sigfillset(&action.sa_mask);
	sigemptyset(&ours);
	sigaddset(&ours, preload_process.signal);
	if (NEXT(sigaction)(preload_process.signal, &action, &actions[0]) != 0)
		return -errno;
	/* The process that started the program may have blocked the signal; a mask is inherited. */
	return NEXT(sigprocmask)(SIG_UNBLOCK, &ours, NULL) == 0 ? 0 : -errno;
}

void preload_signal_pass(int number, siginfo_t *info, void *context)
{
	const struct sigaction action = program_action();
	struct sigaction defaults = { .sa_handler = SIG_DFL };
	sigset_t set;

	if (action.sa_flags & SA_SIGINFO) {
		action.sa_sigaction(number, info, context);
	} else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
		action.sa_handler(number);
	} else if (action.sa_handler == SIG_DFL && info->si_code != SI_TIMER) {
		/* Send it again with the default action, which ends the program. */
		NEXT(sigaction)(number, &defaults, NULL);
		sigemptyset(&set);
		sigaddset(&set, number);
		NEXT(sigprocmask)(SIG_UNBLOCK, &set, NULL);
		syscall(SYS_tgkill, preload_process.pid, syscall(SYS_gettid), number);
	}
}

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before;

	if (!preload_is_ours() || number != preload_process.signal)
		return NEXT(sigaction)(number, action, old);
	before = action ? set_action(action) : program_action();
	if (old)
		*old = before;
	return 0;
}

PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigaction old;

	if (!preload_is_ours() || number != preload_process.signal)
		return NEXT(signal)(number, handler);
	return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* The set without our signal if it has both neighbours, too; otherwise unchanged. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	const int number = preload_process.signal;

	if (!set || how == SIG_UNBLOCK || sigismember(set, number) != 1 ||
	    sigismember(set, number - 1) != 1 || sigismember(set, number + 1) != 1 || !preload_is_ours())
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
