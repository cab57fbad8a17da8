// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events and their sites. Tracepoints of a module are registered when it is loaded, before its init, and forgotten when it
 * goes; the event and its records stay.
 */
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "checks.h"
#include "debugfs.h"
#include "events.h"
#include "hooks.h"
#include "probes.h"
#include "session/event_index.h"
#include "session/events/transaction.h"
#include "source/tracepoint/fields/enum_text.h"
#include "source/tracepoint/fields/site_types.h"
#include "switches.h"
#include "wire/wire_format.h"

/* ---- for src/session/events/event_register.c; the caller holds burin_mutex */

int transaction_begin_table(struct session *session)
{
	return 0;
}

void transaction_end_table(struct session *session)
{
}

void transaction_new_event(struct session *session, uint32_t index, const struct session_event *event)
{
	struct session_rule rule;

	session_rules_match(session->shared->rules, event->name, event->level, &rule);
	session->conditions[index] = (struct wire_condition){ .sample = rule.sample, .limit = rule.limit };
	/* Only commands compile filters: the event is off until one is repeated. */
	session->desired[index] = rule.state == WIRE_CONDITIONAL && *rule.where ? WIRE_UNFIT : rule.state;
}

bool session_have_memory(struct session *session, uint64_t offset, uint64_t bytes)
{
	return true;
}

/* ---- the sites and enums of modules */

/* The mark whose key the module's next jump label has. @at: number of jump labels that were looked at. Return: NULL: there is none. */
static struct burin_kernel_mark *next_mark(const struct module *module, u64 magic, unsigned int *at)
{
	while (*at < module->num_jump_entries) {
		struct static_key *key = jump_entry_key(&module->jump_entries[(*at)++]);
		struct burin_kernel_mark *mark = container_of(key, struct burin_kernel_mark, key.key), found;

		/* The key may be anywhere, and so what is before it. */
		if (within_module((unsigned long)key, module) &&
		    copy_from_kernel_nofault(&found, mark, offsetof(struct burin_kernel_mark, key)) == 0 &&
		    found.magic == magic && found.self == mark)
			return mark;
	}
	return NULL;
}

/* The enums of an object, as programs have them. */
struct enums {
	struct burin_enum *begin, *end;
};

static struct enums enums_of(const struct module *module)
{
	unsigned int at = 0, count = 0;
	struct burin_kernel_mark *mark;
	struct enums enums;

	while (next_mark(module, BURIN__KERNEL_ENUM_MAGIC, &at))
		count++;
	enums.begin = enums.end = count ? kvmalloc_array(count, sizeof(*enums.begin), GFP_KERNEL) : NULL;
	at = 0;
	while (enums.begin && (mark = next_mark(module, BURIN__KERNEL_ENUM_MAGIC, &at)))
		*enums.end++ = container_of(mark, struct burin_kernel_enum, mark)->names;
	return enums;
}

/* The payload's size, if all types have one. */
static u32 payload_bytes(u64 types)
{
	u32 bytes = 0;

	for (; types; types >>= 4)
		bytes += format_type_bytes(types & 15);
	return bytes;
}

static void add_site(struct burin_kernel_site *site, struct module *module, const struct enums *enums)
{
	const u64 types = site_types_complete(site->site.format, site->site.types);
	char *names = enum_text(site->site.format, enums->begin, enums->end);
	const struct session_event event = { .name = site->site.name,
					     .format = site->site.format,
					     .file = site->site.file,
					     .enums = names,
					     .types = site_types_of_records(types),
					     .line = site->site.line,
					     .kind = site->site.kind,
					     .level = site->site.level };
	uint16_t id;

	session_event_register(&burin_session, &event, 1, &id);
	site->module = module;
	site->site.types = types;
	if (!id)
		pr_warn("burin: %s: event %s is refused: %s\n", module->name, event.name,
			session_event_fault(&burin_session, &event));
	kfree(names);
	if (!id)
		return;
	site->site.id = id;
	site->head = id | (u32)(sizeof(struct wire_compact) + payload_bytes(types)) << 16;
	site->site.state = &burin_session.switches[id - 1];
	switches_add_site(id - 1, site);
}

static void add_module(struct module *module)
{
	const struct enums enums = enums_of(module);
	struct burin_kernel_mark *mark;
	unsigned int at = 0;

	mutex_lock(&burin_mutex);
	while ((mark = next_mark(module, BURIN__KERNEL_MAGIC, &at))) {
		struct burin_kernel_site *site = container_of(mark, struct burin_kernel_site, mark);

		if (!site->module) /* another jump label of it was before */
			add_site(site, module, &enums);
	}
	debugfs_list();
	mutex_unlock(&burin_mutex);
	kvfree(enums.begin);
}

static void remove_module(struct module *module)
{
	mutex_lock(&burin_mutex);
	hooks_forget(module);
	switches_forget_sites(module);
	mutex_unlock(&burin_mutex);
}

static int coming(struct notifier_block *block, unsigned long state, void *module)
{
	if (state == MODULE_STATE_COMING)
		add_module(module);
	return NOTIFY_OK;
}

static int going(struct notifier_block *block, unsigned long state, void *module)
{
	if (state == MODULE_STATE_GOING)
		remove_module(module);
	return NOTIFY_OK;
}

/* The kernel's own notifier for jump labels has priority 1: it makes them usable first, and forgets them last. */
static struct notifier_block coming_block = { .notifier_call = coming, .priority = 0 };
static struct notifier_block going_block = { .notifier_call = going, .priority = 2 };

/* No probe runs any more when it returns. */
static void switch_all_off(void)
{
	mutex_lock(&burin_mutex);
	burin_session.shared->paused = 1;
	for (u32 n = 0; n < session_event_count(&burin_session); n++)
		switches_take_effect(n);
	mutex_unlock(&burin_mutex);
	tracepoint_synchronize_unregister();
}

int events_begin(bool texts)
{
	int error = switches_begin();

	if (error)
		return error;
	mutex_lock(&burin_mutex);
	error = probes_register(texts);
	if (!error)
		for (u32 n = 0; n < session_event_count(&burin_session); n++)
			switches_take_effect(n);
	mutex_unlock(&burin_mutex);
	if (!error)
		error = register_module_notifier(&going_block);
	if (!error) {
		error = register_module_notifier(&coming_block);
		if (error)
			unregister_module_notifier(&going_block);
	}
	if (error) {
		switch_all_off();
		switches_end();
	}
	return error;
}

void events_end(void)
{
	switch_all_off();
	unregister_module_notifier(&coming_block);
	unregister_module_notifier(&going_block);
	checks_end();
	event_index_free(&burin_session);
	switches_end();
}
