// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that other modules give to events (burin_probe_set()). While there is none, records do not look for one: a jump
 * label is off.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "record.h"
#include "session/event_index.h"

struct hook {
	burin_callback *function;
	void *data;
	struct burin_site site;
};

DEFINE_STATIC_KEY_FALSE(record_hooked);
static struct hook __rcu **hooks; /* by the event's index; NULL: no event ever had one */

bool hooks_has(u32 index)
{
	return hooks && rcu_access_pointer(hooks[index]);
}

notrace bool hooks_call(const void *buffer, u16 id, u32 length)
{
	const struct hook *hook;

	preempt_disable_notrace();
	hook = rcu_dereference_sched(hooks[id - 1]);
	if (hook)
		hook->function(&hook->site, (const char *)buffer + WIRE_HEADROOM,
			       length - sizeof(struct wire_compact), hook->data);
	preempt_enable_notrace();
	return READ_ONCE(burin_session.switches[id - 1]) == WIRE_ON;
}

static int set(u32 index, burin_callback *function, void *data)
{
	struct hook *old = rcu_dereference_protected(hooks[index], lockdep_is_held(&burin_mutex)),
		    *new = NULL;
	const struct wire_event *event = &burin_session.entries[index];

	if (function && old)
		return -EBUSY;
	if (!function && !old)
		return 0;
	if (function) {
		new = kzalloc(sizeof(*new), GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		*new = (struct hook){ function,
				      data,
				      { .state = &burin_session.switches[index],
					.name = burin_session.text + event->name,
					.format = burin_session.text + event->format,
					.file = burin_session.text + event->file,
					.types = event->types,
					.line = event->line,
					.kind = event->kind,
					.level = event->level,
					.id = index + 1 } };
		record_choose(true);
		static_branch_inc(&record_hooked);
	}
	rcu_assign_pointer(hooks[index], new);
	events_take_effect(index);
	if (!new)
		static_branch_dec(&record_hooked);
	record_choose(static_key_count(&record_hooked.key) != 0);
	/* Calls that have begun run with preemption off. */
	synchronize_rcu();
	kfree(old);
	return 0;
}

int burin_probe_set(const char *name, burin_callback *function, void *data)
{
	u32 number;
	int error;

	mutex_lock(&burin_mutex);
	number = event_index_find(&burin_session, SESSION_BY_NAME, name, session_event_count(&burin_session));
	if (number && !hooks)
		hooks = kvcalloc(burin_session.geometry.events_max, sizeof(*hooks), GFP_KERNEL);
	error = !number ? -ENOENT : !hooks ? -ENOMEM : set(number - 1, function, data);
	mutex_unlock(&burin_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(burin_probe_set);

void hooks_forget(const struct module *module)
{
	for (u32 n = 0; hooks && n < session_event_count(&burin_session); n++) {
		const struct hook *hook = rcu_dereference_protected(hooks[n], lockdep_is_held(&burin_mutex));

		if (hook && within_module((unsigned long)hook->function, module))
			set(n, NULL, NULL);
	}
}

void hooks_end(void)
{
	kvfree(hooks);
}
