/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Blame of spans; see blame.h.
 *
 * One pass through the trace, in order of time. Each record changes the states of threads; past states lie in two histories: intervals by
 * thread, and times of running by CPU. Samples of running threads are kept, too. When the time of the records has passed the end of a span,
 * all that happened in it is known, and its time is cut into pieces, one for each interval of its thread.
 *
 *	a piece of      becomes
 *	running         running; the samples in it share this time later (blame_resolve())
 *	runnable        pieces of the history of the CPU for which it waited: behind the thread that ran there
 *	blocked         a part by its call, its stack and its waker
 *	any, in a gap   lost: the other records of that time may mislead
 *
 * The spans are sorted by their begins for the floor of the histories, and by their ends to find those that are over. Nothing before the begin
 * of the oldest span that is not over is needed.
 *
 * A span that ends in another thread is followed backwards from its end. So the pieces of that thread are collected first, and looked at from
 * the last one to the first. Where the thread was blocked and another one woke it, that one goes on, at the same time. A span that is handed
 * on more than JUMPS_MAX times is unknown before that.
 *
 * Without switches, a thread is blocked in the times of its waits (sample.off-cpu), and unknown otherwise; of that, it ran for as long as its
 * samples say.
 */
#include "view/blame/blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "view/blame/blame_lost.h"
#include "view/blame/blame_parts.h"
#include "view/blame/blame_samples.h"
#include "view/sched/sched_history.h"
#include "view/sched/sched_names.h"
#include "view/sched/sched_read.h"
#include "view/sched/sched_stacks.h"

enum {
	JUMPS_MAX = 64,
};

/* Sleeps outside of system calls, as sched_read.c names them. */
static const char fault_sleep[] = "no system call (uninterruptible)",
		  stopped_sleep[] = "no system call (stopped)";

/* A piece of a thread that is followed backwards. */
struct collected {
	struct sched_interval part, whole;
};

struct blame_maker {
	struct blame *blame;
	struct blame_span *spans; /* by begin */
	struct blame_span **ends; /* by end */
	size_t count, begun, ended, oldest;
	struct kernel_view view;
	struct sched sched;
	struct sched_stacks stacks;
	struct sched_history threads, cpus;
	struct sched_names names;
	struct blame_samples samples;
	struct blame_stacks functions;
	const struct burin_event *running, *waiting; /* whose samples count; NULL: none */
	struct blame_lost lost;
	uint32_t fault, stopped, interrupt, others; /* strings */
	struct collected *pieces;
	size_t piece_count, piece_room;
};

/* ---- Histories */

/* The begin of the oldest span that is not over. */
static uint64_t oldest_begin(struct blame_maker *maker, uint64_t now)
{
	uint64_t begin;

	while (maker->oldest < maker->count && maker->spans[maker->oldest].done)
		maker->oldest++;
	if (maker->oldest == maker->count)
		return now;
	begin = sched_read_ns(maker->blame->trace, maker->spans[maker->oldest].span->begin);
	return begin < now ? begin : now;
}

static uint64_t blame_floor(void *data, uint64_t now)
{
	return oldest_begin(data, now);
}

static int keep_piece_of_thread(void *data, const struct sched_interval *interval)
{
	struct blame_maker *maker = data;
	int error;

	maker->threads.floor = maker->cpus.floor = oldest_begin(maker, interval->end);
	error = sched_history_keep(&maker->threads, interval->thread, interval);
	if (error || interval->state != SCHED_RUNNING || interval->cpu >= SCHED_CPUS_MAX)
		return error;
	return sched_history_keep(&maker->cpus, interval->cpu, interval);
}

/* ---- Samples */

