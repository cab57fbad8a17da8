// SPDX-License-Identifier: GPL-2.0-only
/* Checks before a record; see checks.h. */
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "checks.h"
#include "filter/filter.h"
#include "ring/ring_deps.h"
#include "session/events/condition_counts.h"

DEFINE_STATIC_KEY_FALSE(record_checked);
DEFINE_STATIC_KEY_FALSE(record_fast);
u8 checks_of[EVENTS_MAX];
static struct hook __rcu **hooks; /* by the event's index; NULL: no event ever had one */

/* ---- before a record */

static notrace u32 present_second(void)
{
	return ktime_get_seconds();
}

/* The subject is the task of the record, also in an interrupt. */
static notrace noinline bool condition_holds(u16 id, const void *payload, u32 bytes)
{
	struct wire_condition *condition = &burin_session.conditions[id - 1];
	/* Acquire: the program is complete. Pairs with the release in conditions_store(). */
	const u32 filter = smp_load_acquire(&condition->filter);

	if (filter) {
		const struct filter_subject subject = { .pid = current->tgid,
							.tid = current->pid,
							.cpu = raw_smp_processor_id(),
							.thread = current->comm };

		if (!filter_passes((const void *)(burin_session.filters + filter), payload, bytes, &subject))
			return false;
	}
	return condition_counts_pass(condition, present_second);
}

static notrace void call_hook(const void *payload, u16 id, u32 bytes)
{
	/* Acquire: the table is complete. Pairs with the release in checks_set_hook(). */
	struct hook __rcu **all = smp_load_acquire(&hooks);
	const struct hook *hook = all ? rcu_dereference_sched(all[id - 1]) : NULL;

	if (hook)
		hook->function(&hook->site, payload, bytes, hook->data);
}

/* With preemption off: functions and filters that were removed are gone after a grace period. */
notrace bool checks_pass(const void *buffer, u16 id, u32 length)
{
	const char *payload = (const char *)buffer + WIRE_HEADROOM;
	const u32 bytes = length - sizeof(struct wire_compact);
	bool passes;
	u8 state;

	preempt_disable_notrace();
	call_hook(payload, id, bytes);
	/* Acquire: the condition is complete. Pairs with the release in switches_take_effect(). */
	state = smp_load_acquire(&burin_session.switches[id - 1]);
	passes = state == WIRE_ON || (state == WIRE_CONDITIONAL && condition_holds(id, payload, bytes));
	preempt_enable_notrace();
	return passes;
}

/* ---- which path */

static void choose(bool checked)
{
	if (ring_clock_source == WIRE_CLOCK_TSC && !checked)
		static_branch_enable(&record_fast);
	else
		static_branch_disable(&record_fast);
}

void checks_begin(void)
{
	choose(false);
}

void checks_end(void)
{
	kvfree(hooks);
}

void checks_want(u32 index, bool more)
{
	WRITE_ONCE(checks_of[index], checks_of[index] + (more ? 1 : -1));
	if (more) {
		choose(true);
		static_branch_inc(&record_checked);
	} else {
		static_branch_dec(&record_checked);
		choose(static_key_count(&record_checked.key) != 0);
	}
}

/* ---- functions */

struct hook *checks_hook(u32 index)
{
	return hooks ? rcu_dereference_protected(hooks[index], lockdep_is_held(&burin_mutex)) : NULL;
}

int checks_set_hook(u32 index, struct hook *hook)
{
	struct hook __rcu **all = hooks;

	if (!all) {
		all = kvcalloc(burin_session.geometry.events_max, sizeof(*all), GFP_KERNEL);
		if (!all)
			return -ENOMEM;
		/* Release: it is empty. Pairs with the acquire in call_hook(). */
		smp_store_release(&hooks, all);
	}
	rcu_assign_pointer(all[index], hook);
	return 0;
}
