/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Allocations of the sanitized command, of which one fails: that with the number in FAULT_MEMORY, of each process by itself. The linker puts these in the
 * place of malloc and its kin (--wrap), so that the sanitizers' own are behind them and see everything. How many there were goes to
 * the file in FAULT_COUNT.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_reallocarray(void *memory, size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_reallocarray(void *memory, size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);

static unsigned long wanted, seen;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAULT_MEMORY");

	wanted = number ? strtoul(number, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", seen);
	fclose(file);
}

static bool fails(void)
{
	if (__atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED) != wanted)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
	return fails() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t bytes)
{
	return fails() ? NULL : __real_reallocarray(memory, count, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
	return fails() ? NULL : __real_strndup(text, bytes);
}
