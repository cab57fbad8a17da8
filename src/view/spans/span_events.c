/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events of spans; see span_events.h.
 *
 * An event may have several roles: the end of one pair can be the begin of another one. Ends come first in its list, so
 * that a pair of an event with itself measures from one to the next.
 *
 * Decoding only reads what span_events_make() has made, since several threads do it. So a system call whose number is in the record, not in
 * the event, takes its name along as a text.
 */
#include "view/spans/span_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "read/trace.h"

enum {
	NAME_BYTES = 600,
	NUMBER_BYTES = 40,
	TEXT_MAX = 1000, /* bytes of a value; longer ones are cut */
};

static const char syscall_prefix[] = "syscall:", kernel_prefix[] = "kernel.",
		  probe_prefix[] = "kernel.u:", return_prefix[] = "kernel.uret:";

/* ---- Definitions */

uint32_t span_events_define(struct span_events *events, enum span_kind kind, const char *name)
{
	const uint32_t text = view_string(events->strings, name);
	const uint64_t hash = hash_pair(text, kind);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&events->numbers, hash, &at));)
		if (events->definitions[number].name == text && events->definitions[number].kind == kind)
			return number;
	number = events->definition_count ? events->definition_count : 1;
	if (!array_reserve(events->definitions, events->definition_room, (size_t)number + 1) ||
	    !hash_table_reserve(&events->numbers))
		return 0;
	events->definitions[number] = (struct span_definition){
		.name = text,
		.kind = kind,
		.wanted = kind == SPAN_OF_PAIR || view_globs_match(events->choice->names, name),
		.births = kind == SPAN_OF_SYSCALL && kernel_ends_twice(name + sizeof(syscall_prefix) - 1),
		.endless = kind == SPAN_OF_SYSCALL && kernel_never_ends(name + sizeof(syscall_prefix) - 1),
	};
	events->definition_count = number + 1;
	hash_table_add(&events->numbers, hash, number);
	return number;
}

/* ---- Roles */

static int find_field(const struct burin_event *event, const char *name)
{
	const int field = burin_event_find(event, name);

	return field < 0 ? -1 : field;
}

/* The field by which a program reports that a span failed. */
static int find_failed(const struct burin_event *event)
{
	const int field = find_field(event, "error");

	return field >= 0 ? field : find_field(event, "failed");
}

/* Add a role to an event: ends first. Return: 0; -ENOMEM. */
static int add_role(struct span_events *events, const struct burin_event *event, const struct span_role *role)
{
	const uint32_t number = events->role_count ? events->role_count : 1;
	uint32_t *link = &events->first[event->id];
	struct span_role *added;

	if (!role->definition || !array_reserve(events->roles, events->role_room, (size_t)number + 1))
		return -ENOMEM;
	events->role_count = number + 1;
	added = &events->roles[number];
	*added = *role;
	added->failed = role->side == SPAN_BEGIN || role->kind == SPAN_OF_CALL ? -1 : find_failed(event);
	for (unsigned n = 0; n < events->choice->by_count; n++) {
		added->by[n] = find_field(event, events->choice->by[n]);
		added->has_by |= added->by[n] >= 0;
	}
	while (*link && events->roles[*link].side == SPAN_END)
		link = &events->roles[*link].next;
	added->next = *link;
	*link = number;
	return 0;
}

static bool is_begin(const struct burin_event *event)
{
	return event->kind == BURIN_KIND_BEGIN || event->kind == BURIN_KIND_SPAN_BEGIN;
}

/* "NAME.begin", "NAME.end": without the suffix. Return: false: it has none. */
static bool name_of_span(const struct burin_event *event, char name[NAME_BYTES])
{
	const char *suffix = is_begin(event) ? ".begin" : ".end";
	const size_t bytes = strlen(event->name), rest = strlen(suffix);

	if (bytes <= rest || bytes >= NAME_BYTES || strcmp(event->name + bytes - rest, suffix) != 0)
		return false;
	memcpy(name, event->name, bytes - rest);
	name[bytes - rest] = 0;
	return true;
}

