/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writers whose records carry a sequence of their own, so that a reader can find what is missing, twice or
 * invented. */
#include <pthread.h>
#include <unistd.h>

#include "burin/burin.h"
#include "modes.h"

enum {
	WRITERS_MAX = 64
};

struct writer {
	unsigned number;
	unsigned long long count;
};

static unsigned check_of(unsigned writer, unsigned long long n)
{
	return (unsigned)(n * 2654435761u) ^ (writer * 0x9e3779b9u);
}

static void trace(unsigned writer, unsigned long long n)
{
	BURIN_TRACE("writer.event", "w=%u n=%llu check=%u", writer, n, check_of(writer, n));
}

static void *flood_main(void *data)
{
	struct writer *writer = data;

	for (unsigned long long n = 0; n < writer->count; n++)
		trace(writer->number, n);
	return NULL;
}

static int start(void *(*function)(void *), struct writer *writers, long count, unsigned long long records)
{
	pthread_t threads[WRITERS_MAX];

	if (count > WRITERS_MAX)
		return 90;
	for (long n = 0; n < count; n++) {
		writers[n] = (struct writer){ (unsigned)n, records };
		if (pthread_create(&threads[n], NULL, function, &writers[n]) != 0)
			return 91;
	}
	for (long n = 0; n < count; n++)
		pthread_join(threads[n], NULL);
	return 0;
}

/* flood RECORDS WRITERS: as fast as they can. */
static int flood(int argc, char **argv)
{
	struct writer writers[WRITERS_MAX];

	return start(flood_main, writers, mode_number(argc, argv, 2, 2),
		     (unsigned long long)mode_number(argc, argv, 1, 1000000));
}

static void *told_main(void *data)
{
	struct writer *writer = data;

	for (unsigned long long n = 0; n < writer->count; n++) {
		unsigned long long report[2] = { writer->number, n };

		trace(writer->number, n);
		if (write(STDOUT_FILENO, report, sizeof(report)) != (ssize_t)sizeof(report))
			_exit(92);
	}
	return NULL;
}

/* told RECORDS WRITERS: each record is reported on standard output, in 16 bytes, as soon as it has been made.
 * First of all come 16 bytes with the pid. */
static int told(int argc, char **argv)
{
	struct writer writers[WRITERS_MAX];
	unsigned long long report[2] = { ~0ull, (unsigned long long)getpid() };

	if (write(STDOUT_FILENO, report, sizeof(report)) != (ssize_t)sizeof(report))
		return 92;
	return start(told_main, writers, mode_number(argc, argv, 2, 2),
		     (unsigned long long)mode_number(argc, argv, 1, 1000000000));
}

/* paced RECORDS MICROSECONDS: one writer, with a pause after each record. */
static int paced(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 1000), pause = mode_number(argc, argv, 2, 1000);

	for (long n = 0; n < count; n++) {
		trace(0, (unsigned long long)n);
		usleep((useconds_t)pause);
	}
	printf("ended\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "flood", flood }, { "told", told }, { "paced", paced }, { 0 }
	};

	return mode_run(modes, argc, argv);
}
