/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread takes the next slice, renders it, and leaves the buffer in the slice's entry of a small table. It then writes
 * all consecutive slices that are ready, unless another thread is writing. A thread that is too far ahead sleeps.
 */
#include "view/ordered.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "view/view_threads.h"

enum {
	THREADS_MAX = 64,
	AHEAD = 4, /* per thread: slices that may be rendered before they can be written */
};

struct entry {
	struct view_buffer buffer;
	bool done;
};

struct view_ordered {
	const struct view_ordered_work *work;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* `written` or `result` changed */
	size_t next;		/* slice to render */
	size_t written;		/* slices before this one have been written */
	bool writing;
	uint64_t lines_left;
	int result; /* not 0: stop; 1: enough lines */
	unsigned entry_count;
	struct entry entries[];
};

struct worker {
	struct view_ordered *ordered;
	unsigned number;
};

/* Truncates a buffer behind its n-th line. Return: the lines that it then has. */
static uint64_t truncate_lines(struct view_buffer *buffer, uint64_t lines)
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

/* Writes a buffer whose turn it is. Called without the lock, by one thread at a time. */
static int ordered_write_out(struct view_ordered *ordered, struct view_buffer *buffer)
{
	int result;

	if (ordered->work->lines)
		ordered->lines_left -= truncate_lines(buffer, ordered->lines_left);
	result = view_buffer_write(buffer, ordered->work->file);
	return result ? result : ordered->work->lines && !ordered->lines_left;
}

static void set_result(struct view_ordered *ordered, int result)
{
	if (result && !ordered->result)
		ordered->result = result;
	pthread_cond_broadcast(&ordered->changed);
}

/* Writes the slices that are ready. Called with the lock, which is released while writing. */
static void write_ready(struct view_ordered *ordered)
{
	struct entry *entry;

	while (!ordered->writing && !ordered->result) {
		int result;

		entry = &ordered->entries[ordered->written % ordered->entry_count];
		if (!entry->done)
			return;
		ordered->writing = true;
		pthread_mutex_unlock(&ordered->lock);
		result = ordered_write_out(ordered, &entry->buffer);
		pthread_mutex_lock(&ordered->lock);
		entry->done = false;
		ordered->writing = false;
		ordered->written++;
		set_result(ordered, result);
	}
}

int view_ordered_wait(struct view_ordered *ordered, size_t slice, struct view_buffer *out)
{
	int result;

	pthread_mutex_lock(&ordered->lock);
	while (!ordered->result && ordered->written != slice)
		pthread_cond_wait(&ordered->changed, &ordered->lock);
	result = ordered->result;
	pthread_mutex_unlock(&ordered->lock);
	/* It is this slice's turn, and its entry is not done: no other thread writes. */
	if (!result)
		result = ordered_write_out(ordered, out);
	if (result) {
		pthread_mutex_lock(&ordered->lock);
		set_result(ordered, result);
		pthread_mutex_unlock(&ordered->lock);
	}
	return result;
}

static void *run_worker(void *data)
{
	const struct worker *worker = data;
	struct view_ordered *ordered = worker->ordered;
	const struct view_ordered_work *work = ordered->work;

	pthread_mutex_lock(&ordered->lock);
	while (!ordered->result && ordered->next < work->slices) {
		size_t slice = ordered->next;
		struct entry *entry = &ordered->entries[slice % ordered->entry_count];
		int result;

		if (slice >= ordered->written + ordered->entry_count) {
			pthread_cond_wait(&ordered->changed, &ordered->lock);
			continue;
		}
		ordered->next++;
		pthread_mutex_unlock(&ordered->lock);
		entry->buffer.used = 0;
		result = work->render(work->data, worker->number, slice, ordered, &entry->buffer);
		if (!result && entry->buffer.failed)
			result = -ENOMEM;
		pthread_mutex_lock(&ordered->lock);
		if (result)
			set_result(ordered, result);
		entry->done = true;
		write_ready(ordered);
	}
	pthread_mutex_unlock(&ordered->lock);
	return NULL;
}

int view_ordered_run(const struct view_ordered_work *work)
{
	unsigned threads = work->threads < 1 ? 1 : work->threads > THREADS_MAX ? THREADS_MAX : work->threads;
	unsigned entries = threads * AHEAD, started = 1;
	struct view_ordered *ordered = calloc(1, sizeof(*ordered) + entries * sizeof(ordered->entries[0]));
	struct worker workers[THREADS_MAX];
	pthread_t running[THREADS_MAX];
	int result;

	if (!ordered)
		return -ENOMEM;
	ordered->work = work;
	ordered->entry_count = entries;
	ordered->lines_left = work->lines;
	pthread_mutex_init(&ordered->lock, NULL);
	pthread_cond_init(&ordered->changed, NULL);
	for (unsigned n = 0; n < threads; n++)
		workers[n] = (struct worker){ ordered, n };
	while (started < threads && view_thread_start(&running[started], run_worker, &workers[started]))
		started++;
	run_worker(&workers[0]);
	for (unsigned n = 1; n < started; n++)
		pthread_join(running[n], NULL);
	result = ordered->result;
	for (unsigned n = 0; n < entries; n++)
		view_buffer_free(&ordered->entries[n].buffer);
	pthread_cond_destroy(&ordered->changed);
	pthread_mutex_destroy(&ordered->lock);
	free(ordered);
	return result < 0 ? result : 0;
}
