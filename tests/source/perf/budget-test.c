/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Allowances of work by process, by user and for all, by round and for ever; which processes and users are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "source/perf/tasks/budget.h"

enum {
	PIDS_OF_USER = 1000000, /* in these tests: the first are user 0's, the next user 1's, ... */
};

static uid_t user_of(uint32_t pid, struct foreign_user *own)
{
	*own = (struct foreign_user){ pid / PIDS_OF_USER, pid / PIDS_OF_USER };
	return pid / PIDS_OF_USER;
}

static void begin(struct budget *budget, uint64_t files_max)
{
	budget_init(budget, files_max);
	budget->user_of = user_of;
}

/* Use up a process' allowance. Return: how much it was. */
static unsigned spend_all(struct budget *budget, enum budget_kind kind, uint32_t pid)
{
	unsigned count = 0;

	while (budget_spend(budget, kind, pid))
		count++;
	return count;
}

static void rounds(void **state)
{
	struct budget budget;
	unsigned each, all = 0;

	(void)state;
	begin(&budget, 100);
	each = spend_all(&budget, BUDGET_JIT, 1);
	assert_true(each > 1000);
	assert_false(budget_spend(&budget, BUDGET_JIT, 1));
	assert_true(budget_spend(&budget, BUDGET_JIT, 2)); /* another process has its own */
	budget_round(&budget);
	assert_int_equal(spend_all(&budget, BUDGET_JIT, 1), each);
	for (uint32_t pid = PIDS_OF_USER; pid < 10 * PIDS_OF_USER; pid += 10000)
		all += spend_all(&budget, BUDGET_JIT, pid);
	assert_in_range(all, each, 100 * each); /* all together are limited, too */
	budget_round(&budget);
	assert_int_equal(spend_all(&budget, BUDGET_JIT, 1), each);
	budget_free(&budget);
}

static void for_ever(void **state)
{
	struct budget budget;

	(void)state;
	begin(&budget, 10000);
	assert_int_equal(spend_all(&budget, BUDGET_FILES, 1), 4096);
	budget_round(&budget);
	assert_false(budget_spend(&budget, BUDGET_FILES, 1));
	assert_int_equal(spend_all(&budget, BUDGET_FILES, PIDS_OF_USER), 4096);
	assert_int_equal(spend_all(&budget, BUDGET_FILES, 2 * PIDS_OF_USER), 10000 - 2 * 4096);
	assert_false(budget_spend(&budget, BUDGET_FILES, 3 * PIDS_OF_USER));
	budget_free(&budget);
}

/* A user with any number of processes gets at most half of the total. */
static void users(void **state)
{
	static const enum budget_kind kinds[] = { BUDGET_JIT, BUDGET_OPENS, BUDGET_FILES, BUDGET_IMAGES };
	char text[BUDGET_TEXT_MAX];
	struct budget budget;

	(void)state;
	for (unsigned n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		uint64_t all = 0, each;

		begin(&budget, 10000);
		for (uint32_t pid = PIDS_OF_USER; pid < PIDS_OF_USER + 100000; pid++)
			all += spend_all(&budget, kinds[n], pid); /* more processes than there are accounts */
		budget_over(&budget, kinds[n], PIDS_OF_USER + 100000);
		budget_over(&budget, kinds[n], PIDS_OF_USER + 99999);
		assert_true(budget_text(&budget, 0, text));
		assert_int_equal(strncmp(text, "user 1, all processes: 2 ", 25), 0);
		assert_false(budget_text(&budget, 1, text));
		each = spend_all(&budget, kinds[n], 2 * PIDS_OF_USER);
		assert_true(each > 0);
		for (uint32_t pid = 2 * PIDS_OF_USER; pid < 2 * PIDS_OF_USER + 100; pid++)
			each += spend_all(&budget, kinds[n], pid);
		assert_int_equal(each, all);
		budget_free(&budget);
	}
}

