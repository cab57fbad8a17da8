/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions of events that register later. The process that registers an event compiles the rule's expression itself, so
 * the event is filtered from its first record on.
 *
 * The expression may come from any process that can write the session. The compiler takes it from private memory, in
 * bounded time and depth.
 */
#include "session/events/event_condition.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/float_state.h"
#include "base/nolibc.h"
#include "filter/filter.h"
#include "filter/filter_entry.h"
#include "wire/wire_enum.h"

uint32_t session_filter_add(struct session *session, const void *program, uint32_t bytes)
{
	/* Readers copy WIRE_FILTER_MAX bytes from any offset. */
	const uint64_t room = session->geometry.filters_bytes - WIRE_FILTER_MAX;
	uint32_t used = __atomic_load_n(&session->shared->filters_used, __ATOMIC_RELAXED);

	if (used < WIRE_FILTERS_FIRST || used % WIRE_FILTER_ALIGN || used > room || bytes == 0 ||
	    bytes > room - used)
		return 0;
	for (uint32_t at = WIRE_FILTERS_FIRST; at + bytes <= used; at += WIRE_FILTER_ALIGN)
		if (memcmp(session->filters + at, program, bytes) == 0)
			return at;
	if (!session_have_memory(session, session->geometry.filters_offset + used, bytes))
		return 0;
	/* Reserve the bytes first: a process that dies here wastes them, but no other gets the same ones. */
	__atomic_store_n(&session->shared->filters_used,
			 used + ((bytes + WIRE_FILTER_ALIGN - 1) & ~(uint32_t)(WIRE_FILTER_ALIGN - 1)),
			 __ATOMIC_RELEASE);
	memcpy(session->filters + used, program, bytes);
	return used;
}

/*
 * Compile as the command does, whatever the program has set: its locale would decide how numbers are read, its rounding mode
 * what they become, and an overflow might be a signal. The C locale is one of the C library's own: it takes no memory.
 */
static int event_condition_compile(struct filter_entry *entry, const char *where,
				   const struct session_event *event)
{
	const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	struct float_state floats;
	struct filter_error fault;
	locale_t before;
	int error, saved = errno;

	if (plain == (locale_t)0)
		return -ENOMEM;
	before = uselocale(plain);
	float_state_default(&floats);
	error = filter_entry_make(entry, where, event->format, event->enums ? event->enums : "", event->types,
				  &fault);
	float_state_restore(&floats);
	uselocale(before);
	errno = saved;
	return error;
}

unsigned event_condition_lacks(const struct filter_entry *filter)
{
	const unsigned lacks = filter_facts((const struct wire_filter *)filter->bytes) &
			       (FILTER_DEPTH | FILTER_CORRELATION | FILTER_PROGRAM);

	return lacks & -lacks;
}

enum wire_switch event_condition(struct session *session, const struct session_rule *rule,
				 const struct session_event *event, struct wire_condition *out)
{
	struct filter_entry entry;

	*out = (struct wire_condition){ .sample = rule->sample, .limit = rule->limit };
	if (rule->state != WIRE_CONDITIONAL || !*rule->where)
		return rule->state;
	if (event_condition_compile(&entry, rule->where, event) == 0 &&
	    (!session->device || !event_condition_lacks(&entry)))
		out->filter = session_filter_add(session, entry.bytes, entry.size);
	return out->filter ? WIRE_CONDITIONAL : WIRE_UNFIT;
}

/* Store the condition of an event that does not exist yet. Return: false: there is no memory. */
static bool set_condition(struct session *session, uint32_t index, const struct wire_condition *condition)
{
	struct wire_condition *own = &session->conditions[index];

	if (!session_have_memory(session, (uint64_t)((char *)own - session->base), sizeof(*own)))
		return false;
	*own = *condition;
	return true;
}

enum wire_switch event_state_by_rules(struct session *session, uint32_t index,
				      const struct session_event *event)
{
	char rules[WIRE_RULES_MAX];
	struct wire_condition condition;
	struct session_rule rule;
	enum wire_switch state;

	/* Private: no other process may change them while they are read. */
	memcpy(rules, session->shared->rules, sizeof(rules));
	rules[WIRE_RULES_MAX - 1] = 0;
	session_rules_match(rules, event->name, event->level, &rule);
	state = event_condition(session, &rule, event, &condition);
	return state == WIRE_CONDITIONAL && !set_condition(session, index, &condition) ? WIRE_UNFIT : state;
}

void event_copy(const struct session *session, uint32_t index, struct event_copy *out)
{
	const struct wire_event entry = session->entries[index];

	session_event_copy(session, entry.name, out->name, sizeof(out->name));
	session_event_copy(session, entry.format, out->format, sizeof(out->format));
	session_event_copy(session, entry.enums, out->enums, sizeof(out->enums));
	if (!wire_enum_valid(out->enums))
		out->enums[0] = 0;
	out->event = (struct session_event){ .name = out->name,
					     .format = out->format,
					     .enums = out->enums,
					     .types = entry.types,
					     .level = entry.level };
}

void event_unfit_explain(const struct session *session, uint32_t index, struct event_unfit *out)
{
	struct event_copy copy;
	struct session_rule rule;
	struct filter_entry entry;

	memcpy(out->rules, session->shared->rules, sizeof(out->rules));
	out->rules[WIRE_RULES_MAX - 1] = 0;
	event_copy(session, index, &copy);
	session_rules_match(out->rules, copy.name, copy.event.level, &rule);
	out->where = rule.where;
	out->why = out->fault.message;
	if (!*rule.where)
		filter_error_set(&out->fault, 0, 0, "the rule for it has changed");
	else if (filter_entry_make(&entry, rule.where, copy.format, copy.enums, copy.event.types,
				   &out->fault) != 0)
		return;
	else if (session->device && event_condition_lacks(&entry))
		filter_error_set(&out->fault, 0, 0, "events of the kernel have no %s; use pid or thread",
				 filter_fact_name(event_condition_lacks(&entry)));
	else
		filter_error_set(&out->fault, 0, 0,
				 session->device
					 ? "only commands compile filters of the kernel; repeat burin enable"
					 : "there was no room for its filter in the session");
}
