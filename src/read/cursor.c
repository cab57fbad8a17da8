/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Merges streams by time. The iterators that have a record lie in a heap, the earliest on top. Of equal times, the
 * lower ring comes first: iterators are in the order of the rings, the names last. Records of one CPU come in runs,
 * so the top iterator mostly stays on top, which costs two comparisons.
 *
 * The record that was returned lies in the top iterator, and the caller may use it until the next call. So the
 * iterator moves on only then (`moved`). The heap is right in between, since a returned record is still the earliest.
 *
 * The merge needs streams that are in order. A trace is a foreign file, so order.c drops packets that are out of
 * order when the trace is opened, and cuts their times; stream_iterator.c skips the rest of a packet in which a
 * record goes back. So times never decrease here, whatever the files contain, and callers rely on that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "read/stream_iterator.h"

struct burin_cursor {
	uint64_t from, to;
	unsigned iterator_count, heap_count;
	struct stream_iterator **heap;
	bool moved; /* the top iterator's record has been returned */
	struct stream_iterator iterators[];
};

static bool cursor_before(const struct stream_iterator *one, const struct stream_iterator *other)
{
	if (one->record.time != other->record.time)
		return one->record.time < other->record.time;
	return one < other;
}

static void cursor_sift_down(struct burin_cursor *cursor, unsigned at)
{
	struct stream_iterator **heap = cursor->heap, *iterator = heap[at];
	unsigned count = cursor->heap_count;

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && cursor_before(heap[child + 1], heap[child]))
			child++;
		if (!cursor_before(heap[child], iterator))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = iterator;
}

/* Reads the first record of every iterator. */
static int fill_heap(struct burin_cursor *cursor)
{
	cursor->heap_count = 0;
	cursor->moved = false;
	for (unsigned n = 0; n < cursor->iterator_count; n++) {
		int result = stream_iterator_next(&cursor->iterators[n]);

		if (result < 0)
			return result;
		if (result)
			cursor->heap[cursor->heap_count++] = &cursor->iterators[n];
	}
	for (unsigned at = cursor->heap_count / 2; at-- > 0;)
		cursor_sift_down(cursor, at);
	return 0;
}

static bool cursor_wanted(const struct read_stream *stream, const struct burin_cursor_options *options)
{
	return !(options->flags & BURIN_CURSOR_RING) || stream->ring.number == options->ring;
}

static int open_iterators(struct burin_cursor *cursor, const struct burin_trace *trace,
			  const struct burin_cursor_options *options)
{
	for (unsigned n = 0; n < trace->stream_count; n++)
		if (cursor_wanted(&trace->streams[n], options))
			stream_iterator_start(&cursor->iterators[cursor->iterator_count++], trace,
					      &trace->streams[n], cursor->from, cursor->to);
	if ((options->flags & BURIN_CURSOR_RING) && !cursor->iterator_count)
		return -ENOENT;
	if (options->flags & BURIN_CURSOR_NAMES) {
		stream_iterator_start(&cursor->iterators[cursor->iterator_count++], trace,
				      (struct read_stream *)&trace->names_stream, cursor->from, cursor->to);
		stream_iterator_start(&cursor->iterators[cursor->iterator_count++], trace,
				      (struct read_stream *)&trace->changes_stream, cursor->from, cursor->to);
	}
	return fill_heap(cursor);
}

int burin_cursor_open(struct burin_cursor **cursor, const struct burin_trace *trace,
		      const struct burin_cursor_options *given)
{
	struct burin_cursor_options options;
	struct burin_cursor *made;
	int result;

	*cursor = NULL;
	if (options_take(&options, sizeof(options), given) != 0 ||
	    (options.flags & ~(BURIN_CURSOR_RING | BURIN_CURSOR_NAMES)))
		return -EINVAL;
	made = calloc(1, sizeof(*made) + (trace->stream_count + 2) * sizeof(struct stream_iterator));
	if (!made)
		return -ENOMEM;
	made->from = options.from;
	made->to = options.to;
	made->heap = calloc(trace->stream_count + 2, sizeof(struct stream_iterator *));
	result = made->heap ? open_iterators(made, trace, &options) : -ENOMEM;
	if (result) {
		burin_cursor_close(made);
		return result;
	}
	*cursor = made;
	return 0;
}

