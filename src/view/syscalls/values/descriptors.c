/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables of descriptors and their files; see descriptors.h. */
#include "view/syscalls/values/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"

enum {
	DESCRIPTOR_MAX = 1 << 16,   /* larger ones are unknown */
	DESCRIPTOR_SLOTS = 1 << 20, /* of all tables: a trace may have very many forks */
};

struct descriptor {
	uint32_t object;   /* 0: unknown */
	uint32_t removing; /* calls that close or replace it and have not ended */
	bool close_on_exec;
	uint64_t since;	  /* when its call had ended */
	uint64_t removed; /* when the latest of such calls had ended */
};

struct descriptor_table {
	struct descriptor *slots; /* by descriptor; behind them all are unknown */
	size_t room;
	unsigned users;	   /* threads */
	unsigned removing; /* calls that remove any number */
	uint64_t removed;
	bool divided; /* threads of its process may have other tables */
	bool hidden, hidden_always;
	uint32_t next; /* of the unused ones */
};

struct descriptor_thread {
	uint32_t table; /* from 1; 0: none yet */
	bool of_slot;	/* the call removes a descriptor that has a slot */
	struct descriptor_change change;
	uint32_t first; /* what ->change.first was at the begin */
	uint64_t begin;
};

static struct descriptor_table *table_of(const struct descriptors *all, size_t thread)
{
	const uint32_t number = thread < all->thread_room ? all->threads[thread].table : 0;

	return number ? &all->tables[number - 1] : NULL;
}

static struct descriptor *descriptors_slot_of(const struct descriptor_table *table, uint64_t descriptor)
{
	return table && descriptor < table->room ? &table->slots[descriptor] : NULL;
}

/* ---- tables */

/* Return: the number; 0: no memory. */
static uint32_t descriptors_make_table(struct descriptors *all)
{
	uint32_t number = all->unused;

	if (number) {
		all->unused = all->tables[number - 1].next;
	} else {
		if (all->table_count == UINT32_MAX - 1 ||
		    !array_reserve(all->tables, all->table_room, all->table_count + 1))
			return 0;
		number = (uint32_t)++all->table_count;
	}
	all->tables[number - 1] = (struct descriptor_table){ .users = 1 };
	return number;
}

static void empty_table(struct descriptors *all, struct descriptor_table *table)
{
	all->slots -= table->room;
	free(table->slots);
	table->slots = NULL;
	table->room = 0;
}

/* Let its descriptors be unknown: from now on they may change unseen. */
static void descriptors_hide(struct descriptor_table *table)
{
	table->hidden = true;
	for (size_t n = 0; n < table->room; n++)
		table->slots[n].object = 0;
}

/* Make room for a descriptor. Return: NULL: it has none, and stays unknown; or no memory, and *@failed is set. */
static struct descriptor *descriptors_reserve(struct descriptors *all, struct descriptor_table *table,
					      uint64_t descriptor, bool *failed)
{
	const size_t before = table->room;

	if (descriptor < before)
		return &table->slots[descriptor];
	if (descriptor >= DESCRIPTOR_MAX || all->slots - before + descriptor + 1 > DESCRIPTOR_SLOTS)
		return NULL;
	if (!array_reserve_zeroed(table->slots, table->room, (size_t)descriptor + 1)) {
		*failed = true;
		return NULL;
	}
	all->slots += table->room - before;
	return &table->slots[descriptor];
}

static void leave_table(struct descriptors *all, struct descriptor_thread *thread)
{
	const uint32_t number = thread->table;
	struct descriptor_table *table = number ? &all->tables[number - 1] : NULL;

	thread->table = 0;
	if (!table || --table->users)
		return;
	empty_table(all, table);
	table->next = all->unused;
	all->unused = number;
}

/* Give a thread an empty table of its own. @hidden: of one that may have been there before */
static bool renew_table(struct descriptors *all, struct descriptor_thread *thread, bool hidden)
{
	const bool always = thread->table && all->tables[thread->table - 1].hidden_always;

	leave_table(all, thread);
	thread->table = descriptors_make_table(all);
	if (!thread->table)
		return false;
	all->tables[thread->table - 1].hidden_always = always;
	all->tables[thread->table - 1].hidden = hidden || always;
	return true;
}

/* Return: a thread that has a table; NULL: no memory. */
static struct descriptor_thread *get_thread(struct descriptors *all, size_t number)
{
	if (!array_reserve_zeroed(all->threads, all->thread_room, number + 1))
		return NULL;
	if (!all->threads[number].table && !renew_table(all, &all->threads[number], true))
		return NULL;
	return &all->threads[number];
}

/* ---- calls */

/* Whether what a call makes depends on what ->first refers to. */
static bool descriptors_depends(const struct descriptor_change *change)
{
	return change->under || change->action == DESCRIPTOR_COPY || change->action == DESCRIPTOR_REPLACE;
}

static bool descriptors_removes(const struct descriptor_change *change)
{
	return change->action == DESCRIPTOR_REPLACE || change->action == DESCRIPTOR_CLOSE ||
	       change->action == DESCRIPTOR_INHERIT;
}

