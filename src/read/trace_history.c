/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The history of a trace, from its stream of changes: the changes of states, and how long events were off.
 *
 * The recorder of the trace may have switched events on and off itself (burin record TARGET). These changes
 * are the begin and end of its recording, and not gaps in it.
 *
 * How long events were off follows from one pass over the changes, in order of time. An event is in one of
 * three states:
 *
 *	UNKNOWN		no change has named it, or its recorder has switched it off
 *	ON		nothing is counted
 *	OFF		since ->since; the time counts when it goes on again, or at the end of the trace
 *
 * An event that no process has asked for is off all the time, and that is no gap. So UNKNOWN becomes a gap
 * only if the event is switched on later, by another process than the recorder. Index 0 is the pause of
 * tracing, which is off and on for all events at once.
 *
 * Records of states come at both ends, and where changes were missed. A state that agrees changes nothing.
 * Events with equal gaps are reported as one group; few groups differ, so each is compared with the last ones
 * only (GAPS_COMPARED).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/nolibc.h"
#include "read/stream_iterator.h"
#include "wire/wire_names.h"
#include "wire/wire_terms.h"

enum {
	STATE_UNKNOWN, /* or off since the beginning, and nothing has requested it so far */
	STATE_ON,
	STATE_OFF,

	GAPS_COMPARED = 64, /* so many of the last groups are searched for an equal one */
};

static const char *trace_history_keep(struct read_history *history, const struct burin_record *record,
				      unsigned field)
{
	const char *text = (const char *)record->payload + record->offsets[field];

	return arena_keep(&history->strings, text, strlen(text));
}

static int trace_history_add(struct burin_trace *trace, const struct burin_record *record)
{
	struct read_history *history = &trace->history;
	struct read_change *change;
	const char *payload = (const char *)record->payload;
	int error;

	if (record->event->id != WIRE_NAME_CHANGE)
		return 0;
	error = read_memory_reserve(trace, record->file, record->offset, &history->changes, &history->room,
				    history->count + 1, sizeof(*change));
	if (error)
		return error;
	if (record->chunk != history->chunk) /* each chunk counts its own */
		history->dropped_before = read_history_dropped(trace);
	history->chunk = record->chunk;
	change = &history->changes[history->count++];
	*change = (struct read_change){
		.time = record->time,
		.number = number_load64(payload),
		.kind = trace_history_keep(history, record, 1),
		.pid = number_load32(payload + record->offsets[2]),
		.uid = number_load32(payload + record->offsets[3]),
		.program = trace_history_keep(history, record, 4),
		.command = trace_history_keep(history, record, 5),
		.text = trace_history_keep(history, record, 6),
		.value = number_load64(payload + record->offsets[7]),
		.first = number_load32(payload + record->offsets[8]),
		.last = number_load32(payload + record->offsets[9]),
		.dropped = history->dropped_before + number_load64(payload + record->offsets[10]),
		.events = trace_history_keep(history, record, 11),
	};
	return change->kind && change->program && change->command && change->text && change->events ? 0
												    : -ENOMEM;
}

int read_history_load(struct burin_trace *trace)
{
	const int result = stream_iterator_each(trace, &trace->changes_stream, trace_history_add);

	trace->memory += trace->history.strings.bytes;
	return result;
}

void read_history_free(struct read_history *history)
{
	arena_free(&history->strings);
	free(history->changes);
}

uint64_t read_history_dropped(const struct burin_trace *trace)
{
	return trace->history.count ? trace->history.changes[trace->history.count - 1].dropped : 0;
}

bool read_change_is(const struct read_change *change, enum wire_change_kind kind)
{
	return !strcmp(change->kind, wire_change_keys[kind]);
}

bool read_change_next(const struct read_change *change, const char **at, uint32_t *first, uint32_t *last)
{
	const char *end;

	if (!*at)
		*at = change->events;
	if (**at < '0' || **at > '9')
		return false;
	*first = *last = (uint32_t)nolibc_number(*at, 10, &end);
	if (*end == '-')
		*last = (uint32_t)nolibc_number(end + 1, 10, &end);
	*at = *end == ' ' ? end + 1 : end;
	return *first > 0 && *last >= *first;
}

/* ---- How long events were off */

/* The state of an event; index 0: whether tracing was paused. */
struct state {
	uint8_t now;
	uint64_t since; /* since when it has been off */
	uint64_t ticks; /* how long it was off before that */
	const struct read_change *off, *on;
};

struct account {
	struct state *states;
	uint32_t events;
	uint32_t recorder;   /* its pid */
	uint64_t begin, end; /* of the trace */
};

static void switch_on(const struct account *account, struct state *state, const struct read_change *change)
{
	/* Changes of before the trace, as a snapshot has them, count from its begin. */
	const uint64_t since = state->since > account->begin ? state->since : account->begin;

	if (state->now == STATE_ON)
		return;
	if (change->time > since && !(state->now == STATE_UNKNOWN && change->pid == account->recorder))
		state->ticks += change->time - since;
	if (!state->off && !state->on)
		state->on = change;
	state->now = STATE_ON;
}