/* Work that is known afterwards: its excess is paid by the next rounds, and stays within one user's half. */
static void carried(void **state)
{
	struct budget budget;
	uint64_t each, half = 0, left;

	(void)state;
	begin(&budget, 100);
	each = budget_left(&budget, BUDGET_UNWIND, 1);
	assert_true(each > 1000000);
	budget_charge(&budget, BUDGET_UNWIND, 1, each / 2);
	assert_int_equal(budget_left(&budget, BUDGET_UNWIND, 1), each - each / 2);
	budget_round(&budget);
	assert_int_equal(budget_left(&budget, BUDGET_UNWIND, 1), each);
	budget_charge(&budget, BUDGET_UNWIND, 1, each * 5 / 2);
	assert_int_equal(budget_left(&budget, BUDGET_UNWIND, 1), 0);
	budget_over(&budget, BUDGET_UNWIND, 1);
	assert_int_equal(budget.named_count, 1);
	assert_true(budget_left(&budget, BUDGET_UNWIND, PIDS_OF_USER) > 0);
	budget_round(&budget);
	assert_int_equal(budget_left(&budget, BUDGET_UNWIND, 1), 0);
	budget_round(&budget);
	assert_in_range(budget_left(&budget, BUDGET_UNWIND, 1), each / 2 - 1, each / 2 + 1);
	budget_round(&budget);
	assert_int_equal(budget_left(&budget, BUDGET_UNWIND, 1), each);
	for (uint32_t pid = 2 * PIDS_OF_USER; (left = budget_left(&budget, BUDGET_UNWIND, pid)); pid++) {
		budget_charge(&budget, BUDGET_UNWIND, pid, left);
		half += left;
	}
	assert_in_range(half, each, 8 * each);
	assert_true(budget_left(&budget, BUDGET_UNWIND, 3 * PIDS_OF_USER) > 0);
	budget_free(&budget);
}

/* A pid becomes another user's, and a process ended before its user was read. */
static void changes(void **state)
{
	char text[BUDGET_TEXT_MAX];
	struct budget budget;

	(void)state;
	budget_init(&budget, 10000);
	assert_true(budget_spend(&budget, BUDGET_OPENS, (uint32_t)getpid()));
	assert_int_equal(budget.processes.count, 1);
	assert_int_equal(budget_user(&budget, (uint32_t)getpid())->user, geteuid());
	assert_null(budget_user(&budget, 0x7fffffff));
	for (uint32_t pid = 0x7fff0000; pid < 0x7fff0100; pid++)
		spend_all(&budget, BUDGET_OPENS, pid);
	budget_over(&budget, BUDGET_OPENS, 0x7fff0200);
	assert_true(budget_text(&budget, 0, text));
	assert_int_equal(strncmp(text, "processes that had ended: 1 ", 28), 0);
	budget_round(&budget);
	budget.user_of = user_of;
	spend_all(&budget, BUDGET_OPENS, 0x7fff0000);
	assert_int_equal(budget.users.count, 3);
	budget_round(&budget);
	budget.user_of = foreign_user_of; /* it has ended, but its user was read before */
	assert_int_equal(budget_user(&budget, 0x7fff0000)->user, 0x7fff0000 / PIDS_OF_USER);
	budget_free(&budget);
}

static void names(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	char text[BUDGET_TEXT_MAX];
	struct budget budget;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "a\033\\m\nb"), 0);
	begin(&budget, 10000);
	assert_false(budget_text(&budget, 0, text));
	spend_all(&budget, BUDGET_OPENS, self);
	budget_over(&budget, BUDGET_OPENS, self);
	budget_over(&budget, BUDGET_MAPPINGS, self);
	budget_over(&budget, BUDGET_OPENS, 0x7ffffff0); /* it has used nothing itself */
	assert_int_equal(budget.over[BUDGET_OPENS], 2);
	assert_true(budget_text(&budget, 0, text));
	assert_int_equal(strncmp(text, "a?\\m?b (", 8),
			 0); /* one line; the output functions escape the backslash */
	assert_non_null(strstr(text, ": 1 mapped files"));
	assert_non_null(strstr(text, ", 1 mappings"));
	assert_false(budget_text(&budget, 1, text));
	for (uint32_t pid = 0x7ffffff0; pid < 0x7ffffff0 + 10; pid++)
		budget_over(&budget, BUDGET_MAPPINGS, pid);
	assert_true(budget_text(&budget, BUDGET_NAMED_MAX - 1, text));
	assert_true(budget_text(&budget, BUDGET_NAMED_MAX, text));
	assert_string_equal(text, "3 more processes or users");
	assert_false(budget_text(&budget, BUDGET_NAMED_MAX + 1, text));
	budget_free(&budget);
}

/* A process that did not answer is named, whatever it has spent. */
static void unanswered(void **state)
{
	char text[BUDGET_TEXT_MAX];
	struct budget budget;

	(void)state;
	begin(&budget, 10000);
	budget_over(&budget, BUDGET_WAITS, 0x7ffffff0);
	budget_over(&budget, BUDGET_WAITS, 0x7ffffff0);
	assert_int_equal(budget.over[BUDGET_WAITS], 2);
	assert_true(budget_text(&budget, 0, text));
	assert_int_equal(strncmp(text, "? (2147483632): 2 questions", 27), 0);
	assert_false(budget_text(&budget, 1, text));
	budget_free(&budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),     cmocka_unit_test(for_ever), cmocka_unit_test(users),
		cmocka_unit_test(carried),    cmocka_unit_test(changes),  cmocka_unit_test(names),
		cmocka_unit_test(unanswered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
