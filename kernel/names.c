// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of tasks, in the names ring: a task's name when it changes and when the task ends, and a process's when it ends. So
 * records of tasks that are gone have a name; /proc has those of the others. A task's first announcement also holds for
 * the time before it. In flight mode the oldest names are overwritten: they are of tasks that ended long ago.
 */
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "names.h"
#include "points.h"
#include "ring/section_plain.h"
#include "wire/wire_name_record.h"

enum {
	NAME_BYTES = WIRE_NAME_ROOM(TASK_COMM_LEN - 1),
};

static DEFINE_RAW_SPINLOCK(names_lock);
static struct tracepoint *rename_point, *exit_point;
static u32 users;

/*
 * In flight mode the ring overwrites, so what counts as given back follows the open packet: readers expect that of names.
 * Its window is always in use, so a packet overwrites the one that is a window older.
 */
static notrace void follow(struct ring *ring)
{
	const u64 tail = ring->control->tail >> WIRE_TAIL_COUNT_BITS;
	const u64 inside = tail & ring->packet_mask, at = inside ? tail - inside : tail - ring->packet_words;
	const struct wire_packet *packet = (void *)(ring->slots + (at & ring->word_mask) * 8);

	if (packet->sequence >= ring->window)
		smp_store_release(&ring->control->consumed, packet->sequence - ring->window + 1);
}

/* @length: of the extended form */
static notrace void append(char *buffer, u32 length, u16 id, u32 tid)
{
	struct ring *ring = &burin_session.rings[session_names_index(&burin_session)];
	const struct ring_record out = { buffer, length - 8 };
	enum ring_result result;
	unsigned long flags;

	ring_prepare(buffer, id, out.length, tid);
	if (in_nmi()) {
		ring_lose(ring, WIRE_LOST_BUSY);
		return;
	}
	raw_spin_lock_irqsave(&names_lock, flags);
	result = ring_append_extended(ring, out);
	if (result != RING_DONE)
		ring_lose(ring, result == RING_FULL ? WIRE_LOST_FULL : WIRE_LOST_BUSY);
	else if (ring->overwrite)
		follow(ring);
	raw_spin_unlock_irqrestore(&names_lock, flags);
}

static notrace void announce_thread(struct task_struct *task, const char *name)
{
	char buffer[NAME_BYTES] __aligned(8);

	append(buffer, wire_name_thread(buffer, TASK_COMM_LEN - 1, task->tgid, name, 0), WIRE_NAME_THREAD,
	       task->pid);
}

static notrace void announce_process(struct task_struct *task)
{
	char buffer[NAME_BYTES] __aligned(8);
	u32 parent, length;

	rcu_read_lock();
	parent = rcu_dereference(task->real_parent)->tgid;
	rcu_read_unlock();
	length = wire_name_process(buffer, TASK_COMM_LEN - 1, task->tgid, parent, task->comm, task->comm, 0);
	append(buffer, length, WIRE_NAME_PROCESS, task->pid);
}

static notrace void on_rename(void *data, struct task_struct *task, const char *name)
{
	announce_thread(task, task->comm);
	announce_thread(task, name);
}

static notrace void on_exit(void *data, struct task_struct *task)
{
	announce_thread(task, task->comm);
	if (thread_group_leader(task))
		announce_process(task);
}

void names_reset(void)
{
	struct wire_ring *control = burin_session.rings[session_names_index(&burin_session)].control;
	unsigned long flags;

	raw_spin_lock_irqsave(&names_lock, flags);
	memcpy(burin_session.names_header.uuid, burin_session.geometry.uuid,
	       sizeof(burin_session.geometry.uuid));
	smp_store_release(&control->tail, 0);
	WRITE_ONCE(control->consumed, 0);
	memset(control->lost, 0, sizeof(control->lost));
	raw_spin_unlock_irqrestore(&names_lock, flags);
}

/* Names are kept while any event is on. */
void names_switch(bool on)
{
	check_trace_callback_type_task_rename(on_rename);
	check_trace_callback_type_sched_process_exit(on_exit);
	if (on && users++ == 0) {
		rename_point = points_find("task_rename");
		exit_point = points_find("sched_process_exit");
		if (rename_point)
			tracepoint_probe_register(rename_point, on_rename, NULL);
		if (exit_point)
			tracepoint_probe_register(exit_point, on_exit, NULL);
	} else if (!on && --users == 0) {
		if (rename_point)
			tracepoint_probe_unregister(rename_point, on_rename, NULL);
		if (exit_point)
			tracepoint_probe_unregister(exit_point, on_exit, NULL);
	}
}
