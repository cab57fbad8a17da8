/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Enters and exits of system calls, paired. A thread is in one system call at a time, so an enter is paired with the next
 * exit of its thread, if that is the exit of the same call. The module knows nothing of traces.
 */
#ifndef BURIN_VIEW_SYSCALLS_SYSCALL_PAIRS_H
#define BURIN_VIEW_SYSCALLS_SYSCALL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_table.h"

/* A thread, and the call that it is in. */
struct syscall_thread {
	uint32_t tid;
	uint32_t call; /* any number of the user's; 0: it is in none */
	uint64_t begin;
	bool out, needs; /* the user's, of that call: by its begin it is left out; its end decides, too */
};

struct syscall_pairs {
	struct syscall_thread *threads;
	size_t count, room;
	struct hash_table numbers;
};

/*
 * syscall_pairs_find - the thread of an id.
 * Return: its index in ->threads, which stays; SIZE_MAX: no memory.
 */
size_t syscall_pairs_find(struct syscall_pairs *pairs, uint32_t tid);

/* syscall_enter - a call begins. Return: the call that the thread was in, whose exit is missing; 0: it was in none. */
uint32_t syscall_enter(struct syscall_thread *thread, uint32_t call, uint64_t time);

/*
 * syscall_leave - a call ends.
 * @begin: receives when it began
 * @unended: receives another call that the thread was in, whose exit is missing; 0: there was none
 * Return: false: its enter is missing.
 */
bool syscall_leave(struct syscall_thread *thread, uint32_t call, uint64_t *begin, uint32_t *unended);

void syscall_pairs_free(struct syscall_pairs *pairs);

#endif
