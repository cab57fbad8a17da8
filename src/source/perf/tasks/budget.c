/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Allowances of work; see budget.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/text.h"
#include "source/perf/tasks/budget.h"

enum {
	PROCESSES_MAX = 1 << 16,
	USERS_MAX = 1 << 12,
	STACKS_MIN = 1 << 20, /* frames */
	STACKS_BYTES = 48,    /* that one takes */
	STACKS_PART = 8,      /* of the machine's memory that they may take, ... */
	STACKS_PROCESS = 4,   /* ... and of that what those of one process may */
};

/*
 * More than programs need: a large one has a few hundred libraries, and compiles some ten thousand functions, which takes a
 * second or more. A round takes some milliseconds, or more if the allowances are used up. A user has half of the allowance
 * for all together, so one user cannot use up all of it.
 */
static const struct allowance {
	uint64_t process, all;
	bool by_round, carried; /* carried: what a round spends beyond its allowance, the next ones lack */
	const char *excess;
} allowances[BUDGET_KINDS] = {
	[BUDGET_JIT] = { 1 << 13, 1 << 15, true, false,
			 "samples named by address alone, as its jitdump grows faster than it is read" },
	[BUDGET_OPENS] = { 1 << 9, 1 << 11, true, false, "mapped files that were not opened at once" },
	[BUDGET_FILES] = { 1 << 12, 0, false, false, "mapped files that were not kept open" },
	[BUDGET_IMAGES] = { 1 << 14, 1 << 18, false, false, "mappings of too many files" },
	[BUDGET_MAPPINGS] = { 0, 0, false, false, "mappings or pieces of code beyond the limit" },
	/* 100 ms, and 400 ms: a large program causes some of it when it begins */
	[BUDGET_UNWIND] = { 10000000, 40000000, true, true,
			    "stacks that were not unwound to their end, as its unwind tables take too long" },
	[BUDGET_STACKS] = { 0, 0, false, false,
			    "samples with one frame, as its different stacks take too much memory" },
	/* the allowance is that of foreign_file.h */
	[BUDGET_WAITS] = { 0, 0, false, false,
			   "questions about its memory that were not answered in time, as its lock is held" },
};

static uint64_t budget_total(const struct budget *budget, enum budget_kind kind)
{
	return kind == BUDGET_FILES    ? budget->files_max
	       : kind == BUDGET_STACKS ? budget->stacks_max
				       : allowances[kind].all;
}

static uint64_t of_process(const struct budget *budget, enum budget_kind kind)
{
	return kind == BUDGET_STACKS ? budget->stacks_max / STACKS_PROCESS : allowances[kind].process;
}

static uint64_t limit_of(const struct budget *budget, enum budget_kind kind,
			 const struct budget_account *account)
{
	return account->user ? of_process(budget, kind) : budget_total(budget, kind) / 2;
}

static bool is_used_up(const struct budget *budget, enum budget_kind kind,
		       const struct budget_account *account)
{
	return account->spent[kind] >= limit_of(budget, kind, account);
}

/* Later rounds pay for a round's spending. Return: the rest after some of them. */
static uint64_t after_rounds(enum budget_kind kind, uint64_t spent, uint64_t limit, uint64_t rounds)
{
	if (rounds == 0 || !allowances[kind].by_round)
		return spent;
	return allowances[kind].carried && spent / limit >= rounds ? spent - rounds * limit : 0;
}

/* An account's spending, which may be of a former round. */
static uint64_t spent_now(const struct budget *budget, enum budget_kind kind,
			  const struct budget_account *account)
{
	return after_rounds(kind, account->spent[kind], limit_of(budget, kind, account),
			    budget->round - account->round);
}

/* ---- accounts */

static void free_accounts(struct budget_accounts *accounts)
{
	for (size_t n = 0; n < accounts->count; n++)
		free(accounts->all[n]);
	free(accounts->all);
	hash_table_free(&accounts->numbers);
}

static struct budget_account *find_present(const struct budget_accounts *accounts, uint32_t id)
{
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&accounts->numbers, hash_pair(id, 0), &at));)
		if (accounts->all[number - 1]->id == id)
			return accounts->all[number - 1];
	return NULL;
}

