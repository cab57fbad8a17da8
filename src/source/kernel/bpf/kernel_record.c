/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How programs append a record; see kernel_record.h.
 *
 * Registers: 6 the context, 7 the ring, 8 the tail (of the position to write to), 9 the address behind what was
 * written, less KERNEL_SLOTS and the bytes that the writer counts itself (`at`). Calls of the kernel keep them.
 *
 * From put_take_ring() to put_release_ring() a program is the only writer of its ring, by compare-and-exchange of its
 * lock, whatever interrupts or preempts it. It cannot die in between, so a lock has no dead owner. Each way out in
 * between must release it: a ring that stays taken is never used again.
 *
 * Order of stores, on which readers rely (ring/copy.h):
 *
 *	1. in overwrite mode: the sequence of the packet that lies in the slot is removed
 *	2. the new packet's header, with its sequence
 *	3. the record
 *	4. the tail, by which readers find 2 and 3
 *
 * x86-64 keeps this order. Elsewhere 1 and 4 are exchanges, which are barriers.
 *
 * Losses are added atomically: programs of other depths and the recorder add to them, too.
 *
 * The verifier accepts an address only within bounds that it can prove. So a position is masked right before its use,
 * and KERNEL_SLACK follows the packets, since the verifier does not know that a record fits its packet. put_locate()
 * makes sure of that, by the longest record that the program can write.
 *
 * The recorder maps the rings for writing, to give packets back. A program uses what it finds there only behind
 * masks: a faulty recorder can spoil records, not the kernel.
 */
#include <assert.h>
#include <string.h>

#include "source/kernel/points/kernel_follow.h"
#include "source/kernel/bpf/kernel_record.h"
#include "source/kernel/bpf/kernel_stacks.h"
#include "wire/wire_context.h"
#include "wire/wire_record.h"

enum {
	PACKET_WORDS = KERNEL_PACKET / 8,
	PACKET_BITS = 16, /* of KERNEL_PACKET */
	HEADER_WORDS = sizeof(struct wire_packet) / 8,
};

static_assert(1 << PACKET_BITS == KERNEL_PACKET, "PACKET_BITS");
static_assert(sizeof(struct kernel_ring) <= KERNEL_SLOTS, "kernel_ring");
static_assert(WIRE_SEQUENCE_NONE == UINT64_MAX, "put_invalidate()");

int kernel_record_payload(const struct kernel_layout *layout)
{
	return (int)sizeof(struct wire_compact) + (int)wire_context_bytes(layout->context);
}

#define RING(member)   KERNEL_RING(member)
#define PACKET(member) (KERNEL_SLOTS + (int)offsetof(struct wire_packet, member))

/* Add 1 to a counter, which programs of other depths and the recorder change, too. */
static void kernel_record_put_count(struct bpf_program *to, unsigned ring, enum wire_loss cause)
{
	bpf_put_set(to, BPF_REG_1, 1);
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, ring, BPF_REG_1,
		RING(control.lost) + (int)cause * (int)sizeof(uint64_t), BPF_ADD);
}

/* The address in register @target: the ring's part that begins at a word, which is in the same register. */
static void put_word_address(struct bpf_program *to, const struct kernel_layout *layout, unsigned target,
			     unsigned spare)
{
	bpf_put_alu(to, BPF_AND, target, (int)(layout->window * PACKET_WORDS - 1));
	bpf_put_alu(to, BPF_LSH, target, 3);
	bpf_put_copy(to, spare, BPF_REG_7);
	bpf_put_alu_register(to, BPF_ADD, spare, target);
	bpf_put_copy(to, target, spare);
}

void kernel_record_place(struct bpf_program *to, const struct kernel_layout *layout, unsigned spare)
{
	bpf_put_alu(to, BPF_RSH, BPF_REG_9, WIRE_TAIL_COUNT_BITS);
	put_word_address(to, layout, BPF_REG_9, spare);
}

/* ---- which tasks */

/* Register 1: the state of a task, whose number is in register @task. */
static void kernel_record_put_state(struct bpf_program *to, const struct kernel_layout *layout, unsigned task)
{
	bpf_put_value(to, BPF_REG_1, layout->members);
	bpf_put_alu(to, BPF_AND, task, KERNEL_FOLLOW_TASKS - 1);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, task);
	bpf_put_load(to, BPF_B, BPF_REG_1, BPF_REG_1, 0);
}

/* Register 0: the current thread's id. */
static void put_current(struct bpf_program *to, const struct kernel_layout *layout)
{
	if (layout->typed && layout->stacks >= 0) {
		kernel_stacks_put(to, layout);
	} else if (layout->task.id) {
		bpf_put_call(to, BPF_FUNC_get_current_task_btf);
		bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_0, (int)layout->task.id);
	} else {
		bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	}
}

