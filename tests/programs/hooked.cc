/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Exceptions, backtraces and ends of threads, in functions that count their own calls. As hooked.c, for
 * tests/source/calls/hooks.test.
 */
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <unistd.h>

#define FUNCTION __attribute__((noinline)) static

enum { THROWER, CATCHER, RETHROWER, OUTER, TRACE, SLEEPER, LEAVER, CLEAN, COUNTS };
static const char *const names[] = { "thrower", "catcher", "rethrower", "outer", "trace", "sleeper", "leaver", "clean" };
static unsigned counts[COUNTS];

#define COUNT(name) __atomic_fetch_add(&counts[name], 1, __ATOMIC_RELAXED)
#define KEEP(value) __asm__ volatile("" : "+m"(value))

static volatile int cleaned;
static sem_t ready;

FUNCTION void clean()
{
	COUNT(CLEAN);
	cleaned = cleaned + 1;
}

struct guard {
	~guard()
	{
		clean();
	}
};

FUNCTION int thrower(int depth)
{
	COUNT(THROWER);
	if (!depth)
		throw std::runtime_error("thrown");
	guard one;
	int result = thrower(depth - 1);
	KEEP(result);
	return result;
}

FUNCTION int catcher(int depth)
{
	COUNT(CATCHER);
	try {
		return thrower(depth);
	} catch (std::exception &) {
		return 7;
	}
}

FUNCTION int rethrower(int depth)
{
	COUNT(RETHROWER);
	try {
		return thrower(depth);
	} catch (std::exception &) {
		throw;
	}
}

FUNCTION int outer(int depth)
{
	COUNT(OUTER);
	try {
		return rethrower(depth);
	} catch (...) {
		return catcher(depth) + 1;
	}
}

/* Return: addresses of the backtrace, all of which have a function. */
FUNCTION int trace(int depth)
{
	void *addresses[64];
	int result;

	COUNT(TRACE);
	if (depth) {
		result = trace(depth - 1);
		KEEP(result);
		return result;
	}
	result = backtrace(addresses, 64);
	char **symbols = backtrace_symbols(addresses, result);
	for (int n = 0; symbols && n < result; n++)
		if (symbols[n][0] == '[')
			result = -1; /* only an address */
	free(symbols);
	return result;
}

FUNCTION int sleeper(int depth)
{
	COUNT(SLEEPER);
	guard one;
	int result = 0;
	if (depth)
		result = sleeper(depth - 1);
	else
		for (sem_post(&ready);;)
			pause();
	KEEP(result);
	return result;
}

FUNCTION int leaver(int depth)
{
	COUNT(LEAVER);
	guard one;
	int result = 0;
	if (depth)
		result = leaver(depth - 1);
	else
		pthread_exit(&ready);
	KEEP(result);
	return result;
}

static void *sleep_in(void *)
{
	sleeper(5);
	return nullptr;
}

static void *leave(void *)
{
	leaver(5);
	return nullptr;
}

int main()
{
	bool done = true;
	pthread_t thread;
	void *result;

	sem_init(&ready, 0, 0);
	for (int n = 0; n < 50; n++)
		done &= catcher(10) == 7 && outer(5) == 8;
	printf("backtrace %d\n", trace(10));
	cleaned = 0;
	pthread_create(&thread, nullptr, leave, nullptr);
	pthread_join(thread, &result);
	done &= result == &ready && cleaned == 6;
	pthread_create(&thread, nullptr, sleep_in, nullptr);
	sem_wait(&ready);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	done &= result == PTHREAD_CANCELED && cleaned == 12;
	done &= catcher(3) == 7;
	for (int n = 0; n < COUNTS; n++)
		printf("%s %u\n", names[n], counts[n]);
	return !done;
}