/* The event that shows where threads run: one in ns, if there are several. */
static void choose_events(struct blame_maker *maker)
{
	const struct burin_trace *trace = maker->blame->trace;
	const struct burin_profile *profile = maker->functions.profile;
	bool in_ns = false;

	for (unsigned id = 1; profile && id <= burin_trace_events(trace); id++) {
		const struct burin_event *event = burin_trace_event(trace, id);
		bool ns;

		if (!event || !burin_profile_is_sample(profile, event) ||
		    !strcmp(event->name, "sample.waker"))
			continue;
		if (!strcmp(event->name, "sample.off-cpu")) {
			maker->waiting = event;
			continue;
		}
		ns = !strcmp(burin_profile_unit(profile, event), "ns");
		if (!maker->running || (ns && !in_ns))
			maker->running = event;
		in_ns |= ns;
	}
	maker->blame->samples_in_ns = in_ns;
}

static int take_wait(struct blame_maker *maker, size_t thread, uint64_t ns, uint64_t weight)
{
	const uint64_t begin = ns > weight ? ns - weight : 0;

	if (maker->blame->has_switches || begin == ns)
		return 0;
	return keep_piece_of_thread(maker, &(struct sched_interval){ .thread = (uint32_t)thread,
								     .state = SCHED_BLOCKED,
								     .begin = begin,
								     .end = ns,
								     .cpu = SCHED_NO_CPU });
}

static int take_sample(struct blame_maker *maker, const struct burin_record *record, uint64_t ns)
{
	struct burin_sample sample;
	struct blame_sample kept = { .time = ns };
	size_t thread;

	if ((record->event != maker->running && record->event != maker->waiting) ||
	    record->ring == UINT32_MAX || burin_profile_sample(maker->functions.profile, record, &sample))
		return 0;
	thread = sched_find(&maker->sched, record->tid, ns);
	if (thread == SIZE_MAX)
		return -ENOMEM;
	if (record->event == maker->waiting)
		return take_wait(maker, thread, ns, sample.weight);
	kept.stack = sample.stack;
	kept.weight = sample.weight;
	return blame_samples_keep(&maker->samples, thread, &kept, oldest_begin(maker, ns));
}

/* ---- Pieces become parts */

/* A span, while its time is cut. */
struct cut_span {
	struct blame_maker *maker;
	struct blame_vector *vector;
	uint32_t thread;
	uint64_t unknown; /* ns */
	uint64_t weights; /* of samples in times that are unknown */
};

static int cut_add(struct cut_span *cut, const struct blame_part *part, uint64_t ns)
{
	return blame_add_part(cut->maker->blame, cut->vector, part, ns);
}

static int add_samples(struct cut_span *cut, uint32_t thread, const struct sched_interval *piece)
{
	size_t count;
	const struct blame_sample *sample =
		blame_samples_find(&cut->maker->samples, thread, piece->begin, piece->end, &count);
	int error = 0;

	for (size_t n = 0; n < count && !error; n++) {
		const uint32_t part =
			blame_part_of_stack(cut->maker->blame, &cut->maker->functions, sample[n].stack);

		error = part ? blame_add(cut->vector, part, sample[n].weight) : -ENOMEM;
		if (piece->state == SCHED_UNKNOWN)
			cut->weights = view_add(cut->weights, sample[n].weight);
	}
	return error;
}

/* A time in which another thread, or none that is known, ran on the CPU. A new thread gets its name after its first steps. */
static int add_behind(void *data, const struct sched_interval *piece, const struct sched_interval *whole)
{
	struct cut_span *cut = data;
	struct blame_maker *maker = cut->maker;
	struct blame_part part = { .kind = BLAME_RUNNABLE };

	if (piece->state == SCHED_RUNNING && piece->thread != cut->thread)
		part.what = whole->unseen ? maker->others
					  : sched_names_find(&maker->names, &maker->sched, piece->thread,
							     piece->end);
	return cut_add(cut, &part, piece->end - piece->begin);
}

static int add_runnable(struct cut_span *cut, const struct sched_interval *piece,
			const struct sched_interval *whole)
{
	struct blame_maker *maker = cut->maker;

	if (whole->cpu >= SCHED_CPUS_MAX)
		return cut_add(cut, &(struct blame_part){ .kind = BLAME_RUNNABLE },
			       piece->end - piece->begin);
	return sched_history_cut(&maker->cpus, whole->cpu, piece->begin, piece->end, NULL, add_behind, cut);
}