#define MET(member) (KERNEL_STACK_MET + (int)offsetof(struct kernel_met, member))

static_assert(MET(name) + (int)sizeof(((struct kernel_met *)0)->name) <= KERNEL_STACK_TID, "it has room");

/* Note the current task, which is not recorded. KERNEL_STACK_TID: its id. */
static void put_met(struct bpf_program *to, const struct kernel_layout *layout)
{
	bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_alu(to, BPF_RSH, BPF_REG_0, 32);
	bpf_put_store(to, BPF_W, BPF_REG_10, MET(process), BPF_REG_0);
	bpf_put_address(to, BPF_REG_1, MET(name));
	bpf_put_set(to, BPF_REG_2, sizeof(((struct kernel_met *)0)->name));
	bpf_put_call(to, BPF_FUNC_get_current_comm);
	bpf_put_map(to, BPF_REG_1, layout->met);
	bpf_put_address(to, BPF_REG_2, KERNEL_STACK_TID);
	bpf_put_address(to, BPF_REG_3, KERNEL_STACK_MET);
	bpf_put_set(to, BPF_REG_4, BPF_ANY);
	bpf_put_call(to, BPF_FUNC_map_update_elem);
}

void kernel_record_filter(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint_field *named, bool early)
{
	const int least = early ? KERNEL_FOLLOW_WAITS : KERNEL_FOLLOW_RECORDED;
	unsigned yes, other = 0;

	put_current(to, layout);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_TID, BPF_REG_0);
	if (layout->members < 0)
		return;
	kernel_record_put_state(to, layout, BPF_REG_0);
	yes = bpf_put_jump(to, BPF_JGE, BPF_REG_1, least);
	if (named) {
		bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_6, named->offset);
		kernel_record_put_state(to, layout, BPF_REG_0);
		other = bpf_put_jump(to, BPF_JGE, BPF_REG_1, least);
	}
	kernel_put_exit(to);
	if (named) {
		bpf_land(to, other);
		if (layout->met >= 0)
			put_met(to, layout);
	}
	bpf_land(to, yes);
}

/* ---- the ring */

static void put_release_ring(struct bpf_program *to)
{
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, RING(control.lock), 0);
}

/* Register 7: a ring of this CPU that no other program holds. The recorder has not ended: it then changes the state of rings. */
static void put_take_ring(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned taken[KERNEL_DEPTHS], none;

	bpf_put_call(to, BPF_FUNC_get_smp_processor_id);
	bpf_put_alu(to, BPF_MUL, BPF_REG_0, KERNEL_DEPTHS);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_KEY, BPF_REG_0);
	for (unsigned n = 0; n < KERNEL_DEPTHS; n++) {
		unsigned there;

		bpf_put_find(to, layout->rings, KERNEL_STACK_KEY);
		there = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
		kernel_put_exit(to);
		bpf_land(to, there);
		bpf_put_copy(to, BPF_REG_7, BPF_REG_0);
		bpf_put_set(to, BPF_REG_0, 0);
		bpf_put_set(to, BPF_REG_1, 1);
		bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_1, RING(control.lock),
			BPF_CMPXCHG);
		taken[n] = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
		bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_KEY);
		bpf_put_alu(to, BPF_ADD, BPF_REG_1, n + 1 < KERNEL_DEPTHS ? 1 : 1 - KERNEL_DEPTHS);
		bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_KEY, BPF_REG_1);
	}
	bpf_put_find(to, layout->rings, KERNEL_STACK_KEY);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	kernel_record_put_count(to, BPF_REG_0, WIRE_LOST_BUSY);
	bpf_land(to, none);
	kernel_put_exit(to);
	for (unsigned n = 0; n < KERNEL_DEPTHS; n++)
		bpf_land(to, taken[n]);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_7, RING(control.state));
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, WIRE_RING_READY);
	put_release_ring(to);
	kernel_put_exit(to);
	bpf_land(to, none);
}

/* KERNEL_STACK_NOW: the time, not before that of the last record. */
static void put_clock(struct bpf_program *to)
{
	unsigned later;

	bpf_put_call(to, BPF_FUNC_ktime_get_ns);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, RING(last));
	later = bpf_put_jump_register(to, BPF_JGE, BPF_REG_0, BPF_REG_1);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_1);
	bpf_land(to, later);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_NOW, BPF_REG_0);
	kernel_put_store(to, BPF_REG_7, RING(last), BPF_REG_0);
}

