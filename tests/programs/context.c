/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records with a context: each says in its fields which id and depth it should have.
 *
 *	context nest | threads N | signals N | sizes | fork | vfork | large N | wait
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "burin/burin.h"
#include "burin/context.h"

static void here(unsigned depth)
{
	BURIN_TRACE("at.here", "id=%llu wanted=%u", (unsigned long long)burin_correlation(), depth);
}

static void inner(unsigned depth)
{
	BURIN_SCOPE("at.scope");

	here(depth + 1);
}

static int nest(void)
{
	here(0);
	BURIN_END("at.never"); /* not below 0 */
	here(0);
	burin_correlation_set(UINT64_MAX);
	BURIN_BEGIN("at.outer", "wanted=%u", 0u);
	here(1);
	BURIN_BEGIN("at.inner", "wanted=%u text=%s", 1u, "a text that is longer than the context");
	inner(2);
	BURIN_END("at.inner", "wanted=%u", 1u);
	burin_correlation_set(5);
	here(1);
	BURIN_END("at.outer", "wanted=%u", 0u);
	here(0);
	burin_correlation_set(0);
	here(0);
	return 0;
}

static int worker(void *data)
{
	const uint64_t id = (uint64_t)(uintptr_t)data << 40 | 1;

	if (burin_correlation() != 0)
		return 1;
	burin_correlation_set(id);
	for (unsigned n = 0; n < 200; n++) {
		BURIN_SCOPE("at.work");

		here(1);
		inner(1);
		burin_correlation_set(id + n);
	}
	return burin_correlation() != id + 199;
}

static int several(unsigned count)
{
	int failed = 0;
	thrd_t thread[64];

	burin_correlation_set(1);
	for (unsigned n = 0; n < count; n++)
		failed += thrd_create(&thread[n], worker, (void *)(uintptr_t)(n + 1)) != thrd_success;
	here(0);
	for (unsigned n = 0; n < count; n++) {
		int result = 0;

		thrd_join(thread[n], &result);
		failed += result;
	}
	return failed;
}

static volatile sig_atomic_t ticks;

/* A request of its own, in the midst of another. */
static void on_tick(int number)
{
	const uint64_t before = burin_correlation();

	(void)number;
	ticks++;
	burin_correlation_set(77);
	BURIN_TRACE("tick.begin", "n=%u", (unsigned)ticks);
	BURIN_BEGIN("tick.span");
	BURIN_TRACE("tick.inside", "n=%u", (unsigned)ticks);
	BURIN_END("tick.span");
	burin_correlation_set(before);
}

/* So many ticks; or a tenth, where they come late: records are for a test to read. */
static int interrupted(unsigned count)
{
	const struct itimerval often = { { 0, 25 }, { 0, 25 } };

	burin_correlation_set(8);
	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned loops = 0;
	     (unsigned)ticks < count / 10 || ((unsigned)ticks < count && loops < 40 * count); loops++) {
		BURIN_SCOPE("at.loop");

		here(1);
		inner(1);
	}
	signal(SIGALRM, SIG_IGN);
	here(0);
	return 0;
}

/* Payloads of every length, so that the context moves words of all kinds. */
static void sizes(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghij";

	burin_correlation_set(UINT64_C(0x1122334455667788));
	for (unsigned n = 0; n < sizeof(letters); n++) {
		BURIN_TRACE("size.text", "%s", letters + n);
		BURIN_TRACE("size.bytes", "n=%u bytes=%p", n, BURIN_BYTES(letters, n));
		BURIN_TRACE("size.mixed", "a=%hhu s=%s b=%llu", (unsigned char)n, letters + n,
			    (unsigned long long)n << 40);
	}
	BURIN_TRACE("size.none");
	BURIN_TRACE("size.one", "c=%c", 'x');
	BURIN_TRACE("size.three", "a=%hu b=%hhu", (unsigned short)513, (unsigned char)9);
	BURIN_TRACE("size.wide", "a=%llu b=%llu c=%u", 1ull << 63, 2ull, 3u);
	BURIN_COUNTER("size.counter", 1.5);
}

static void large(unsigned bytes)
{
	char *text = malloc(bytes + 1);

	memset(text, 'x', bytes);
	text[bytes] = 0;
	burin_correlation_set(9);
	BURIN_TRACE("large.text", "s=%s", text);
	BURIN_TRACE("large.after", "n=%u", bytes);
	free(text);
}

static int child(bool lent)
{
	int status = 1;
	pid_t pid;

	burin_correlation_set(21);
	BURIN_BEGIN("at.parent", "wanted=%u", 0u);
	pid = lent ? vfork() : fork();
	if (pid == 0) {
		here(0);
		burin_correlation_set(22);
		inner(0);
		BURIN_BEGIN("at.lost", "wanted=%u", 0u);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	here(1);
	BURIN_END("at.parent", "wanted=%u", 0u);
	return status;
}

/* Switched from outside while spans are open. */
static int waits(void)
{
	char line[16];

	burin_correlation_set(3);
	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == 'b')
			BURIN_BEGIN("at.wait");
		else if (line[0] == 'e')
			BURIN_END("at.wait");
		else
			BURIN_TRACE("at.line", "line=%s", line);
		puts(line);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (!strcmp(what, "nest"))
		return nest();
	if (!strcmp(what, "threads"))
		return several(count);
	if (!strcmp(what, "signals"))
		return interrupted(count);
	if (!strcmp(what, "sizes"))
		sizes();
	else if (!strcmp(what, "large"))
		large(count);
	else if (!strcmp(what, "fork") || !strcmp(what, "vfork"))
		return child(what[0] == 'v');
	else if (!strcmp(what, "wait"))
		return waits();
	else
		return 2;
	return 0;
}
