// SPDX-License-Identifier: GPL-2.0-only
/* Transactions, which commands prepare in their own memory. Nothing of that is believed. */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/glob.h"
#include "conditions.h"
#include "control.h"
#include "memory.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"
#include "session/events/history.h"
#include "session/events/rules.h"
#include "switches.h"
#include "wire/wire_device.h"

/* A transaction, copied. */
struct change {
	struct wire_device_change head;
	struct wire_journal_entry *entries;
	char *rules;
	char *history;
	char *filters;
};

static u64 slot_bytes(void)
{
	return wire_change_bytes(burin_session.geometry.events_max);
}

static void forget(struct change *change)
{
	kvfree(change->entries);
	kvfree(change->rules);
	kvfree(change->history);
	kvfree(change->filters);
}

/* A copy of an array of the caller's; NULL: it has none. */
static void *copied(u64 address, u64 bytes)
{
	void *copy;

	if (!bytes)
		return NULL;
	if ((u64)(uintptr_t)address != address)
		return ERR_PTR(-EFAULT);
	copy = kvmalloc(bytes, GFP_KERNEL);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(copy, u64_to_user_ptr(address), bytes)) {
		kvfree(copy);
		return ERR_PTR(-EFAULT);
	}
	return copy;
}

static long copy_all(struct change *change)
{
	struct wire_device_change *head = &change->head;
	void *entries, *rules, *history, *filters;

	entries = copied(head->entries, (u64)head->count * sizeof(*change->entries));
	if (IS_ERR(entries))
		return PTR_ERR(entries);
	change->entries = entries;
	rules = copied(head->rules, head->rules ? WIRE_RULES_MAX : 0);
	if (IS_ERR(rules))
		return PTR_ERR(rules);
	change->rules = rules;
	history = copied(head->history, head->drafts * slot_bytes());
	if (IS_ERR(history))
		return PTR_ERR(history);
	change->history = history;
	filters = copied(head->filters, head->filters_bytes);
	if (IS_ERR(filters))
		return PTR_ERR(filters);
	change->filters = filters;
	return 0;
}

static long check_head(const struct wire_device_change *head)
{
	if (head->version != WIRE_DEVICE_VERSION || head->paused > 1 || head->reserved ||
	    head->filters_bytes > burin_session.geometry.filters_bytes ||
	    head->drafts > WIRE_CHANGES_AT_ONCE || head->count > burin_session.geometry.events_max)
		return -EINVAL;
	if (head->size_packets && (head->size_packets < WIRE_RING_PACKETS_MIN ||
				   head->size_packets > burin_session.geometry.ring_packets))
		return -EINVAL;
	return 0;
}

static long check_entries(const struct change *change)
{
	const u32 events = session_event_count(&burin_session);

	for (u32 n = 0; n < change->head.count; n++) {
		const struct wire_journal_entry *entry = &change->entries[n];

		if (!entry->id || entry->id > events)
			return -EINVAL;
		if (conditions_check(entry, change->head.filters_bytes))
			return -EINVAL;
	}
	return 0;
}

static long check_drafts(struct change *change)
{
	for (u32 n = 0; n < change->head.drafts; n++) {
		const struct wire_change *draft = (void *)(change->history + n * slot_bytes());

		if (draft->kind == WIRE_CHANGE_STATE || draft->kind >= WIRE_CHANGE_KINDS ||
		    draft->kind == WIRE_CHANGE_UNFIT || draft->kind == WIRE_CHANGE_CALLS || draft->reserved ||
		    draft->events > burin_session.geometry.events_max)
			return -EINVAL;
	}
	return 0;
}

/* Add the drafts to the history. All that says by whom and when is the kernel's. */
static void publish(struct change *change)
{
	struct wire_session *shared = burin_session.shared;

	for (u32 n = 0; n < change->head.drafts; n++) {
		struct wire_change *draft = (void *)(change->history + n * slot_bytes());
		const u64 number = shared->history + n + 1;
		struct wire_change *slot =
			(void *)(burin_session.history + number % WIRE_CHANGES * slot_bytes());

		draft->number = 0;
		draft->time = ring_clock();
		draft->pid = task_tgid_nr(current);
		draft->tid = task_pid_nr(current);
		draft->uid = __kuid_val(current_euid());
		strscpy_pad(draft->program, current->comm, sizeof(draft->program));
		draft->command[sizeof(draft->command) - 1] = 0;
		draft->text[sizeof(draft->text) - 1] = 0;
		/* A reader that sees any later store also sees that the number has changed. */
		WRITE_ONCE(slot->number, 0);
		smp_wmb();
		memcpy((char *)slot + sizeof(slot->number), (char *)draft + sizeof(draft->number),
		       slot_bytes() - sizeof(slot->number));
		smp_store_release(&slot->number, number);
	}
	smp_store_release(&shared->history, shared->history + change->head.drafts);
}