static int add_blocked(struct cut_span *cut, const struct sched_interval *piece,
		       const struct sched_interval *whole)
{
	struct blame_maker *maker = cut->maker;
	struct blame_part part = { .kind = BLAME_BLOCKED, .what = piece->what };
	uint32_t stack = whole->stack ? sched_stack_of(maker->blame->strings,
						       maker->blame->strings->texts[whole->stack])
				      : 0;

	if (maker->fault && piece->what == maker->fault)
		part.what = view_string(maker->blame->strings, "a page fault");
	if (piece->what == maker->stopped) /* by a signal, wherever the thread was */
		part.what = view_string(maker->blame->strings, "a stop");
	else if (!stack && sched_stacks_exist(&maker->stacks))
		stack = sched_stacks_sleeper(&maker->stacks, maker->sched.threads[whole->thread].tid,
					     whole->begin, whole->end);
	if (stack)
		part.stack = blame_short_stack(maker->blame, stack);
	if (whole->waker && !maker->sched.threads[whole->waker - 1].tid)
		part.by = maker->interrupt;
	else if (whole->waker)
		part.by = sched_names_find(&maker->names, &maker->sched, whole->waker - 1, piece->end);
	return cut_add(cut, &part, piece->end - piece->begin);
}

static int add_known(struct cut_span *cut, const struct sched_interval *piece,
		     const struct sched_interval *whole)
{
	switch (piece->state) {
	case SCHED_RUNNING:
		cut->vector->running += piece->end - piece->begin;
		return add_samples(cut, cut->thread, piece);
	case SCHED_RUNNABLE:
		return add_runnable(cut, piece, whole);
	case SCHED_BLOCKED:
		return add_blocked(cut, piece, whole);
	default:
		cut->unknown += piece->end - piece->begin;
		return cut->maker->blame->has_switches ? 0 : add_samples(cut, cut->thread, piece);
	}
}

/* A piece, of which the parts in gaps are lost. */
static int add_piece(void *data, const struct sched_interval *piece, const struct sched_interval *whole)
{
	struct cut_span *cut = data;
	struct sched_interval rest = *piece;
	const struct blame_gap *gap;
	int error = 0;

	while (!error && rest.begin < piece->end) {
		gap = blame_lost_next(&cut->maker->lost, rest.begin);
		if (gap && gap->begin <= rest.begin) {
			rest.end = gap->end < piece->end ? gap->end : piece->end;
			error = cut_add(cut, &(struct blame_part){ .kind = BLAME_LOST },
					rest.end - rest.begin);
		} else {
			rest.end = gap && gap->begin < piece->end ? gap->begin : piece->end;
			error = add_known(cut, &rest, whole);
		}
		rest.begin = rest.end;
	}
	return error;
}

/* ---- Spans that end in another thread */

static int collect_piece(void *data, const struct sched_interval *piece, const struct sched_interval *whole)
{
	struct blame_maker *maker = data;

	if (!array_reserve(maker->pieces, maker->piece_room, maker->piece_count + 1))
		return -ENOMEM;
	maker->pieces[maker->piece_count++] = (struct collected){ *piece, *whole };
	return 0;
}

static int cut_thread(struct blame_maker *maker, uint32_t thread, uint64_t from, uint64_t to,
		      sched_history_piece piece, void *data)
{
	const struct sched_interval now = sched_history_now(&maker->sched, thread);

	return sched_history_cut(&maker->threads, thread, from, to, maker->blame->has_switches ? &now : NULL,
				 piece, data);
}

/* Whether the path goes on with the thread that ended a wait. */
static bool goes_on(const struct blame_maker *maker, const struct sched_interval *piece, uint32_t home)
{
	return piece->state == SCHED_BLOCKED && piece->thread != home && piece->waker &&
	       maker->sched.threads[piece->waker - 1].tid;
}