/* The fields of an id: those that the macros put first. */
static void find_id(const struct burin_event *event, struct span_role *role)
{
	static const char *const fields[] = { "span_id_high", "span_id" };

	for (unsigned n = 0; n < 2; n++) {
		const int field = find_field(event, fields[n]);

		if (field >= 0)
			role->key[role->key_count++] = field;
	}
}

static int add_span(struct span_events *events, const struct burin_event *event)
{
	const bool of_thread = event->kind == BURIN_KIND_BEGIN || event->kind == BURIN_KIND_END,
		   of_id = event->kind == BURIN_KIND_SPAN_BEGIN || event->kind == BURIN_KIND_SPAN_END;
	struct span_role role = { .kind = of_id ? SPAN_OF_ID : SPAN_OF_THREAD,
				  .side = is_begin(event) ? SPAN_BEGIN : SPAN_END };
	char name[NAME_BYTES];

	if ((!of_thread && !of_id) || !name_of_span(event, name))
		return 0;
	if (of_id)
		find_id(event, &role);
	role.definition = span_events_define(events, role.kind, name);
	return add_role(events, event, &role);
}

/* ---- Probes */

/* The rest of a name of a probe, "server:parse" of "kernel.u:server:parse". Return: NULL: it is no such one. */
static const char *name_of_probe(const struct burin_event *event, const char *prefix)
{
	const size_t bytes = strlen(prefix);

	return strncmp(event->name, prefix, bytes) ? NULL : event->name + bytes;
}

/* Enter the probes of returns, so that those of begins find theirs: a glob may have put thousands. Return: 0; -ENOMEM. */
static int add_return(struct span_events *events, const struct burin_event *event)
{
	const char *name = name_of_probe(event, return_prefix);

	if (!name)
		return 0;
	if (!hash_table_reserve(&events->returns))
		return -ENOMEM;
	hash_table_add(&events->returns, hash_text(name), event->id);
	return 0;
}

/* Whether an event of the same name, of which a hostile trace may have many, has given a return its role. */
static bool has_end(const struct span_events *events, const struct burin_event *end,
		    const struct span_role *role)
{
	for (uint32_t n = events->first[end->id]; n; n = events->roles[n].next)
		if (events->roles[n].side == SPAN_END && events->roles[n].definition == role->definition)
			return true;
	return false;
}

/* A function with probes at its begin and its return: its calls are spans. */
static int add_probe(struct span_events *events, const struct burin_event *event)
{
	const char *name = name_of_probe(event, probe_prefix);
	struct span_role role = { .kind = SPAN_OF_THREAD, .side = SPAN_BEGIN };
	const struct burin_event *end;
	uint32_t id;

	if (!name)
		return 0;
	for (size_t at = 0; (id = hash_table_next(&events->returns, hash_text(name), &at));) {
		end = burin_trace_event(events->trace, id);
		if (strcmp(end->name + strlen(return_prefix), name) != 0)
			continue;
		role.definition = span_events_define(events, role.kind, event->name + strlen(kernel_prefix));
		if (add_role(events, event, &role) != 0)
			return -ENOMEM;
		role.side = SPAN_END;
		return has_end(events, end, &role) ? 0 : add_role(events, end, &role);
	}
	return 0;
}

/* ---- System calls and pairs */

