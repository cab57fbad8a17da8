/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tree that the kernel follows: what it has no room for is counted, and what ends makes room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "source/perf/rings/tree.h"

enum {
	ROOM = 2,
	CHILDREN = 4,
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
	assert_int_equal(tree_add(&tree, getpid(), false), 0);
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
	assert_int_equal(tree_add(&tree, getpid(), true), 0);
	for (unsigned n = 0; n < CHILDREN; n++)
		children[n] = start_child();
	assert_int_equal(tree_add(&tree, getpid(), false), 0);
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
	assert_int_equal(tree_add(&tree, getpid(), false), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full),
		cmocka_unit_test(outside),
		cmocka_unit_test(freed_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