/* @home: the thread in which the span began */
static int follow_back(struct cut_span *cut, uint32_t home, uint64_t begin, uint64_t end)
{
	struct blame_maker *maker = cut->maker;
	int error = 0;

	for (unsigned jumps = 0; end > begin && !error; jumps++) {
		if (jumps == JUMPS_MAX) {
			cut->unknown += end - begin;
			break;
		}
		maker->piece_count = 0;
		error = cut_thread(maker, cut->thread, begin, end, collect_piece, maker);
		while (!error && maker->piece_count) {
			const struct collected piece = maker->pieces[--maker->piece_count];

			if (goes_on(maker, &piece.part, home)) {
				cut->thread = piece.part.waker - 1;
				break;
			}
			error = add_piece(cut, &piece.part, &piece.whole);
			end = piece.part.begin;
		}
	}
	return error;
}

/* ---- Spans */

static int end_vector(struct cut_span *cut)
{
	struct blame_vector *vector = cut->vector;

	if (!cut->maker->blame->has_switches) {
		vector->running = cut->weights < cut->unknown ? cut->weights : cut->unknown;
		cut->unknown -= vector->running;
	}
	return cut->unknown ? cut_add(cut, &(struct blame_part){ .kind = BLAME_UNKNOWN }, cut->unknown) : 0;
}

static int blame_span(struct blame_maker *maker, struct blame_span *span)
{
	const struct burin_trace *trace = maker->blame->trace;
	const uint64_t begin = sched_read_ns(trace, span->span->begin),
		       end = sched_read_ns(trace, span->span->end);
	const size_t home = sched_find(&maker->sched, span->span->tid, begin),
		     last = sched_find(&maker->sched, span->span->end_tid, end);
	struct cut_span cut = { .maker = maker, .vector = &span->vector, .thread = (uint32_t)last };
	int error;

	span->done = true;
	span->vector.time = end - begin;
	if (home == SIZE_MAX || last == SIZE_MAX)
		return -ENOMEM;
	error = home == last ? cut_thread(maker, (uint32_t)home, begin, end, add_piece, &cut)
			     : follow_back(&cut, (uint32_t)home, begin, end);
	return error ? error : end_vector(&cut);
}

/* Blame the spans that are over. @now: ticks */
static int end_spans(struct blame_maker *maker, uint64_t now)
{
	int error = 0;

	while (!error && maker->ended < maker->count && maker->ends[maker->ended]->span->end < now)
		error = blame_span(maker, maker->ends[maker->ended++]);
	return error;
}

static int read_records(struct blame_maker *maker)
{
	const struct burin_trace *trace = maker->blame->trace;
	const struct burin_record *record;
	struct burin_cursor *cursor;
	int result = burin_cursor_open(&cursor, trace, NULL);

	while (!result && maker->ended < maker->count && (result = burin_cursor_next(cursor, &record)) > 0) {
		const uint64_t ns = sched_read_ns(trace, record->time);

		result = end_spans(maker, record->time);
		if (!result && maker->blame->has_switches)
			result = sched_read_record(&maker->sched, &maker->view, record, ns);
		if (!result)
			result = take_sample(maker, record, ns);
	}
	burin_cursor_close(cursor);
	return result ? result : end_spans(maker, UINT64_MAX);
}

/* ---- The whole */

static int blame_by_begin(const void *a, const void *b)
{
	const struct blame_span *one = a, *other = b;

	return number_order(one->span->begin, other->span->begin)
		       ?: number_order(one->span->end, other->span->end);
}

static int blame_by_end(const void *a, const void *b)
{
	const struct blame_span *const *one = a, *const *other = b;

	return number_order((*one)->span->end, (*other)->span->end)
		       ?: number_order((*one)->span->begin, (*other)->span->begin);
}

