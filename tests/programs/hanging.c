/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hanging THREADS: a program that hangs. Two threads wait for each other's lock, each in take(), three calls deep; "pool" threads wait for
 * work in idle(); a thread whose name clears terminals sleeps; main() reads what nothing writes, in reads(). It says "ready", and lives
 * until it is killed. With "work" as a second argument a thread computes, too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER,
		       queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static volatile int never, done; /* a call that is not the last thing a function does stays on the stack */

__attribute__((noinline)) static void take(pthread_mutex_t *lock, int depth)
{
	volatile char room[512];

	room[0] = (char)depth;
	if (depth)
		take(lock, depth - 1);
	else
		pthread_mutex_lock(lock);
	done += room[0];
}

__attribute__((noinline)) static void cross(pthread_mutex_t *mine, pthread_mutex_t *theirs)
{
	take(mine, 0);
	pthread_barrier_wait(&both);
	take(theirs, 2);
	done++;
}

static void *forward(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "forward");
	cross(&one, &other);
	return NULL;
}

static void *backward(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "backward");
	cross(&other, &one);
	return NULL;
}

__attribute__((noinline)) static void idle(void)
{
	pthread_mutex_lock(&queue);
	while (!never)
		pthread_cond_wait(&work, &queue);
	pthread_mutex_unlock(&queue);
}

static void *pool(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "pool");
	idle();
	return NULL;
}

static void *hostile(void *unused)
{
	const struct timespec day = { .tv_sec = 86400 };

	(void)unused;
	prctl(PR_SET_NAME, "\033[2J) R 1\n<b>");
	nanosleep(&day, NULL);
	return NULL;
}

#define FOUR_TIMES(statement) statement statement statement statement

/* It runs at hundreds of addresses. */
static void *compute(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "compute");
	while (!never) {
		FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(done++;))))
	}
	return NULL;
}

__attribute__((noinline)) static void reads(int file)
{
	char byte;

	done += (int)read(file, &byte, 1);
}

static void begin(void *(*function)(void *), pthread_attr_t *how)
{
	pthread_t thread;

	if (pthread_create(&thread, how, function, NULL) != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_attr_t small;
	int ends[2];

	if (pipe(ends) != 0)
		return 1;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&both, NULL, 2);
	begin(forward, NULL);
	begin(backward, NULL);
	begin(hostile, NULL);
	for (int n = 0; n < threads; n++)
		begin(pool, &small);
	if (argc > 2 && strcmp(argv[2], "work") == 0)
		begin(compute, NULL);
	puts("ready");
	fflush(stdout);
	reads(ends[0]);
	return 0;
}
