/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Priorities of threads that are asked to stop; see thread_priority.h. */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/thread_priority.h"

enum {
	SLOTS = 4096,
	RESET_ON_FORK = 1, /* children that a thread makes meanwhile have the usual priority */
};

/* As the kernel has it; headers differ. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* A thread whose priority is raised. Its slot follows from its id; of two threads with one slot, one stays as it is. */
static struct raised {
	pid_t tid; /* 0: the slot is free */
	struct attributes before;
} * raised;

static uint64_t usual_slice; /* that the kernel gives a thread which has not asked for one */

static bool get(pid_t tid, struct attributes *attributes)
{
	return syscall(SYS_sched_getattr, tid, attributes, sizeof(*attributes), 0) == 0;
}

static bool set(pid_t tid, struct attributes *attributes)
{
	attributes->size = sizeof(*attributes);
	return syscall(SYS_sched_setattr, tid, attributes, 0) == 0;
}

static bool set_real_time(pid_t tid, uint32_t priority)
{
	return set(tid, &(struct attributes){
				.policy = SCHED_FIFO, .flags = RESET_ON_FORK, .priority = priority });
}

void thread_priority_begin(void)
{
	struct attributes own;

	if (raised || geteuid() != 0 || !get(0, &own))
		return;
	usual_slice = own.runtime;
	raised = mmap(NULL, SLOTS * sizeof(*raised), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (raised == MAP_FAILED)
		raised = NULL;
}

static struct raised *slot_of(pid_t tid)
{
	return raised ? &raised[tid % SLOTS] : NULL;
}

void thread_priority_raise(pid_t tid)
{
	struct raised *slot = slot_of(tid);
	struct attributes before;

	if (!slot || slot->tid || !get(tid, &before) ||
	    (before.policy != SCHED_OTHER && before.policy != SCHED_BATCH && before.policy != SCHED_IDLE))
		return;
	if (before.runtime == usual_slice)
		before.runtime = 0;
	slot->before = before;
	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELEASE);
	if (!set_real_time(tid, 1))
		slot->tid = 0;
}

static void restore(struct raised *slot)
{
	set(slot->tid, &slot->before);
	__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
}

void thread_priority_restore(pid_t tid)
{
	struct raised *slot = slot_of(tid);

	if (slot && slot->tid == tid)
		restore(slot);
}

void thread_priority_end(void)
{
	for (size_t n = 0; raised && n < SLOTS; n++)
		if (raised[n].tid)
			restore(&raised[n]);
}

void thread_priority_hurry(bool on)
{
	static struct attributes before;

	if (!raised)
		return;
	if (!on)
		set(0, &before);
	else if (get(0, &before))
		set_real_time(0, 2);
}
