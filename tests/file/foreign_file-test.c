/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How long a user's processes may keep us waiting. The helper is replaced by one that never answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/foreign_file.h"
#include "file/timed_open.h"

enum {
	USER = 61234,
	PROCESSES = 2 * FOREIGN_PATIENCE_US / 1000 / TIMED_BLOCKED_MS,
};

static unsigned asked;

int __wrap_timed_open(const struct timed_request *request, uint64_t *blocked_us);
int __wrap_timed_open(const struct timed_request *request, uint64_t *blocked_us)
{
	(void)request;
	asked++;
	*blocked_us = TIMED_BLOCKED_MS * UINT64_C(1000);
	return -ETIMEDOUT;
}

/* A process of a user, which ends with this one. */
static uint32_t start_process(uid_t user)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setgid(user) != 0 || setuid(user) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return (uint32_t)pid;
}

static void end_process(uint32_t pid)
{
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
}

/* Of a process of ours nothing is asked. */
static void own(void **state)
{
	char name[FOREIGN_NAME_MAX], copy[FOREIGN_NAME_MAX];
	const int file = foreign_maps((uint32_t)getpid());

	(void)state;
	assert_true(file >= 0);
	close(file);
	assert_int_equal(asked, 0);
	assert_int_equal(prctl(PR_SET_NAME, "a name"), 0);
	assert_true(foreign_name((uint32_t)getpid(), (uint32_t)getpid(), name));
	assert_int_equal(foreign_memory((uint32_t)getpid(), (uintptr_t)name, copy, sizeof(copy)),
			 sizeof(copy));
	assert_memory_equal(copy, name, sizeof(copy));
	assert_int_equal(foreign_memory((uint32_t)getpid(), 4096, copy, sizeof(copy)), -EIO);
	assert_string_equal(name, "a name");
	assert_false(foreign_name((uint32_t)getpid(), 0x7fffffff, name));
	assert_string_equal(name, "");
}

static void patience(void **state)
{
	const struct foreign any = { 0 };
	uint32_t pids[PROCESSES], other;
	unsigned before;

	(void)state;
	if (geteuid() != 0)
		skip();
	for (unsigned n = 0; n < PROCESSES; n++)
		pids[n] = start_process(USER);
	other = start_process(USER + 1);
	asked = 0;
	assert_int_equal(foreign_maps(pids[0]), -ETIMEDOUT);
	assert_int_equal(asked, 1);
	assert_int_equal(foreign_contents(pids[0], "cmdline", 100),
			 -ETIMEDOUT); /* it has not answered just now */
	assert_int_equal(foreign_mapped(&any, pids[0], 0x1000, 0x2000), -ETIMEDOUT);
	assert_int_equal(asked, 1);
	assert_int_equal(foreign_named(&any, pids[0], true, "/file"), -ETIMEDOUT); /* that needs no lock */
	assert_int_equal(asked, 2);
	for (unsigned n = 0; n < PROCESSES; n++)
		assert_int_equal(foreign_maps(pids[n]), -ETIMEDOUT);
	assert_in_range(asked, 3, PROCESSES - 1);
	before = asked;
	assert_int_equal(foreign_maps(other), -ETIMEDOUT); /* another user's process is asked */
	assert_int_equal(asked, before + 1);
	for (unsigned n = 0; n < PROCESSES; n++)
		end_process(pids[n]);
	end_process(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own),
		cmocka_unit_test(patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
