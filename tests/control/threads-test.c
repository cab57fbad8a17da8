/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stopping the threads of another process: it succeeds only if all stand, and afterwards all go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/running/process_threads.h"
#include "control/running/thread_priority.h"

enum {
	THREADS = 3,
};

static const uint64_t LIMIT_NS = UINT64_C(20000000), LONG_NS = UINT64_C(60000000000);

/* Shared with the process whose threads are stopped. */
static struct {
	volatile int ready, go_on;
	volatile unsigned long turns[THREADS];
} * shared;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void *turn(void *number)
{
	for (;;)
		shared->turns[(intptr_t)number]++;
	return NULL;
}

/* A parent waits for its vfork's child where no signal reaches it. */
static void wait_in_vfork(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive its parent, nor that the test */
		shared->ready = 1;
		while (!shared->go_on) {
		}
		_exit(0);
	}
}

static pid_t begin(void (*work)(void))
{
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work();
		turn(NULL);
	}
	assert_true(child > 0);
	return child;
}

static struct process_threads threads_of(pid_t child)
{
	struct process_threads threads;

	assert_int_equal(process_threads_begin(&threads, child), 0);
	return threads;
}

static void end(pid_t child, struct process_threads *threads)
{
	process_threads_end(threads);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool turns(void)
{
	const unsigned long before = shared->turns[0];

	for (unsigned n = 0; n < 10000 && shared->turns[0] == before; n++)
		sleep_ms(1);
	return shared->turns[0] != before;
}

/* The second call finds no thread that it has not asked already; the one that there is has not stopped since. */
static void test_all_are_pending(void **state)
{
	const pid_t child = begin(wait_in_vfork);
	struct process_threads threads = threads_of(child);

	(void)state;
	while (!shared->ready)
		sleep_ms(1);
	for (unsigned n = 0; n < 3; n++)
		assert_int_equal(process_threads_stop(&threads, LIMIT_NS), -ETIMEDOUT);
	shared->go_on = 1;
	assert_int_equal(process_threads_stop(&threads, LONG_NS), 0);
	assert_int_equal(threads.count, 1);
	assert_true(threads.all[0].stopped);
	process_threads_go(&threads);
	assert_true(turns());
	end(child, &threads);
}

static void begin_threads(void)
{
	pthread_t thread;

	for (intptr_t n = 1; n < THREADS; n++)
		pthread_create(&thread, NULL, turn, (void *)n);
	shared->ready = 1;
}

static void test_all_stand(void **state)
{
	const pid_t child = begin(begin_threads);
	struct process_threads threads = threads_of(child);
	unsigned long before[THREADS];
	int error;

	(void)state;
	while (!shared->ready)
		sleep_ms(1);
	do
		error = process_threads_stop(&threads, LONG_NS);
	while (error == -ETIMEDOUT); /* on busy CPUs */
	assert_int_equal(error, 0);
	assert_int_equal(threads.count, THREADS);
	memcpy(before, (const void *)shared->turns, sizeof(before));
	sleep_ms(20);
	assert_memory_equal(before, (const void *)shared->turns, sizeof(before));
	process_threads_go(&threads);
	assert_true(threads.longest_ns >= 20000000);
	assert_true(turns());
	end(child, &threads);
}

/* One that has ended is reported, also if it was asked before. */
static void test_it_ends(void **state)
{
	const pid_t child = begin(wait_in_vfork);
	struct process_threads threads = threads_of(child);

	(void)state;
	while (!shared->ready)
		sleep_ms(1);
	assert_int_equal(process_threads_stop(&threads, LIMIT_NS), -ETIMEDOUT);
	kill(child, SIGKILL);
	shared->go_on = 1;
	assert_int_equal(process_threads_stop(&threads, LONG_NS), -ESRCH);
	end(child, &threads);
}

/* The number of a field of /proc/PID/status. */
static long status_of(pid_t pid, const char *field)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, field, strlen(field)) == 0)
			value = atol(line + strlen(field));
	if (file)
		fclose(file);
	return value;
}

