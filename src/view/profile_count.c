/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting samples by task and stack. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "view/profile.h"
#include "view/symbol.h"

bool view_globs_match(const struct view_globs *globs, const char *text)
{
	for (unsigned n = 0; n < globs->count; n++) {
		if (!strcmp(globs->globs[n], text) || glob_match(globs->globs[n], text))
			return true;
	}
	return !globs->count;
}

uint32_t view_own_frame(const struct burin_profile *profile, const struct view_pair *pair)
{
	struct burin_stack stack;
	struct burin_place place;

	if (pair->state != VIEW_WAITING)
		return pair->stack;
	for (uint32_t n = pair->stack; !burin_profile_stack(profile, n, &stack); n = stack.caller) {
		const struct burin_image *image = burin_profile_place(profile, stack.place, &place)
							  ? NULL
							  : burin_profile_image(profile, place.image);

		if (image && image->kind != BURIN_IMAGE_KERNEL && image->kind != BURIN_IMAGE_MODULE)
			return n;
	}
	return pair->stack;
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

static int count_sample(struct view_pairs *pairs, const struct burin_record *record,
			const struct burin_sample *sample)
{
	const struct view_pair pair = { .task = sample->task,
					.stack = sample->stack,
					.state = record->event->id,
					.samples = 1,
					.weight = sample->weight,
					.squares = (double)sample->weight * (double)sample->weight };

	return view_pairs_add(pairs, &pair);
}

static int count_records(const struct view_profile *counted, const struct view_profile_filter *filter,
			 struct view_pairs *pairs)
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
			result = count_sample(pairs, record, &sample);
	}
	burin_cursor_close(cursor);
	free(wanted);
	return result;
}

/* The events that count: of each state the one with most samples; but one alone, if what they weigh differs. */
static int choose_events(struct view_profile *counted, const struct view_pairs *pairs, bool apart)
{
	struct view_counted *of = counted->of;
	uint32_t count = burin_trace_events(counted->trace);
	uint64_t *samples = calloc((size_t)count + 1, sizeof(*samples));
	const char *units[VIEW_STATES] = { NULL };

	if (!samples)
		return -ENOMEM;
	for (size_t n = 0; n < pairs->count; n++)
		samples[pairs->list[n].state] += pairs->list[n].samples;
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

static bool symbols_match(const struct view_globs *symbols, const char *name)
{
	for (unsigned n = 0; n < symbols->count; n++) {
		if (view_symbol_fits(symbols->globs[n], name))
			return true;
	}
	return false;
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
		match |= frame.function && symbols_match(symbols, frame.function);
	}
	if (!named)
		match = symbols_match(
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

/* Of events to what their samples tell of; those of events that are not counted are left out. */
static void choose_pairs(struct view_profile *counted, struct view_pairs *pairs)
{
	size_t count = 0;

	for (size_t n = 0; n < pairs->count; n++) {
		struct view_pair *pair = &pairs->list[n];
		unsigned state = 0;

		while (state < VIEW_STATES &&
		       !(counted->of[state].event && counted->of[state].event->id == pair->state))
			state++;
		if (state == VIEW_STATES) {
			counted->of_other_events += pair->samples;
			continue;
		}
		pairs->list[count] = *pair;
		pairs->list[count++].state = state;
	}
	pairs->count = count;
}

/* Takes the pairs with a symbol of the filter's, and sums up. */
static int take_pairs(struct view_profile *counted, const struct view_globs *symbols,
		      struct view_pairs *pairs)
{
	unsigned char *known = calloc((size_t)burin_profile_places(counted->profile) + 1, 1);
	size_t count = 0;

	for (size_t n = 0; known && n < pairs->count; n++) {
		const struct view_pair *pair = &pairs->list[n];
		struct view_counted *of = &counted->of[pair->state];

		if (symbols->count && !stack_matches(counted, symbols, pair->stack, known))
			continue;
		of->samples += pair->samples;
		of->weight = view_add(of->weight, pair->weight);
		counted->samples += pair->samples;
		counted->weight = view_add(counted->weight, pair->weight);
		counted->squares += pair->squares;
		pairs->list[count++] = *pair;
	}
	pairs->count = count;
	free(known);
	return known ? 0 : -ENOMEM;
}

int view_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter)
{
	struct view_pairs pairs = { .count = 0 };
	int result;

	*counted = (struct view_profile){ .trace = trace, .from = filter->from, .to = filter->to };
	result = burin_profile_open(&counted->profile, trace);
	if (result)
		return result;
	result = count_records(counted, filter, &pairs);
	if (!result)
		result = choose_events(counted, &pairs, filter->apart);
	if (!result) {
		choose_pairs(counted, &pairs);
		result = view_pairs_settle(&pairs);
	}
	if (!result)
		result = take_pairs(counted, &filter->symbols, &pairs);
	counted->pairs = pairs.list;
	counted->pair_count = pairs.count;
	pairs.list = NULL;
	view_pairs_free(&pairs);
	if (result)
		view_profile_free(counted);
	return result;
}

size_t view_profile_tasks(const struct view_profile *counted)
{
	size_t tasks = counted->pair_count != 0;

	for (size_t n = 1; n < counted->pair_count; n++)
		tasks += counted->pairs[n].task != counted->pairs[n - 1].task;
	return tasks;
}

bool view_profile_has(const struct view_profile *counted, const struct burin_record *record,
		      const struct burin_sample *sample)
{
	struct view_pair wanted = { .task = sample->task, .stack = sample->stack };

	if (record->event == counted->of[VIEW_WAITING].event)
		wanted.state = VIEW_WAITING;
	else if (record->event != counted->of[VIEW_RUNNING].event)
		return false;
	return bsearch(&wanted, counted->pairs, counted->pair_count, sizeof(wanted), view_pair_order);
}

void view_profile_free(struct view_profile *counted)
{
	free(counted->pairs);
	burin_profile_close(counted->profile);
	*counted = (struct view_profile){ .pairs = NULL };
}
