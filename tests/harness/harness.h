/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What every test of ring, session and drain needs: cases that are reported as tests/run wants them, random
 * numbers whose seed is printed, and records that differ from all other bytes.
 */
#ifndef BURIN_TESTS_RING_HARNESS_H
#define BURIN_TESTS_RING_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

struct harness {
	const char *build; /* the build directory, NULL if started by hand without one */
	bool is_long;
	unsigned failed;
	uint64_t seed;
	char name[200]; /* of the case that runs; empty before the first */
};

extern struct harness harness;

/*
 * harness_begin - look at the arguments: BUILD [long].
 * The seed is TEST_SEED from the environment, else a new one; it is printed either way.
 */
void harness_begin(int argc, char **argv);

struct random {
	uint64_t state;
};

/*
 * harness_begin_case - a case begins. @random: becomes its source of randomness, which depends on the seed and the name
 * only; or NULL. Return: whether TEST_CASE, a glob, chooses the case; if not, do not run it.
 */
bool harness_begin_case(const char *name, struct random *random);

/* harness_end - the exit status. */
int harness_end(void);

/* The case that harness_begin_case() named passed, failed, or cannot be run here; the text begins with its name. */
__attribute__((format(printf, 1, 2))) void harness_ok(const char *format, ...);
__attribute__((format(printf, 1, 2))) void harness_fail(const char *format, ...);
__attribute__((format(printf, 1, 2))) void harness_skip(const char *format, ...);

/* harness_case - passed if `why` is empty or NULL, else failed because of it. */
void harness_case(const char *name, const char *why);

/* An error of the test itself, not of what it tests: say so and exit. */
__attribute__((format(printf, 1, 2), noreturn)) void harness_die(const char *format, ...);

uint64_t random_next(struct random *random);

/* random_below - 0 to limit - 1; limit not 0. */
uint64_t random_below(struct random *random, uint64_t limit);

/* Thoroughly mixed bits of a number: what follows from it cannot be there by accident. */
uint64_t harness_mix(uint64_t value);

/* CLOCK_MONOTONIC. */
uint64_t harness_ns(void);

#endif