static int add_syscall(struct span_events *events, const struct burin_event *event)
{
	const struct kernel_event *kernel = &events->view.events[event->id];
	char name[NAME_BYTES];

	if (kernel->kind != KERNEL_ENTER && kernel->kind != KERNEL_LEAVE && kernel->kind != KERNEL_LATE)
		return 0;
	snprintf(name, sizeof(name), "%s%s", syscall_prefix, events->strings->texts[kernel->call]);
	return add_role(events, event,
			&(struct span_role){ .definition = span_events_define(events, SPAN_OF_SYSCALL, name),
					     .kind = SPAN_OF_SYSCALL,
					     .side = kernel->kind == KERNEL_ENTER   ? SPAN_BEGIN
						     : kernel->kind == KERNEL_LEAVE ? SPAN_END
										    : SPAN_LATE,
					     .kernel = kernel });
}

/* A pair's name of an event of the kernel may be that of its tracepoint, as in the option --kernel. */
static bool matches(const char *glob, const char *name)
{
	const struct view_globs globs = { .globs = &glob, .count = 1 };

	return view_globs_match(&globs, name) || (!strncmp(name, kernel_prefix, sizeof(kernel_prefix) - 1) &&
						  view_globs_match(&globs, name + sizeof(kernel_prefix) - 1));
}

/* A role of an event in a pair, if it has the fields. */
static int add_side(struct span_events *events, const struct burin_event *event, const struct span_pair *pair,
		    enum span_side side)
{
	struct span_role role = { .definition = span_events_define(events, SPAN_OF_PAIR, pair->name),
				  .kind = SPAN_OF_PAIR,
				  .side = side,
				  .key_count = pair->field_count };

	for (unsigned n = 0; n < pair->field_count; n++) {
		role.key[n] = find_field(event, pair->fields[n]);
		if (role.key[n] < 0)
			return 0;
	}
	return add_role(events, event, &role);
}

/* @sides: counts the begins and ends that the trace has of each pair. */
static int add_pairs(struct span_events *events, const struct burin_event *event, unsigned (*sides)[2])
{
	int error = 0;

	for (size_t n = 0; n < events->choice->pair_count && !error; n++) {
		const struct span_pair *pair = &events->choice->pairs[n];
		const uint32_t before = events->role_count;

		if (matches(pair->end, event->name))
			error = add_side(events, event, pair, SPAN_END);
		sides[n][1] += events->role_count != before;
		if (!error && matches(pair->begin, event->name)) {
			const uint32_t ends = events->role_count;

			error = add_side(events, event, pair, SPAN_BEGIN);
			sides[n][0] += events->role_count != ends;
		}
	}
	return error;
}

static int add_call_event(struct span_events *events, const struct burin_event *event)
{
	if (!events->calls || !burin_calls_is_call(events->calls, event))
		return 0;
	return add_role(events, event,
			/* The definition is that of the function: take_call() finds it. */
			&(struct span_role){ .definition = 1, .kind = SPAN_OF_CALL, .side = SPAN_WHOLE });
}

/* ---- Calls */

/* The functions whose calls are wanted. Return: how many; -ENOMEM. */
static int add_functions(struct span_events *events)
{
	const uint32_t count = burin_calls_functions(events->calls);
	int wanted = 0;

	events->functions = calloc((size_t)count + 1, sizeof(*events->functions));
	if (!events->functions)
		return -ENOMEM;
	for (uint32_t n = 1; n <= count; n++) {
		struct burin_function function;
		char name[NAME_BYTES];

		if (burin_calls_function(events->calls, n, &function) || !function.name)
			continue;
		snprintf(name, sizeof(name), "call:%s", function.name);
		if (!view_globs_match(events->choice->names, name))
			continue;
		events->functions[n] = span_events_define(events, SPAN_OF_CALL, name);
		if (!events->functions[n])
			return -ENOMEM;
		wanted++;
	}
	return wanted;
}

static int open_calls(struct span_events *events)
{
	const int error =
		events->choice->names->count ? burin_calls_open(&events->calls, events->trace) : -ENODATA;
	const int wanted = error ? 0 : add_functions(events);

	if (wanted <= 0) {
		burin_calls_close(events->calls);
		events->calls = NULL;
	}
	return error == -ENODATA ? 0 : error ? error : wanted < 0 ? wanted : 0;
}