/* Find or add an account. Return: NULL: there is no room for another. */
static struct budget_account *budget_find(struct budget_accounts *accounts, uint32_t id)
{
	struct budget_account *account = find_present(accounts, id);

	if (account)
		return account;
	if (!array_reserve_max(accounts->all, accounts->room, accounts->count + 1, accounts->max) ||
	    !hash_table_reserve(&accounts->numbers))
		return NULL;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	account->id = id;
	accounts->all[accounts->count++] = account;
	hash_table_add(&accounts->numbers, hash_pair(id, 0), (uint32_t)accounts->count);
	return account;
}

static void begin_round(const struct budget *budget, struct budget_account *account)
{
	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		account->spent[n] = spent_now(budget, n, account);
	account->round = budget->round;
}

static struct budget_account *budget_find_user(struct budget *budget, uid_t uid)
{
	struct budget_account *user = budget_find(&budget->users, uid);

	if (!user)
		user = &budget->other_users;
	begin_round(budget, user);
	return user;
}

/*
 * The account of a process, or of its user if there are too many processes. The user is read once a round: a process can
 * change its user, and a pid can be reused. After the process' end, the last user counts.
 */
static struct budget_account *find_payer(struct budget *budget, uint32_t pid)
{
	struct budget_account *process = budget_find(&budget->processes, pid);
	struct foreign_user own;
	uid_t uid;

	if (process && process->round == budget->round)
		return process;
	uid = budget->user_of(pid, &own);
	if (!process)
		return budget_find_user(budget, uid);
	begin_round(budget, process);
	if (uid != FOREIGN_NO_USER) {
		process->own = own;
		process->seen = true;
	}
	if (uid != FOREIGN_NO_USER || !process->user)
		process->user = budget_find_user(budget, uid);
	begin_round(budget, process->user);
	return process;
}

/* ---- work */

static uint64_t stacks_max(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	const uint64_t max = pages > 0 ? (uint64_t)pages * (uint64_t)bytes / STACKS_PART / STACKS_BYTES : 0;

	return max > STACKS_MIN ? max : STACKS_MIN;
}

void budget_init(struct budget *budget, uint64_t files_max)
{
	*budget = (struct budget){ .files_max = files_max,
				   .stacks_max = stacks_max(),
				   .round = 1,
				   .user_of = foreign_user_of,
				   .processes.max = PROCESSES_MAX,
				   .users.max = USERS_MAX };
}

static void budget_forget(const struct budget_accounts *accounts, enum budget_kind kind)
{
	for (size_t n = 0; n < accounts->count; n++)
		accounts->all[n]->spent[kind] = 0;
}

void budget_again(struct budget *budget, enum budget_kind kind)
{
	budget->spent[kind] = budget->other_users.spent[kind] = 0;
	budget_forget(&budget->processes, kind);
	budget_forget(&budget->users, kind);
}

void budget_round(struct budget *budget)
{
	budget->round++;
	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		budget->spent[n] = after_rounds(n, budget->spent[n], budget_total(budget, n), 1);
}

/* The account, of the process or its user, that has used up its allowance; NULL: neither has. */
static struct budget_account *find_exceeded(const struct budget *budget, enum budget_kind kind,
					    struct budget_account *payer)
{
	while (payer && !is_used_up(budget, kind, payer))
		payer = payer->user;
	return payer;
}

bool budget_spend(struct budget *budget, enum budget_kind kind, uint32_t pid)
{
	struct budget_account *payer = pid ? find_payer(budget, pid) : NULL;

	if (find_exceeded(budget, kind, payer) || budget->spent[kind] >= budget_total(budget, kind))
		return false;
	for (; payer; payer = payer->user)
		payer->spent[kind]++;
	budget->spent[kind]++;
	return true;
}

/* Where all together have spent little, the accounts need not be exact: to find a process' user takes some system calls. */
static bool is_little(const struct budget *budget, enum budget_kind kind)
{
	return budget->spent[kind] < budget_total(budget, kind) / 4;
}

