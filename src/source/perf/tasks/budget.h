/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Limits the work that one process can cause the recorder, by its jitdump records, files, mappings, unwind tables and stacks. While the recorder
 * handles one process, it reads no rings; samples of all others are lost when these are full. So there is an allowance for
 * each process, for each user (since users can have any number of processes), and for all together. Jitdump records and
 * opened files are limited by round; open files, until they are closed; images and mappings, for the whole recording. The work of
 * unwinding is known only after it was done, so what exceeds an allowance is taken from those of the next rounds. Work beyond
 * an allowance is counted, and the process or the user is named.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_BUDGET_H
#define BURIN_SOURCE_PERF_TASKS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/hash_table.h"
#include "file/foreign_file.h"

enum budget_kind {
	BUDGET_JIT,	 /* jitdump records; excess: samples that did not wait for them */
	BUDGET_OPENS,	 /* files opened in a round; excess: mapped files that were not opened at once */
	BUDGET_FILES,	 /* files that stay open; excess: as of BUDGET_OPENS */
	BUDGET_IMAGES,	 /* images; excess: mappings of other images, whose samples are lost */
	BUDGET_MAPPINGS, /* by MAPPINGS_MAX; excess: mappings or pieces of code; samples are lost or nameless */
	BUDGET_UNWIND, /* units of unwind_meter.h; excess: samples whose stacks were not unwound, or not to their end */
	BUDGET_STACKS, /* frames of different stacks, by ->stacks_max; excess: samples with one frame */
	BUDGET_WAITS,  /* by foreign_file.h; excess: files that a process kept from being read */
	BUDGET_KINDS
};

enum {
	BUDGET_NAMED_MAX = 8, /* processes and users that are named */
	BUDGET_TEXT_MAX = 384,
};

/* Of a process or a user. */
struct budget_account {
	struct budget_account *user; /* of a process; NULL: it is a user's */
	uint32_t id;		     /* a pid, or a uid */
	struct foreign_user own;     /* of a process: its user as last read, if ->seen */
	bool seen;
	uint64_t round; /* of ->spent, for kinds that are limited by round */
	uint64_t spent[BUDGET_KINDS], over[BUDGET_KINDS];
	char name[FOREIGN_NAME_MAX]; /* of a process; "": not needed, or the process had ended */
};

/* The accounts that paid for a piece of work; NULL: none. */
struct budget_payment {
	struct budget_account *process, *user;
};

struct budget_accounts {
	struct budget_account **all; /* by number - 1 */
	size_t count, room, max;
	struct hash_table numbers;
};

struct budget {
	uint64_t round, spent[BUDGET_KINDS], over[BUDGET_KINDS];
	uint64_t files_max, stacks_max;
	struct budget_accounts processes, users;
	struct budget_account other_users;			  /* all users beyond the maximum */
	uid_t (*user_of)(uint32_t pid, struct foreign_user *own); /* foreign_user_of(), except in tests */
	const struct budget_account *named[BUDGET_NAMED_MAX];	  /* the first to exceed their allowances */
	unsigned named_count, unnamed_count;
};

/* budget_init - @files_max: files of all processes that may stay open. */
void budget_init(struct budget *budget, uint64_t files_max);

/* budget_again - begin anew with a kind that is limited for the whole recording. */
void budget_again(struct budget *budget, enum budget_kind kind);

/* budget_round - begin a round, which resets the allowances by round. */
void budget_round(struct budget *budget);

/*
 * budget_spend - take one piece of work from the allowances.
 * @pid: 0: no particular process; only the allowance of all together counts
 * Return: false: an allowance is used up.
 */
bool budget_spend(struct budget *budget, enum budget_kind kind, uint32_t pid);

/* budget_left - how much work a process may still cause in this round. @pid: as above */
uint64_t budget_left(struct budget *budget, enum budget_kind kind, uint32_t pid);

/* budget_charge - take work that was done from the allowances, of this round and if need be of the next ones. */
void budget_charge(struct budget *budget, enum budget_kind kind, uint32_t pid, uint64_t work);

/*
 * budget_payment - the accounts that budget_spend() charges for a process in this round.
 * budget_return - the work that they paid for is undone.
 */
struct budget_payment budget_payment(struct budget *budget, uint32_t pid);
void budget_return(struct budget *budget, enum budget_kind kind, const struct budget_payment *payment);

/* budget_user - a process' user, as last read. Return: NULL: it ended before it was read. */
const struct foreign_user *budget_user(struct budget *budget, uint32_t pid);

/* budget_over - count work that was not done; name the process, or else the user, that used up its own allowance. */
void budget_over(struct budget *budget, enum budget_kind kind, uint32_t pid);

/* budget_text - a line about the excess of the @n-th process or user. Return: false: there is none. */
bool budget_text(const struct budget *budget, unsigned n, char text[BUDGET_TEXT_MAX]);

void budget_free(struct budget *budget);

#endif
