/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Programs whose waits are known beforehand. Each says for how long it was in a function that waits, and how often the kernel
 * counted that it gave the CPU away there: NAME TID NS TIMES. (A byte that has come already is read without a wait.)
 *
 *	waits known		sleeps() 300 ms; locks() a mutex that another thread holds for 200 ms; reads() a pipe
 *				for 150 ms
 *	waits threads		"first" sleeps() 10 times 20 ms, "second" reads() 5 times, which are written every 40 ms
 *	waits fork		a child sleeps() 200 ms; waits_for() it
 *	waits killed		a child sleeps() for ever, and is killed after 200 ms; says killed, the time from fork to its end
 *	waits exec		sleeps() 100 ms, then becomes sleep(1) for 200 ms
 *	waits thread-exec	a thread sleeps 100 ms, then becomes sleep(1) for 200 ms, while the first sleeps
 *	waits busy MS		two threads on one CPU, "busy", which never wait; each says busy TID NS of the CPU, spun
 *				TID NS of the clock; then main, in which both are
 *	waits ping-pong N	two processes hand a byte to and fro; each says cpu TID NS, ping-pong TID NS, and life
 *				TID NS, its waits for others included
 *	waits stuck		reads() what no process writes, and "other" sleeps(), until it is killed; each says ready TID
 *				and the time of day before it
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;
static volatile char byte;
static __thread long times; /* since the thread has said something */

static long clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void say(const char *name, long ns)
{
	printf("%s %ld %ld %ld\n", name, syscall(SYS_gettid), ns, times);
	fflush(stdout);
	times = 0;
}

struct stay {
	long begin, switches;
};

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static struct stay come(void)
{
	const long before = switches();

	return (struct stay){ clock_ns(CLOCK_MONOTONIC), before };
}

static long go(struct stay stay)
{
	const long ns = clock_ns(CLOCK_MONOTONIC) - stay.begin;

	times += switches() - stay.switches;
	return ns;
}

/* ---- functions that wait; each has something left to do, so that it is in the stack ---- */

long sleeps(long ms);
long locks(void);
long reads(int fd);
long waits_for(pid_t pid);

__attribute__((noinline)) long sleeps(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	const struct stay stay = come();

	nanosleep(&time, NULL);
	return go(stay);
}

__attribute__((noinline)) long locks(void)
{
	const struct stay stay = come();

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return go(stay);
}

__attribute__((noinline)) long reads(int fd)
{
	const struct stay stay = come();
	char got = 0;

	if (read(fd, &got, 1) == 1)
		byte = got;
	return go(stay);
}

__attribute__((noinline)) long waits_for(pid_t pid)
{
	const struct stay stay = come();

	waitpid(pid, NULL, 0);
	return go(stay);
}

/* ---- programs ---- */

static void make_pipe(int ends[2])
{
	if (pipe(ends) != 0)
		exit(1);
}

static void writes(int fd, long ms)
{
	sleeps(ms);
	if (write(fd, "", 1) != 1)
		exit(1);
}

static void *holds(void *data)
{
	(void)data;
	pthread_mutex_lock(&mutex);
	sem_post(&held);
	say("sleeps", sleeps(200));
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *writes_late(void *data)
{
	writes(*(int *)data, 150);
	return NULL;
}

static int known(void)
{
	pthread_t thread;
	int ends[2];

	say("sleeps", sleeps(300));
	sem_init(&held, 0, 0);
	pthread_create(&thread, NULL, holds, NULL);
	sem_wait(&held);
	say("locks", locks());
	pthread_join(thread, NULL);
	make_pipe(ends);
	pthread_create(&thread, NULL, writes_late, &ends[1]);
	say("reads", reads(ends[0]));
	pthread_join(thread, NULL);
	return 0;
}

static void *first(void *data)
{
	long sum = 0;

	(void)data;
	pthread_setname_np(pthread_self(), "first");
	for (int n = 0; n < 10; n++)
		sum += sleeps(20);
	say("sleeps", sum);
	return NULL;
}

static void *second(void *data)
{
	long sum = 0;

	pthread_setname_np(pthread_self(), "second");
	for (int n = 0; n < 5; n++)
		sum += reads(*(int *)data);
	say("reads", sum);
	return NULL;
}

static int threads(void)
{
	pthread_t both[2];
	int ends[2];

	make_pipe(ends);
	pthread_create(&both[0], NULL, first, NULL);
	pthread_create(&both[1], NULL, second, &ends[0]);
	for (int n = 0; n < 5; n++)
		writes(ends[1], 40);
	pthread_join(both[0], NULL);
	pthread_join(both[1], NULL);
	return 0;
}

static int forks(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		say("sleeps", sleeps(200));
		_exit(0);
	}
	say("waits_for", waits_for(pid));
	return 0;
}

