/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Callbacks: called for each record of one event, with its payload, with and without a session. Prints what
 * came. */
#include <errno.h>
#include <pthread.h>

#include "burin/burin.h"
#include "modes.h"

struct seen {
	unsigned calls, inside;
	int last;
	size_t bytes;
	char text[32];
};

static void on_event(const struct burin_site *site, const void *payload, size_t payload_bytes, void *data)
{
	struct seen *seen = data;

	errno = 77; /* the tracepoint's business to mend, not ours */
	seen->calls++;
	seen->bytes = payload_bytes;
	memcpy(&seen->last, payload, sizeof(seen->last));
	snprintf(seen->text, sizeof(seen->text), "%s", (const char *)payload + sizeof(seen->last));
	if (strcmp(site->name, "cb.event") != 0)
		exit(90);
	/* Recorded like any other, but without a callback: so the recursion ends. */
	BURIN_TRACE("cb.event", "n=%d s=%s", -1, "inside");
	BURIN_TRACE("cb.inside");
}

static void on_inside(const struct burin_site *site, const void *payload, size_t payload_bytes, void *data)
{
	(void)site;
	(void)payload;
	(void)payload_bytes;
	((struct seen *)data)->inside++;
}

static void trace(int n)
{
	BURIN_TRACE("cb.event", "n=%d s=%s", n, "hello");
	BURIN_TRACE("cb.other", "n=%d", n);
}

static int count(int argc, char **argv)
{
	struct seen seen = { 0 }, second = { 0 };

	(void)argc;
	(void)argv;
	trace(0);
	if (burin_callback_set("cb.event", on_event, &seen) != 0 ||
	    burin_callback_set("cb.inside", on_inside, &seen) != 0)
		return 91;
	for (int n = 1; n <= 10; n++) {
		errno = n;
		trace(n);
		if (errno != n)
			return 92;
	}
	printf("%u %d %zu %s %u\n", seen.calls, seen.last, seen.bytes, seen.text, seen.inside);
	burin_callback_set("cb.event", on_event, &second);
	trace(11);
	printf("%u %u\n", seen.calls, second.calls);
	burin_callback_set("cb.event", NULL, NULL);
	trace(12);
	printf("%u %u\n", seen.calls, second.calls);
	return 0;
}

static int faulty(int argc, char **argv)
{
	char name[200];

	(void)argc;
	(void)argv;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	printf("%d %d %d %d\n", burin_callback_set(NULL, on_inside, NULL) == -EINVAL,
	       burin_callback_set("", on_inside, NULL) == -EINVAL,
	       burin_callback_set(name, on_inside, NULL) == -EINVAL,
	       burin_callback_set("cb.never", NULL, NULL) == 0);
	return 0;
}

/* Set and taken away all the time, while two threads trace. */
static volatile int over;
static unsigned long emitted;

static void on_any(const struct burin_site *site, const void *payload, size_t payload_bytes, void *data)
{
	(void)site;
	(void)payload;
	if (payload_bytes != sizeof(int) || data != (void *)&over)
		abort();
}

static void *emit(void *data)
{
	(void)data;
	while (!over) {
		BURIN_TRACE("cb.race", "n=%d", 1);
		__atomic_fetch_add(&emitted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int race(int argc, char **argv)
{
	pthread_t threads[2];

	for (int n = 0; n < 2; n++)
		pthread_create(&threads[n], NULL, emit, NULL);
	for (long n = mode_number(argc, argv, 1, 20000); n > 0; n--)
		burin_callback_set("cb.race", n % 2 ? on_any : NULL, (void *)&over);
	over = 1;
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
	printf("%lu\n", emitted);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "count", count }, { "faulty", faulty }, { "race", race }, { 0 }
	};

	return mode_run(modes, argc, argv);
}
