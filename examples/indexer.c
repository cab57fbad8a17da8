/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program to trace: counts the words of all text files below some directories, with several threads.
 *
 *	indexer [-t THREADS] PATH...
 *	(cc -pthread -D_GNU_SOURCE indexer.c $(pkg-config --cflags --libs burin))
 *
 * One thread walks the directories and queues files. Workers read them and count their words in tables of their
 * own, which they merge into one at the end. Its events:
 *
 *	file.index	span	a file; its end has the result
 *	file.read	span	within it: the file is read
 *	file.skipped	event	a file that is not indexed: errno and reason
 *	queue.wait	span	a worker waits for a file
 *	queue.depth	counter	files in the queue
 *	table.grow	event	a table of words becomes larger
 *	word.merge	span	a worker's table is merged into the common one
 *	words.distinct	counter	words in the common table
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <burin/burin.h>

enum {
	QUEUE_MAX = 256,
	THREADS_MAX = 64,
	WORD_MIN = 3,
	WORD_MAX = 40,
	FILE_MAX = 4 << 20, /* larger files are not texts */
	TABLE_MIN = 1 << 10,
	TOP = 10, /* words that are printed */
};

/* ---- tables of words ------------------------------------------------------- */

struct word {
	char text[WORD_MAX + 1];
	uint64_t count; /* 0: the slot is free */
};

struct table {
	struct word *slots;
	size_t size, used; /* size: a power of two, or 0 */
};

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory)
		abort();
	return memory;
}

static struct word *table_slot(const struct table *table, const char *text)
{
	size_t hash = 5381;

	for (const char *c = text; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	for (;; hash++) {
		struct word *slot = &table->slots[hash & (table->size - 1)];

		if (slot->count == 0 || strcmp(slot->text, text) == 0)
			return slot;
	}
}

static void table_grow(struct table *table)
{
	struct table larger = { .size = table->size ? table->size * 2 : TABLE_MIN, .used = table->used };

	BURIN_TRACE("table.grow", "from=%zu to=%zu", table->size, larger.size);
	larger.slots = allocate(larger.size, sizeof(*larger.slots));
	for (size_t n = 0; n < table->size; n++)
		if (table->slots[n].count)
			*table_slot(&larger, table->slots[n].text) = table->slots[n];
	free(table->slots);
	*table = larger;
}

static void table_add(struct table *table, const char *text, uint64_t count)
{
	struct word *slot;

	if (table->used * 2 >= table->size)
		table_grow(table);
	slot = table_slot(table, text);
	if (slot->count == 0) {
		strcpy(slot->text, text);
		table->used++;
	}
	slot->count += count;
}

/* ---- the queue ------------------------------------------------------------- */

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t filled, emptied;
	char *paths[QUEUE_MAX];
	unsigned first, count;
	bool closed;
} queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0, 0 };

static void queue_put(char *path)
{
	pthread_mutex_lock(&queue.mutex);
	while (queue.count == QUEUE_MAX)
		pthread_cond_wait(&queue.emptied, &queue.mutex);
	queue.paths[(queue.first + queue.count++) % QUEUE_MAX] = path;
	BURIN_COUNTER("queue.depth", queue.count);
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.mutex);
}

static void queue_close(void)
{
	pthread_mutex_lock(&queue.mutex);
	queue.closed = true;
	pthread_cond_broadcast(&queue.filled);
	pthread_mutex_unlock(&queue.mutex);
}

/* Return: NULL: the queue is closed and empty. */
static char *queue_take(void)
{
	char *path = NULL;

	pthread_mutex_lock(&queue.mutex);
	if (queue.count == 0 && !queue.closed) {
		BURIN_SCOPE("queue.wait");
		while (queue.count == 0 && !queue.closed)
			pthread_cond_wait(&queue.filled, &queue.mutex);
	}
	if (queue.count) {
		path = queue.paths[queue.first];
		queue.first = (queue.first + 1) % QUEUE_MAX;
		queue.count--;
		BURIN_COUNTER("queue.depth", queue.count);
		pthread_cond_signal(&queue.emptied);
	}
	pthread_mutex_unlock(&queue.mutex);
	return path;
}

/* ---- files ----------------------------------------------------------------- */