/* ---- The whole */

typedef int (*add_event)(struct span_events *events, const struct burin_event *event);

static int add_each(struct span_events *events, add_event add)
{
	int error = 0;

	for (unsigned id = 1; id <= events->count && !error; id++) {
		const struct burin_event *event = burin_trace_event(events->trace, id);

		if (event)
			error = add(events, event);
	}
	return error;
}

static int add_each_pair(struct span_events *events, const char **missing)
{
	unsigned(*sides)[2] = calloc(events->choice->pair_count + 1, sizeof(*sides));
	int error = sides ? 0 : -ENOMEM;

	for (unsigned id = 1; id <= events->count && !error; id++) {
		const struct burin_event *event = burin_trace_event(events->trace, id);

		if (event)
			error = add_pairs(events, event, sides);
	}
	for (size_t n = 0; n < events->choice->pair_count && !error; n++) {
		const struct span_pair *pair = &events->choice->pairs[n];

		if (sides[n][0] && sides[n][1])
			continue;
		*missing = sides[n][0] ? pair->end : pair->begin;
		error = -EINVAL;
	}
	free(sides);
	return error;
}

/* A system call without a name in its event may be wanted by the name that it has in a record. */
static bool has_wanted(const struct span_events *events)
{
	bool wanted = false;

	for (uint32_t n = 1; n < events->definition_count; n++)
		wanted |= events->definitions[n].wanted;
	for (uint32_t n = 1; n < events->role_count; n++)
		wanted |= events->roles[n].kernel && events->roles[n].kernel->fields[1] >= 0;
	return wanted;
}

/* Each role is an end, of the spans of its definition. */
static int compile_conditions(struct span_events *events)
{
	const struct view_conditions *conditions = events->choice->where;
	const bool any = conditions && conditions->list.count;
	struct view_where_end *ends = any ? calloc((size_t)events->role_count + 1, sizeof(*ends)) : NULL;
	const struct burin_event *event;
	int error;

	if (!ends)
		return any ? -ENOMEM : 0;
	for (unsigned id = 1; id <= events->count; id++) {
		event = burin_trace_event(events->trace, id);
		for (uint32_t n = events->first[id]; n; n = events->roles[n].next) {
			const struct span_role *role = &events->roles[n];
			const struct span_definition *of = &events->definitions[role->definition];
			const bool named = role->kind != SPAN_OF_CALL,
				   wanted = !named || of->wanted ||
					    (role->kernel && role->kernel->fields[1] >= 0);

			ends[n] = (struct view_where_end){
				.event = wanted ? event : NULL,
				.name = named ? events->strings->texts[of->name] : NULL,
				.of = named ? role->definition : 0,
				.last = role->side == SPAN_END,
			};
		}
	}
	error = view_where_make_ends(&events->where, events->trace, conditions, ends, events->role_count);
	free(ends);
	return error;
}

int span_events_make(struct span_events *events, const struct burin_trace *trace,
		     const struct span_choice *choice, struct view_strings *strings, const char **missing)
{
	int error;

	*events = (struct span_events){
		.trace = trace, .strings = strings, .choice = choice, .count = burin_trace_events(trace)
	};
	events->first = calloc((size_t)events->count + 1, sizeof(*events->first));
	error = events->first ? kernel_view_make(&events->view, trace, strings) : -ENOMEM;
	if (!error && (choice->names->count || !choice->pair_count))
		error = add_each(events, add_span) ?: add_each(events, add_return) ?: add_each(events, add_probe);
	if (!error)
		error = add_each_pair(events, missing);
	if (!error && (choice->names->count || !events->role_count))
		error = add_each(events, add_syscall);
	if (!error)
		error = open_calls(events);
	if (!error && events->calls)
		error = add_each(events, add_call_event);
	if (!error && strings->failed)
		error = -ENOMEM;
	if (!error && !has_wanted(events))
		error = -ENODATA;
	return error ? error : compile_conditions(events);
}

