/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counts samples by task and stack.
 *
 * A sample has both as one number, its context, so counting adds to an array entry. Contexts are numbered in the order in
 * which they first occur, so that entry is usually near the previous one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "view/profile/profile_view.h"
#include "view/profile/windows.h"
#include "view/symbol_label.h"

/*
 * Functions of glibc, since 2.41, through which read() and others make a system call at which the thread may be cancelled. All such
 * waits would be theirs.
 */
static bool makes_call(const struct burin_profile *profile, uint32_t location)
{
	static const char *const names[] = { "__syscall_cancel_arch", "__internal_syscall_cancel",
					     "__syscall_cancel" };
	struct burin_frame frame;
	const char *name = NULL;

	for (uint32_t n = 0; !burin_profile_frame(profile, location, n, &frame); n++)
		name = frame.function ? frame.function : name;
	for (unsigned n = 0; name && n < sizeof(names) / sizeof(*names); n++)
		if (strcmp(name, names[n]) == 0)
			return true;
	return false;
}

uint32_t view_own_frame(const struct burin_profile *profile, const struct view_pair *pair)
{
	struct burin_stack stack;
	struct burin_location location;

	if (pair->state != VIEW_WAITING)
		return pair->stack;
	for (uint32_t n = pair->stack; !burin_profile_stack(profile, n, &stack); n = stack.caller) {
		const struct burin_image *image = burin_profile_location(profile, stack.location, &location)
							  ? NULL
							  : burin_profile_image(profile, location.image);

		if (image && image->kind != BURIN_IMAGE_KERNEL && image->kind != BURIN_IMAGE_MODULE &&
		    !(stack.caller && makes_call(profile, stack.location)))
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

static int profile_count_by_pid(const void *a, const void *b)
{
	const struct burin_task *const *one = a, *const *other = b;

	return number_order((*one)->pid, (*other)->pid);
}

/*
 * The main threads, by pid. A program's file may have another name than the user ran it by, as redis-server links to
 * redis-check-rdb: the name of the main thread is that of the link.
 */
struct main_threads {
	const struct burin_task **tasks;
	size_t count;
};

static int find_main_threads(const struct burin_profile *profile, struct main_threads *mains)
{
	mains->tasks = calloc((size_t)burin_profile_tasks(profile) + 1, sizeof(*mains->tasks));
	if (!mains->tasks)
		return -ENOMEM;
	for (uint32_t n = 1; n <= burin_profile_tasks(profile); n++) {
		const struct burin_task *task = burin_profile_task(profile, n);

		if (task && task->tid == task->pid)
			mains->tasks[mains->count++] = task;
	}
	qsort(mains->tasks, mains->count, sizeof(*mains->tasks), profile_count_by_pid);
	return 0;
}

/* Whether the main thread of this process ever had such a name while it executed the same program. */
static bool main_thread_matches(const struct main_threads *mains, const struct burin_task *task,
				const struct view_globs *globs)
{
	const uint32_t pid = task->pid;
	size_t begin = 0, end = mains->count;

	while (begin < end) {
		const size_t middle = begin + (end - begin) / 2;

		if (mains->tasks[middle]->pid < pid)
			begin = middle + 1;
		else
			end = middle;
	}
	for (; begin < mains->count && mains->tasks[begin]->pid == pid; begin++)
		if (strcmp(mains->tasks[begin]->path, task->path) == 0 &&
		    view_globs_match(globs, mains->tasks[begin]->name))
			return true;
	return false;
}

/* Whether the filter selects a task, by number. Number 0 stands for unknown tasks. Return: NULL: no memory. */
static bool *select_tasks(const struct burin_profile *profile, const struct view_profile_filter *filter)
{
	uint32_t count = burin_profile_tasks(profile);
	bool *selected = calloc((size_t)count + 2, 1);
	struct main_threads mains = { 0 };

	if (!selected || find_main_threads(profile, &mains)) {
		free(selected);
		return NULL;
	}
	for (uint32_t n = 0; n <= count; n++) {
		const struct burin_task *task = burin_profile_task(profile, n);
		const bool pid = task ? view_set_has(&filter->pids, task->pid) : !filter->pids.count;

		selected[n] = pid && view_globs_match(&filter->threads, view_thread(profile, n)) &&
			      (view_globs_match(&filter->programs, view_program(profile, n)) ||
			       (task && main_thread_matches(&mains, task, &filter->programs)));
	}
	free(mains.tasks);
	return selected;
}

struct tally {
	uint64_t samples, weight;
	double squares;
};

/* For each event with samples, by id: tallies by context. */
struct tallies {
	uint32_t events, contexts;
	struct tally **of;
};

static int tallies_new(struct tallies *tallies, const struct view_profile *counted)
{
	tallies->events = burin_trace_events(counted->trace);
	tallies->contexts = burin_profile_contexts(counted->profile);
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
		*of = calloc((size_t)tallies->contexts + 1, sizeof(**of));
	if (!*of)
		return -ENOMEM;
	tally = &(*of)[sample->context];
	tally->samples++;
	tally->weight = view_add(tally->weight, sample->weight);
	/* The comparison of two profiles needs them (diff.h). */
	tally->squares += (double)sample->weight * (double)sample->weight;
	return 0;
}

static int profile_count_records(const struct view_profile *counted, const struct view_profile_filter *filter,
				 struct tallies *tallies)
{
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .from = filter->from,
						      .to = filter->to };
	uint32_t tasks = burin_profile_tasks(counted->profile);
	bool *selected = select_tasks(counted->profile, filter);
	struct burin_cursor *cursor = NULL;
	const struct burin_record *record;
	struct burin_sample sample;
	int result = selected ? burin_cursor_open(&cursor, counted->trace, &options) : -ENOMEM;

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		result = 0;
		if (!burin_profile_sample(counted->profile, record, &sample) &&
		    selected[sample.task <= tasks ? sample.task : 0] &&
		    view_globs_match(&filter->event, record->event->name) &&
		    (!counted->where || view_where_holds(counted->where, record)) &&
		    (!filter->windows || view_windows_has(filter->windows, record->tid, record->time)))
			result = count_sample(tallies, record, &sample);
	}
	burin_cursor_close(cursor);
	free(selected);
	return result;
}