static long carry_out(struct change *change)
{
	struct wire_session *shared = burin_session.shared;
	const struct wire_device_change *head = &change->head;
	const u32 events = session_event_count(&burin_session);
	const bool all = shared->paused != head->paused;
	long error = 0;

	if (shared->changes != head->changes)
		return -EAGAIN;
	error = conditions_add(change->filters, head->filters_bytes);
	if (!error)
		error = check_entries(change);
	if (!error)
		error = check_drafts(change);
	if (!error && head->size_packets && head->size_packets != (u32)burin_session.rings[0].control->size)
		error = memory_resize(head->size_packets);
	if (error)
		return error;
	/* From here on nothing fails. Odd: a listing waits until it is even. */
	WRITE_ONCE(shared->changes, shared->changes + 1);
	smp_wmb();
	if (change->rules) {
		change->rules[WIRE_RULES_MAX - 1] = 0;
		memcpy(shared->rules, change->rules, WIRE_RULES_MAX);
	}
	WRITE_ONCE(shared->paused, head->paused);
	WRITE_ONCE(shared->filters_used, shared->filters_used + head->filters_bytes);
	for (u32 n = 0; n < head->count; n++)
		conditions_store(&change->entries[n]);
	if (all)
		for (u32 n = 0; n < events; n++)
			switches_take_effect(n);
	else
		for (u32 n = 0; n < head->count; n++)
			switches_take_effect(change->entries[n].id - 1);
	conditions_collect();
	publish(change);
	smp_store_release(&shared->changes, shared->changes + 1);
	return 0;
}

long control_change(const struct wire_device_change __user *user)
{
	struct change change = { 0 };
	long error;

	if (copy_from_user(&change.head, user, sizeof(change.head)))
		return -EFAULT;
	error = check_head(&change.head);
	if (!error)
		error = copy_all(&change);
	if (!error) {
		mutex_lock(&burin_mutex);
		error = carry_out(&change);
		mutex_unlock(&burin_mutex);
	}
	forget(&change);
	return error;
}

/* ---- packets */

enum {
	LOOK_TRIES = 100, /* to see a ring while its CPU writes it */
};

/* The number of packets that a ring has opened. Context: burin_mutex, which keeps its memory. */
static u64 opened_packets(const struct ring *ring)
{
	struct ring_look look = { 0 };

	if (!READ_ONCE(ring->ready_words))
		return 0;
	for (int tries = 0; tries < LOOK_TRIES && !ring_look(ring, &look); tries++)
		cpu_relax();
	return look.empty ? 0 : look.sequence + 1;
}

long control_consume(u32 index, u64 sequence)
{
	struct ring *ring;
	long error = 0;

	if (burin_session.geometry.mode != WIRE_MODE_STREAM || index >= burin_session.ring_count)
		return -EINVAL;
	ring = &burin_session.rings[array_index_nospec(index, burin_session.ring_count)];
	if (sequence < ring->control->consumed || sequence > opened_packets(ring))
		error = -ERANGE;
	else
		ring_give_back(ring, sequence);
	return error;
}

long control_counts(struct wire_device_counts __user *user)
{
	struct wire_device_counts counts;
	const struct ring *ring;

	if (copy_from_user(&counts, user, sizeof(counts)))
		return -EFAULT;
	if (counts.reserved || counts.ring >= burin_session.ring_count)
		return -EINVAL;
	ring = &burin_session.rings[array_index_nospec(counts.ring, burin_session.ring_count)];
	mutex_lock(&burin_mutex);
	counts.produced = opened_packets(ring);
	counts.consumed = READ_ONCE(ring->control->consumed);
	for (unsigned int cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		counts.lost[cause] = READ_ONCE(ring->control->lost[cause]);
	mutex_unlock(&burin_mutex);
	return copy_to_user(user, &counts, sizeof(counts)) ? -EFAULT : 0;
}

bool control_readable(void)
{
	bool readable = false;

	mutex_lock(&burin_mutex);
	for (u32 n = 0; n < session_names_index(&burin_session) && !readable; n++)
		readable = opened_packets(&burin_session.rings[n]) >
			   READ_ONCE(burin_session.rings[n].control->consumed) + 1;
	mutex_unlock(&burin_mutex);
	return readable;
}

/* ---- switching by the module itself, for its view in debugfs */

int control_switch(const char *glob, bool on)
{
	struct wire_session *shared = burin_session.shared;
	int matched = 0;

	mutex_lock(&burin_mutex);
	history_begin(&burin_session);
	memcpy(shared->journal_rules, shared->rules, WIRE_RULES_MAX);
	history_text(&burin_session, glob);
	for (u32 n = 0; n < session_event_count(&burin_session); n++) {
		if (!glob_match(glob, session_event_text(&burin_session, burin_session.entries[n].name)))
			continue;
		history_event(&burin_session, n + 1, on ? WIRE_ON : WIRE_OFF, NULL);
		WRITE_ONCE(burin_session.desired[n], on ? WIRE_ON : WIRE_OFF);
		switches_take_effect(n);
		matched++;
	}
	history_end(&burin_session);
	history_stamp(&burin_session);
	history_publish(&burin_session);
	smp_store_release(&shared->changes, shared->changes + 2);
	mutex_unlock(&burin_mutex);
	return matched;
}

int control_pause(bool paused)
{
	mutex_lock(&burin_mutex);
	history_begin(&burin_session);
	memcpy(burin_session.shared->journal_rules, burin_session.shared->rules, WIRE_RULES_MAX);
	if (paused != (burin_session.shared->paused != 0))
		history_draft(&burin_session, paused ? WIRE_CHANGE_PAUSE : WIRE_CHANGE_RESUME);
	WRITE_ONCE(burin_session.shared->paused, paused);
	for (u32 n = 0; n < session_event_count(&burin_session); n++)
		switches_take_effect(n);
	history_end(&burin_session);
	history_stamp(&burin_session);
	history_publish(&burin_session);
	smp_store_release(&burin_session.shared->changes, burin_session.shared->changes + 2);
	mutex_unlock(&burin_mutex);
	return 0;
}