/* End the program if the packet that lies in the slot of the next one, register 1, was not read yet. */
static void put_room(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned room;

	kernel_put_load(to, BPF_REG_2, BPF_REG_7, RING(control.consumed));
	bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_3, BPF_REG_2);
	room = bpf_put_jump(to, BPF_JLT, BPF_REG_3, (int)layout->window);
	kernel_record_put_count(to, BPF_REG_7, WIRE_LOST_FULL);
	put_release_ring(to);
	kernel_put_exit(to);
	bpf_land(to, room);
}

/*
 * Remove the sequence of the packet at register 2 before any other byte of it changes: a reader that copied a new byte then
 * finds that the sequence has changed (ring/copy.h). The header that is copied here has none either, until it is complete.
 */
static void put_invalidate(struct bpf_program *to)
{
	bpf_put_set(to, BPF_REG_3, -1); /* WIRE_SEQUENCE_NONE */
#ifdef __x86_64__			/* whose stores stay in order */
	kernel_put_store(to, BPF_REG_2, PACKET(sequence), BPF_REG_3);
#else
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_2, BPF_REG_3, PACKET(sequence), BPF_XCHG);
#endif
}

/* Open the next packet: register 2 its address, 8 the tail behind its header. Without room, end the program. */
static void put_open(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned whole, first;

	kernel_put_load(to, BPF_REG_1, BPF_REG_7, RING(next));
	if (!layout->overwrite)
		put_room(to, layout);

	/* The rest of the old packet has stale bytes. */
	bpf_put_copy(to, BPF_REG_2, BPF_REG_8);
	bpf_put_alu(to, BPF_RSH, BPF_REG_2, WIRE_TAIL_COUNT_BITS);
	bpf_put_copy(to, BPF_REG_3, BPF_REG_2);
	bpf_put_alu(to, BPF_AND, BPF_REG_3, PACKET_WORDS - 1);
	whole = bpf_put_jump(to, BPF_JEQ, BPF_REG_3, 0);
	put_word_address(to, layout, BPF_REG_2, BPF_REG_3);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_2, 0, KERNEL_SLOTS, WIRE_ID_CLOSED);
	bpf_land(to, whole);

	kernel_put_load(to, BPF_REG_4, BPF_REG_7, RING(events));
	bpf_put_alu(to, BPF_AND, BPF_REG_8, WIRE_TAIL_COUNT_MASK);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_4, BPF_REG_8);
	kernel_put_store(to, BPF_REG_7, RING(events), BPF_REG_4);

	bpf_put_copy(to, BPF_REG_2, BPF_REG_1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_2, PACKET_BITS - 3);
	bpf_put_copy(to, BPF_REG_8, BPF_REG_2);
	put_word_address(to, layout, BPF_REG_2, BPF_REG_3);
	if (layout->overwrite)
		put_invalidate(to);
	for (int n = 0; n < HEADER_WORDS; n++) {
		kernel_put_load(to, BPF_REG_3, BPF_REG_7, RING(header) + n * 8);
		kernel_put_store(to, BPF_REG_2, KERNEL_SLOTS + n * 8, BPF_REG_3);
	}
	kernel_put_store(to, BPF_REG_2, PACKET(events_before), BPF_REG_4);
	bpf_put_set(to, BPF_REG_5, 0);
	for (int cause = WIRE_LOST_FULL; cause <= WIRE_LOST_BUSY; cause++) {
		kernel_put_load(to, BPF_REG_3, BPF_REG_7, RING(control.lost) + cause * 8);
		kernel_put_store(to, BPF_REG_2, PACKET(lost) + cause * 8, BPF_REG_3);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_5, BPF_REG_3);
	}
	kernel_put_store(to, BPF_REG_2, PACKET(discarded), BPF_REG_5);
	kernel_put_load(to, BPF_REG_3, BPF_REG_10, KERNEL_STACK_NOW);
	kernel_put_store(to, BPF_REG_2, PACKET(base_time), BPF_REG_3);
	kernel_put_store(to, BPF_REG_2, PACKET(time_begin), BPF_REG_3);
	kernel_put_store(to, BPF_REG_2, PACKET(time_end), BPF_REG_3);
	kernel_put_store(to, BPF_REG_7, RING(base), BPF_REG_3);
	kernel_put_store(to, BPF_REG_2, PACKET(sequence), BPF_REG_1);
	first = bpf_put_jump(to, BPF_JLT, BPF_REG_1, (int)layout->window);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_2, 0, PACKET(lap), (int)layout->window);
	bpf_land(to, first);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, 1);
	kernel_put_store(to, BPF_REG_7, RING(next), BPF_REG_1);
	bpf_put_alu(to, BPF_ADD, BPF_REG_8, HEADER_WORDS);
	bpf_put_alu(to, BPF_LSH, BPF_REG_8, WIRE_TAIL_COUNT_BITS);
}