static uint64_t samples_of(const struct tallies *tallies, uint32_t event)
{
	const struct tally *of = tallies->of[event];
	uint64_t samples = 0;

	for (uint32_t n = 0; of && n <= tallies->contexts; n++)
		samples += of[n].samples;
	return samples;
}

/*
 * Whether an event is one for the choice. Wake-ups stand for the time of others, which must not be added to that of the threads that woke
 * them: they count only if they are alone, as with --event.
 */
static bool is_choice(const struct tallies *tallies, const struct burin_event *event, uint32_t number)
{
	if (strcmp(event->name, "sample.waker") != 0)
		return true;
	for (uint32_t n = 1; n <= tallies->events; n++)
		if (n != number && tallies->of[n])
			return false;
	return true;
}

/* A trace may have any text for a unit, which becomes a part of keys. */
static const char *known_unit(const char *unit)
{
	return !strcmp(unit, "ns") ? "ns" : !strcmp(unit, "samples") ? "samples" : "events";
}

/* Selects the event with most samples of each state; only one of the two if @apart, or unless both are in ns. */
static void profile_count_select_events(struct view_profile *counted, const struct tallies *tallies,
					bool apart)
{
	struct view_counted *of = counted->of;
	const char *units[VIEW_STATES] = { NULL };

	for (uint32_t n = 1; n <= tallies->events; n++) {
		const struct burin_event *event =
			tallies->of[n] ? burin_trace_event(counted->trace, n) : NULL;
		const uint64_t samples = event ? samples_of(tallies, n) : 0;
		enum view_state state =
			event && !strcmp(event->name, "sample.off-cpu") ? VIEW_WAITING : VIEW_RUNNING;

		if (event && samples > of[state].samples && is_choice(tallies, event, n))
			of[state] = (struct view_counted){ .event = event, .samples = samples };
		counted->of_other_events += samples; /* make_pairs() subtracts those that count */
	}
	for (unsigned state = 0; state < VIEW_STATES; state++)
		units[state] =
			of[state].event ? burin_profile_unit(counted->profile, of[state].event) : "samples";
	if (view_profile_mixed(counted) &&
	    (apart || strcmp(units[VIEW_RUNNING], "ns") != 0 || strcmp(units[VIEW_WAITING], "ns") != 0))
		of[apart || of[VIEW_RUNNING].samples >= of[VIEW_WAITING].samples ? VIEW_WAITING
										 : VIEW_RUNNING]
			.event = NULL;
	counted->unit = known_unit(units[of[VIEW_RUNNING].event ? VIEW_RUNNING : VIEW_WAITING]);
	for (unsigned state = 0; state < VIEW_STATES; state++)
		of[state].samples = 0; /* these were for the choice alone */
}