static void begin_removal(struct descriptor_table *table, struct descriptor_thread *thread)
{
	const struct descriptor_change *change = &thread->change;
	const uint32_t first = change->action == DESCRIPTOR_REPLACE ? change->last : change->first;

	for (uint64_t n = first; n <= change->last && n < table->room; n++) {
		if (change->action == DESCRIPTOR_INHERIT)
			table->slots[n].close_on_exec = true;
		else
			table->slots[n].object = 0;
	}
	thread->of_slot = first == change->last && first < table->room;
	*(thread->of_slot ? &table->slots[first].removing : &table->removing) += 1;
}

/* Whether no other call could remove a descriptor while this thread's made it. */
static bool was_alone(const struct descriptor_table *table, uint64_t descriptor, uint64_t begin)
{
	const struct descriptor *slot = descriptors_slot_of(table, descriptor);

	return !table->removing && (!table->removed || table->removed < begin) &&
	       (!slot || (!slot->removing && (!slot->removed || slot->removed < begin)));
}

/*
 * End what removes. @alone: receives whether no other call could remove the descriptor at the same time
 */
static void end_removal(struct descriptor_table *table, struct descriptor_thread *thread, uint64_t time,
			bool *alone)
{
	struct descriptor *slot = thread->of_slot ? &table->slots[thread->change.last] : NULL;

	*(slot ? &slot->removing : &table->removing) -= 1;
	*alone = was_alone(table, thread->change.last, thread->begin);
	*(slot ? &slot->removed : &table->removed) = time;
}

bool descriptors_begin(struct descriptors *all, size_t number, const struct descriptor_change *change,
		       uint64_t time)
{
	struct descriptor_thread *thread = get_thread(all, number);
	struct descriptor_table *table;

	if (!thread)
		return false;
	descriptors_missed(all, number, time);
	table = table_of(all, number);
	thread->change = *change;
	thread->begin = time;
	thread->first =
		descriptors_depends(change) ? descriptors_object(all, number, change->first, UINT64_MAX) : 0;
	if (change->action == DESCRIPTOR_COPY || change->action == DESCRIPTOR_REPLACE)
		thread->change.object = thread->first;
	if (descriptors_removes(change))
		begin_removal(table, thread);
	if (change->action == DESCRIPTOR_HIDE || change->action == DESCRIPTOR_HIDE_ALL)
		descriptors_hide(table);
	table->hidden_always |= change->action == DESCRIPTOR_HIDE_ALL;
	if (change->action == DESCRIPTOR_SEPARATE) {
		table->divided = true;
		thread->change.action = DESCRIPTOR_NOTHING;
		return renew_table(all, thread, true);
	}
	return true;
}

/* A call has made a descriptor. @alone: no other one could remove it meanwhile */
static bool descriptors_add(struct descriptors *all, struct descriptor_table *table,
			    const struct descriptor_change *change, uint64_t descriptor, bool alone,
			    uint64_t time)
{
	struct descriptor *slot = descriptors_slot_of(table, descriptor);
	bool failed = false;

	if (!alone) {
		if (slot)
			slot->object = 0;
		return true;
	}
	if (slot && slot->object) /* which nothing has closed */
		descriptors_hide(table);
	if (table->hidden || !change->object)
		return true;
	slot = descriptors_reserve(all, table, descriptor, &failed);
	if (!slot)
		return !failed;
	slot->object = change->object;
	slot->close_on_exec = change->close_on_exec;
	slot->since = time;
	return true;
}

bool descriptors_made(struct descriptors *all, size_t number, int64_t descriptor, uint64_t time)
{
	struct descriptor_table *table = table_of(all, number);
	const struct descriptor_thread *thread;

	if (!table || descriptor < 0)
		return true;
	thread = &all->threads[number];
	if (thread->change.action != DESCRIPTOR_PAIR)
		return true;
	return descriptors_add(all, table, &thread->change, (uint64_t)descriptor,
			       was_alone(table, (uint64_t)descriptor, thread->begin), time);
}

/* The call of this thread has executed a program: its process has one thread, with a table of its own. */
static bool end_exec(struct descriptors *all, struct descriptor_thread *thread)
{
	struct descriptor_table *table = &all->tables[thread->table - 1];

	/* Or this thread was another one, which had this one's place from the exec on. */
	if (table->users > 1 || table->divided || table->hidden)
		return renew_table(all, thread, false);
	for (size_t n = 0; n < table->room; n++)
		if (table->slots[n].close_on_exec)
			table->slots[n] = (struct descriptor){ .object = 0 };
	return true;
}

bool descriptors_executed(struct descriptors *all, size_t number)
{
	if (!array_reserve_zeroed(all->threads, all->thread_room, number + 1))
		return false;
	all->threads[number].change.action = DESCRIPTOR_NOTHING;
	return renew_table(all, &all->threads[number], false);
}

