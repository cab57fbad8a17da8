/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The program at a tracepoint, a probe, or a function of the kernel. It calls functions that are written for one event when the recording
 * begins (kernel_program.c), since only then tracefs says where fields are, and the user what is to be recorded:
 *
 *	kernel_named()	the task that the record names, if its membership counts, too
 *	kernel_chosen()	the filter
 *	kernel_fields()	copies the fields behind each other
 *
 * The order of a program: first the task, since most records of others end there; then the filter, which needs no ring; then the record.
 */
#include "source/kernel/in_kernel/kernel_append_c.h"
#include "source/kernel/in_kernel/kernel_event_c.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/in_kernel/kernel_packets_state.h"

extern struct bpf_map met, packets;

extern bool kernel_chosen(const void *context, uint32_t thread, int64_t found);
extern uint64_t kernel_fields(const void *context, char *fields, int64_t found);

/* Note a task that is not recorded, but in whose time a record is. */
BPF_FUNCTION void kernel_note_met(uint32_t thread)
{
	struct kernel_met task;

	task.process = (uint32_t)(bpf_get_current_pid_tgid() >> 32);
	bpf_get_current_comm(task.name, sizeof(task.name));
	bpf_map_update_elem(&met, &thread, &task, BPF_ANY);
}

BPF_INLINE bool kernel_event_is_recorded(const void *context, uint32_t thread)
{
	if (kernel_event_is_own(thread))
		return true;
	if (!kernel_event_names(context))
		return false;
	if (BPF_NUMBER(notes_met))
		kernel_note_met(thread);
	return true;
}

/* A function of its own, with a small frame: see kernel_interrupt(). */
BPF_FUNCTION int kernel_find_interrupt(struct kernel_ring *ring)
{
	return kernel_interrupt(&ring->scratch);
}

/* Whether an interrupt runs, and whether it is one that delivers a packet of the current thread. */
BPF_INLINE int64_t kernel_event_interrupt(struct kernel_ring *ring, uint32_t thread)
{
	const uint32_t cpu = bpf_get_smp_processor_id();
	const struct kernel_packets *here;

	if (kernel_find_interrupt(ring) == KERNEL_INTERRUPT_NONE)
		return KERNEL_INTERRUPT_NONE;
	if (!BPF_NUMBER(has_packets))
		return KERNEL_INTERRUPT;
	here = bpf_map_lookup_elem(&packets, &cpu);
	/* 0 is the id of the idle thread, too */
	return here && here->delivered && here->delivered == thread ? KERNEL_INTERRUPT_PACKET
								    : KERNEL_INTERRUPT;
}

int kernel_event(const void *context)
{
	const struct bpf_task *current = kernel_current();
	const uint32_t thread = kernel_thread(current);
	int64_t found = (int64_t)BPF_NUMBER(found_value);
	struct kernel_open open;
	uint64_t bytes;

	if (!kernel_event_is_recorded(context, thread))
		return (int)BPF_NUMBER(result);
	if (BPF_NUMBER(found) == KERNEL_FOUND_CALL)
		found = kernel_call_of(BPF_NUMBER(task_id) ? current : bpf_get_current_task_btf());
	if (BPF_NUMBER(filters) && !kernel_chosen(context, thread, found))
		return (int)BPF_NUMBER(result);
	if (!kernel_begin(&open, BPF_NUMBER(longest)))
		return (int)BPF_NUMBER(result);
	if (BPF_NUMBER(found) == KERNEL_FOUND_INTERRUPT)
		found = kernel_event_interrupt(open.ring, thread);
	bytes = kernel_fields(context, open.fields, found);
	kernel_end(&open, thread, BPF_NUMBER(id) ? BPF_NUMBER(id) : bpf_get_attach_cookie(context), bytes);
	return (int)BPF_NUMBER(result);
}
