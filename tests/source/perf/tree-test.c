/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tree that the kernel follows: what it has no room for is counted, and what ends makes room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "source/perf/rings/tree.h"

enum {
	ROOM = 2,
	CHILDREN = 4,
	RUNS_NS = 20000000,
	AREA_PAGES = 8,
	WAITS = 2000, /* times 5 ms, at most, until the kernel has freed the children */
};

static void open_or_skip(struct tree *tree)
{
	char why[128];

	if (tree_open(tree, ROOM, why, sizeof(why)) != 0) {
		print_message("skip  the kernel follows no tree for us: %s\n", why);
		skip();
	}
}

static pid_t start_child(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void *nothing(void *data)
{
	return data;
}

static void full(void **state)
{
	pid_t children[CHILDREN];
	struct tree tree;
	pthread_t thread;
	uint64_t before = 0;

	(void)state;
	open_or_skip(&tree);
	end_child(start_child());
	assert_int_equal(tree_missed(&tree), 0); /* not in the tree yet */
	assert_int_equal(tree_add(&tree, getpid(), TREE_MEMBER), 0);
	for (unsigned n = 0; n < CHILDREN; n++)
		children[n] = start_child();
	assert_int_equal(tree_missed(&tree), CHILDREN - ROOM);
	assert_int_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(tree_missed(&tree), CHILDREN - ROOM + 1);
	for (unsigned n = 0; n < CHILDREN; n++)
		end_child(children[n]);
	for (unsigned n = 0; n < WAITS; n++) { /* the kernel frees a task a moment after its end */
		before = tree_missed(&tree);
		end_child(start_child());
		if (tree_missed(&tree) == before)
			break;
		usleep(5000);
	}
	assert_int_equal(tree_missed(&tree), before);
	tree_close(&tree);
	assert_int_equal(tree_missed(&tree), 0);
}

/* Children of a process that waits for its exec, or that was removed, are not in the tree. */
static void outside(void **state)
{
	pid_t children[CHILDREN];
	struct tree tree;

	(void)state;
	open_or_skip(&tree);
	assert_int_equal(tree_add(&tree, getpid(), TREE_WAITS), 0);
	for (unsigned n = 0; n < CHILDREN; n++)
		children[n] = start_child();
	assert_int_equal(tree_add(&tree, getpid(), TREE_MEMBER), 0);
	tree_remove(&tree, getpid());
	for (unsigned n = 0; n < CHILDREN; n++)
		end_child(children[n]);
	for (unsigned n = 0; n < CHILDREN; n++)
		children[n] = start_child();
	for (unsigned n = 0; n < CHILDREN; n++)
		end_child(children[n]);
	assert_int_equal(tree_missed(&tree), 0);
	tree_close(&tree);
}

/* The tasks in the map. */
static unsigned count_members(const struct tree *tree)
{
	uint64_t key = 0, next = 0;
	unsigned count = 0;
	union bpf_attr attr = { .map_fd = (uint32_t)tree->members, .next_key = (uint64_t)(uintptr_t)&next };

	while (syscall(SYS_bpf, BPF_MAP_GET_NEXT_KEY, &attr, sizeof(attr)) == 0) {
		key = next;
		attr.key = (uint64_t)(uintptr_t)&key;
		count++;
	}
	return count;
}

/* A member may be freed unseen, as it is here. A stranger's task that gets its memory is no member. */
static void freed_unseen(void **state)
{
	pid_t children[ROOM];
	struct tree tree;

	(void)state;
	open_or_skip(&tree);
	assert_int_equal(tree_add(&tree, getpid(), TREE_MEMBER), 0);
	for (unsigned n = 0; n < ROOM; n++)
		children[n] = start_child();
	tree_remove(&tree, getpid());
	assert_int_equal(count_members(&tree), ROOM);
	close(tree.watches[TREE_END]);
	tree.watches[TREE_END] = -1;
	for (unsigned n = 0; n < ROOM; n++)
		end_child(children[n]);
	assert_int_equal(count_members(&tree), ROOM);
	for (unsigned n = 0; n < WAITS && count_members(&tree) == ROOM; n++) {
		end_child(start_child());
		usleep(5000);
	}
	assert_in_range(count_members(&tree), 0, ROOM - 1);
	tree_close(&tree);
}

/* A thread that runs when it is asked to. */
struct worker {
	pthread_t thread;
	pid_t tid;
	sem_t known, go, done;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct timespec begin, now;

	worker->tid = (pid_t)syscall(SYS_gettid);
	sem_post(&worker->known);
	for (;;) {
		while (sem_wait(&worker->go) != 0)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		do
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < RUNS_NS);
		sem_post(&worker->done);
	}
	return NULL;
}

static void begin_worker(struct worker *worker)
{
	sem_init(&worker->known, 0, 0);
	sem_init(&worker->go, 0, 0);
	sem_init(&worker->done, 0, 0);
	assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
	sem_wait(&worker->known);
}

static void end_worker(struct worker *worker)
{
	pthread_cancel(worker->thread);
	pthread_join(worker->thread, NULL);
}

/* Let a thread run. Return: bytes of the samples that an event took meanwhile. @tid: of the event; -1: one of this CPU */
static uint64_t sampled(struct tree *tree, pid_t tid, struct worker *worker)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = 100000,
					.sample_type = PERF_SAMPLE_IP,
					.disabled = 1 };
	const size_t bytes = (size_t)(AREA_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	const int event = (int)syscall(SYS_perf_event_open, &attr, tid, tid < 0 ? sched_getcpu() : -1, -1, 0);
	const struct perf_event_mmap_page *page;
	uint64_t taken;

	assert_true(event >= 0);
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(tree_filter(tree, event, tid >= 0), 0);
	assert_int_equal(ioctl(event, PERF_EVENT_IOC_ENABLE, 0), 0);
	sem_post(&worker->go);
	sem_wait(&worker->done);
	assert_int_equal(ioctl(event, PERF_EVENT_IOC_DISABLE, 0), 0);
	taken = page->data_head;
	munmap((void *)(uintptr_t)page, bytes);
	close(event);
	return taken;
}

/* A thread that began before the tree has an event of its own; one that began later may have one, too, which takes no samples then. */
static void either_event(void **state)
{
	struct worker before, later;
	struct tree tree;
	cpu_set_t all, one;

	(void)state;
	open_or_skip(&tree);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	begin_worker(&before);
	assert_true(tree_knows(&tree, getpid()));
	assert_int_equal(tree_add(&tree, getpid(), TREE_PARENT), 0);
	begin_worker(&later);
	assert_int_not_equal(sampled(&tree, before.tid, &before), 0);
	assert_int_equal(sampled(&tree, -1, &before), 0);
	assert_int_equal(sampled(&tree, later.tid, &later), 0);
	assert_int_not_equal(sampled(&tree, -1, &later), 0);
	end_worker(&before);
	end_worker(&later);
	tree_close(&tree);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full),
		cmocka_unit_test(outside),
		cmocka_unit_test(freed_unseen),
		cmocka_unit_test(either_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
