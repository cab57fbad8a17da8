/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Spans with an id, in C and, compiled as C++, with the enums of C++. span_ids.test builds it itself.
 *
 *	span_ids ids | wait | threads | processes | leaf | depth | clash
 */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"

#ifdef __cplusplus
enum class number : unsigned char {
	seven = 7
};
#define SEVEN number::seven
#else
enum number {
	seven = 7
};
#define SEVEN seven
#endif

enum {
	THREADS = 8,
};

static int evaluated;

static int once(int value)
{
	evaluated++;
	return value;
}

/* An id of each type; the end of each has a field of its own. */
static int ids(void)
{
	const bool yes = true;
	const char letter = 'x';
	const signed char tiny = SCHAR_MIN;
	const unsigned char octet = UCHAR_MAX;
	const short few = SHRT_MIN;
	const unsigned short port = USHRT_MAX;
	const int some = INT_MIN;
	const unsigned mask = UINT_MAX;
	const long ticks = LONG_MIN;
	const unsigned long size = ULONG_MAX;
	const long long ns = LLONG_MIN;
	const unsigned long long bits = ULLONG_MAX;
	const struct {
		unsigned three : 3;
		int minus : 4;
	} fields = { 5, -3 };

	BURIN_SPAN_BEGIN(yes, "id.of");
	BURIN_SPAN_BEGIN(letter, "id.of");
	BURIN_SPAN_BEGIN(tiny, "id.of");
	BURIN_SPAN_BEGIN(octet, "id.of");
	BURIN_SPAN_BEGIN(few, "id.of");
	BURIN_SPAN_BEGIN(port, "id.of");
	BURIN_SPAN_BEGIN(some, "id.of");
	BURIN_SPAN_BEGIN(mask, "id.of");
	BURIN_SPAN_BEGIN(ticks, "id.of");
	BURIN_SPAN_BEGIN(size, "id.of");
	BURIN_SPAN_BEGIN(ns, "id.of");
	BURIN_SPAN_BEGIN(bits, "id.of");
	BURIN_SPAN_BEGIN(SEVEN, "id.of");
	BURIN_SPAN_BEGIN(fields.three, "id.of");
	BURIN_SPAN_BEGIN(fields.minus, "id.of");
	BURIN_SPAN_BEGIN(-1, "id.of");
	BURIN_SPAN_END(once(1), "id.of", "text=%s n=%d", "done", 5);
	BURIN_SPAN128_BEGIN(UINT64_C(0x0af7651916cd43dd), UINT64_C(0x8448eb211c80319c), "id.trace", "path=%s",
			    "/pay");
	BURIN_SPAN128_END(-1, 0, "id.trace", "a text without fields");
	BURIN_SPAN_BEGIN(7, "id.fifteen", "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
			 12, 13, 14, 15);
	BURIN_SPAN128_END(8, 7, "id.fourteen", "%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
			  11, 12, 13, 14);
	return evaluated != 1;
}

static void *end_one(void *id)
{
	BURIN_SPAN_END((uintptr_t)id, "thread.request", "by=%d", (int)gettid());
	return NULL;
}

/* Each span ends in a thread of its own, the last one first. */
static int threads(void)
{
	pthread_t thread;

	for (uintptr_t n = 1; n <= THREADS; n++)
		BURIN_SPAN_BEGIN(n, "thread.request", "by=%d", (int)gettid());
	for (uintptr_t n = THREADS; n > 0; n--)
		if (pthread_create(&thread, NULL, end_one, (void *)n) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

static int processes(const char *self)
{
	int status = 1;

	BURIN_SPAN_BEGIN(1, "process.forked");
	BURIN_SPAN128_BEGIN(1, 2, "process.executed");
	fflush(stdout);
	if (fork() == 0) {
		BURIN_SPAN_END(1, "process.forked", "pid=%d", (int)getpid());
		execl(self, self, "leaf", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	return status;
}

/* Spans of the thread with others across them. */
static int depth(void)
{
	BURIN_TRACE("depth.is", "wanted=%d", 0);
	BURIN_SPAN_BEGIN(1, "depth.across", "wanted=%d", 0);
	BURIN_TRACE("depth.is", "wanted=%d", 0);
	BURIN_BEGIN("depth.nested", "wanted=%d", 0);
	BURIN_SPAN_END(1, "depth.across", "wanted=%d", 1);
	BURIN_SPAN_END(2, "depth.across", "wanted=%d", 1);
	BURIN_TRACE("depth.is", "wanted=%d", 1);
	BURIN_SPAN128_BEGIN(3, 3, "depth.wide", "wanted=%d", 1);
	BURIN_END("depth.nested", "wanted=%d", 0);
	BURIN_SPAN128_END(3, 3, "depth.wide", "wanted=%d", 0);
	BURIN_TRACE("depth.is", "wanted=%d", 0);
	return 0;
}

/* The first of each name is recorded. The first two differ in their kinds only. */
static int clash(void)
{
	BURIN_SPAN_BEGIN(1, "clash.kind");
	BURIN_BEGIN("clash.kind", "span_id=%#llx", 2ull);
	BURIN_END("clash.kind", "span_id=%#llx", 3ull);
	BURIN_SPAN_END(4, "clash.kind");
	BURIN_SPAN_BEGIN(5, "clash.width");
	BURIN_SPAN128_BEGIN(6, 6, "clash.width");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "ids"))
		return ids();
	if (!strcmp(what, "wait")) {
		puts("ready");
		fflush(stdout);
		return getchar() == EOF || ids();
	}
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "processes"))
		return processes(argv[0]);
	if (!strcmp(what, "leaf"))
		BURIN_SPAN128_END(1, 2, "process.executed", "pid=%d", (int)getpid());
	else if (!strcmp(what, "depth"))
		return depth();
	else if (!strcmp(what, "clash"))
		return clash();
	else
		return 2;
	return 0;
}