/* Read a whole file into a new string. Return: 0 or an errno. */
static int read_file(const char *path, char **text, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	struct stat status;

	if (fd < 0)
		return errno;
	BURIN_SCOPE("file.read", "fd=%d", fd);
	if (fstat(fd, &status) != 0)
		error = errno;
	else if (!S_ISREG(status.st_mode))
		error = EINVAL;
	else if (status.st_size > FILE_MAX)
		error = EFBIG;
	*text = error ? NULL : allocate((size_t)status.st_size + 1, 1);
	while (!error && *bytes < (size_t)status.st_size) {
		ssize_t got = read(fd, *text + *bytes, (size_t)status.st_size - *bytes);

		if (got < 0 && errno != EINTR)
			error = errno;
		else if (got == 0)
			break;
		else if (got > 0)
			*bytes += (size_t)got;
	}
	if (!error && memchr(*text, 0, *bytes))
		error = EILSEQ;
	close(fd);
	return error;
}

static size_t count_words(struct table *table, const char *text)
{
	char word[WORD_MAX + 1];
	size_t words = 0, length = 0;

	for (;; text++) {
		if (isalpha((unsigned char)*text)) {
			if (length < WORD_MAX)
				word[length++] = (char)tolower((unsigned char)*text);
			continue;
		}
		if (length >= WORD_MIN) {
			word[length] = 0;
			table_add(table, word, 1);
			words++;
		}
		length = 0;
		if (!*text)
			return words;
	}
}

static void index_file(struct table *table, const char *path)
{
	size_t bytes = 0, words = 0;
	char *text = NULL;
	int error;

	BURIN_BEGIN("file.index", "path=%s", path);
	error = read_file(path, &text, &bytes);
	if (error)
		BURIN_TRACE("file.skipped", "path=%s errno=%d why=%s", path, error,
			    error == EILSEQ ? "binary" : strerror(error));
	else
		words = count_words(table, text);
	free(text);
	BURIN_END("file.index", "bytes=%zu words=%zu errno=%d", bytes, words, error);
}

/* ---- threads --------------------------------------------------------------- */

static pthread_mutex_t total_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct table total;

static void *worker(void *data)
{
	struct table table = { 0 };
	char *path;

	(void)data;
	pthread_setname_np(pthread_self(), "worker");
	while ((path = queue_take())) {
		index_file(&table, path);
		free(path);
	}
	pthread_mutex_lock(&total_mutex);
	BURIN_BEGIN("word.merge", "words=%zu", table.used);
	for (size_t n = 0; n < table.size; n++)
		if (table.slots[n].count)
			table_add(&total, table.slots[n].text, table.slots[n].count);
	BURIN_END("word.merge", "total=%zu", total.used);
	BURIN_COUNTER("words.distinct", total.used);
	pthread_mutex_unlock(&total_mutex);
	free(table.slots);
	return NULL;
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)ftw;
	if (type != FTW_D) /* the worker finds out which files cannot be read */
		queue_put(strcpy(allocate(strlen(path) + 1, 1), path));
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct word *left = a, *right = b;

	return (left->count < right->count) - (left->count > right->count);
}

int main(int argc, char **argv)
{
	pthread_t ids[THREADS_MAX];
	long threads = 4;

	if (getopt(argc, argv, "t:") == 't')
		threads = strtol(optarg, NULL, 10);
	if (optind >= argc || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "Usage: indexer [-t THREADS] PATH...\n");
		return 2;
	}
	for (long n = 0; n < threads; n++)
		if (pthread_create(&ids[n], NULL, worker, NULL) != 0)
			return 1;
	for (char **path = argv + optind; *path; path++)
		if (nftw(*path, visit, 32, 0) != 0)
			BURIN_TRACE("file.skipped", "path=%s errno=%d why=%s", *path, errno, strerror(errno));
	queue_close();
	for (long n = 0; n < threads; n++)
		pthread_join(ids[n], NULL);
	if (total.used)
		qsort(total.slots, total.size, sizeof(*total.slots), by_count);
	for (size_t n = 0; n < TOP && n < total.used; n++)
		printf("%10llu %s\n", (unsigned long long)total.slots[n].count, total.slots[n].text);
	free(total.slots);
	return 0;
}
