/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The states and conditions that rules give to events. */
#ifndef BURIN_SESSION_EVENTS_EVENT_CONDITION_H
#define BURIN_SESSION_EVENTS_EVENT_CONDITION_H

#include "filter/filter_entry.h"
#include "filter/filter_error.h"
#include "session/session.h"

/*
 * event_condition - compile a rule's conditions for an event, and add the filter to the session.
 * @out: its filter, sample and limit, of WIRE_CONDITIONAL
 *
 * Context: the owner of events_lock, also in a traced program: calls no malloc, and changes neither errno nor the thread's
 * floating-point state.
 * Return: the event's desired state.
 */
enum wire_switch event_condition(struct session *session, const struct session_rule *rule,
				 const struct session_event *event, struct wire_condition *out);

/* event_condition_lacks - a fact, FILTER_*, that a filter needs and events of the kernel do not have; 0: they have all. */
unsigned event_condition_lacks(const struct filter_entry *filter);

/*
 * event_state_by_rules - set the condition of an event that does not exist yet, by the session's rules.
 * Context, return: as of event_condition().
 */
enum wire_switch event_state_by_rules(struct session *session, uint32_t index,
				      const struct session_event *event);

/* A registered event in private memory, since other processes can write the session. */
struct event_copy {
	struct session_event event; /* name, format, enums, types and level */
	char name[WIRE_NAME_MAX + 1], format[WIRE_FORMAT_MAX + 1], enums[WIRE_ENUMS_MAX + 1];
};

void event_copy(const struct session *session, uint32_t index, struct event_copy *out);

/* Why an event is WIRE_UNFIT. */
struct event_unfit {
	char rules[WIRE_RULES_MAX];
	struct filter_error fault;
	const char *where; /* the expression, in `rules` */
	const char *why;   /* the reason, in `fault` */
};

/* event_unfit_explain - explain it, for a listing. The session is a command's, perhaps read-only. */
void event_unfit_explain(const struct session *session, uint32_t index, struct event_unfit *out);

#endif