void span_events_free(struct span_events *events)
{
	free(events->definitions);
	hash_table_free(&events->numbers);
	hash_table_free(&events->returns);
	free(events->roles);
	free(events->first);
	free(events->functions);
	view_where_free(events->where);
	burin_calls_close(events->calls);
	kernel_view_free(&events->view);
}

/* ---- Texts of items */

/* Append a text to the texts of an item; "" ends them. Return: false: no memory. */
static bool put_text(struct read_ahead_items *items, struct span_item *item, unsigned by, const char *text)
{
	const size_t length = strnlen(text, TEXT_MAX);
	char *to;

	if (items->bytes_used >= UINT32_MAX / 2 ||
	    !array_reserve(items->bytes, items->bytes_room, items->bytes_used + length + 3))
		return false;
	if (item->text == UINT32_MAX)
		item->text = (uint32_t)items->bytes_used;
	to = items->bytes + items->bytes_used;
	*to++ = (char)(by + 1);
	memcpy(to, text, length);
	memset(to + length, 0, 2); /* the second one is overwritten by the next text */
	items->bytes_used += length + 2;
	return true;
}

bool span_next_text(const struct read_ahead_items *items, uint32_t *at, struct span_text *text)
{
	const char *next;

	if (*at == UINT32_MAX || !items->bytes[*at])
		return false;
	next = items->bytes + *at;
	text->by = (unsigned)*next - 1;
	text->text = next + 1;
	*at += (uint32_t)strlen(next) + 1;
	return true;
}

/* The value of a field as text: a label, a number or a text. Others have none. Return: false: no memory. */
static bool put_value(struct read_ahead_items *items, struct span_item *item,
		      const struct burin_record *record, unsigned by, unsigned field)
{
	const struct burin_field *of = burin_event_field(record->event, field);
	char number[NUMBER_BYTES];
	const char *text = number;
	int64_t value;
	uint64_t large;
	double real;

	if (burin_record_i64(record, field, &value) == 0) {
		text = burin_field_label(of, value);
		if (!text)
			snprintf(number, sizeof(number),
				 of->type == BURIN_TYPE_PTR ? "0x%" PRIx64 : "%" PRId64, value);
	} else if (burin_record_u64(record, field, &large) == 0) {
		snprintf(number, sizeof(number), "%" PRIu64, large);
	} else if (burin_record_double(record, field, &real) == 0) {
		snprintf(number, sizeof(number), "%g", real);
	} else if (burin_record_string(record, field, &text, NULL) != 0) {
		return true;
	}
	return put_text(items, item, by, text ? text : number);
}

/* ---- Keys */

static void mix(uint64_t key[2], uint64_t value)
{
	key[0] = hash_pair(key[0], value);
	key[1] = hash_pair(value, key[1] + 1);
}

static void mix_text(uint64_t key[2], const char *text)
{
	uint64_t other = hash_begin();

	for (const char *at = text; *at; at++)
		other = hash_pair(other, (unsigned char)*at);
	key[0] = hash_pair(key[0], hash_text(text));
	key[1] = hash_pair(other, key[1]);
}

/* 128 bits, so that no two keys are ever equal by chance. Return: false: a field has no value that can be compared. */
static bool key_of(const struct burin_record *record, const struct span_role *role, uint64_t key[2])
{
	key[0] = key[1] = 0;
	if (!role->key_count)
		mix(key, record->tid);
	for (unsigned n = 0; n < role->key_count; n++) {
		const unsigned field = (unsigned)role->key[n];
		const char *text;
		int64_t value;
		uint64_t large;

		if (burin_record_i64(record, field, &value) == 0)
			mix(key, (uint64_t)value);
		else if (burin_record_u64(record, field, &large) == 0)
			mix(key, large);
		else if (burin_record_string(record, field, &text, NULL) == 0)
			mix_text(key, text);
		else
			return false;
	}
	return true;
}