static bool symbols_match(const struct view_globs *symbols, const char *name)
{
	for (size_t n = 0; n < symbols->count; n++)
		if (view_symbol_fits(symbols->globs[n], name))
			return true;
	return false;
}

/* Whether a location has a symbol of the filter. @matches: by location: 0 unknown, 1 no, 2 yes. */
static bool location_matches(const struct view_profile *counted, const struct view_globs *symbols,
			     uint32_t location, unsigned char *matches)
{
	struct burin_frame frame;
	char address[512];
	bool match = false, named = false;

	if (matches[location])
		return matches[location] == 2;
	for (uint32_t n = 0; !burin_profile_frame(counted->profile, location, n, &frame); n++) {
		named |= frame.function != NULL;
		match |= frame.function && symbols_match(symbols, frame.function);
	}
	if (!named)
		match = symbols_match(
			symbols, burin_profile_address(counted->profile, location, address, sizeof(address)));
	matches[location] = match ? 2 : 1;
	return match;
}

static bool stack_matches(const struct view_profile *counted, const struct view_globs *symbols,
			  uint32_t stack, unsigned char *matches)
{
	struct burin_stack frame;

	for (uint32_t n = stack; !burin_profile_stack(counted->profile, n, &frame); n = frame.caller)
		if (location_matches(counted, symbols, frame.location, matches))
			return true;
	return false;
}

/* Makes pairs of the tallies of the selected events. Return: 0 or -ENOMEM. */
static int make_pairs(struct view_profile *counted, const struct tallies *tallies)
{
	size_t room = 0;

	for (unsigned state = 0; state < VIEW_STATES; state++)
		room += counted->of[state].event ? (size_t)tallies->contexts + 1 : 0;
	counted->pairs = malloc(room * sizeof(*counted->pairs) + 1);
	if (!counted->pairs)
		return -ENOMEM;
	for (unsigned state = 0; state < VIEW_STATES; state++) {
		const struct burin_event *event = counted->of[state].event;

		for (uint32_t n = 0; event && tallies->of[event->id] && n <= tallies->contexts; n++) {
			const struct tally *tally = &tallies->of[event->id][n];
			struct view_pair *pair = &counted->pairs[counted->pair_count];

			if (!tally->samples)
				continue;
			*pair = (struct view_pair){ .state = state,
						    .samples = tally->samples,
						    .weight = tally->weight,
						    .squares = tally->squares };
			burin_profile_context(counted->profile, n, &pair->task, &pair->stack);
			counted->of_other_events -= pair->samples;
			counted->pair_count++;
		}
	}
	return view_pairs_sort(&counted->pairs, &counted->pair_count);
}

