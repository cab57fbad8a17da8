/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Allowances of work; see budget.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "source/perf/tasks/budget.h"

enum {
	PROCESSES_MAX = 1 << 16,
	USERS_MAX = 1 << 12,
};

/*
 * More than programs need: a large one has a few hundred libraries, and compiles some ten thousand functions, which takes a
 * second or more. A round takes some milliseconds, or more if the allowances are used up. A user has half of the allowance
 * for all together, so one user cannot use up all of it.
 */
static const struct allowance {
	uint64_t process, all;
	bool by_round;
	const char *excess;
} allowances[BUDGET_KINDS] = {
	[BUDGET_JIT] = { 1 << 13, 1 << 15, true,
			 "samples named by address alone, as its jitdump grows faster than it is read" },
	[BUDGET_OPENS] = { 1 << 9, 1 << 11, true, "mapped files that were not opened at once" },
	[BUDGET_FILES] = { 1 << 12, 0, false, "mapped files that were not kept open" },
	[BUDGET_IMAGES] = { 1 << 14, 1 << 18, false, "mappings of too many files" },
	[BUDGET_MAPPINGS] = { 0, 0, false, "mappings or pieces of code beyond the limit" },
};

static uint64_t total(const struct budget *budget, enum budget_kind kind)
{
	return kind == BUDGET_FILES ? budget->files_max : allowances[kind].all;
}

static bool is_used_up(const struct budget *budget, enum budget_kind kind,
		       const struct budget_account *account)
{
	return account->spent[kind] >= (account->user ? allowances[kind].process : total(budget, kind) / 2);
}

/* ---- accounts */

static void free_accounts(struct budget_accounts *accounts)
{
	for (size_t n = 0; n < accounts->count; n++)
		free(accounts->all[n]);
	free(accounts->all);
	hash_table_free(&accounts->numbers);
}

/* Find or add an account. Return: NULL: there is no room for another. */
static struct budget_account *find(struct budget_accounts *accounts, uint32_t id)
{
	const uint64_t hash = hash_pair(id, 0);
	struct budget_account *account;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&accounts->numbers, hash, &at));)
		if (accounts->all[number - 1]->id == id)
			return accounts->all[number - 1];
	if (!array_reserve_max(accounts->all, accounts->room, accounts->count + 1, accounts->max) ||
	    !hash_table_reserve(&accounts->numbers))
		return NULL;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	account->id = id;
	accounts->all[accounts->count++] = account;
	hash_table_add(&accounts->numbers, hash, (uint32_t)accounts->count);
	return account;
}

static void begin_round(struct budget_account *account, uint64_t round)
{
	if (account->round == round)
		return;
	account->round = round;
	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		if (allowances[n].by_round)
			account->spent[n] = 0;
}

static struct budget_account *find_user(struct budget *budget, uid_t uid)
{
	struct budget_account *user = find(&budget->users, uid);

	if (!user)
		user = &budget->other_users;
	begin_round(user, budget->round);
	return user;
}

/*
 * The account of a process, or of its user if there are too many processes. The user is read once a round: a process can
 * change its user, and a pid can be reused. After the process' end, the last user counts.
 */
static struct budget_account *find_payer(struct budget *budget, uint32_t pid)
{
	struct budget_account *process = find(&budget->processes, pid);
	struct foreign_user own;
	uid_t uid;

	if (process && process->round == budget->round)
		return process;
	uid = budget->user_of(pid, &own);
	if (!process)
		return find_user(budget, uid);
	begin_round(process, budget->round);
	if (uid != FOREIGN_NO_USER) {
		process->own = own;
		process->seen = true;
	}
	if (uid != FOREIGN_NO_USER || !process->user)
		process->user = find_user(budget, uid);
	begin_round(process->user, budget->round);
	return process;
}

/* ---- work */

void budget_init(struct budget *budget, uint64_t files_max)
{
	*budget = (struct budget){ .files_max = files_max,
				   .round = 1,
				   .user_of = foreign_user_of,
				   .processes.max = PROCESSES_MAX,
				   .users.max = USERS_MAX };
}

void budget_round(struct budget *budget)
{
	budget->round++;
	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		if (allowances[n].by_round)
			budget->spent[n] = 0;
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

	if (find_exceeded(budget, kind, payer) || budget->spent[kind] >= total(budget, kind))
		return false;
	for (; payer; payer = payer->user)
		payer->spent[kind]++;
	budget->spent[kind]++;
	return true;
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

static void read_name(struct budget_account *process)
{
	char path[64], name[16];
	ssize_t bytes = -1;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/comm", process->id);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		bytes = read(file, name, sizeof(name) - 1);
		close(file);
	}
	name[bytes > 0 ? bytes : 0] = 0;
	if (bytes > 0 && name[bytes - 1] == '\n')
		name[bytes - 1] = 0;
	snprintf(process->name, sizeof(process->name), "%s", text_mask(name));
}

/* Count an excess; the first one names the process or user. */
static void blame(struct budget *budget, enum budget_kind kind, struct budget_account *account)
{
	bool first = true;

	for (unsigned n = 0; n < BUDGET_KINDS; n++)
		first &= account->over[n] == 0;
	if (first && budget->named_count < BUDGET_NAMED_MAX) {
		if (account->user)
			read_name(account);
		budget->named[budget->named_count++] = account;
	} else if (first) {
		budget->unnamed_count++;
	}
	account->over[kind]++;
}

void budget_over(struct budget *budget, enum budget_kind kind, uint32_t pid)
{
	struct budget_account *exceeded = pid ? find_exceeded(budget, kind, find_payer(budget, pid)) : NULL;

	budget->over[kind]++;
	if (exceeded) /* otherwise all together have used up the total */
		blame(budget, kind, exceeded);
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
