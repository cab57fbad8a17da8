/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that samples itself by a timer without knowing: shares of CPU time that are known, and what may get into a
 * timer's way.
 *
 *	timed shares MS		half(), third(), seventh() and twentieth() have 50, 30, 15 and 5 % of it
 *	timed threads MS	three threads at once, each of which does that; named by themselves and by others
 *	timed masked MS		a thread that has blocked all signals
 *	timed handlers MS	handlers of its own for SIGPROF and for the signal that the timer uses; prints its calls
 *	timed waiting MS	one thread works while others wait; prints how many calls were interrupted
 *	timed stacks MS		on an alternate stack of a signal, then on a small one of its own with nothing behind it
 *	timed plugin MS FILE WITH	two libraries, one after the other, probably in one place
 *	timed ends		sends the timer's signal to itself: it has no handler
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned long turns;

/* CPU time of the calling thread, in us. */
static long spent(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

#define WORK(name)                                            \
	__attribute__((noinline)) void name(long us);         \
	__attribute__((noinline)) void name(long us)          \
	{                                                     \
		for (long end = spent() + us; spent() < end;) \
			for (unsigned n = 0; n < 20000; n++)  \
				turns += n;                   \
	}

WORK(half)
WORK(third)
WORK(seventh)
WORK(twentieth)

static void *shares(void *data)
{
	const long us = *(const long *)data * 1000;

	half(us / 100 * 50);
	third(us / 100 * 30);
	seventh(us / 100 * 15);
	twentieth(us / 100 * 5);
	return NULL;
}

static int threads(long ms)
{
	pthread_t ids[3];
	char name[16];

	for (unsigned n = 0; n < 3; n++) {
		if (pthread_create(&ids[n], NULL, shares, &ms) != 0)
			return 1;
		snprintf(name, sizeof(name), "helper-%u", n);
		pthread_setname_np(ids[n], name);
	}
	for (unsigned n = 0; n < 3; n++)
		pthread_join(ids[n], NULL);
	return 0;
}

static void *masked(void *data)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return shares(data);
}

static int in_thread(void *(*function)(void *), long ms)
{
	pthread_t id;

	if (pthread_create(&id, NULL, function, &ms) != 0)
		return 1;
	return pthread_join(id, NULL);
}

static volatile sig_atomic_t profs, queued, values;

static void on_prof(int number)
{
	(void)number;
	profs++;
}

static void on_queued(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	queued++;
	values += info->si_value.sival_int;
}

static int handlers(long ms)
{
	const struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	struct sigaction action = { .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO }, old;

	signal(SIGPROF, on_prof);
	setitimer(ITIMER_PROF, &every, NULL);
	sigaction(SIGRTMAX - 3, &action, &old);
	if (old.sa_handler != SIG_DFL || sigaction(SIGRTMAX - 3, NULL, &old) != 0 ||
	    old.sa_sigaction != on_queued)
		return 1;
	for (int n = 0; n < 10; n++) {
		sigqueue(getpid(), SIGRTMAX - 3, (union sigval){ .sival_int = n });
		half(ms * 100);
	}
	printf("prof %d queued %d values %d\n", profs, queued, values);
	return 0;
}

static volatile bool over;
static unsigned interrupted, calls, plain, wrong;

static void on_plain(int number)
{
	(void)number;
	plain++;
}

static void on_informed(int number, siginfo_t *info, void *context)
{
	(void)number;
	queued++;
	wrong += !context || info->si_code != SI_QUEUE || info->si_value.sival_int != 7;
}

static void *flip(void *data)
{
	const struct sigaction simple = { .sa_handler = on_plain },
			       informed = { .sa_sigaction = on_informed, .sa_flags = SA_SIGINFO };

	(void)data;
	for (unsigned n = 0; !over; n++)
		sigaction(SIGRTMAX - 3, n % 2 ? &simple : &informed, NULL);
	return NULL;
}

/* Two threads set actions of two kinds while the signal comes. */
static int flips(long ms)
{
	pthread_t threads[2];

	over = false;
	signal(SIGRTMAX - 3, on_plain);
	for (int n = 0; n < 2; n++)
		pthread_create(&threads[n], NULL, flip, NULL);
	for (long n = 0; n < ms * 10; n++)
		pthread_sigqueue(pthread_self(), SIGRTMAX - 3, (union sigval){ .sival_int = 7 });
	over = true;
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
	printf("handled %u wrong %u\n", plain + (unsigned)queued, wrong);
	return 0;
}

static void *wait_often(void *data)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	struct pollfd none = { .fd = -1 };

	(void)data;
	while (!over) {
		__atomic_fetch_add(&calls, 2, __ATOMIC_RELAXED);
		third(300); /* ticks come while it runs, too */
		if (nanosleep(&pause, NULL) != 0)
			__atomic_fetch_add(&interrupted, 1, __ATOMIC_RELAXED);
		if (poll(&none, 1, 1) < 0)
			__atomic_fetch_add(&interrupted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int waiting(long ms)
{
	pthread_t ids[2];

	for (unsigned n = 0; n < 2; n++)
		if (pthread_create(&ids[n], NULL, wait_often, NULL) != 0)
			return 1;
	half(ms * 1000);
	over = true;
	for (unsigned n = 0; n < 2; n++)
		pthread_join(ids[n], NULL);
	printf("interrupted %u of %u\n", interrupted, calls);
	return 0;
}

static long stack_us;

static void on_stack(int number)
{
	(void)number;
	half(stack_us);
}

static void on_own_stack(void)
{
	third(stack_us);
}

/* A stack that ends where no memory is, with little above the stack pointer. */
static char *make_stack(size_t bytes)
{
	char *memory = mmap(NULL, bytes + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) ||
	    mprotect(memory + 4096 + bytes, 4096, PROT_NONE))
		exit(1);
	return memory + 4096;
}

static int stacks(long ms)
{
	const stack_t other = { .ss_sp = make_stack(65536), .ss_size = 65536 };
	struct sigaction action = { .sa_handler = on_stack, .sa_flags = SA_ONSTACK };
	ucontext_t own, back;

	stack_us = ms * 500;
	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	getcontext(&own);
	own.uc_stack = (stack_t){ .ss_sp = make_stack(32768), .ss_size = 32768 };
	own.uc_link = &back;
	makecontext(&own, on_own_stack, 0);
	return swapcontext(&back, &own);
}

static int use_library(long ms, const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(long);

	if (!library)
		return 1;
	*(void **)&call = dlsym(library, "outer");
	if (!call)
		return 1;
	call(ms);
	return dlclose(library);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long number = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(what, "shares") == 0)
		shares(&number);
	else if (strcmp(what, "threads") == 0)
		return threads(number);
	else if (strcmp(what, "masked") == 0)
		return in_thread(masked, number);
	else if (strcmp(what, "handlers") == 0)
		return handlers(number);
	else if (strcmp(what, "flips") == 0)
		return flips(number);
	else if (strcmp(what, "waiting") == 0)
		return waiting(number);
	else if (strcmp(what, "stacks") == 0)
		return stacks(number);
	else if (strcmp(what, "plugin") == 0 && argc == 5)
		return use_library(number, argv[3]) || use_library(number, argv[4]);
	else if (strcmp(what, "ends") == 0)
		return raise(SIGRTMAX - 3);
	else
		return 2;
	return 0;
}