/* Keeps the pairs with a symbol of the filter, and computes the sums. Return: 0 or -ENOMEM. */
static int keep_pairs(struct view_profile *counted, const struct view_globs *symbols)
{
	unsigned char *matches = calloc((size_t)burin_profile_locations(counted->profile) + 1, 1);
	size_t count = 0;

	for (size_t n = 0; matches && n < counted->pair_count; n++) {
		const struct view_pair *pair = &counted->pairs[n];
		struct view_counted *of = &counted->of[pair->state];

		if (symbols->count && !stack_matches(counted, symbols, pair->stack, matches))
			continue;
		of->samples += pair->samples;
		of->weight = view_add(of->weight, pair->weight);
		counted->samples += pair->samples;
		counted->weight = view_add(counted->weight, pair->weight);
		counted->squares += pair->squares;
		counted->pairs[count++] = *pair;
	}
	counted->pair_count = count;
	free(matches);
	return matches ? 0 : -ENOMEM;
}

/* The conditions of the selected samples. */
static int profile_count_compile(struct view_profile *counted, const struct view_profile_filter *filter)
{
	const unsigned events = burin_trace_events(counted->trace);
	bool *selected = filter->where.list.count ? calloc((size_t)events + 1, sizeof(*selected)) : NULL;
	int result;

	if (!selected)
		return filter->where.list.count ? -ENOMEM : 0;
	for (unsigned n = 0; n < events; n++) {
		const struct burin_event *event = burin_trace_event(counted->trace, n + 1);

		selected[n] = event && burin_profile_is_sample(counted->profile, event) &&
			      view_globs_match(&filter->event, event->name);
	}
	result = view_where_make(&counted->where, counted->trace, counted->profile, &filter->where, selected);
	free(selected);
	return result;
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
		result = profile_count_compile(counted, filter);
	if (!result)
		result = profile_count_records(counted, filter, &tallies);
	if (!result) {
		profile_count_select_events(counted, &tallies, filter->apart);
		result = make_pairs(counted, &tallies);
	}
	if (!result)
		result = keep_pairs(counted, &filter->symbols);
	tallies_free(&tallies);
	if (result)
		view_profile_free(counted);
	return result;
}

int view_profile_part(struct view_profile *part, const struct view_profile *whole,
		      const struct view_profile_filter *filter)
{
	struct tallies tallies = { .of = NULL };
	int result;

	*part = (struct view_profile){ .trace = whole->trace,
				       .profile = whole->profile,
				       .unit = whole->unit,
				       .where = whole->where,
				       .from = filter->from,
				       .to = filter->to };
	for (unsigned state = 0; state < VIEW_STATES; state++)
		part->of[state].event = whole->of[state].event;
	result = tallies_new(&tallies, part);
	if (!result)
		result = profile_count_records(part, filter, &tallies);
	for (uint32_t n = 1; !result && n <= tallies.events; n++)
		part->of_other_events += samples_of(&tallies, n);
	if (!result)
		result = make_pairs(part, &tallies);
	if (!result)
		result = keep_pairs(part, &filter->symbols);
	tallies_free(&tallies);
	if (result)
		view_profile_part_free(part);
	return result;
}

void view_profile_part_free(struct view_profile *part)
{
	free(part->pairs);
	*part = (struct view_profile){ .pairs = NULL };
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
	struct view_pair key = { .task = sample->task, .stack = sample->stack };

	if (record->event == counted->of[VIEW_WAITING].event)
		key.state = VIEW_WAITING;
	else if (record->event != counted->of[VIEW_RUNNING].event)
		return false;
	return bsearch(&key, counted->pairs, counted->pair_count, sizeof(key), view_pair_order) &&
	       view_where_holds(counted->where, record);
}

void view_profile_free(struct view_profile *counted)
{
	free(counted->pairs);
	view_where_free(counted->where);
	burin_profile_close(counted->profile);
	*counted = (struct view_profile){ .pairs = NULL };
}