/* Whether what the call depends on has stayed. */
static bool descriptors_stayed(const struct descriptor_table *table, const struct descriptor_thread *thread)
{
	const struct descriptor *slot = descriptors_slot_of(table, thread->change.first);

	return slot && slot->object && slot->object == thread->first && slot->since < thread->begin;
}

static bool makes_one(const struct descriptor_change *change)
{
	return change->action == DESCRIPTOR_OPEN || change->action == DESCRIPTOR_COPY ||
	       change->action == DESCRIPTOR_REPLACE;
}

/* An exec closes them no longer. Another thread may have set the opposite meanwhile. */
static void end_inherit(struct descriptor_table *table, const struct descriptor_change *change)
{
	if (change->close_on_exec || table->users > 1)
		return;
	for (uint64_t n = change->first; n <= change->last && n < table->room; n++)
		table->slots[n].close_on_exec = false;
}

bool descriptors_end(struct descriptors *all, size_t number, int64_t result, uint64_t time, uint32_t *made)
{
	struct descriptor_table *table = table_of(all, number);
	struct descriptor_thread *thread = table ? &all->threads[number] : NULL;
	struct descriptor_change change;
	bool alone = false;

	*made = 0;
	if (!table)
		return true;
	if (descriptors_removes(&thread->change))
		end_removal(table, thread, time, &alone);
	else if (result >= 0)
		alone = was_alone(table, (uint64_t)result, thread->begin);
	if (descriptors_depends(&thread->change) && !descriptors_stayed(table, thread))
		thread->change.object = 0;
	change = thread->change;
	thread->change.action = DESCRIPTOR_NOTHING;
	if (result < 0)
		return true;
	if (change.action == DESCRIPTOR_EXEC)
		return end_exec(all, thread);
	if (change.action == DESCRIPTOR_INHERIT)
		end_inherit(table, &change);
	if (!makes_one(&change))
		return true;
	if (!descriptors_add(all, table, &change, (uint64_t)result, alone, time))
		return false;
	*made = descriptors_object(all, number, (uint64_t)result, UINT64_MAX);
	return true;
}

void descriptors_missed(struct descriptors *all, size_t number, uint64_t time)
{
	struct descriptor_table *table = table_of(all, number);
	bool alone;

	if (!table)
		return;
	if (descriptors_removes(&all->threads[number].change))
		end_removal(table, &all->threads[number], time, &alone);
	all->threads[number].change.action = DESCRIPTOR_NOTHING;
}

/* A table as a child gets it: with what did not change while it was made. */
static bool copy_table(struct descriptors *all, const struct descriptor_table *from,
		       struct descriptor_table *to, uint64_t begin)
{
	bool failed = false;
	uint64_t count = from->room;

	to->hidden = from->hidden;
	to->hidden_always = from->hidden_always;
	while (count && !from->slots[count - 1].object)
		count--;
	if (!count)
		return true;
	if (!descriptors_reserve(all, to, count - 1, &failed)) {
		to->hidden = true;
		return !failed;
	}
	for (uint64_t n = 0; n < count; n++)
		if (from->slots[n].object && from->slots[n].since < begin)
			to->slots[n] = (struct descriptor){ .object = from->slots[n].object,
							    .close_on_exec = from->slots[n].close_on_exec,
							    .since = from->slots[n].since };
	return true;
}

bool descriptors_fork(struct descriptors *all, size_t number, size_t child, bool shares, bool joins,
		      uint64_t begin)
{
	const size_t most = number > child ? number : child;
	uint32_t parents, own;

	if (number == child) /* in a trace that is damaged */
		return true;
	if (!array_reserve_zeroed(all->threads, all->thread_room, most + 1) || !get_thread(all, number))
		return false;
	leave_table(all, &all->threads[child]);
	all->threads[child].change.action = DESCRIPTOR_NOTHING;
	parents = all->threads[number].table;
	if (shares) {
		all->threads[child].table = parents;
		all->tables[parents - 1].users++;
		return true;
	}
	all->tables[parents - 1].divided |= joins;
	own = descriptors_make_table(all);
	all->threads[child].table = own;
	if (!own || !copy_table(all, &all->tables[parents - 1], &all->tables[own - 1], begin))
		return false;
	if (joins)
		descriptors_hide(&all->tables[own - 1]);
	return true;
}

void descriptors_exit(struct descriptors *all, size_t number, uint64_t time)
{
	descriptors_missed(all, number, time);
	if (number < all->thread_room)
		leave_table(all, &all->threads[number]);
}

uint32_t descriptors_object(const struct descriptors *all, size_t number, uint64_t descriptor,
			    uint64_t before)
{
	const struct descriptor *slot = descriptors_slot_of(table_of(all, number), descriptor);

	return slot && slot->since < before ? slot->object : 0;
}

void descriptors_free(struct descriptors *all)
{
	for (size_t n = 0; n < all->table_count; n++)
		free(all->tables[n].slots);
	free(all->tables);
	free(all->threads);
	*all = (struct descriptors){ .table_count = 0 };
}
