/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread takes the next slice, renders it, and leaves the buffer in the slice's place of a small table.
 * Whoever finds that the next slice to be written is there, and that nobody else writes, writes it and those
 * behind it. A thread that is too far ahead of the writing sleeps.
 */
#include "view/ordered.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum {
	THREADS_MAX = 64,
	AHEAD = 4, /* slices that a thread may be ahead of the writing, times the number of threads */
};

struct place {
	struct view_buffer buffer;
	bool done;
};

struct view_ordered {
	const struct view_ordered_work *work;
	pthread_mutex_t lock;
	pthread_cond_t moved; /* `written` or `result` changed */
	size_t next;	      /* slice to render */
	size_t written;	      /* slices before this one have been written */
	bool writing;
	uint64_t lines_left;
	int result; /* not 0: stop; 1: enough lines */
	unsigned place_count;
	struct place places[];
};

struct worker {
	struct view_ordered *ordered;
	unsigned number;
};

/* Cuts a buffer behind its n-th line. Returns how many lines it then has. */
static uint64_t cut(struct view_buffer *buffer, uint64_t lines)
{
	const char *at = buffer->bytes, *end = at + buffer->used;
	uint64_t count = 0;

	while (at < end && count < lines) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline)
			break;
		at = newline + 1;
		count++;
	}
	if (buffer->used)
		buffer->used = (size_t)(at - buffer->bytes);
	return count;
}

/* Writes a buffer whose turn it is; called without the lock, by one thread at a time. */
static int write_out(struct view_ordered *ordered, struct view_buffer *buffer)
{
	int result;

	if (ordered->work->lines)
		ordered->lines_left -= cut(buffer, ordered->lines_left);
	result = view_buffer_write(buffer, ordered->work->file);
	return result ? result : ordered->work->lines && !ordered->lines_left;
}

static void settle(struct view_ordered *ordered, int result)
{
	if (result && !ordered->result)
		ordered->result = result;
	pthread_cond_broadcast(&ordered->moved);
}

/* Writes what is ready, under the lock, which is released meanwhile. */
static void write_ready(struct view_ordered *ordered)
{
	struct place *place;

	while (!ordered->writing && !ordered->result) {
		int result;

		place = &ordered->places[ordered->written % ordered->place_count];
		if (!place->done)
			return;
		ordered->writing = true;
		pthread_mutex_unlock(&ordered->lock);
		result = write_out(ordered, &place->buffer);
		pthread_mutex_lock(&ordered->lock);
		place->done = false;
		ordered->writing = false;
		ordered->written++;
		settle(ordered, result);
	}
}

int view_ordered_wait(struct view_ordered *ordered, size_t slice, struct view_buffer *out)
{
	int result;

	pthread_mutex_lock(&ordered->lock);
	while (!ordered->result && ordered->written != slice)
		pthread_cond_wait(&ordered->moved, &ordered->lock);
	result = ordered->result;
	pthread_mutex_unlock(&ordered->lock);
	/* It is this slice's turn, and it is not in its place yet: nobody else writes. */
	if (!result)
		result = write_out(ordered, out);
	if (result) {
		pthread_mutex_lock(&ordered->lock);
		settle(ordered, result);
		pthread_mutex_unlock(&ordered->lock);
	}
	return result;
}

static void *work_on(void *data)
{
	const struct worker *worker = data;
	struct view_ordered *ordered = worker->ordered;
	const struct view_ordered_work *work = ordered->work;

	pthread_mutex_lock(&ordered->lock);
	while (!ordered->result && ordered->next < work->slices) {
		size_t slice = ordered->next;
		struct place *place = &ordered->places[slice % ordered->place_count];
		int result;

		if (slice >= ordered->written + ordered->place_count) {
			pthread_cond_wait(&ordered->moved, &ordered->lock);
			continue;
		}
		ordered->next++;
		pthread_mutex_unlock(&ordered->lock);
		place->buffer.used = 0;
		result = work->render(work->data, worker->number, slice, ordered, &place->buffer);
		if (!result && place->buffer.failed)
			result = -ENOMEM;
		pthread_mutex_lock(&ordered->lock);
		if (result)
			settle(ordered, result);
		place->done = true;
		write_ready(ordered);
	}
	pthread_mutex_unlock(&ordered->lock);
	return NULL;
}

int view_ordered_run(const struct view_ordered_work *work)
{
	unsigned threads = work->threads < 1 ? 1 : work->threads > THREADS_MAX ? THREADS_MAX : work->threads;
	unsigned places = threads * AHEAD, started = 1;
	struct view_ordered *ordered = calloc(1, sizeof(*ordered) + places * sizeof(ordered->places[0]));
	struct worker workers[THREADS_MAX];
	pthread_t running[THREADS_MAX];
	int result;

	if (!ordered)
		return -ENOMEM;
	ordered->work = work;
	ordered->place_count = places;
	ordered->lines_left = work->lines;
	pthread_mutex_init(&ordered->lock, NULL);
	pthread_cond_init(&ordered->moved, NULL);
	for (unsigned n = 0; n < threads; n++)
		workers[n] = (struct worker){ ordered, n };
	while (started < threads && !pthread_create(&running[started], NULL, work_on, &workers[started]))
		started++;
	work_on(&workers[0]);
	for (unsigned n = 1; n < started; n++)
		pthread_join(running[n], NULL);
	result = ordered->result;
	for (unsigned n = 0; n < places; n++)
		view_buffer_free(&ordered->places[n].buffer);
	pthread_cond_destroy(&ordered->moved);
	pthread_mutex_destroy(&ordered->lock);
	free(ordered);
	return result < 0 ? result : 0;
}