static int sort_spans(struct blame_maker *maker)
{
	maker->ends = calloc(maker->count + 1, sizeof(*maker->ends));
	if (!maker->ends)
		return -ENOMEM;
	if (!maker->count)
		return 0;
	qsort(maker->spans, maker->count, sizeof(*maker->spans), blame_by_begin);
	for (size_t n = 0; n < maker->count; n++)
		maker->ends[n] = &maker->spans[n];
	qsort(maker->ends, maker->count, sizeof(*maker->ends), blame_by_end);
	return 0;
}

static int open_samples(struct blame_maker *maker)
{
	struct blame *blame = maker->blame;
	int error = burin_profile_open(&maker->functions.profile, blame->trace);

	if (error)
		return error == -ENODATA ? 0 : error;
	choose_events(maker);
	blame->has_samples = maker->running != NULL;
	maker->functions.parts = calloc((size_t)burin_profile_stacks(maker->functions.profile) + 1,
					sizeof(*maker->functions.parts));
	return maker->functions.parts ? 0 : -ENOMEM;
}

static int open_states(struct blame_maker *maker)
{
	struct blame *blame = maker->blame;
	int error = sched_read_begin(&maker->sched, &maker->view, blame->trace, blame->strings);

	if (error && error != -ENODATA)
		return error;
	blame->has_switches = !error;
	blame->has_wakes = blame->has_switches && maker->view.has[KERNEL_WAKING];
	/* A thread that sleeps in no system call does so in a page fault, if the record of the switch knows the call. */
	if (maker->view.call_field)
		maker->fault = view_string(blame->strings, fault_sleep);
	maker->stopped = view_string(blame->strings, stopped_sleep);
	maker->interrupt = view_string(blame->strings, "[interrupt]");
	maker->others = view_string(blame->strings, "threads that were not recorded");
	error = sched_stacks_make(&maker->stacks, blame->trace, blame->strings);
	blame->has_stacks = sched_stacks_exist(&maker->stacks);
	return error;
}

static void free_maker(struct blame_maker *maker)
{
	free(maker->ends);
	free(maker->pieces);
	kernel_view_free(&maker->view);
	sched_free(&maker->sched);
	sched_stacks_free(&maker->stacks);
	sched_history_free(&maker->threads);
	sched_history_free(&maker->cpus);
	sched_names_free(&maker->names);
	blame_samples_free(&maker->samples);
	burin_profile_close(maker->functions.profile);
	free(maker->functions.parts);
	blame_lost_free(&maker->lost);
}

int blame_make(struct blame *blame, const struct burin_trace *trace, struct view_strings *strings,
	       struct blame_span *spans, size_t count)
{
	struct blame_maker maker = { .blame = blame,
				     .spans = spans,
				     .count = count,
				     .sched = { .closed = keep_piece_of_thread, .data = &maker },
				     .threads = { .find_floor = blame_floor, .data = &maker },
				     .cpus = { .find_floor = blame_floor, .data = &maker },
				     .names = { .trace = trace, .strings = strings } };
	int result;

	*blame = (struct blame){ .trace = trace, .strings = strings };
	result = blame_part_find(blame, &(struct blame_part){ .kind = BLAME_RUNNING }) ? 0 : -ENOMEM;
	if (!result)
		result = sort_spans(&maker);
	if (!result)
		result = open_samples(&maker);
	if (!result)
		result = open_states(&maker);
	if (!result)
		result = blame_lost_make(&maker.lost, trace);
	if (!result)
		result = read_records(&maker);
	blame->dropped = maker.threads.dropped + maker.cpus.dropped + maker.samples.dropped;
	free_maker(&maker);
	return result ? result : strings->failed ? -ENOMEM : 0;
}

void blame_free(struct blame *blame)
{
	free(blame->parts);
	free(blame->fold_numbers);
	hash_table_free(&blame->part_numbers);
	*blame = (struct blame){ .parts = NULL };
}

void blame_spans_free(struct blame_span *spans, size_t count)
{
	for (size_t n = 0; n < count; n++)
		blame_vector_free(&spans[n].vector);
	free(spans);
}
