/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The end of each process of a session counts once, also if another process has its pid later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/record/recorder/process_ends.h"

enum {
	CRASHES = 3,
};

static struct wire_session header;
static struct stat nobody_maps; /* the identity of no file */
static struct process_ends processes;

/* A pid of this user that has no process. */
static uint32_t pid_of_dead(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return (uint32_t)pid;
}

static unsigned dead_after_search(void)
{
	assert_false(process_ends_search(&processes, &header, &nobody_maps));
	return processes.dead_count;
}

static void each_counts_once(void **state)
{
	const uint32_t first = pid_of_dead();

	(void)state;
	header = (struct wire_session){ .processes = { first | WIRE_PROCESS_RECORDED } };
	assert_int_equal(process_ends_begin(&processes), 0);
	assert_int_equal(dead_after_search(), 0); /* it was killed before */
	header.processes[5] = pid_of_dead() | WIRE_PROCESS_RECORDED;
	header.processes[6] = pid_of_dead(); /* it has recorded nothing */
	assert_int_equal(dead_after_search(), 1);
	assert_int_equal(processes.dead[0], header.processes[5] & ~WIRE_PROCESS_RECORDED);
	assert_int_equal(dead_after_search(), 1);
	process_ends_end(&processes);
}

static void pids_return(void **state)
{
	const uint32_t pid = pid_of_dead();

	(void)state;
	header = (struct wire_session){ .processes = { 0 } };
	assert_int_equal(process_ends_begin(&processes), 0);
	assert_int_equal(dead_after_search(), 0);
	for (unsigned n = 1; n <= CRASHES; n++) {
		header.processes[n] = pid | WIRE_PROCESS_RECORDED;
		assert_int_equal(dead_after_search(), n);
		assert_int_equal(dead_after_search(), n);
		header.processes[n] = 0; /* another process has its entry */
		assert_int_equal(dead_after_search(), n);
		assert_int_equal(processes.buried_count, 0);
	}
	process_ends_end(&processes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_counts_once),
		cmocka_unit_test(pids_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
