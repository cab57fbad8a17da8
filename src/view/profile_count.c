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

/* Pairs by event, task and stack. */
struct counting {
	struct view_pair *pairs; /* open addressing; samples 0: free */
	size_t used, room;
};

static size_t pair_hash(uint32_t event, uint32_t task, uint32_t stack)
{
	uint64_t hash = ((uint64_t)task << 32 ^ stack ^ (uint64_t)event << 52) * UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ hash >> 32;
}

static struct view_pair *pair_find(const struct counting *counting, uint32_t event, uint32_t task,
				   uint32_t stack)
{
	size_t at = pair_hash(event, task, stack) & (counting->room - 1);
	struct view_pair *pair;

	for (;; at = (at + 1) & (counting->room - 1)) {
		pair = &counting->pairs[at];
		if (!pair->samples || (pair->task == task && pair->stack == stack && pair->event == event))
			return pair;
	}
}

static int grow(struct counting *counting)
{
	struct counting grown = { .used = counting->used,
				  .room = counting->room ? 4 * counting->room : 1 << 12 };

	grown.pairs = calloc(grown.room, sizeof(*grown.pairs));
	if (!grown.pairs)
		return -ENOMEM;
	for (size_t n = 0; n < counting->room; n++) {
		const struct view_pair *pair = &counting->pairs[n];

		if (pair->samples)
			*pair_find(&grown, pair->event, pair->task, pair->stack) = *pair;
	}
	free(counting->pairs);
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
	struct view_pair *pair;

	if (2 * counting->used >= counting->room && grow(counting))
		return -ENOMEM;
	pair = pair_find(counting, record->event->id, sample->task, sample->stack);
	if (!pair->samples) {
		*pair = (struct view_pair){ .task = sample->task,
					    .stack = sample->stack,
					    .event = record->event->id };
		counting->used++;
	}
	pair->samples++;
	pair->weight = add(pair->weight, sample->weight);
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

/* The event with most samples. */
static uint32_t choose_event(const struct burin_trace *trace, const struct counting *counting)
{
	uint32_t count = burin_trace_events(trace), best = 0;
	uint64_t *samples = calloc((size_t)count + 1, sizeof(*samples));

	for (size_t n = 0; samples && n < counting->room; n++)
		samples[counting->pairs[n].event] += counting->pairs[n].samples;
	for (uint32_t n = 1; samples && n <= count; n++)
		best = samples[n] > samples[best] || !best ? n : best;
	free(samples);
	return best;
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
	return (one->stack > other->stack) - (one->stack < other->stack);
}

/* Leaves the pairs that are wanted, in an order of their own. */
static int settle(struct view_profile *counted, const struct view_profile_filter *filter,
		  struct counting *counting)
{
	uint32_t event = choose_event(counted->trace, counting);
	unsigned char *known = calloc((size_t)burin_profile_places(counted->profile) + 1, 1);

	if (!known)
		return -ENOMEM;
	counted->event = burin_trace_event(counted->trace, event);
	counted->unit = counted->event ? burin_profile_unit(counted->profile, counted->event) : "samples";
	counted->pairs = counting->pairs;
	for (size_t n = 0; n < counting->room; n++) {
		const struct view_pair pair = counting->pairs[n];

		if (!pair.samples)
			continue;
		if (pair.event != event) {
			counted->of_other_events += pair.samples;
			continue;
		}
		if (filter->symbols.count && !stack_matches(counted, &filter->symbols, pair.stack, known))
			continue;
		counted->pairs[counted->pair_count++] = pair;
		counted->samples += pair.samples;
		counted->weight = add(counted->weight, pair.weight);
	}
	free(known);
	if (counted->pair_count)
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
		result = settle(counted, filter, &counting);
	if (!counted->pairs)
		free(counting.pairs);
	if (result)
		view_profile_free(counted);
	return result;
}

bool view_profile_has(const struct view_profile *counted, const struct burin_record *record,
		      const struct burin_sample *sample)
{
	const struct view_pair wanted = { .task = sample->task, .stack = sample->stack };

	return record->event == counted->event && counted->pair_count &&
	       bsearch(&wanted, counted->pairs, counted->pair_count, sizeof(wanted), by_task);
}

void view_profile_free(struct view_profile *counted)
{
	free(counted->pairs);
	burin_profile_close(counted->profile);
	*counted = (struct view_profile){ .pairs = NULL };
}
