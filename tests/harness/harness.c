/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reporting and randomness for tests; see harness.h. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "harness.h"

struct harness harness;

void harness_begin(int argc, char **argv)
{
	const char *seed = getenv("TEST_SEED");

	setvbuf(stdout, NULL, _IOLBF, 0);
	harness.build = argc > 1 ? argv[1] : NULL;
	harness.is_long = argc > 2 && strcmp(argv[2], "long") == 0;
	if (seed)
		harness.seed = strtoull(seed, NULL, 0);
	else if (getrandom(&harness.seed, sizeof(harness.seed), 0) != sizeof(harness.seed))
		harness_die("no randomness");
	if (!getenv("TEST_ROLE")) /* a case's own follows from the test's, see session/cases.h */
		printf("seed: TEST_SEED=0x%llx\n", (unsigned long long)harness.seed);
}

bool harness_begin_case(const char *name, struct random *random)
{
	const char *glob = getenv("TEST_CASE");
	uint64_t hash = harness.seed;

	snprintf(harness.name, sizeof(harness.name), "%s", name);
	for (const char *c = name; *c; c++)
		hash = harness_mix(hash + (unsigned char)*c);
	if (random)
		random->state = hash;
	return !glob || fnmatch(glob, name, FNM_NOESCAPE) == 0;
}

int harness_end(void)
{
	return harness.failed != 0;
}

static void say(const char *verdict, const char *format, va_list args)
{
	fputs(verdict, stdout);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
}

void harness_ok(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("ok ", format, args);
	va_end(args);
}

void harness_fail(const char *format, ...)
{
	va_list args;

	harness.failed++;
	if (harness.name[0])
		printf("# case: %s\n", harness.name);
	va_start(args, format);
	say("not ok ", format, args);
	va_end(args);
}

void harness_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("skip ", format, args);
	va_end(args);
}

void harness_case(const char *name, const char *why)
{
	if (why && *why)
		harness_fail("%s: %s", name, why);
	else
		harness_ok("%s", name);
}

void harness_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("not ok (the test itself) ", format, args);
	va_end(args);
	exit(1);
}

/* splitmix64 */
uint64_t harness_mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

uint64_t random_next(struct random *random)
{
	random->state += 0x9e3779b97f4a7c15u;
	return harness_mix(random->state);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)random_next(random) * limit >> 64);
}

uint64_t harness_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