/* An id of a thread that has ended is another process's by now: that one is left alone. */
static void test_id_of_another(void **state)
{
	const pid_t child = begin(begin_threads), stranger = fork();
	struct process_threads threads = threads_of(child);
	struct process_thread *thread;

	(void)state;
	if (stranger == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		turn(NULL);
	}
	while (!shared->ready)
		sleep_ms(1);
	thread_priority_begin();
	assert_int_equal(process_threads_read(&threads), THREADS);
	thread = &threads.all[THREADS - 1];
	thread->tid = stranger;
	for (unsigned n = 0; n < 3; n++) {
		assert_int_equal(process_thread_ask(&threads, thread), -ESRCH);
		assert_true(thread->gone && !thread->seized);
		assert_int_equal(status_of(stranger, "TracerPid:"), 0);
		assert_int_equal(sched_getscheduler(stranger), SCHED_OTHER);
	}
	assert_true(process_threads_read(&threads) == 1 && threads.count == THREADS);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	end(child, &threads);
}

static void leave_first(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, turn, NULL);
	shared->ready = 1;
	pthread_exit(NULL);
}

static bool is_zombie(pid_t pid)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		found |= strncmp(line, "State:\tZ", 8) == 0;
	if (file)
		fclose(file);
	return found;
}

/* The kernel refuses to trace it as it does where rights are missing. */
static void test_first_has_ended(void **state)
{
	const pid_t child = begin(leave_first);
	struct process_threads threads = threads_of(child);
	int error;

	(void)state;
	while (!shared->ready || !is_zombie(child))
		sleep_ms(1);
	do
		error = process_threads_stop(&threads, LONG_NS);
	while (error == -ETIMEDOUT); /* on busy CPUs */
	assert_int_equal(error, 0);
	assert_int_equal(threads.count, 2);
	assert_true(threads.all[0].gone && threads.all[1].stopped);
	process_threads_go(&threads);
	assert_true(turns());
	end(child, &threads);
}

/* Of a priority that was raised, only what this command has set is set back. */
static void test_priority_of_another(void **state)
{
	const struct sched_param usual = { 0 }, real_time = { 1 };
	pid_t child;
	struct process_threads threads;

	(void)state;
	if (geteuid() != 0)
		skip();
	child = begin(begin_threads);
	threads = threads_of(child);
	while (!shared->ready)
		sleep_ms(1);
	thread_priority_begin();
	thread_priority_raise(child, child);
	assert_int_equal(sched_getscheduler(child), SCHED_FIFO | SCHED_RESET_ON_FORK);
	thread_priority_restore(child);
	assert_int_equal(sched_getscheduler(child), SCHED_OTHER);

	thread_priority_raise(child, child);
	assert_int_equal(sched_setscheduler(child, SCHED_BATCH, &usual),
			 0); /* as another process that has its id */
	thread_priority_restore(child);
	assert_int_equal(sched_getscheduler(child), SCHED_BATCH);
	assert_int_equal(sched_setscheduler(child, SCHED_FIFO, &real_time), 0);
	thread_priority_end();
	assert_int_equal(sched_getscheduler(child), SCHED_FIFO);

	/* A thread that has executed a program has the id of its process. */
	assert_int_equal(sched_setscheduler(child, SCHED_OTHER, &usual), 0);
	assert_int_equal(process_threads_read(&threads), THREADS);
	thread_priority_raise(child, threads.all[1].tid);
	assert_int_equal(sched_setscheduler(child, SCHED_FIFO | SCHED_RESET_ON_FORK, &real_time), 0);
	thread_priority_leave(threads.all[1].tid);
	assert_int_equal(sched_getscheduler(child), SCHED_OTHER);
	end(child, &threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_pending), cmocka_unit_test(test_all_stand),
		cmocka_unit_test(test_it_ends),		cmocka_unit_test(test_id_of_another),
		cmocka_unit_test(test_first_has_ended), cmocka_unit_test(test_priority_of_another),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