/* Register 9: the address of the record, in the open packet or in a new one. @bytes: of the longest record */
static void put_locate(struct bpf_program *to, const struct kernel_layout *layout, unsigned bytes)
{
	unsigned none, full, late, done;

	kernel_put_load(to, BPF_REG_8, BPF_REG_7, RING(control.tail));
	bpf_put_copy(to, BPF_REG_1, BPF_REG_8);
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, WIRE_TAIL_COUNT_BITS);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, PACKET_WORDS - 1);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	full = bpf_put_jump(to, BPF_JGT, BPF_REG_1, (int)(PACKET_WORDS - wire_stride(bytes) / 8));
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, RING(base));
	kernel_put_load(to, BPF_REG_2, BPF_REG_10, KERNEL_STACK_NOW);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_2, BPF_REG_1);
	late = bpf_put_jump(to, BPF_JGT, BPF_REG_2, (int)layout->reach);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, none);
	bpf_land(to, full);
	bpf_land(to, late);
	put_open(to, layout);
	bpf_land(to, done);
	bpf_put_copy(to, BPF_REG_9, BPF_REG_8);
	kernel_record_place(to, layout, BPF_REG_1);
}

void kernel_record_commit(struct bpf_program *to, const struct kernel_layout *layout, int at, bool texts,
			  uint16_t id)
{
	/* The padding. */
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_9, 0, KERNEL_SLOTS + at, 0);
	bpf_put_set(to, BPF_REG_1, at);
	if (texts) {
		kernel_put_load(to, BPF_REG_2, BPF_REG_10, KERNEL_STACK_TEXTS);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_2);
		bpf_put_copy(to, BPF_REG_9, BPF_REG_8);
		kernel_record_place(to, layout, BPF_REG_2);
	}
	bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_3, 16);
	if (id)
		bpf_put_alu(to, BPF_OR, BPF_REG_3, id);
	else
		bpf_put_alu_register(to, BPF_OR, BPF_REG_3, BPF_REG_5);
	kernel_put_load(to, BPF_REG_4, BPF_REG_10, KERNEL_STACK_NOW);
	bpf_put_alu(to, BPF_LSH, BPF_REG_4, 32);
	bpf_put_alu_register(to, BPF_OR, BPF_REG_3, BPF_REG_4);
	kernel_put_store(to, BPF_REG_9, KERNEL_SLOTS, BPF_REG_3);
	bpf_put_load(to, BPF_W, BPF_REG_3, BPF_REG_10, KERNEL_STACK_TID);
	bpf_put_store(to, BPF_W, BPF_REG_9, KERNEL_SLOTS + (int)offsetof(struct wire_compact, tid),
		      BPF_REG_3);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, WIRE_ALIGN - 1);
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, 3);
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, WIRE_TAIL_COUNT_BITS);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_8, BPF_REG_1);
	bpf_put_alu(to, BPF_ADD, BPF_REG_8, 1);
#ifdef __x86_64__ /* where each store is a release */
	kernel_put_store(to, BPF_REG_7, RING(control.tail), BPF_REG_8);
#else
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_8, RING(control.tail), BPF_XCHG);
#endif
	put_release_ring(to);
}

/* The kernel does not know a program's correlation and depth: they are 0. */
static void put_context(struct bpf_program *to, uint32_t context)
{
	for (unsigned n = 0; n < wire_context_bytes(context); n += 4)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_9, 0,
			KERNEL_SLOTS + (int)sizeof(struct wire_compact) + (int)n, 0);
}

void kernel_record_begin(struct bpf_program *to, const struct kernel_layout *layout, unsigned bytes)
{
	put_take_ring(to, layout);
	put_clock(to);
	put_locate(to, layout, bytes);
	put_context(to, layout->context);
}

/* ---- the fields */

void kernel_record_advance(struct bpf_program *to)
{
	kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_TEXTS);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_0);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_TEXTS, BPF_REG_1);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_9, BPF_REG_0);
}

void kernel_record_number(struct bpf_program *to, int at, unsigned bytes, unsigned offset)
{
	bpf_put_load(to, kernel_size_code(bytes), BPF_REG_1, BPF_REG_6, (int)offset);
	bpf_put_store(to, kernel_size_code(bytes), BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_1);
}
