/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Slices of a trace, decoded ahead; see read_ahead.h.
 *
 * Threads take slices in the order in which the caller gets them. A slot has one of these states, all of them changed under `lock`:
 *
 *	free	->ready is false: its slice is not taken, or is being decoded by the thread that took it
 *	ready	decoded; it belongs to the caller, from read_ahead_next() to the next call of it
 *	passed	the caller came for the next slice: `passed` is behind it, and the slot is free again
 *
 * The slice decides the slot: its number modulo the slots. A thread may take a slice only if the one before in that
 * slot has been passed. There is one slot more than threads, so that each can decode while the caller still reads
 * one. So no slice is overwritten, and the one for which the caller waits is always taken by some thread: slices are
 * taken in order, and only later ones wait for the caller.
 *
 * If some threads cannot be made, the others do it all; if none can, the caller decodes by itself.
 */
#include "view/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "read/trace.h"
#include "view/view_threads.h"

enum {
	SLICE_BYTES = 1 << 20,
	SLICE_BYTES_RING = 1 << 16, /* per ring, since each slice seeks in each ring anew */
	THREADS_MAX = 16,
};

/* A slice that a thread decodes, or has decoded. */
struct slot {
	struct read_ahead_items items;
	int result;
	bool ready;
};

struct read_ahead {
	struct read_ahead_work work;
	uint64_t *bounds;
	size_t slice_count;
	/* Slices are counted in the order of the caller. A slice's slot is its number modulo the slots. */
	struct slot slots[THREADS_MAX + 1];
	size_t slot_count;
	size_t taken;  /* slices that threads have taken */
	size_t passed; /* slices that the caller no longer needs */
	size_t next;   /* the slice for the caller */
	bool stop;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[THREADS_MAX];
	unsigned thread_count;
	struct burin_cursor *cursor; /* of the caller, if there are no threads */
};

static int decode_slice(const struct read_ahead *ahead, size_t number, struct burin_cursor **cursor,
			struct slot *slot)
{
	const struct read_ahead_work *work = &ahead->work;
	const uint64_t *bounds = &ahead->bounds[work->backwards ? ahead->slice_count - 1 - number : number];
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .flags = work->one_ring ? BURIN_CURSOR_RING : 0,
						      .ring = work->ring,
						      .from = bounds[0],
						      .to = bounds[1] };
	const struct burin_record *record;
	int result = *cursor ? read_cursor_span(*cursor, options.from, options.to)
			     : burin_cursor_open(cursor, work->trace, &options);

	slot->items.count = slot->items.bytes_used = 0;
	if (!result && work->decode_all)
		return work->decode_all(work->data, *cursor, &slot->items);
	while (!result && (result = burin_cursor_next(*cursor, &record)) > 0)
		result = work->decode(work->data, record, &slot->items);
	return result;
}

/* A slice to decode, once its slot is free. Return: false: there are no more. */
static bool take_slice(struct read_ahead *ahead, size_t *number)
{
	bool is_slice;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop && ahead->taken < ahead->slice_count &&
	       ahead->taken >= ahead->passed + ahead->slot_count)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	is_slice = !ahead->stop && ahead->taken < ahead->slice_count;
	if (is_slice)
		*number = ahead->taken++;
	pthread_mutex_unlock(&ahead->lock);
	return is_slice;
}

static void *read_ahead_thread(void *data)
{
	struct read_ahead *ahead = data;
	struct burin_cursor *cursor = NULL;
	size_t number;

	while (take_slice(ahead, &number)) {
		struct slot *slot = &ahead->slots[number % ahead->slot_count];
		const int result = decode_slice(ahead, number, &cursor, slot);

		pthread_mutex_lock(&ahead->lock);
		slot->result = result;
		slot->ready = true;
		pthread_cond_broadcast(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
	}
	burin_cursor_close(cursor);
	return NULL;
}

int read_ahead_open(struct read_ahead **result, const struct read_ahead_work *work)
{
	struct read_ahead *ahead = calloc(1, sizeof(*ahead));
	const uint64_t bytes = (uint64_t)SLICE_BYTES_RING * burin_trace_rings(work->trace);
	unsigned threads = work->threads > THREADS_MAX ? THREADS_MAX : work->threads;
	ssize_t count;

	*result = NULL;
	if (!ahead)
		return -ENOMEM;
	ahead->work = *work;
	count = read_time_partition(work->trace, work->from, work->to, bytes,
				    bytes < SLICE_BYTES ? SLICE_BYTES : bytes, &ahead->bounds);
	if (count < 0) {
		free(ahead);
		return (int)count;
	}
	ahead->slice_count = (size_t)count;
	ahead->slot_count = threads + 1;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	if (threads > 1 && ahead->slice_count > 1)
		while (ahead->thread_count < threads &&
		       view_thread_start(&ahead->threads[ahead->thread_count], read_ahead_thread, ahead))
			ahead->thread_count++;
	*result = ahead;
	return 0;
}

static int next_of_threads(struct read_ahead *ahead, struct slot *slot)
{
	int result;

	pthread_mutex_lock(&ahead->lock);
	if (ahead->next) {
		ahead->slots[(ahead->next - 1) % ahead->slot_count].ready = false;
		ahead->passed = ahead->next;
		pthread_cond_broadcast(&ahead->changed);
	}
	while (!slot->ready)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	result = slot->result;
	pthread_mutex_unlock(&ahead->lock);
	return result;
}

int read_ahead_next(struct read_ahead *ahead, const struct read_ahead_items **items)
{
	struct slot *slot = &ahead->slots[ahead->next % ahead->slot_count];
	int result;

	if (ahead->next == ahead->slice_count)
		return 0;
	result = ahead->thread_count ? next_of_threads(ahead, slot)
				     : decode_slice(ahead, ahead->next, &ahead->cursor, slot);
	ahead->next++;
	*items = &slot->items;
	return result < 0 ? result : 1;
}

void read_ahead_close(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned n = 0; n < ahead->thread_count; n++)
		pthread_join(ahead->threads[n], NULL);
	burin_cursor_close(ahead->cursor);
	for (size_t n = 0; n < ahead->slot_count; n++) {
		free(ahead->slots[n].items.items);
		free(ahead->slots[n].items.bytes);
	}
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->bounds);
	free(ahead);
}