static void trace_history_switch_off(const struct account *account, struct state *state,
				     const struct read_change *change)
{
	if (state->now == STATE_OFF)
		return;
	/* The recorder itself switches it off: its recording ends. */
	if (change->pid == account->recorder && !read_change_is(change, WIRE_CHANGE_STATE)) {
		state->now = STATE_UNKNOWN;
		state->since = account->end;
		return;
	}
	state->now = STATE_OFF;
	state->since = change->time > account->begin ? change->time : account->begin;
	state->off = change;
}

static void each_event(const struct account *account, const struct read_change *change,
		       void (*apply)(const struct account *, struct state *, const struct read_change *))
{
	const char *at = NULL;
	uint32_t first, last;

	while (read_change_next(change, &at, &first, &last))
		for (uint32_t id = first; id <= last && id <= account->events; id++)
			apply(account, &account->states[id], change);
}

/* An event that has never been on counts as off only if it is switched on later. */
static void note_off(const struct account *account, struct state *state, const struct read_change *change)
{
	if (state->now == STATE_ON)
		trace_history_switch_off(account, state, change);
	else if (state->now == STATE_UNKNOWN && !state->since)
		state->since = change->time;
}

/* The states of all events, written at both ends, and in between after missed changes or for new events: only
 * differences count. */
static void trace_history_take_state(const struct account *account, const struct read_change *change)
{
	const uint32_t last = change->last < account->events ? change->last : account->events;
	const char *at = NULL;
	uint32_t first, end, id = change->first ? change->first : 1;

	while (read_change_next(change, &at, &first, &end)) {
		for (; id < first && id <= last; id++)
			note_off(account, &account->states[id], change);
		for (; id <= end && id <= last; id++) {
			if (account->states[id].now == STATE_UNKNOWN)
				account->states[id].now = STATE_ON;
			else
				switch_on(account, &account->states[id], change);
		}
	}
	for (; id <= last; id++)
		note_off(account, &account->states[id], change);
	if (change->value && account->states[0].now == STATE_UNKNOWN)
		trace_history_switch_off(account, &account->states[0], change);
	else if (!change->value && account->states[0].now == STATE_UNKNOWN)
		account->states[0].now = STATE_ON;
}

static void trace_history_take(const struct account *account, const struct read_change *change)
{
	if (read_change_is(change, WIRE_CHANGE_STATE))
		trace_history_take_state(account, change);
	else if (read_change_is(change, WIRE_CHANGE_ON))
		each_event(account, change, switch_on);
	else if (read_change_is(change, WIRE_CHANGE_OFF))
		each_event(account, change, trace_history_switch_off);
	else if (read_change_is(change, WIRE_CHANGE_PAUSE))
		trace_history_switch_off(account, &account->states[0], change);
	else if (read_change_is(change, WIRE_CHANGE_RESUME))
		switch_on(account, &account->states[0], change);
}

static void trace_history_finish(const struct account *account, struct state *state)
{
	if (state->now == STATE_OFF && account->end > state->since)
		state->ticks += account->end - state->since;
}

/* Sets begin and end. A recording has the states of all events at both ends; a snapshot only at its end. */
static void set_span(const struct burin_trace *trace, struct account *account)
{
	const struct read_history *history = &trace->history;
	const struct read_change *first = history->changes, *last = &first[history->count - 1];

	account->begin = trace->has_records ? trace->begin : first->time;
	account->end = last->time;
	if (read_change_is(first, WIRE_CHANGE_STATE) && first->time < account->begin)
		account->begin = first->time;
	if (trace->has_records && trace->end > account->end)
		account->end = trace->end;
	for (size_t n = 0; n < history->count && !account->recorder; n++)
		if (read_change_is(&history->changes[n], WIRE_CHANGE_STATE))
			account->recorder = history->changes[n].pid;
}

static bool same_gap(const struct read_off *group, const struct state *state)
{
	return group->event && group->ticks == state->ticks && group->off == state->off &&
	       group->on == state->on;
}

static ssize_t trace_history_gather(const struct account *account, struct read_off *offs)
{
	size_t count = 0;

	for (uint32_t id = 0; id <= account->events; id++) {
		struct state *state = &account->states[id];
		struct read_off *group = NULL;

		trace_history_finish(account, state);
		if (!state->ticks)
			continue;
		for (size_t back = 1; back <= count && back <= GAPS_COMPARED && !group; back++)
			if (same_gap(&offs[count - back], state))
				group = &offs[count - back];
		if (!group) {
			group = &offs[count++];
			*group = (struct read_off){
				.event = id, .ticks = state->ticks, .off = state->off, .on = state->on
			};
		}
		group->count++;
	}
	return (ssize_t)count;
}

ssize_t read_history_off(const struct burin_trace *trace, struct read_off **offs, uint64_t *span)
{
	struct account account = { .events = trace->event_count };
	ssize_t count = -ENOMEM;

	*offs = NULL;
	*span = 0;
	if (!trace->history.count)
		return 0;
	set_span(trace, &account);
	*span = account.end > account.begin ? account.end - account.begin : 0;
	account.states = calloc(account.events + 1, sizeof(*account.states));
	*offs = calloc(account.events + 1, sizeof(**offs));
	if (account.states && *offs) {
		for (size_t n = 0; n < trace->history.count; n++)
			trace_history_take(&account, &trace->history.changes[n]);
		count = trace_history_gather(&account, *offs);
	}
	free(account.states);
	return count;
}