uint64_t budget_left(struct budget *budget, enum budget_kind kind, uint32_t pid)
{
	const struct budget_account *payer = !pid		       ? NULL
					     : is_little(budget, kind) ? find_present(&budget->processes, pid)
								       : find_payer(budget, pid);
	uint64_t limit = budget_total(budget, kind), spent = budget->spent[kind];
	uint64_t left = spent < limit ? limit - spent : 0;

	if (pid && !payer && left > of_process(budget, kind))
		left = of_process(budget, kind);
	for (; payer; payer = payer->user) {
		limit = limit_of(budget, kind, payer);
		spent = spent_now(budget, kind, payer);
		limit = spent < limit ? limit - spent : 0;
		left = limit < left ? limit : left;
	}
	return left;
}

void budget_charge(struct budget *budget, enum budget_kind kind, uint32_t pid, uint64_t work)
{
	struct budget_account *payer = NULL;

	budget->spent[kind] += work;
	if (pid && (work > of_process(budget, kind) / 64 || (work && !is_little(budget, kind))))
		payer = find_payer(budget, pid);
	for (; payer; payer = payer->user)
		payer->spent[kind] += work;
}

struct budget_payment budget_payment(struct budget *budget, uint32_t pid)
{
	struct budget_account *payer = pid ? find_payer(budget, pid) : NULL;

	if (payer && !payer->user)
		return (struct budget_payment){ .user = payer };
	return (struct budget_payment){ .process = payer, .user = payer ? payer->user : NULL };
}

void budget_return(struct budget *budget, enum budget_kind kind, const struct budget_payment *payment)
{
	if (payment->process)
		payment->process->spent[kind]--;
	if (payment->user)
		payment->user->spent[kind]--;
	budget->spent[kind]--;
}

const struct foreign_user *budget_user(struct budget *budget, uint32_t pid)
{
	const struct budget_account *process = pid ? find_payer(budget, pid) : NULL;

	return process && process->seen ? &process->own : NULL;
}

/* Count an excess; the first one names the process or user. */
static void budget_blame(struct budget *budget, enum budget_kind kind, struct budget_account *account)
{
	bool first = true;

	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		first &= account->over[n] == 0;
	if (first && budget->named_count < BUDGET_NAMED_MAX) {
		if (account->user && foreign_name(account->id, account->id, account->name))
			text_mask(account->name);
		budget->named[budget->named_count++] = account;
	} else if (first) {
		budget->unnamed_count++;
	}
	account->over[kind]++;
}

void budget_over(struct budget *budget, enum budget_kind kind, uint32_t pid)
{
	struct budget_account *payer = pid ? find_payer(budget, pid) : NULL,
			      *exceeded = kind == BUDGET_WAITS ? payer : find_exceeded(budget, kind, payer);

	budget->over[kind]++;
	if (exceeded) /* otherwise all together have used up the total */
		budget_blame(budget, kind, exceeded);
}

bool budget_text(const struct budget *budget, unsigned n, char text[BUDGET_TEXT_MAX])
{
	const struct budget_account *account = n < budget->named_count ? budget->named[n] : NULL;
	char number[TEXT_SHORT];
	size_t used;

	if (!account && n == budget->named_count && budget->unnamed_count)
		return snprintf(text, BUDGET_TEXT_MAX, "%u more processes or users",
				budget->unnamed_count); /* always true */
	if (!account)
		return false;
	if (account->user)
		used = (size_t)snprintf(text, BUDGET_TEXT_MAX,
					"%s (%u): ", *account->name ? account->name : "?", account->id);
	else if (account->id == FOREIGN_NO_USER)
		used = (size_t)snprintf(text, BUDGET_TEXT_MAX, "processes that had ended: ");
	else
		used = (size_t)snprintf(text, BUDGET_TEXT_MAX, "user %u, all processes: ", account->id);
	for (unsigned kind = 0, shown = 0; kind < BUDGET_KINDS && used < BUDGET_TEXT_MAX; kind++)
		if (account->over[kind])
			used += (size_t)snprintf(text + used, BUDGET_TEXT_MAX - used, "%s%s %s",
						 shown++ ? ", " : "", text_count(number, account->over[kind]),
						 allowances[kind].excess);
	return true;
}

void budget_free(struct budget *budget)
{
	free_accounts(&budget->processes);
	free_accounts(&budget->users);
	*budget = (struct budget){ 0 };
}
