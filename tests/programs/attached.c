/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program to which tests/source/calls/attach.test attaches: compiled with room for hooks. Threads call functions all the
 * time (without many sleeps: hard) and check the results: exit code 1 if one is wrong. A number on standard input is how often asked() is to be called.
 *
 *	attached THREADS [hard | signals]
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#ifdef CONTEXTS
#include <ucontext.h>
#endif
#include <unistd.h>

#if defined(__clang__)
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noipa))
#endif

enum {
	THREADS_MAX = 64,
};

static volatile int over;
static long calls_between_sleeps = 8;

FUNCTION static long leaf(long x)
{
	__asm__ volatile("" : "+r"(x));
	return 3 * x + 1;
}

FUNCTION static long middle(long x)
{
	const long one = leaf(x);

	return one + leaf(x + 1);
}

FUNCTION static long busy(long x)
{
	const long sum = middle(x);

	return 2 * sum;
}

FUNCTION static long asked(long x)
{
	const long one = leaf(x);

	return one + 1;
}

/* Nothing comes, so nothing may end this. */
static void *wait_for_nothing(void *unused)
{
	struct epoll_event event;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	epoll_wait(epoll_create1(0), &event, 1, -1);
	_exit(1);
	return unused;
}

static void on_alarm(int signal)
{
	if (busy(signal) != 12L * signal + 10)
		_exit(1);
}

static void *work(void *argument)
{
	const long first = (long)(size_t)argument;

	for (long n = first; !over; n++) {
		if (busy(n) != 12 * n + 10)
			exit(1);
		if (n % calls_between_sleeps == 0)
			usleep(1000);
	}
	return NULL;
}

#ifdef CONTEXTS
FUNCTION static void other_stack(void)
{
	ucontext_t here;

	getcontext(&here);
	if (over)
		setcontext(&here);
}
#endif

static void answer(const char *line)
{
	if (strncmp(line, "fork", 4) == 0) {
		const pid_t child = fork();

		if (child == 0)
			_exit(asked(1) != 5);
		waitpid(child, NULL, 0);
	}
	for (long n = 0, count = atol(line); n < count; n++)
		if (asked(n) != 3 * n + 2)
			exit(1);
	puts("done");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 0;
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t threads[THREADS_MAX], waiting;
	char line[64];

	if (*how)
		calls_between_sleeps = 10000;
	if (strcmp(how, "signals") == 0) {
		const struct itimerval often = { { 0, 300 }, { 0, 300 } };

		sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm, .sa_flags = SA_RESTART },
			  NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
#ifdef CONTEXTS
	other_stack();
#endif
	for (long n = 0; n < count && n < THREADS_MAX; n++)
		pthread_create(&threads[n], NULL, work, (void *)(size_t)n);
	pthread_create(&waiting, NULL, wait_for_nothing, NULL);
	answer("0");
	while (fgets(line, sizeof(line), stdin))
		answer(line);
	over = 1;
	for (long n = 0; n < count && n < THREADS_MAX; n++)
		pthread_join(threads[n], NULL);
	return 0;
}
