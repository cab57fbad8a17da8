// SPDX-License-Identifier: GPL-2.0-only
/* Functions that other modules give to events; see hooks.h. */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "checks.h"
#include "hooks.h"
#include "session/event_index.h"
#include "switches.h"

static struct hook *make(u32 index, burin_callback *function, void *data)
{
	const struct wire_event *event = &burin_session.entries[index];
	struct hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);

	if (hook)
		*hook = (struct hook){ function,
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
	return hook;
}

static int add(u32 index, burin_callback *function, void *data)
{
	struct hook *hook;
	int error;

	if (checks_hook(index))
		return -EBUSY;
	hook = make(index, function, data);
	if (!hook)
		return -ENOMEM;
	checks_want(index, true);
	error = checks_set_hook(index, hook);
	if (!error) {
		switches_take_effect(index);
		return 0;
	}
	checks_want(index, false);
	kfree(hook);
	return error;
}

static void remove(u32 index)
{
	struct hook *old = checks_hook(index);

	if (!old)
		return;
	checks_set_hook(index, NULL);
	/* Nothing reaches an event that is off, before records stop to ask whether it is. */
	switches_take_effect(index);
	checks_want(index, false);
	/* Calls that have begun run with preemption off. */
	synchronize_rcu();
	kfree(old);
}

int burin_probe_set(const char *name, burin_callback *function, void *data)
{
	u32 number;
	int error = 0;

	mutex_lock(&burin_mutex);
	number = event_index_find(&burin_session, SESSION_BY_NAME, name, session_event_count(&burin_session));
	if (!number)
		error = -ENOENT;
	else if (function)
		error = add(number - 1, function, data);
	else
		remove(number - 1);
	mutex_unlock(&burin_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(burin_probe_set);

void hooks_forget(const struct module *module)
{
	for (u32 n = 0; n < session_event_count(&burin_session); n++) {
		const struct hook *hook = checks_hook(n);

		if (hook && within_module((unsigned long)hook->function, module))
			remove(n);
	}
}