/* ---- Items */

static bool has_failed(const struct burin_record *record, const struct span_role *role)
{
	int64_t value;
	uint64_t large;

	if (role->failed < 0)
		return false;
	if (burin_record_i64(record, (unsigned)role->failed, &value) == 0)
		return value != 0;
	return burin_record_u64(record, (unsigned)role->failed, &large) == 0 && large != 0;
}

/* Return: false: the record has not what a system call's has. */
static bool take_syscall(const struct span_events *events, const struct burin_record *record,
			 const struct span_role *role, struct span_item *item)
{
	const struct kernel_event *kernel = role->kernel;
	int64_t result = 0;

	if (role->side == SPAN_END && !kernel_view_result(kernel, record, &result))
		return false;
	item->result = kernel_is_error(result) ? (int32_t)result : 0;
	item->key[0] = (uint64_t)result;
	if (role->side == SPAN_LATE)
		item->begin = kernel_view_begin(&events->view, record, 0);
	return true;
}

static bool take_call(const struct span_events *events, const struct burin_record *record,
		      struct span_item *item)
{
	struct burin_call call;

	if (burin_calls_call(events->calls, record, &call) != 0)
		return false;
	item->begin = call.begin < call.end ? call.begin : call.end;
	item->time = call.end;
	item->definition = events->functions[call.function];
	return item->definition != 0;
}

/* The name, if it is not that of the role, and values. Return: false: no memory. */
static bool put_texts(struct read_ahead_items *items, struct span_item *item,
		      const struct burin_record *record, const struct span_role *role, unsigned by_count)
{
	char text[TEXT_SHORT];
	const char *name = role->kernel ? kernel_view_unnamed(role->kernel, record, text) : NULL;
	bool done = !name || put_text(items, item, SPAN_BY_FIELDS, name);

	for (unsigned n = 0; role->has_by && n < by_count && done; n++)
		done = role->by[n] < 0 || put_value(items, item, record, n, (unsigned)role->by[n]);
	items->bytes_used += item->text != UINT32_MAX; /* keep the byte that ends them */
	return done;
}

static int add_item(const struct span_events *events, const struct burin_record *record, uint32_t number,
		    struct read_ahead_items *items)
{
	const struct span_role *role = &events->roles[number];
	struct span_item *list, item = { .time = record->time,
					 .tid = record->tid,
					 .role = number,
					 .definition = role->definition,
					 .text = UINT32_MAX };

	if ((role->kind == SPAN_OF_CALL && !take_call(events, record, &item)) ||
	    (span_has_key(role->kind) && !key_of(record, role, item.key)) ||
	    (role->kind == SPAN_OF_SYSCALL && !take_syscall(events, record, role, &item)))
		return 0;
	if (events->where) {
		item.out = !view_where_end_holds(events->where, number, record);
		item.needs = view_where_needs(events->where, number);
		if (item.out && role->kind == SPAN_OF_CALL)
			return 0;
	}
	if (role->kind != SPAN_OF_SYSCALL)
		item.result = has_failed(record, role);
	if (!put_texts(items, &item, record, role, events->choice->by_count) ||
	    !array_reserve_items(&items->items, &items->room, items->count + 1, sizeof(item), SIZE_MAX,
				 false))
		return -ENOMEM;
	list = items->items;
	list[items->count++] = item;
	return 0;
}

int span_events_decode(const void *data, const struct burin_record *record, struct read_ahead_items *items)
{
	const struct span_events *events = data;
	const uint32_t id = record->event->id;
	int error = 0;

	if (id > events->count || record->ring == UINT32_MAX)
		return 0;
	for (uint32_t role = events->first[id]; role && !error; role = events->roles[role].next)
		error = add_item(events, record, role, items);
	return error;
}
