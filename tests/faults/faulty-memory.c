/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * faulty-memory.so: malloc and its kin, which ask fault-at whether this one is to fail. It is preloaded into the command; what the
 * command executes does not get it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault-at.h"

#define exported __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static volatile long asking = 1; /* fault-at clears it */

static bool fails(void)
{
	const int saved = errno;
	const bool fails = asking && syscall(SYS_gettid, FAULT_ALLOCATE) < 0 && errno == ENOMEM;

	if (!fails)
		errno = saved;
	return fails;
}

exported void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

exported void *calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(count, bytes);
}

exported void *realloc(void *memory, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(memory, bytes);
}

exported void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __libc_memalign(alignment, bytes);
}

exported int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	void *got = fails() ? NULL : __libc_memalign(alignment, bytes);

	if (!got)
		return ENOMEM;
	*memory = got;
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const int saved = errno;

	unsetenv("LD_PRELOAD");
	syscall(SYS_gettid, FAULT_BEGIN, &asking);
	errno = saved;
}