static int kills(void)
{
	const long begin = clock_ns(CLOCK_MONOTONIC);
	int ends[2];
	pid_t pid;

	make_pipe(ends);
	pid = fork();
	if (pid == 0) {
		if (write(ends[1], "", 1) == 1)
			sleeps(1000000);
		_exit(1);
	}
	reads(ends[0]); /* it may come late to its sleep */
	sleeps(200);
	kill(pid, SIGKILL);
	waits_for(pid);
	say("killed", clock_ns(CLOCK_MONOTONIC) - begin);
	return 0;
}

static void *becomes(void *data)
{
	execlp("sleep", "sleep", "0.2", NULL);
	return data;
}

static void *sleeps_and_becomes(void *data)
{
	sleeps(100);
	return becomes(data);
}

static int execs(int by_thread)
{
	pthread_t thread;

	if (!by_thread) {
		say("sleeps", sleeps(100));
		becomes(NULL);
	}
	pthread_create(&thread, NULL, sleeps_and_becomes, NULL);
	sleeps(10000);
	return 1;
}

static void *spins(void *data)
{
	const long begin = clock_ns(CLOCK_MONOTONIC), ns = *(long *)data;

	pthread_setname_np(pthread_self(), "busy");
	while (clock_ns(CLOCK_MONOTONIC) < begin + ns || clock_ns(CLOCK_THREAD_CPUTIME_ID) < ns / 3)
		;
	say("busy", clock_ns(CLOCK_THREAD_CPUTIME_ID));
	say("spun", clock_ns(CLOCK_MONOTONIC) - begin);
	return NULL;
}

static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int busy(long ms)
{
	const long begin = clock_ns(CLOCK_MONOTONIC);
	long ns = ms * 1000000;
	pthread_t both[2];

	stay_here();
	for (int n = 0; n < 2; n++)
		pthread_create(&both[n], NULL, spins, &ns);
	for (int n = 0; n < 2; n++)
		pthread_join(both[n], NULL);
	say("main", clock_ns(CLOCK_MONOTONIC) - begin);
	return 0;
}

/* Who begins writes first. */
static void plays(int in, int out, long count, int begins)
{
	const long begin = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (long n = 0; n < count; n++) {
		if (!begins)
			reads(in);
		if (write(out, "", 1) != 1)
			exit(1);
		if (begins)
			reads(in);
	}
	say("cpu", clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	say("ping-pong", clock_ns(CLOCK_MONOTONIC) - begin);
}

static int ping_pong(long count)
{
	const long begin = clock_ns(CLOCK_MONOTONIC);
	int there[2], back[2];
	pid_t pid;

	make_pipe(there);
	make_pipe(back);
	pid = fork();
	if (pid == 0) {
		plays(there[0], back[1], count, 0);
		say("life", clock_ns(CLOCK_MONOTONIC) - begin);
		_exit(0);
	}
	plays(back[0], there[1], count, 1);
	waitpid(pid, NULL, 0);
	say("life", clock_ns(CLOCK_MONOTONIC) - begin);
	return 0;
}

static void *other(void *data)
{
	pthread_setname_np(pthread_self(), "other");
	say("ready", clock_ns(CLOCK_REALTIME));
	sleeps(1000000);
	return data;
}

static int stuck(void)
{
	pthread_t thread;
	int ends[2];

	make_pipe(ends);
	pthread_create(&thread, NULL, other, NULL);
	say("ready", clock_ns(CLOCK_REALTIME));
	reads(ends[0]);
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const long number = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(what, "known") == 0)
		return known();
	if (strcmp(what, "threads") == 0)
		return threads();
	if (strcmp(what, "fork") == 0)
		return forks();
	if (strcmp(what, "killed") == 0)
		return kills();
	if (strcmp(what, "exec") == 0)
		return execs(0);
	if (strcmp(what, "thread-exec") == 0)
		return execs(1);
	if (strcmp(what, "busy") == 0)
		return busy(number);
	if (strcmp(what, "ping-pong") == 0)
		return ping_pong(number);
	if (strcmp(what, "stuck") == 0)
		return stuck();
	return 2;
}
