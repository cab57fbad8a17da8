/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counting samples by task and stack.
 *
 * A sample says both by one number, its spot; so counting is adding to an array, near where the sample before was:
 * spots are numbered as they were first met.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/profile.h"
#include "view/symbol.h"

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
		const bool pid = task ? view_set_has(&filter->pids, task->pid) : !filter->pids.count;

		wanted[n] = pid && view_globs_match(&filter->programs, view_program(profile, n)) &&
			    view_globs_match(&filter->threads, view_thread(profile, n));
	}
	return wanted;
}

struct tally {
	uint64_t samples, weight;
	double squares;
};

/* Of each event, by its id, if it has samples: tallies by spot. */
struct tallies {
	uint32_t events, spots;
	struct tally **of;
};

static int tallies_new(struct tallies *tallies, const struct view_profile *counted)
{
	tallies->events = burin_trace_events(counted->trace);
	tallies->spots = burin_profile_spots(counted->profile);
	tallies->of = calloc((size_t)tallies->events + 1, sizeof(*tallies->of));
	return tallies->of ? 0 : -ENOMEM;
}

static void tallies_free(struct tallies *tallies)
{
	for (uint32_t n = 0; tallies->of && n <= tallies->events; n++)
		free(tallies->of[n]);
	free(tallies->of);
}

static int count_sample(struct tallies *tallies, const struct burin_record *record,
			const struct burin_sample *sample)
{
	struct tally **of = &tallies->of[record->event->id], *tally;

	if (!*of)
		*of = calloc((size_t)tallies->spots + 1, sizeof(**of));
	if (!*of)
		return -ENOMEM;
	tally = &(*of)[sample->spot];
	tally->samples++;
	tally->weight = view_add(tally->weight, sample->weight);
	tally->squares += (double)sample->weight * (double)sample->weight;
	return 0;
}

static int count_records(const struct view_profile *counted, const struct view_profile_filter *filter,
			 struct tallies *tallies)
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
			result = count_sample(tallies, record, &sample);
	}
	burin_cursor_close(cursor);
	free(wanted);
	return result;
}

static uint64_t samples_of(const struct tallies *tallies, uint32_t event)
{
	const struct tally *of = tallies->of[event];
	uint64_t samples = 0;

	for (uint32_t n = 0; of && n <= tallies->spots; n++)
		samples += of[n].samples;
	return samples;
}

/* The events that count: of each state the one with most samples; but one alone, if what they weigh differs. */
static void choose_events(struct view_profile *counted, const struct tallies *tallies, bool apart)
{
	struct view_counted *of = counted->of;
	const char *units[VIEW_STATES] = { NULL };

	for (uint32_t n = 1; n <= tallies->events; n++) {
		const struct burin_event *event =
			tallies->of[n] ? burin_trace_event(counted->trace, n) : NULL;
		const uint64_t samples = event ? samples_of(tallies, n) : 0;
		enum view_state state =
			event && !strcmp(event->name, "sample.off-cpu") ? VIEW_WAITING : VIEW_RUNNING;

		if (event && samples > of[state].samples)
			of[state] = (struct view_counted){ .event = event, .samples = samples };
		counted->of_other_events += samples; /* until it is known which count */
	}
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

/* The spots that samples of events that count are at. Return: 0 or -ENOMEM. */
static int make_pairs(struct view_profile *counted, const struct tallies *tallies)
{
	size_t room = 0;

	for (unsigned state = 0; state < VIEW_STATES; state++)
		room += counted->of[state].event ? (size_t)tallies->spots + 1 : 0;
	counted->pairs = malloc(room * sizeof(*counted->pairs) + 1);
	if (!counted->pairs)
		return -ENOMEM;
	for (unsigned state = 0; state < VIEW_STATES; state++) {
		const struct burin_event *event = counted->of[state].event;

		for (uint32_t n = 0; event && n <= tallies->spots; n++) {
			const struct tally *tally = &tallies->of[event->id][n];
			struct view_pair *pair = &counted->pairs[counted->pair_count];

			if (!tally->samples)
				continue;
			*pair = (struct view_pair){ .state = state,
						    .samples = tally->samples,
						    .weight = tally->weight,
						    .squares = tally->squares };
			burin_profile_spot(counted->profile, n, &pair->task, &pair->stack);
			counted->of_other_events -= pair->samples;
			counted->pair_count++;
		}
	}
	return view_pairs_sort(&counted->pairs, &counted->pair_count);
}

/* Keeps the pairs with a symbol of the filter's, and sums up. Return: 0 or -ENOMEM. */
static int keep_pairs(struct view_profile *counted, const struct view_globs *symbols)
{
	unsigned char *known = calloc((size_t)burin_profile_places(counted->profile) + 1, 1);
	size_t count = 0;

	for (size_t n = 0; known && n < counted->pair_count; n++) {
		const struct view_pair *pair = &counted->pairs[n];
		struct view_counted *of = &counted->of[pair->state];

		if (symbols->count && !stack_matches(counted, symbols, pair->stack, known))
			continue;
		of->samples += pair->samples;
		of->weight = view_add(of->weight, pair->weight);
		counted->samples += pair->samples;
		counted->weight = view_add(counted->weight, pair->weight);
		counted->squares += pair->squares;
		counted->pairs[count++] = *pair;
	}
	counted->pair_count = count;
	free(known);
	return known ? 0 : -ENOMEM;
}

int view_profile_make(struct view_profile *counted, const struct burin_trace *trace,
		      const struct view_profile_filter *filter)
{
	struct tallies tallies = { .of = NULL };
	int result;

	*counted = (struct view_profile){ .trace = trace, .from = filter->from, .to = filter->to };
	result = burin_profile_open(&counted->profile, trace);
	if (result)
		return result;
	result = tallies_new(&tallies, counted);
	if (!result)
		result = count_records(counted, filter, &tallies);
	if (!result) {
		choose_events(counted, &tallies, filter->apart);
		result = make_pairs(counted, &tallies);
	}
	if (!result)
		result = keep_pairs(counted, &filter->symbols);
	tallies_free(&tallies);
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
