/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Merging by time. The lanes that have a record lie in a heap, the earliest on top; of the same time, the
 * lower ring comes first (lanes are numbered in the order of rings, the names last). A move of the top lane
 * mostly leaves it on top, for records of one CPU come in runs: then it costs two comparisons.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/lane.h"

struct burin_cursor {
	uint64_t from, to;
	unsigned lane_count, heap_count;
	struct read_lane **heap;
	bool moved; /* the top lane's record has been handed out */
	struct read_lane lanes[];
};

static bool before(const struct read_lane *one, const struct read_lane *other)
{
	if (one->record.time != other->record.time)
		return one->record.time < other->record.time;
	return one < other;
}

static void sift_down(struct burin_cursor *cursor, unsigned at)
{
	struct read_lane **heap = cursor->heap, *lane = heap[at];
	unsigned count = cursor->heap_count;

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], lane))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = lane;
}

/* Takes the first record of every lane. */
static int fill_heap(struct burin_cursor *cursor)
{
	cursor->heap_count = 0;
	cursor->moved = false;
	for (unsigned n = 0; n < cursor->lane_count; n++) {
		int result = read_lane_next(&cursor->lanes[n]);

		if (result < 0)
			return result;
		if (result)
			cursor->heap[cursor->heap_count++] = &cursor->lanes[n];
	}
	for (unsigned at = cursor->heap_count / 2; at-- > 0;)
		sift_down(cursor, at);
	return 0;
}

static bool wanted(const struct read_stream *stream, const struct burin_cursor_options *options)
{
	return !(options->flags & BURIN_CURSOR_RING) || stream->ring.number == options->ring;
}

static int open_lanes(struct burin_cursor *cursor, const struct burin_trace *trace,
		      const struct burin_cursor_options *options)
{
	for (unsigned n = 0; n < trace->stream_count; n++) {
		if (wanted(&trace->streams[n], options))
			read_lane_start(&cursor->lanes[cursor->lane_count++], trace, &trace->streams[n],
					cursor->from, cursor->to);
	}
	if ((options->flags & BURIN_CURSOR_RING) && !cursor->lane_count)
		return -ENOENT;
	if (options->flags & BURIN_CURSOR_NAMES)
		read_lane_start(&cursor->lanes[cursor->lane_count++], trace,
				(struct read_stream *)&trace->names_stream, cursor->from, cursor->to);
	return fill_heap(cursor);
}

int burin_cursor_open(struct burin_cursor **cursor, const struct burin_trace *trace,
		      const struct burin_cursor_options *options)
{
	const struct burin_cursor_options all = { .size = sizeof(all) };
	struct burin_cursor *made;
	int result;

	*cursor = NULL;
	if (!options)
		options = &all;
	if (options->size != sizeof(*options) || (options->flags & ~(BURIN_CURSOR_RING | BURIN_CURSOR_NAMES)))
		return -EINVAL;
	made = calloc(1, sizeof(*made) + (trace->stream_count + 1) * sizeof(struct read_lane));
	if (!made)
		return -ENOMEM;
	made->from = options->from;
	made->to = options->to;
	made->heap = calloc(trace->stream_count + 1, sizeof(struct read_lane *));
	result = made->heap ? open_lanes(made, trace, options) : -ENOMEM;
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
		int result = read_lane_next(cursor->heap[0]);

		if (result < 0)
			return result;
		if (!result)
			cursor->heap[0] = cursor->heap[--cursor->heap_count];
		if (cursor->heap_count > 1)
			sift_down(cursor, 0);
	}
	cursor->moved = true;
	if (!cursor->heap_count)
		return 0;
	*record = &cursor->heap[0]->record;
	return 1;
}

int burin_cursor_seek(struct burin_cursor *cursor, uint64_t time)
{
	if (time < cursor->from)
		time = cursor->from;
	for (unsigned n = 0; n < cursor->lane_count; n++)
		read_lane_seek(&cursor->lanes[n], time);
	return fill_heap(cursor);
}

int read_cursor_span(struct burin_cursor *cursor, uint64_t from, uint64_t to)
{
	cursor->from = from;
	cursor->to = to;
	for (unsigned n = 0; n < cursor->lane_count; n++)
		cursor->lanes[n].to = to;
	return burin_cursor_seek(cursor, from);
}

void burin_cursor_close(struct burin_cursor *cursor)
{
	if (!cursor)
		return;
	for (unsigned n = 0; n < cursor->lane_count; n++)
		read_lane_stop(&cursor->lanes[n]);
	free(cursor->heap);
	free(cursor);
}
