/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions with arguments and results of all kinds, which count their own calls. tests/source/calls/hooks.test compiles it
 * with hooks and compares. It checks its results itself: exit code 1 if one is wrong.
 *
 *	hooked [fork | threads | plugin FILE]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__clang__)
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noipa))
#endif

#define EACH(macro)                                                                                         \
	macro(wide) macro(floats) macro(extended) macro(large) macro(quad) macro(vectors) macro(variadic)   \
		macro(tail) macro(deep) macro(nest) macro(kinds) macro(work) macro(forks) macro(plugins)    \
			macro(main)

#define DECLARE(name) COUNT_##name,
#define NAME(name)    #name,
enum { EACH(DECLARE) COUNTS };
static const char *const names[] = { EACH(NAME) };
static unsigned counts[COUNTS];

#define COUNT(name) __atomic_fetch_add(&counts[COUNT_##name], 1, __ATOMIC_RELAXED)
#define KEEP(value) __asm__ volatile("" : "+m"(value)) /* what was called has returned: no call becomes a jump */

typedef int vector __attribute__((vector_size(32)));

struct large {
	long values[9];
};

FUNCTION static int wide(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	COUNT(wide);
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

FUNCTION static double floats(double x, float y, int depth)
{
	double result;

	COUNT(floats);
	if (!depth)
		return x + (double)y;
	result = floats(2 * x, y, depth - 1);
	KEEP(result);
	return result;
}

FUNCTION static long double extended(long double x, int depth)
{
	long double result;

	COUNT(extended);
	if (!depth)
		return x;
	result = extended(2 * x, depth - 1);
	KEEP(result);
	return result;
}

FUNCTION static struct large large(struct large value, int add)
{
	COUNT(large);
	value.values[3] += add;
	return value;
}

FUNCTION static __int128 quad(__int128 value)
{
	COUNT(quad);
	return 3 * value;
}

__attribute__((target("avx2"))) FUNCTION static vector vectors(vector a, vector b)
{
	COUNT(vectors);
	return a + b;
}

FUNCTION static double variadic(int count, ...)
{
	double sum = 0;
	va_list list;

	COUNT(variadic);
	va_start(list, count);
	while (count--)
		sum += va_arg(list, double);
	va_end(list);
	return sum;
}

FUNCTION static double tail(double x)
{
	COUNT(tail);
	return floats(x, 1.0F, 3);
}

FUNCTION static int deep(int depth)
{
	int result;

	COUNT(deep);
	if (!depth)
		return 0;
	result = deep(depth - 1) + 1;
	KEEP(result);
	return result;
}

FUNCTION static int nest(int value)
{
	COUNT(nest);
#if defined(__clang__)
	return value + 1;
#else
	/* The compiler passes a pointer to `value` in r10. */
	FUNCTION int inner(int add)
	{
		return value + add;
	}

	return inner(1);
#endif
}

__attribute__((target("avx2"))) static int vectors_are_right(void)
{
	vector a = { 1, 2, 3, 4, 5, 6, 7, 8 }, b = { 8, 7, 6, 5, 4, 3, 2, 1 }, c;

	c = vectors(a, b);
	for (int n = 0; n < 8; n++)
		if (c[n] != 9)
			return 0;
	return 1;
}

FUNCTION static int kinds(int rounds)
{
	struct large value = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } };

	COUNT(kinds);
	for (int n = 0; n < rounds; n++) {
		value = large(value, 1);
		if (floats(1.5, 2.5F, 10) != 1538.5 || extended(1.25L, 20) != 1.25L * (1 << 20) ||
		    wide(1, 2, 3, 4, 5, 6, 7, 8, 9) != 285 || quad((__int128)1 << 90) != (__int128)3 << 90 ||
		    variadic(3, 1.0, 2.0, 3.5) != 6.5 || tail(4.0) != 33.0 || nest(n) != n + 1)
			return 0;
		if (__builtin_cpu_supports("avx2") && !vectors_are_right())
			return 0;
	}
	return value.values[3] == 4 + rounds && value.values[8] == 9 && deep(1000) == 1000;
}

FUNCTION static void *work(void *unused)
{
	COUNT(work);
	return kinds(20) ? &counts : unused;
}

/* Both return through all calls that were open at the fork. */
FUNCTION static int forks(int depth)
{
	int result, status;
	pid_t child;

	COUNT(forks);
	if (depth) {
		result = forks(depth - 1);
		KEEP(result);
		return result;
	}
	child = fork();
	if (child == 0)
		return 2;
	return deep(300) == 300 && waitpid(child, &status, 0) == child && status == 0;
}

FUNCTION static int plugins(const char *path)
{
	COUNT(plugins);
	for (int n = 0; n < 3; n++) {
		void *library = dlopen(path, RTLD_NOW);
		int (*function)(int) = NULL;

		if (library)
			*(void **)&function = dlsym(library, "plugged");
		if (!function || function(n) != n + 3 || dlclose(library) != 0)
			return 0;
	}
	return 1;
}

static int threads(void)
{
	pthread_t handles[3];
	int done = 1;

	for (int n = 0; n < 3; n++)
		if (pthread_create(&handles[n], NULL, work, NULL) != 0)
			return 0;
	for (int n = 0; n < 3; n++) {
		void *result = NULL;

		done &= pthread_join(handles[n], &result) == 0 && result != NULL;
	}
	return done;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int done;

	COUNT(main);
	if (strcmp(mode, "fork") == 0)
		done = forks(200);
	else if (strcmp(mode, "threads") == 0)
		done = threads();
	else if (strcmp(mode, "plugin") == 0)
		done = plugins(argv[2]);
	else
		done = kinds(100);
	if (done == 2)
		_exit(0); /* the child of the fork */
	for (int n = 0; n < COUNTS; n++)
		if (counts[n])
			printf("%s %u\n", names[n], counts[n]);
	return !done;
}
