/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks of a Linux guest; see guest_task.h. */
#include <pthread.h>
#include <string.h>

#include "base/print.h"
#include "source/guest/guest_options.h"
#include "source/guest/guest_session.h"
#include "source/guest/guest_task.h"

enum {
	SEARCHES = 64, /* for how far the kernel was moved, at most: each takes about a millisecond */
	PROCESSES = 4096,
	PID_MAX = 1 << 22, /* Linux has no larger id */
	SPACE = 1 << 30,   /* in which x86-64 has its kernel */
};

static bool found;
static uint64_t moved; /* how far KASLR has moved the CPUs' data, if these are in the kernel */

/* The last processes that got names: to announce one twice does no harm. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct process {
	uint32_t pid;
	char name[GUEST_TASK_NAME];
} processes[PROCESSES];

bool guest_task_found(void)
{
	return found;
}

static bool read_memory(struct qemu_bytes *room, uint64_t address, void *bytes, size_t size)
{
	if (!qemu_plugin_read_memory_vaddr(address, room, size) || room->length != size)
		return false;
	memcpy(bytes, room->data, size);
	return true;
}

/* Any program can choose its name. */
static void take_name(char name[GUEST_TASK_NAME], const char *bytes)
{
	memcpy(name, bytes, GUEST_TASK_NAME);
	name[GUEST_TASK_NAME - 1] = 0;
}

bool guest_task_read(struct qemu_bytes *room, uint64_t address, struct guest_task *task)
{
	const uint64_t *places = guest_options.tasks, first = guest_options.task_begin;
	char bytes[GUEST_TASK_MAX], name[GUEST_TASK_NAME];
	uint64_t leader;

	if (!(address >> 63) || !read_memory(room, address + first, bytes, guest_options.task_end - first))
		return false;
	task->address = address;
	memcpy(&task->stack, bytes + places[GUEST_TASK_STACK] - first, sizeof(task->stack));
	memcpy(&task->pid, bytes + places[GUEST_TASK_PID] - first, sizeof(task->pid));
	memcpy(&task->process, bytes + places[GUEST_TASK_PROCESS] - first, sizeof(task->process));
	memcpy(&leader, bytes + places[GUEST_TASK_LEADER] - first, sizeof(leader));
	if (task->pid > PID_MAX || task->process > PID_MAX) /* this is no task */
		return false;
	take_name(task->name, bytes + places[GUEST_TASK_COMM] - first);
	memcpy(task->program, task->name, sizeof(task->program));
	if (task->pid != task->process &&
	    read_memory(room, leader + places[GUEST_TASK_COMM], name, sizeof(name)))
		take_name(task->program, name);
	return true;
}

static bool is_base(struct qemu_bytes *room, uint64_t base, uint64_t distance)
{
	uint64_t value;

	return read_memory(room, base + guest_options.tasks[GUEST_TASK_BASE] + distance, &value,
			   sizeof(value)) &&
	       value == base;
}

/* Return: whether the distance was found. */
static bool search(struct qemu_bytes *room, uint64_t base)
{
	static unsigned searches;

	if (__atomic_fetch_add(&searches, 1, __ATOMIC_RELAXED) >= SEARCHES)
		return false;
	for (uint64_t distance = 0; distance < SPACE; distance += WIRE_GUEST_STEP)
		if (is_base(room, base, distance)) {
			__atomic_store_n(&moved, distance, __ATOMIC_RELAXED);
			return true;
		}
	return false;
}

bool guest_task_is_base(struct qemu_bytes *room, uint64_t base)
{
	return is_base(room, base, __atomic_load_n(&moved, __ATOMIC_RELAXED)) ||
	       (guest_options.tasks[GUEST_TASK_BASE] >> 63 && search(room, base));
}

uint64_t guest_task_current(struct qemu_bytes *room, uint64_t base)
{
	const uint64_t place = guest_options.tasks[GUEST_TASK_CURRENT];
	uint64_t address;

	return read_memory(room, base + place + __atomic_load_n(&moved, __ATOMIC_RELAXED), &address,
			   sizeof(address))
		       ? address
		       : 0;
}

/* The name of a process: that of its program. The kernel's threads have names such as "kworker/0:1": theirs is "kworker". */
static bool announce_process(const struct guest_task *task, uint64_t since)
{
	char name[GUEST_TASK_NAME];
	struct process *process = &processes[task->process % PROCESSES];
	bool done;

	memcpy(name, task->program, sizeof(name));
	name[strcspn(name, "/")] = 0;
	pthread_mutex_lock(&lock);
	done = process->name[0] && process->pid == task->process && strcmp(process->name, name) == 0;
	if (!done) {
		done = session_announce_guest(&guest_session, WIRE_GUEST_PID + task->process, name,
					      guest_session_thread(), since) == RING_DONE;
		if (done) {
			process->pid = task->process;
			memcpy(process->name, name, sizeof(name));
		}
	}
	pthread_mutex_unlock(&lock);
	return done;
}

bool guest_task_announce(const struct guest_task *task, const char *level, uint32_t tid, uint64_t since)
{
	char name[64];

	__atomic_store_n(&found, true, __ATOMIC_RELAXED);
	print_text(name, sizeof(name), "%s %s %u", level, task->name, task->pid);
	return announce_process(task, since) &&
	       session_announce_thread(&guest_session, WIRE_GUEST_PID + task->process, guest_session_thread(),
				       tid, name, since) == RING_DONE;
}
