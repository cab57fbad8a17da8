/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting samples by task and stack. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "view/profile.h"

bool view_globs_match(const struct view_globs *globs, const char *text)
{
	for (unsigned n = 0; n < globs->count; n++) {
		if (!strcmp(globs->globs[n], text) || glob_match(globs->globs[n], text))
			return true;
	}
	return !globs->count;
}

const char *view_program(const struct burin_profile *profile, uint32_t number)
{
	const struct burin_task *task = burin_profile_task(profile, number);
	const char *slash;

	if (!task)
		return "[unknown]";
	if (!*task->path)
		return *task->name ? task->name : "[unknown]";
	slash = strrchr(task->path, '/');
	return slash && slash[1] ? slash + 1 : task->path;
}

const char *view_thread(const struct burin_profile *profile, uint32_t number)
{
	const struct burin_task *task = burin_profile_task(profile, number);

	return task ? task->name : "[unknown]";
}

const char *view_state_name(enum view_state state)
{
	return state == VIEW_WAITING ? "waiting" : "running";
}

/* What was counted so far, by event, task and stack. */
struct tally {
	uint32_t event;
	struct view_pair pair; /* samples 0: free */
};

struct counting {
	struct tally *tallies; /* open addressing */
	size_t used, room;
};

static size_t tally_hash(uint32_t event, uint32_t task, uint32_t stack)
{
	uint64_t hash = ((uint64_t)task << 32 ^ stack ^ (uint64_t)event << 52) * UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ hash >> 32;
}

static struct tally *tally_find(const struct counting *counting, uint32_t event, uint32_t task,
				uint32_t stack)
{
	size_t at = tally_hash(event, task, stack) & (counting->room - 1);

	for (;; at = (at + 1) & (counting->room - 1)) {
		struct tally *tally = &counting->tallies[at];

		if (!tally->pair.samples ||
		    (tally->pair.task == task && tally->pair.stack == stack && tally->event == event))
			return tally;
	}
}

static int grow(struct counting *counting)
{
	struct counting grown = { .used = counting->used,
				  .room = counting->room ? 4 * counting->room : 1 << 12 };

	grown.tallies = calloc(grown.room, sizeof(*grown.tallies));
	if (!grown.tallies)
		return -ENOMEM;
	for (size_t n = 0; n < counting->room; n++) {
		const struct tally *tally = &counting->tallies[n];

		if (tally->pair.samples)
			*tally_find(&grown, tally->event, tally->pair.task, tally->pair.stack) = *tally;
	}
	free(counting->tallies);
	*counting = grown;
	return 0;
}

static uint64_t add(uint64_t one, uint64_t other)
{
	uint64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

static int count_sample(struct counting *counting, const struct burin_record *record,
			const struct burin_sample *sample)
{
	struct tally *tally;

	if (2 * counting->used >= counting->room && grow(counting))
		return -ENOMEM;
	tally = tally_find(counting, record->event->id, sample->task, sample->stack);
	if (!tally->pair.samples) {
		tally->event = record->event->id;
		tally->pair.task = sample->task;
		tally->pair.stack = sample->stack;
		counting->used++;
	}
	tally->pair.samples++;
	tally->pair.weight = add(tally->pair.weight, sample->weight);
	tally->pair.squares += (double)sample->weight * (double)sample->weight;
	return 0;
}

/* Which tasks the filter lets through, by number; number 0, and those that are not there: the last. */
static bool *choose_tasks(const struct burin_profile *profile, const struct view_profile_filter *filter)
{
	uint32_t count = burin_profile_tasks(profile);
	bool *wanted = calloc((size_t)count + 2, 1);

	for (uint32_t n = 0; wanted && n <= count; n++) {
		const struct burin_task *task = burin_profile_task(profile, n);
		bool pid = !filter->pids.count;

		for (unsigned at = 0; task && at < filter->pids.count; at++)
			pid |= filter->pids.numbers[at] == task->pid;
		wanted[n] = pid && view_globs_match(&filter->programs, view_program(profile, n)) &&
			    view_globs_match(&filter->threads, view_thread(profile, n));
	}
	return wanted;
}

static int count_records(const struct view_profile *counted, const struct view_profile_filter *filter,
			 struct counting *counting)
{
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .from = filter->from,
						      .to = filter->to };
	uint32_t tasks = burin_profile_tasks(counted->profile);
	bool *wanted = choose_tasks(counted->profile, filter);
	struct burin_cursor *cursor = NULL;
	const struct burin_record *record;
	struct burin_sample sample;
	int result = wanted ? burin_cursor_open(&cursor, counted->trace, &options) : -ENOMEM;

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		result = 0;
		if (!burin_profile_sample(counted->profile, record, &sample) &&
		    wanted[sample.task <= tasks ? sample.task : 0] &&
		    view_globs_match(&filter->event, record->event->name))
			result = count_sample(counting, record, &sample);
	}
	burin_cursor_close(cursor);
	free(wanted);
	return result;
}

