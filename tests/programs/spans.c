/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Spans whose shape is chosen by chance; tests/view/spans.test compares what is counted with what it counts itself.
 *
 *	spans random SEED COUNT		COUNT times a tree of spans, in three threads: outer (path), middle (n), inner, at most
 *					5 deep; some begins have no end, some ends no begin; ends have status and error
 *	spans pairs SEED COUNT		requests job.put (queue, key, name) that another thread takes by job.got, in any order;
 *					some are never taken, some taken twice; between them tick
 *	spans ids SEED COUNT		the same jobs as spans with ids: job (id of 64 bits: queue and key), job128 (of 128)
 *	spans deep COUNT		COUNT begins without an end, then their ends
 */
#include <burin/burin.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed, count;

struct chance {
	unsigned state;
};

static unsigned below(struct chance *chance, unsigned limit)
{
	chance->state = chance->state * 1103515245u + 12345u;
	return (chance->state >> 16) % limit;
}

static void tree(struct chance *chance, unsigned depth)
{
	static const char *const paths[] = { "/", "/a", "/b c", "\"quoted\"\033[31m", "" };
	const unsigned kind = below(chance, 3), parts = depth < 5 ? below(chance, 4) : 0,
		       fault = below(chance, 40);
	const unsigned status = below(chance, 5) ? 200 : 500;

	if (fault != 1) {
		if (kind == 0)
			BURIN_BEGIN("t.outer", "path=%s", paths[below(chance, 5)]);
		else if (kind == 1)
			BURIN_BEGIN("t.middle", "n=%d", (int)below(chance, 4) - 2);
		else
			BURIN_BEGIN("t.inner");
	}
	for (unsigned n = 0; n < parts; n++)
		tree(chance, depth + 1);
	if (fault == 2)
		return;
	if (kind == 0)
		BURIN_END("t.outer", "status=%u error=%d", status, status == 500);
	else if (kind == 1)
		BURIN_END("t.middle", "failed=%d", status == 500);
	else
		BURIN_END("t.inner");
}

static void *random_thread(void *number)
{
	struct chance chance = { seed + *(const unsigned *)number };

	for (unsigned n = 0; n < count; n++)
		tree(&chance, 0);
	return NULL;
}

/* Jobs that were put, and not taken yet. */
static struct {
	unsigned queue, key;
} jobs[64];
static unsigned waiting, taken;
static bool ids; /* as spans with ids */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned long id_of(unsigned job)
{
	return (unsigned long)jobs[job].queue << 32 | jobs[job].key;
}

static void put(struct chance *chance)
{
	static const char *const names[] = { "mail", "index" };

	jobs[waiting].queue = below(chance, 3);
	jobs[waiting].key = below(chance, 50); /* so some are open twice */
	if (ids) {
		BURIN_SPAN_BEGIN(id_of(waiting), "job", "name=%s", names[below(chance, 2)]);
		BURIN_SPAN128_BEGIN(jobs[waiting].queue, jobs[waiting].key, "job128");
	} else {
		BURIN_TRACE("job.put", "queue=%u key=%u name=%s", jobs[waiting].queue, jobs[waiting].key,
			    names[below(chance, 2)]);
	}
	waiting++;
}

static void take(struct chance *chance)
{
	unsigned n;

	n = below(chance, waiting);
	if (ids) {
		BURIN_SPAN_END(id_of(n), "job", "error=%d", below(chance, 3) == 0);
		BURIN_SPAN128_END(jobs[n].queue, jobs[n].key, "job128");
	} else {
		BURIN_TRACE("job.got", "key=%lu queue=%d size=%u", (unsigned long)jobs[n].key,
			    (int)jobs[n].queue, below(chance, 1000));
	}
	if (below(chance, 10))
		jobs[n] = jobs[--waiting];
}

static void *pairs_thread(void *number)
{
	const unsigned which = *(const unsigned *)number;
	struct chance chance = { seed + which };

	for (unsigned n = 0; n < count; n++) {
		bool done = which == 2;

		if (which == 2)
			BURIN_TRACE("tick", "n=%u", n);
		while (!done) { /* which is 0 or 1, and the other one has not caught up */
			pthread_mutex_lock(&mutex);
			done = which == 0 ? waiting < 64 || taken == count : waiting != 0;
			if (done && which == 1)
				take(&chance);
			else if (done && waiting < 64)
				put(&chance);
			taken += done && which == 1;
			pthread_mutex_unlock(&mutex);
		}
	}
	return NULL;
}

static void run(void *(*function)(void *))
{
	unsigned numbers[3] = { 0, 1, 2 };
	pthread_t threads[3];

	for (unsigned n = 0; n < 3; n++)
		pthread_create(&threads[n], NULL, function, &numbers[n]);
	for (unsigned n = 0; n < 3; n++)
		pthread_join(threads[n], NULL);
}

int main(int argc, char **argv)
{
	const unsigned number = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (argc > 3) {
		seed = number;
		ids = strcmp(argv[1], "ids") == 0;
		count = (unsigned)atoi(argv[3]);
		run(strcmp(argv[1], "random") == 0 ? random_thread : pairs_thread);
		return 0;
	}
	for (unsigned n = 0; n < number; n++)
		BURIN_BEGIN("deep", "n=%u", n);
	for (unsigned n = 0; n < number; n++)
		BURIN_END("deep");
	return 0;
}
