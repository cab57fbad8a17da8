/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * slow CAUSE COUNT SEED: COUNT spans "request", each with some work. One of a hundred, by SEED, also has a cause that makes it slow:
 *
 *	none	no one has
 *	lock	a mutex that the thread "holder" has taken
 *	queue	the CPU, on which the thread "rival" runs
 *	disk	fdatasync()
 *	work	a function, slow_work()
 *	spread	a function, slow_command(), which works in eight functions that take as long
 *	fault	pages that are touched for the first time, in touch_pages()
 *	pause	all threads are stopped
 *	hand	the span ends in the thread "server", which works for it
 *
 * No other program takes the CPU of its threads: they have a real-time priority. Without permission for it the exit code is 77.
 *
 * Prints how many spans were slow, the sum of the times of their causes in ns, and how often the first thread was blocked in them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burin/burin.h"

enum {
	SLOW_NS = 25000000,
	USUAL_NS = 100000,
	WORKERS = 8,
	PAGE = 4096,
	PAGES = 1 << 17,
	HUGE_PAGES = 512, /* of a huge page, which the kernel clears as a whole */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, begun, done;
static int to_stopper[2], file;
static volatile unsigned long result;
static volatile char *pages;
static long suffers_since; /* when the cause began */

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* How often the thread has given its CPU away. */
static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void sleep_slow(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = SLOW_NS }, NULL);
}

__attribute__((noinline)) static void usual_work(long ns)
{
	for (const long end = now() + ns; now() < end;)
		result++;
}

__attribute__((noinline)) static void slow_work(void)
{
	for (const long end = now() + SLOW_NS; now() < end;)
		result += 2;
}

/* Each is a function of its own. */
#define WORKER(N)                                                              \
	__attribute__((noinline)) static void worker_##N(void)                 \
	{                                                                      \
		for (const long end = now() + SLOW_NS / WORKERS; now() < end;) \
			result += 10 + N;                                      \
	}
/* clang-format off */
WORKER(0)
WORKER(1)
WORKER(2)
WORKER(3)
WORKER(4)
WORKER(5)
WORKER(6)
WORKER(7)
/* clang-format on */

__attribute__((noinline)) static void slow_command(void)
{
	static void (*const workers[WORKERS])(void) = { worker_0, worker_1, worker_2, worker_3,
							worker_4, worker_5, worker_6, worker_7 };

	for (unsigned n = 0; n < WORKERS; n++)
		workers[n]();
}

__attribute__((noinline)) static void touch_pages(void)
{
	long n = 0;

	for (const long end = now() + SLOW_NS; n < PAGES && now() < end;)
		for (const long last = n + HUGE_PAGES; n < last; n++)
			pages[n * PAGE] = 1;
}

static void *hold(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "holder");
	for (;;) {
		sem_wait(&wanted);
		pthread_mutex_lock(&mutex);
		sem_post(&begun);
		sleep_slow();
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void get_priority(int priority)
{
	const struct sched_param wanted_one = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &wanted_one) != 0)
		exit(77);
}

/* It has a higher priority, so that it runs until it is done. */
static void *take_cpu(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "rival");
	get_priority(2);
	for (;;) {
		sem_wait(&wanted);
		slow_work();
		sem_post(&done);
	}
	return NULL;
}

static void *serve(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "server");
	for (unsigned long id = 1;; id++) {
		sem_wait(&wanted);
		slow_work();
		BURIN_SPAN_END(id, "hand");
		sem_post(&done);
	}
	return NULL;
}

static void stop_parent(void)
{
	char byte;

	close(to_stopper[1]);
	prctl(PR_SET_NAME, "stopper");
	while (read(to_stopper[0], &byte, 1) == 1) {
		kill(getppid(), SIGSTOP);
		sleep_slow();
		kill(getppid(), SIGCONT);
	}
	_exit(0);
}

/* ---- Causes, as the request sees them */

static void wait_for_lock(void)
{
	sem_post(&wanted);
	sem_wait(&begun);
	suffers_since = now();
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void lose_cpu(void)
{
	sem_post(&wanted);
	while (sem_trywait(&done) != 0)
		sched_yield();
}

static void write_disk(void)
{
	for (const long end = now() + SLOW_NS; now() < end;)
		if (pwrite(file, &end, sizeof(end), 0) != sizeof(end) || fdatasync(file) != 0)
			abort();
}

static void be_stopped(void)
{
	const long begin = now();

	if (write(to_stopper[1], "", 1) != 1)
		abort();
	while (now() < begin + SLOW_NS / 2)
		continue;
}

static void hand_over(void)
{
	static unsigned long id;

	BURIN_SPAN_BEGIN(++id, "hand");
	sem_post(&wanted);
	sem_wait(&done);
}

static const struct cause {
	const char *name;
	void (*suffer)(void);
	void *(*other)(void *);
} causes[] = { { "none", NULL, NULL },		 { "lock", wait_for_lock, hold },
	       { "queue", lose_cpu, take_cpu },	 { "disk", write_disk, NULL },
	       { "work", slow_work, NULL },	 { "fault", touch_pages, NULL },
	       { "spread", slow_command, NULL }, { "pause", be_stopped, NULL },
	       { "hand", hand_over, serve } };

static const struct cause *find_cause(const char *name)
{
	for (unsigned n = 0; n < sizeof(causes) / sizeof(causes[0]); n++)
		if (!strcmp(causes[n].name, name))
			return &causes[n];
	exit(2);
}

static void prepare(const struct cause *cause, char **argv)
{
	char path[4096];
	pthread_t thread;
	cpu_set_t one;

	get_priority(1);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (!strcmp(cause->name, "queue"))
		sched_setaffinity(0, sizeof(one), &one);
	sem_init(&wanted, 0, 0);
	sem_init(&begun, 0, 0);
	sem_init(&done, 0, 0);
	snprintf(path, sizeof(path), "%s", argv[4] ? argv[4] : "slow-disk");
	if (!strcmp(cause->name, "disk")) {
		file = open(path, O_CREAT | O_RDWR, 0600);
		unlink(path);
	}
	if (!strcmp(cause->name, "fault")) {
		pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (pages == MAP_FAILED || madvise((void *)pages, (size_t)PAGES * PAGE, MADV_HUGEPAGE))
			abort();
	}
	if (!strcmp(cause->name, "pause") && (pipe(to_stopper) || fork() == 0))
		stop_parent();
	if (cause->other && pthread_create(&thread, NULL, cause->other, NULL))
		abort();
}

int main(int argc, char **argv)
{
	const struct cause *cause = argc > 3 ? find_cause(argv[1]) : find_cause("");
	const long count = atol(argv[2]);
	long slow = 0, sum = 0, blocked = 0;
	unsigned seed = (unsigned)atol(argv[3]), slot = (unsigned)rand_r(&seed) % 100;

	prepare(cause, argv);
	for (long n = 0; n < count; n++) {
		const bool chosen = cause->suffer && n % 100 == slot;

		BURIN_BEGIN("request", "number=%ld", n);
		usual_work(USUAL_NS / 2 + (long)((unsigned)rand_r(&seed) % USUAL_NS));
		if (chosen) {
			blocked -= waits();
			suffers_since = now();
			cause->suffer();
			sum += now() - suffers_since;
			blocked += waits();
			slow++;
		}
		BURIN_END("request");
		if (chosen && pages)
			madvise((void *)pages, (size_t)PAGES * PAGE, MADV_DONTNEED);
	}
	printf("%ld %ld %ld\n", slow, sum, blocked);
	return 0;
}
