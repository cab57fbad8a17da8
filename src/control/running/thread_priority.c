/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Priorities of threads that are asked to stop; see thread_priority.h. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/running/thread_priority.h"

enum {
	SLOTS = 4096,
	STAT_CPU = 39,		 /* field of /proc/PID/stat */
	SHORTEST_SLICE = 100000, /* ns that a thread may ask for; kernels before 6.12 ignore it */
	RESET_ON_FORK = 1,	 /* children that a thread makes meanwhile have the usual priority */
	RAISED = 1,		 /* real-time priorities: of threads that are asked; */
	HURRIED = 2,		 /* of the one that asks */
};

/* As the kernel has it; headers differ. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* A thread whose priority is raised, or that waits for another CPU. Its slot follows from its id; of two threads with one slot, one stays as it is. */
static struct raised {
	pid_t tid; /* 0: the slot is free */
	pid_t pid; /* of its process */
	bool gathered;
	struct attributes before;
	cpu_set_t cpus, one; /* of one that is gathered: its own, and the CPU that it waits for */
} * raised;

static bool is_root;
static struct attributes own_before; /* of the calling thread */
static cpu_set_t own_cpus;
static int gathering = -1;   /* the CPU that threads are gathered on; -1: none */
static uint64_t usual_slice; /* that the kernel gives a thread which has not asked for one */

static bool thread_priority_get(pid_t tid, struct attributes *attributes)
{
	return syscall(SYS_sched_getattr, tid, attributes, sizeof(*attributes), 0) == 0;
}

static bool thread_priority_set(pid_t tid, struct attributes *attributes)
{
	attributes->size = sizeof(*attributes);
	return syscall(SYS_sched_setattr, tid, attributes, 0) == 0;
}

static bool set_real_time(pid_t tid, uint32_t priority)
{
	return thread_priority_set(
		tid,
		&(struct attributes){ .policy = SCHED_FIFO, .flags = RESET_ON_FORK, .priority = priority });
}

void thread_priority_begin(void)
{
	struct attributes own;

	if (raised || !thread_priority_get(0, &own))
		return;
	is_root = geteuid() == 0;
	usual_slice = own.runtime;
	raised = mmap(NULL, SLOTS * sizeof(*raised), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (raised == MAP_FAILED)
		raised = NULL;
}

static struct raised *thread_priority_slot_of(pid_t tid)
{
	return raised ? &raised[tid % SLOTS] : NULL;
}

void thread_priority_raise(pid_t pid, pid_t tid)
{
	struct raised *slot = thread_priority_slot_of(tid);
	struct attributes before;

	if (!slot || !is_root || slot->tid || !thread_priority_get(tid, &before) ||
	    (before.policy != SCHED_OTHER && before.policy != SCHED_BATCH && before.policy != SCHED_IDLE))
		return;
	if (before.runtime == usual_slice)
		before.runtime = 0;
	slot->before = before;
	slot->pid = pid;
	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELEASE);
	if (!set_real_time(tid, RAISED))
		slot->tid = 0;
}

void thread_priority_gather(pid_t pid, pid_t tid)
{
	struct raised *slot = thread_priority_slot_of(tid);

	if (!slot || gathering < 0 || slot->tid ||
	    sched_getaffinity(tid, sizeof(slot->cpus), &slot->cpus) != 0 ||
	    !CPU_ISSET(gathering, &slot->cpus))
		return;
	CPU_ZERO(&slot->one);
	CPU_SET(gathering, &slot->one);
	slot->pid = pid;
	slot->gathered = true;
	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELEASE);
	if (sched_setaffinity(tid, sizeof(slot->one), &slot->one) != 0)
		slot->tid = 0;
}

/* Whether a thread has what this command gave it: its id may be another's meanwhile. */
static bool is_as_set(const struct raised *slot, pid_t tid)
{
	struct attributes now;
	cpu_set_t cpus;

	if (slot->gathered)
		return sched_getaffinity(tid, sizeof(cpus), &cpus) == 0 && CPU_EQUAL(&cpus, &slot->one);
	return thread_priority_get(tid, &now) && now.policy == SCHED_FIFO && now.priority == RAISED &&
	       now.flags == RESET_ON_FORK;
}

static void thread_priority_put_back(struct raised *slot, pid_t tid)
{
	if (is_as_set(slot, tid)) {
		if (slot->gathered)
			sched_setaffinity(tid, sizeof(slot->cpus), &slot->cpus);
		else
			thread_priority_set(tid, &slot->before);
	}
	slot->gathered = false;
	__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
}

void thread_priority_restore(pid_t tid)
{
	struct raised *slot = thread_priority_slot_of(tid);

	if (slot && slot->tid == tid)
		thread_priority_put_back(slot, tid);
}

/* The first thread may have been raised itself: then its own slot has what it was. */
static void thread_priority_leave_slot(struct raised *slot)
{
	const struct raised *first = thread_priority_slot_of(slot->pid);

	if (first->tid == slot->pid)
		__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
	else
		thread_priority_put_back(slot, slot->pid);
}

void thread_priority_leave(pid_t tid)
{
	struct raised *slot = thread_priority_slot_of(tid);

	if (slot && slot->tid == tid)
		thread_priority_leave_slot(slot);
}

static bool is_thread_of(pid_t tid, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

void thread_priority_end(void)
{
	for (size_t n = 0; raised && n < SLOTS; n++) {
		if (!raised[n].tid)
			continue;
		if (is_thread_of(raised[n].tid, raised[n].pid))
			thread_priority_put_back(&raised[n], raised[n].tid);
		else
			thread_priority_leave_slot(&raised[n]);
	}
}

/* The CPU that a process was last on, by its first thread; -1: unknown. */
static int cpu_of(pid_t pid)
{
	char path[32], line[1024];
	const char *at;
	FILE *file;
	int cpu = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	at = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	for (unsigned field = 2; at && field < STAT_CPU; field++)
		at = strchr(at + 1, ' ');
	if (at)
		cpu = atoi(at);
	if (file)
		fclose(file);
	return cpu;
}

/* Choose a CPU for the threads of a process; this one uses the others. */
static void choose_cpu(pid_t pid)
{
	cpu_set_t others = own_cpus;
	int chosen = cpu_of(pid);

	if (chosen < 0 || chosen >= CPU_SETSIZE || chosen == sched_getcpu() || !CPU_ISSET(chosen, &own_cpus))
		for (chosen = 0; chosen < CPU_SETSIZE; chosen++)
			if (CPU_ISSET(chosen, &own_cpus) && chosen != sched_getcpu())
				break;
	if (chosen == CPU_SETSIZE)
		return;
	CPU_CLR(chosen, &others);
	if (sched_setaffinity(0, sizeof(others), &others) == 0)
		gathering = chosen;
}

void thread_priority_hurry(pid_t pid)
{
	static struct attributes soon;

	if (!raised || !thread_priority_get(0, &own_before))
		return;
	if (is_root) {
		set_real_time(0, HURRIED);
		return;
	}
	soon = own_before;
	soon.runtime = SHORTEST_SLICE;
	thread_priority_set(0, &soon);
	if (sched_getaffinity(0, sizeof(own_cpus), &own_cpus) == 0)
		choose_cpu(pid);
}

void thread_priority_usual(void)
{
	if (!raised)
		return;
	thread_priority_set(0, &own_before);
	if (gathering >= 0)
		sched_setaffinity(0, sizeof(own_cpus), &own_cpus);
	gathering = -1;
}

bool thread_priority_is_aside(void)
{
	return gathering >= 0;
}
