/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Enters and exits of system calls; see syscall_pairs.h. */
#include "view/syscalls/syscall_pairs.h"

#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"

size_t syscall_pairs_find(struct syscall_pairs *pairs, uint32_t tid)
{
	const uint64_t hash = hash_pair(tid, 0);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&pairs->numbers, hash, &at));)
		if (pairs->threads[number - 1].tid == tid)
			return number - 1;
	if (pairs->count == UINT32_MAX || !array_reserve(pairs->threads, pairs->room, pairs->count + 1) ||
	    !hash_table_reserve(&pairs->numbers))
		return SIZE_MAX;
	pairs->threads[pairs->count++] = (struct syscall_thread){ .tid = tid };
	hash_table_add(&pairs->numbers, hash, (uint32_t)pairs->count);
	return pairs->count - 1;
}

uint32_t syscall_enter(struct syscall_thread *thread, uint32_t call, uint64_t time)
{
	const uint32_t before = thread->call;

	thread->call = call;
	thread->begin = time;
	return before;
}

bool syscall_leave(struct syscall_thread *thread, uint32_t call, uint64_t *begin, uint32_t *unended)
{
	const uint32_t open = thread->call;

	thread->call = 0;
	*begin = thread->begin;
	*unended = open == call ? 0 : open;
	return open == call;
}

void syscall_pairs_free(struct syscall_pairs *pairs)
{
	free(pairs->threads);
	hash_table_free(&pairs->numbers);
	*pairs = (struct syscall_pairs){ .count = 0 };
}