int burin_cursor_next(struct burin_cursor *cursor, const struct burin_record **record)
{
	*record = NULL;
	if (cursor->moved && cursor->heap_count) {
		int result = stream_iterator_next(cursor->heap[0]);

		if (result < 0)
			return result;
		if (!result)
			cursor->heap[0] = cursor->heap[--cursor->heap_count];
		if (cursor->heap_count > 1)
			cursor_sift_down(cursor, 0);
	}
	cursor->moved = true;
	if (!cursor->heap_count)
		return 0;
	*record = &cursor->heap[0]->record;
	return 1;
}

/* The last time at which a record of the top iterator precedes those of all others. */
static uint64_t cursor_before_others(const struct burin_cursor *cursor)
{
	const struct stream_iterator *top = cursor->heap[0];
	uint64_t time = UINT64_MAX;

	for (unsigned n = 1; n < 3 && n < cursor->heap_count; n++) {
		const struct stream_iterator *other = cursor->heap[n];
		const uint64_t last = other->record.time - (top > other && other->record.time > 0);

		time = last < time ? last : time;
	}
	return time;
}

static uint32_t *run_offsets(struct read_run *run)
{
	return &run->offsets[run->count * (WIRE_ARGS_MAX + 1)];
}

/* Adds the record of an iterator, unless it is of another event. */
static void run_add(struct read_run *run, struct stream_iterator *iterator)
{
	const struct burin_record *record = &iterator->record;

	if (run->only && record->event != run->only)
		return;
	run->records[run->count++] = *record;
}

/* The same for one whose offsets are the iterator's. */
static void run_add_first(struct read_run *run, struct stream_iterator *iterator)
{
	uint32_t *offsets = run_offsets(run);

	if (iterator->record.offsets == iterator->offsets) {
		memcpy(offsets, iterator->offsets, sizeof(iterator->offsets));
		iterator->record.offsets = offsets;
	}
	run_add(run, iterator);
}

/* Adds records of the top iterator up to a time, if they are in its packet. */
static void run_add_until(struct read_run *run, struct stream_iterator *top, uint64_t last)
{
	for (top->layout = run_offsets(run); run->count < run->room && stream_iterator_step(top, last);
	     top->layout = run_offsets(run))
		run_add(run, top);
	top->layout = top->offsets;
}

/* Moves on to the next record without loading a packet. Return: false: that needs one. */
static bool cursor_step(struct burin_cursor *cursor)
{
	if (!stream_iterator_step(cursor->heap[0], UINT64_MAX))
		return false;
	if (cursor->heap_count > 1)
		cursor_sift_down(cursor, 0);
	return true;
}

int read_cursor_run(struct burin_cursor *cursor, struct read_run *run)
{
	const struct burin_record *record;
	int result;

	run->count = 0;
	do {
		result = burin_cursor_next(cursor, &record);
		if (result <= 0)
			return result;
		do {
			run_add_first(run, cursor->heap[0]);
			run_add_until(run, cursor->heap[0], cursor_before_others(cursor));
		} while (run->count < run->room && cursor_step(cursor));
	} while (!run->count);
	return 1;
}

int burin_cursor_seek(struct burin_cursor *cursor, uint64_t time)
{
	if (time < cursor->from)
		time = cursor->from;
	for (unsigned n = 0; n < cursor->iterator_count; n++)
		stream_iterator_seek(&cursor->iterators[n], time);
	return fill_heap(cursor);
}

int read_cursor_span(struct burin_cursor *cursor, uint64_t from, uint64_t to)
{
	cursor->from = from;
	cursor->to = to;
	for (unsigned n = 0; n < cursor->iterator_count; n++)
		cursor->iterators[n].to = to;
	return burin_cursor_seek(cursor, from);
}

void burin_cursor_close(struct burin_cursor *cursor)
{
	if (!cursor)
		return;
	for (unsigned n = 0; n < cursor->iterator_count; n++)
		stream_iterator_stop(&cursor->iterators[n]);
	free(cursor->heap);
	free(cursor);
}
