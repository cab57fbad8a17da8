/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the fuzz targets share. A target is one door through which other users' bytes come in, with the sanitizers:
 *
 *	trace.c      opening, merging and checking a trace      profile.c    tables of samples, and what is counted by them
 *	calls.c      tables of calls, and all that is counted and written by them
 *	metadata.c   .burin/events, recording, origin           session.c    a session, as ls, events and snapshot read it
 *	recover.c    what a killed recorder left behind      timer.c      what programs write that sample themselves
 *	symbols.c    ELF symbols; messages of children          jitmap.c     perf maps and jitdumps
 *	filter.c     programs, expressions, formats, globs      unwind.c     ELF images, unwind tables, stacks
 *	uftrace.c    a directory that burin import reads        kernel.c     descriptions of the kernel's tracepoints
 *	guest.c      functions and types of a guest's kernel
 *
 * tests/fuzz/fuzz.py builds and runs them; a corpus for each is in corpus/, all inputs that ever broke one in broken/.
 */
#ifndef BURIN_TESTS_FUZZ_H
#define BURIN_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"

/* libFuzzer's side. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* What must hold whatever the input is. */
#define FUZZ_HOLDS(condition)                                                           \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

/* Bytes that are taken off an input's front; 0 behind its end. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t fuzz_take(struct fuzz_input *input, size_t bytes)
{
	uint64_t value = 0;

	if (bytes > input->left)
		bytes = input->left;
	if (bytes)
		memcpy(&value, input->at, bytes);
	input->at += bytes;
	input->left -= bytes;
	return value;
}

/* A copy in memory that ends with it, so that a look beyond is found; to be freed. */
static inline void *fuzz_copy(const void *data, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	FUZZ_HOLDS(copy);
	if (bytes)
		memcpy(copy, data, bytes);
	return copy;
}

/* The same as a text. */
static inline char *fuzz_text(const void *data, size_t bytes)
{
	char *copy = malloc(bytes + 1);

	FUZZ_HOLDS(copy);
	if (bytes)
		memcpy(copy, data, bytes);
	copy[bytes] = 0;
	return copy;
}

/* What was read has been read. */
static inline void fuzz_use(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

/* A generator of its own for mutators: the same seed, the same damage. */
static inline uint64_t fuzz_random(uint64_t *state)
{
	uint64_t value = (*state += 0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

#endif