/* The events that count: of each state the one with most samples; but one alone, if what they weigh differs. */
static int choose_events(struct view_profile *counted, const struct counting *counting, bool apart)
{
	struct view_counted *of = counted->of;
	uint32_t count = burin_trace_events(counted->trace);
	uint64_t *samples = calloc((size_t)count + 1, sizeof(*samples));
	const char *units[VIEW_STATES] = { NULL };

	if (!samples)
		return -ENOMEM;
	for (size_t n = 0; n < counting->room; n++)
		samples[counting->tallies[n].event] += counting->tallies[n].pair.samples;
	for (uint32_t n = 1; n <= count; n++) {
		const struct burin_event *event = samples[n] ? burin_trace_event(counted->trace, n) : NULL;
		enum view_state state =
			event && !strcmp(event->name, "sample.off-cpu") ? VIEW_WAITING : VIEW_RUNNING;

		if (event && samples[n] > of[state].samples)
			of[state] = (struct view_counted){ .event = event, .samples = samples[n] };
	}
	free(samples);
	for (unsigned state = 0; state < VIEW_STATES; state++)
		units[state] =
			of[state].event ? burin_profile_unit(counted->profile, of[state].event) : "samples";
	if (view_profile_mixed(counted) &&
	    (apart || strcmp(units[VIEW_RUNNING], "ns") != 0 || strcmp(units[VIEW_WAITING], "ns") != 0))
		of[apart || of[VIEW_RUNNING].samples >= of[VIEW_WAITING].samples ? VIEW_WAITING
										 : VIEW_RUNNING]
			.event = NULL;
	counted->unit = units[of[VIEW_RUNNING].event ? VIEW_RUNNING : VIEW_WAITING];
	for (unsigned state = 0; state < VIEW_STATES; state++)
		of[state].samples = 0; /* what was counted to choose */
	return 0;
}

/* Whether a stack has a symbol of the filter's, by number of a place: 0 unknown, 1 no, 2 yes. */
static bool place_matches(const struct view_profile *counted, const struct view_globs *symbols,
			  uint32_t place, unsigned char *known)
{
	struct burin_frame frame;
	char address[512];
	bool match = false, named = false;

	if (known[place])
		return known[place] == 2;
	for (uint32_t n = 0; !burin_profile_frame(counted->profile, place, n, &frame); n++) {
		named |= frame.function != NULL;
		match |= frame.function && view_globs_match(symbols, frame.function);
	}
	if (!named)
		match = view_globs_match(
			symbols, burin_profile_address(counted->profile, place, address, sizeof(address)));
	known[place] = match ? 2 : 1;
	return match;
}

static bool stack_matches(const struct view_profile *counted, const struct view_globs *symbols,
			  uint32_t stack, unsigned char *known)
{
	struct burin_stack frame;

	for (uint32_t n = stack; !burin_profile_stack(counted->profile, n, &frame); n = frame.caller) {
		if (place_matches(counted, symbols, frame.place, known))
			return true;
	}
	return false;
}

static int by_task(const void *a, const void *b)
{
	const struct view_pair *one = a, *other = b;

	if (one->task != other->task)
		return one->task < other->task ? -1 : 1;
	if (one->stack != other->stack)
		return one->stack < other->stack ? -1 : 1;
	return (one->state > other->state) - (one->state < other->state);
}

static void take(struct view_profile *counted, const struct view_pair *pair, enum view_state state)
{
	counted->pairs[counted->pair_count] = *pair;
	counted->pairs[counted->pair_count++].state = state;
	counted->of[state].samples += pair->samples;
	counted->of[state].weight = add(counted->of[state].weight, pair->weight);
	counted->samples += pair->samples;
	counted->weight = add(counted->weight, pair->weight);
	counted->squares += pair->squares;
}

/* Takes the pairs that are wanted, in an order of their own. */
static int settle(struct view_profile *counted, const struct view_profile_filter *filter,
		  const struct counting *counting)
{
	unsigned char *known = calloc((size_t)burin_profile_places(counted->profile) + 1, 1);
	uint32_t ids[VIEW_STATES];

	counted->pairs = calloc(counting->used + 1, sizeof(*counted->pairs));
	if (!known || !counted->pairs) {
		free(known);
		return -ENOMEM;
	}
	for (unsigned state = 0; state < VIEW_STATES; state++)
		ids[state] = counted->of[state].event ? counted->of[state].event->id : 0;
	for (size_t n = 0; n < counting->room; n++) {
		const struct tally *tally = &counting->tallies[n];

		if (!tally->pair.samples)
			continue;
		if (tally->event != ids[VIEW_RUNNING] && tally->event != ids[VIEW_WAITING])
			counted->of_other_events += tally->pair.samples;
		else if (!filter->symbols.count ||
			 stack_matches(counted, &filter->symbols, tally->pair.stack, known))
			take(counted, &tally->pair,
			     tally->event == ids[VIEW_WAITING] ? VIEW_WAITING : VIEW_RUNNING);
	}
	free(known);
	qsort(counted->pairs, counted->pair_count, sizeof(*counted->pairs), by_task);
	return 0;
}

int view_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter)
{
	struct counting counting = { .used = 0 };
	int result;

	*counted = (struct view_profile){ .trace = trace, .from = filter->from, .to = filter->to };
	result = burin_profile_open(&counted->profile, trace);
	if (result)
		return result;
	result = grow(&counting);
	if (!result)
		result = count_records(counted, filter, &counting);
	if (!result)
		result = choose_events(counted, &counting, filter->apart);
	if (!result)
		result = settle(counted, filter, &counting);
	free(counting.tallies);
	if (result)
		view_profile_free(counted);
	return result;
}

bool view_profile_has(const struct view_profile *counted, const struct burin_record *record,
		      const struct burin_sample *sample)
{
	struct view_pair wanted = { .task = sample->task, .stack = sample->stack };

	if (record->event == counted->of[VIEW_WAITING].event)
		wanted.state = VIEW_WAITING;
	else if (record->event != counted->of[VIEW_RUNNING].event)
		return false;
	return bsearch(&wanted, counted->pairs, counted->pair_count, sizeof(wanted), by_task);
}

void view_profile_free(struct view_profile *counted)
{
	free(counted->pairs);
	burin_profile_close(counted->profile);
	*counted = (struct view_profile){ .pairs = NULL };
}
