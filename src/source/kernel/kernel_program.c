/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs at tracepoints; see kernel_program.h.
 *
 * Registers: 6 the context, 7 the ring, 8 the tail (of the position to write to), 9 the address behind what was written,
 * less KERNEL_SLOTS and the bytes that the writer counts itself (`at`). Calls of the kernel keep them.
 */
#include <assert.h>
#include <string.h>

#include "source/kernel/kernel_follow.h"
#include "source/kernel/kernel_filter.h"
#include "source/kernel/kernel_program.h"
#include "source/kernel/kernel_put.h"
#include "wire/wire_context.h"
#include "wire/wire_record.h"

enum {
	/* Offsets on the stack. */
	STACK_KEY = -4,
	STACK_TID = -8,
	STACK_TEXTS = -16, /* bytes of the texts so far */
	STACK_NOW = -24,
	STACK_FILTER = STACK_NOW, /* of a system call, before there is a time */
	STACK_NUMBER = -32,	  /* of a system call */
	STACK_CALL = -40,	  /* struct kernel_syscall of it */

	PACKET_WORDS = KERNEL_PACKET / 8,
	PACKET_BITS = 16, /* of KERNEL_PACKET */
	HEADER_WORDS = sizeof(struct wire_packet) / 8,

	SEGMENT_32 = 0x23, /* of code of 32 bits, whose system calls have other numbers */
	/* Bytes of a thread's stack in the kernel; larger if the kernel was built with KASAN. */
	STACK_OF_TASK = 16 << 10,
};

static_assert(1 << PACKET_BITS == KERNEL_PACKET, "PACKET_BITS");
static_assert(sizeof(struct kernel_ring) <= KERNEL_SLOTS, "kernel_ring");
static_assert(sizeof(struct kernel_syscall) == 8, "kernel_syscall");
static_assert(WIRE_SEQUENCE_NONE == UINT64_MAX, "put_invalidate()");

/* Where a record's fields begin. */
static int payload_of(const struct kernel_layout *layout)
{
	return (int)sizeof(struct wire_compact) + (int)wire_context_bytes(layout->context);
}

#define RING(member)   ((int)offsetof(struct kernel_ring, member))
#define PACKET(member) (KERNEL_SLOTS + (int)offsetof(struct wire_packet, member))

static void put_load(struct bpf_program *to, unsigned target, unsigned from, int offset)
{
	bpf_put_load(to, BPF_DW, target, from, offset);
}

static void put_store(struct bpf_program *to, unsigned address, int offset, unsigned source)
{
	bpf_put_store(to, BPF_DW, address, offset, source);
}

/* Add 1 to a counter, which programs of other depths and the recorder change, too. */
static void put_count(struct bpf_program *to, unsigned ring, enum wire_loss cause)
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

/* ---- which tasks */

/* Register 1: the state of a task, whose number is in register @task. */
static void put_state(struct bpf_program *to, const struct kernel_layout *layout, unsigned task)
{
	bpf_put_value(to, BPF_REG_1, layout->members);
	bpf_put_alu(to, BPF_AND, task, KERNEL_FOLLOW_TASKS - 1);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, task);
	bpf_put_load(to, BPF_B, BPF_REG_1, BPF_REG_1, 0);
}

/*
 * End the program unless the task, or one that the record names, is recorded.
 * @early: a task that waits for its exec is recorded, too
 */
static void put_filter(struct bpf_program *to, const struct kernel_layout *layout,
		       const struct tracepoint_field *named, bool early)
{
	const int least = early ? KERNEL_FOLLOW_WAITS : KERNEL_FOLLOW_RECORDED;
	unsigned yes, other = 0;

	bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(to, BPF_W, BPF_REG_10, STACK_TID, BPF_REG_0);
	if (layout->members < 0)
		return;
	put_state(to, layout, BPF_REG_0);
	yes = bpf_put_jump(to, BPF_JGE, BPF_REG_1, least);
	if (named) {
		bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_6, named->offset);
		put_state(to, layout, BPF_REG_0);
		other = bpf_put_jump(to, BPF_JGE, BPF_REG_1, least);
	}
	kernel_put_exit(to);
	bpf_land(to, yes);
	if (named)
		bpf_land(to, other);
}

/* The field that names another task whose membership counts, too. */
static const struct tracepoint_field *named_task(const struct tracepoint *point)
{
	static const char *const points[][2] = { { "sched_switch", "next_pid" },
						 { "sched_wakeup", "pid" },
						 { "sched_wakeup_new", "pid" },
						 { "sched_waking", "pid" },
						 { "sched_migrate_task", "pid" } };
	const struct tracepoint_field *field = NULL;

	for (unsigned n = 0; n < sizeof(points) / sizeof(points[0]); n++)
		if (strcmp(point->system, "sched") == 0 && strcmp(point->name, points[n][0]) == 0)
			field = tracepoint_field(point, points[n][1]);
	return field && field->kind == TRACEPOINT_INTEGER && field->size == 4 ? field : NULL;
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
	bpf_put_store(to, BPF_W, BPF_REG_10, STACK_KEY, BPF_REG_0);
	for (unsigned n = 0; n < KERNEL_DEPTHS; n++) {
		unsigned there;

		bpf_put_find(to, layout->rings, STACK_KEY);
		there = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
		kernel_put_exit(to);
		bpf_land(to, there);
		bpf_put_copy(to, BPF_REG_7, BPF_REG_0);
		bpf_put_set(to, BPF_REG_0, 0);
		bpf_put_set(to, BPF_REG_1, 1);
		bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_1, RING(control.lock),
			BPF_CMPXCHG);
		taken[n] = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
		bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, STACK_KEY);
		bpf_put_alu(to, BPF_ADD, BPF_REG_1, n + 1 < KERNEL_DEPTHS ? 1 : 1 - KERNEL_DEPTHS);
		bpf_put_store(to, BPF_W, BPF_REG_10, STACK_KEY, BPF_REG_1);
	}
	bpf_put_find(to, layout->rings, STACK_KEY);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	put_count(to, BPF_REG_0, WIRE_LOST_BUSY);
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

/* STACK_NOW: the time, not before that of the last record. */
static void put_clock(struct bpf_program *to)
{
	unsigned later;

	bpf_put_call(to, BPF_FUNC_ktime_get_ns);
	put_load(to, BPF_REG_1, BPF_REG_7, RING(last));
	later = bpf_put_jump_register(to, BPF_JGE, BPF_REG_0, BPF_REG_1);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_1);
	bpf_land(to, later);
	put_store(to, BPF_REG_10, STACK_NOW, BPF_REG_0);
	put_store(to, BPF_REG_7, RING(last), BPF_REG_0);
}

/* End the program if the packet that lies in the slot of the next one, register 1, was not read yet. */
static void put_room(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned room;

	put_load(to, BPF_REG_2, BPF_REG_7, RING(control.consumed));
	bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_3, BPF_REG_2);
	room = bpf_put_jump(to, BPF_JLT, BPF_REG_3, (int)layout->window);
	put_count(to, BPF_REG_7, WIRE_LOST_FULL);
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
	put_store(to, BPF_REG_2, PACKET(sequence), BPF_REG_3);
#else
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_2, BPF_REG_3, PACKET(sequence), BPF_XCHG);
#endif
}

/* Open the next packet: register 2 its address, 8 the tail behind its header. Without room, end the program. */
static void put_open(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned whole, first;

	put_load(to, BPF_REG_1, BPF_REG_7, RING(next));
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

	put_load(to, BPF_REG_4, BPF_REG_7, RING(events));
	bpf_put_alu(to, BPF_AND, BPF_REG_8, WIRE_TAIL_COUNT_MASK);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_4, BPF_REG_8);
	put_store(to, BPF_REG_7, RING(events), BPF_REG_4);

	bpf_put_copy(to, BPF_REG_2, BPF_REG_1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_2, PACKET_BITS - 3);
	bpf_put_copy(to, BPF_REG_8, BPF_REG_2);
	put_word_address(to, layout, BPF_REG_2, BPF_REG_3);
	if (layout->overwrite)
		put_invalidate(to);
	for (int n = 0; n < HEADER_WORDS; n++) {
		put_load(to, BPF_REG_3, BPF_REG_7, RING(header) + n * 8);
		put_store(to, BPF_REG_2, KERNEL_SLOTS + n * 8, BPF_REG_3);
	}
	put_store(to, BPF_REG_2, PACKET(events_before), BPF_REG_4);
	bpf_put_set(to, BPF_REG_5, 0);
	for (int cause = WIRE_LOST_FULL; cause <= WIRE_LOST_BUSY; cause++) {
		put_load(to, BPF_REG_3, BPF_REG_7, RING(control.lost) + cause * 8);
		put_store(to, BPF_REG_2, PACKET(lost) + cause * 8, BPF_REG_3);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_5, BPF_REG_3);
	}
	put_store(to, BPF_REG_2, PACKET(discarded), BPF_REG_5);
	put_load(to, BPF_REG_3, BPF_REG_10, STACK_NOW);
	put_store(to, BPF_REG_2, PACKET(base_time), BPF_REG_3);
	put_store(to, BPF_REG_2, PACKET(time_begin), BPF_REG_3);
	put_store(to, BPF_REG_2, PACKET(time_end), BPF_REG_3);
	put_store(to, BPF_REG_7, RING(base), BPF_REG_3);
	put_store(to, BPF_REG_2, PACKET(sequence), BPF_REG_1);
	first = bpf_put_jump(to, BPF_JLT, BPF_REG_1, (int)layout->window);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_2, 0, PACKET(lap), (int)layout->window);
	bpf_land(to, first);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, 1);
	put_store(to, BPF_REG_7, RING(next), BPF_REG_1);
	bpf_put_alu(to, BPF_ADD, BPF_REG_8, HEADER_WORDS);
	bpf_put_alu(to, BPF_LSH, BPF_REG_8, WIRE_TAIL_COUNT_BITS);
}

/* Register 9: the address of the record, in the open packet or in a new one. @bytes: of the longest record */
static void put_locate(struct bpf_program *to, const struct kernel_layout *layout, unsigned bytes)
{
	unsigned none, full, late, done;

	put_load(to, BPF_REG_8, BPF_REG_7, RING(control.tail));
	bpf_put_copy(to, BPF_REG_1, BPF_REG_8);
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, WIRE_TAIL_COUNT_BITS);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, PACKET_WORDS - 1);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	full = bpf_put_jump(to, BPF_JGT, BPF_REG_1, (int)(PACKET_WORDS - wire_stride(bytes) / 8));
	put_load(to, BPF_REG_1, BPF_REG_7, RING(base));
	put_load(to, BPF_REG_2, BPF_REG_10, STACK_NOW);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_2, BPF_REG_1);
	late = bpf_put_jump(to, BPF_JGT, BPF_REG_2, (int)layout->reach);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, none);
	bpf_land(to, full);
	bpf_land(to, late);
	put_open(to, layout);
	bpf_land(to, done);
	bpf_put_copy(to, BPF_REG_9, BPF_REG_8);
	bpf_put_alu(to, BPF_RSH, BPF_REG_9, WIRE_TAIL_COUNT_BITS);
	put_word_address(to, layout, BPF_REG_9, BPF_REG_1);
}

/*
 * Commit the record, and end.
 * @at: bytes of the record up to register 9's address and those counted since
 * @texts: whether STACK_TEXTS has more
 * @id: of the event; 0: register 5 has it
 */
static void put_commit(struct bpf_program *to, const struct kernel_layout *layout, int at, bool texts,
		       uint16_t id)
{
	/* The padding. */
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_9, 0, KERNEL_SLOTS + at, 0);
	bpf_put_set(to, BPF_REG_1, at);
	if (texts) {
		put_load(to, BPF_REG_2, BPF_REG_10, STACK_TEXTS);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_2);
		bpf_put_copy(to, BPF_REG_9, BPF_REG_8);
		bpf_put_alu(to, BPF_RSH, BPF_REG_9, WIRE_TAIL_COUNT_BITS);
		put_word_address(to, layout, BPF_REG_9, BPF_REG_2);
	}
	bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_3, 16);
	if (id)
		bpf_put_alu(to, BPF_OR, BPF_REG_3, id);
	else
		bpf_put_alu_register(to, BPF_OR, BPF_REG_3, BPF_REG_5);
	put_load(to, BPF_REG_4, BPF_REG_10, STACK_NOW);
	bpf_put_alu(to, BPF_LSH, BPF_REG_4, 32);
	bpf_put_alu_register(to, BPF_OR, BPF_REG_3, BPF_REG_4);
	put_store(to, BPF_REG_9, KERNEL_SLOTS, BPF_REG_3);
	bpf_put_load(to, BPF_W, BPF_REG_3, BPF_REG_10, STACK_TID);
	bpf_put_store(to, BPF_W, BPF_REG_9, KERNEL_SLOTS + (int)offsetof(struct wire_compact, tid),
		      BPF_REG_3);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, WIRE_ALIGN - 1);
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, 3);
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, WIRE_TAIL_COUNT_BITS);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_8, BPF_REG_1);
	bpf_put_alu(to, BPF_ADD, BPF_REG_8, 1);
#ifdef __x86_64__ /* where each store is a release */
	put_store(to, BPF_REG_7, RING(control.tail), BPF_REG_8);
#else
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_8, RING(control.tail), BPF_XCHG);
#endif
	put_release_ring(to);
	kernel_put_exit(to);
}

/* The kernel does not know a program's correlation and depth: they are 0. */
static void put_context(struct bpf_program *to, uint32_t context)
{
	for (unsigned n = 0; n < wire_context_bytes(context); n += 4)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_9, 0,
			KERNEL_SLOTS + (int)sizeof(struct wire_compact) + (int)n, 0);
}

/* Take the ring, read the clock, and find the record's place. */
static void put_begin(struct bpf_program *to, const struct kernel_layout *layout, unsigned bytes)
{
	put_take_ring(to, layout);
	put_clock(to);
	put_locate(to, layout, bytes);
	put_context(to, layout->context);
}

/* ---- the fields */

/* Let the payload go on behind as many bytes as register 0 has, and register 9 with it. */
static void put_advance(struct bpf_program *to)
{
	put_load(to, BPF_REG_1, BPF_REG_10, STACK_TEXTS);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_0);
	put_store(to, BPF_REG_10, STACK_TEXTS, BPF_REG_1);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_9, BPF_REG_0);
}

/* Put a text, whose address is in register 3. Register 9 moves behind it. */
static void put_text(struct bpf_program *to, int at, const struct tracepoint_field *field)
{
	kernel_put_text(to, BPF_REG_9, KERNEL_SLOTS + at, field);
	put_advance(to);
}

static void put_number(struct bpf_program *to, int at, unsigned bytes, unsigned offset)
{
	bpf_put_load(to, kernel_size_code(bytes), BPF_REG_1, BPF_REG_6, (int)offset);
	bpf_put_store(to, kernel_size_code(bytes), BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_1);
}

/*
 * Whether an interrupt runs. One in the kernel has another stack than the one that has the registers of the process at its end;
 * one of a process shares it, but then no system call brought the process into the kernel. A fault looks the same. The numbers
 * of both addresses are taken by way of the ring, since the verifier does not compare addresses.
 */
static void put_interrupt(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	unsigned other, called, far;

	if (!kernel_has_registers(layout)) {
		bpf_put(to, BPF_ST | BPF_MEM | BPF_B, BPF_REG_9, 0, KERNEL_SLOTS + at, KERNEL_CALL_NONE);
		return;
	}
	bpf_put_call(to, BPF_FUNC_get_current_task_btf);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_0);
	bpf_put_call(to, BPF_FUNC_task_pt_regs);
	put_store(to, BPF_REG_7, RING(scratch), BPF_REG_0);
	put_load(to, BPF_REG_1, BPF_REG_7, RING(scratch));
	put_store(to, BPF_REG_7, RING(scratch), BPF_REG_10);
	put_load(to, BPF_REG_3, BPF_REG_7, RING(scratch));
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, RING(scratch), 0);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_1, BPF_REG_3);
	bpf_put_set(to, BPF_REG_2, 1);
	far = bpf_put_jump(to, BPF_JGE, BPF_REG_1, STACK_OF_TASK);
	bpf_put_set(to, BPF_REG_2, 0);
	put_load(to, BPF_REG_1, BPF_REG_0, REGISTERS_SEGMENT);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, 0xffff);
	other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, REGISTERS_SEGMENT_64);
	put_load(to, BPF_REG_1, BPF_REG_0, REGISTERS_NUMBER);
	called = bpf_put_jump(to, BPF_JSGE, BPF_REG_1, 0);
	bpf_put_set(to, BPF_REG_2, 1);
	bpf_land(to, far);
	bpf_land(to, other);
	bpf_land(to, called);
	bpf_put_store(to, BPF_B, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
}

static bool is_text(enum tracepoint_kind kind)
{
	return kind == TRACEPOINT_CHARS || kind == TRACEPOINT_TEXT || kind == TRACEPOINT_USER_TEXT ||
	       kind == TRACEPOINT_KERNEL_TEXT;
}

/* Put an argument of a probe. Return: as put_field(). */
static int put_probe_field(struct bpf_program *to, int at, const struct tracepoint_field *field)
{
	kernel_put_argument(to, field);
	if (is_text(field->kind)) {
		bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
		put_text(to, at, field);
		return 0;
	}
	bpf_put_store(to, kernel_size_code(field->bytes), BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_1);
	return field->bytes;
}

/* Put a field of the kernel's record. Return: the bytes by which register 9 does not move. */
static int put_field(struct bpf_program *to, const struct kernel_layout *layout, int at,
		     const struct tracepoint_field *field)
{
	const unsigned element = field->element;

	if (field->source.place != TRACEPOINT_RECORD)
		return put_probe_field(to, at, field);
	switch (field->kind) {
	case TRACEPOINT_INTEGER:
	case TRACEPOINT_POINTER:
		put_number(to, at, field->bytes, field->offset);
		return field->bytes;
	case TRACEPOINT_CALL:
		kernel_put_call(to, layout);
		bpf_put_store(to, BPF_H, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
		return field->bytes;
	case TRACEPOINT_INTERRUPT:
		put_interrupt(to, layout, at);
		return field->bytes;
	case TRACEPOINT_ARRAY:
		bpf_put(to, BPF_ST | BPF_MEM | BPF_H, BPF_REG_9, 0, KERNEL_SLOTS + at,
			(int)(field->size / element));
		for (unsigned n = 0; n < field->size; n += element)
			put_number(to, at + 2 + (int)n, element, field->offset + n);
		return 2 + field->size;
	default:
		kernel_put_text_address(to, BPF_REG_3, field);
		put_text(to, at, field);
		return 0;
	}
}

/* The longest record, with its padding. */
static unsigned longest(const struct kernel_layout *layout, const struct tracepoint *point)
{
	unsigned bytes = payload_of(layout) + WIRE_ALIGN;

	for (unsigned n = 0; n < point->count; n++) {
		const struct tracepoint_field *field = &point->fields[n];

		if (!field->recorded)
			continue;
		bytes += is_text(field->kind) && field->kind != TRACEPOINT_CHARS ? TRACEPOINT_TEXT_MAX
			 : field->kind == TRACEPOINT_CHARS ? field->size + (unsigned)sizeof(WIRE_NULL)
			 : field->kind == TRACEPOINT_ARRAY ? field->size + 2u
							   : field->bytes;
	}
	return bytes;
}

struct ring kernel_ring_view(char *memory, unsigned n, const struct kernel_layout *layout,
			     const struct wire_packet *header)
{
	char *ring = memory + (size_t)n * kernel_ring_bytes(layout->window);

	return (struct ring){ .control = &((struct kernel_ring *)ring)->control,
			      .slots = ring + KERNEL_SLOTS,
			      .word_mask = (uint64_t)layout->window * KERNEL_PACKET / 8 - 1,
			      .packet_mask = KERNEL_PACKET / 8 - 1,
			      .packet_words = KERNEL_PACKET / 8,
			      .window = layout->window,
			      .locked = true,
			      .fixed = true,
			      .overwrite = layout->overwrite,
			      .cpu = n / KERNEL_DEPTHS,
			      .header = header,
			      .stream_instance = WIRE_KERNEL_INSTANCE + n };
}

/* Some kernels remove a breakpoint whose program returns 1; all refuse a program at a function's entry that does. */
static void return_nothing(struct bpf_program *to)
{
	for (unsigned n = 0; n + 1 < to->count; n++)
		if (to->code[n].code == (BPF_ALU64 | BPF_MOV | BPF_K) && to->code[n].dst_reg == BPF_REG_0 &&
		    to->code[n + 1].code == (BPF_JMP | BPF_EXIT))
			to->code[n].imm = 0;
}

bool kernel_program_write(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint *point, const struct wire_filter *filter, uint16_t id)
{
	int at = payload_of(layout);
	bool texts = false;

	bpf_begin(to);
	if (longest(layout, point) > KERNEL_RECORD_MAX)
		return false;
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	/* The exec of a command gives it its name before it begins to be recorded. */
	put_filter(to, layout, named_task(point), strcmp(point->system, "task") == 0);
	if (filter)
		kernel_filter_put(to, layout, &(struct kernel_filter){ filter, point });
	put_begin(to, layout, longest(layout, point));
	for (unsigned n = 0; n < point->count; n++)
		texts |= point->fields[n].recorded && is_text(point->fields[n].kind);
	if (texts)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, STACK_TEXTS, 0);
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].recorded)
			at += put_field(to, layout, at, &point->fields[n]);
	if (!id) {
		bpf_put_copy(to, BPF_REG_1, BPF_REG_6);
		bpf_put_call(to, BPF_FUNC_get_attach_cookie);
		bpf_put_copy(to, BPF_REG_5, BPF_REG_0);
	}
	put_commit(to, layout, at, texts, id);
	if (point->is_probe || point->function)
		return_nothing(to);
	return !to->full;
}

/* ---- system calls */

/* Where struct kernel_syscall has a member, as the lowest bit of the number that it is. */
#define CALL_SHIFT(member) ((int)offsetof(struct kernel_syscall, member) * 8)

/* Run the call's filter; register 1 has struct kernel_syscall. */
static void put_filters(struct bpf_program *to, const struct kernel_layout *layout,
			const struct kernel_calls *calls)
{
	unsigned done[KERNEL_FILTERS_MAX];

	if (!calls->filter_count)
		return;
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, CALL_SHIFT(filter));
	bpf_put_alu(to, BPF_AND, BPF_REG_1, 0xff);
	put_store(to, BPF_REG_10, STACK_FILTER, BPF_REG_1);
	for (unsigned n = 0; n < calls->filter_count; n++) {
		unsigned other;

		put_load(to, BPF_REG_1, BPF_REG_10, STACK_FILTER);
		other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, (int)n + 1);
		kernel_filter_put(to, layout, &calls->filters[n]);
		done[n] = bpf_put_jump(to, BPF_JA, 0, 0);
		bpf_land(to, other);
	}
	for (unsigned n = 0; n < calls->filter_count; n++)
		bpf_land(to, done[n]);
}

/* Find the system call; end for a process of 32 bits, and for a call that is not recorded. */
static void put_identify(struct bpf_program *to, const struct kernel_layout *layout,
			 const struct kernel_calls *calls)
{
	unsigned good, known, wanted;

	if (!layout->typed)
		kernel_put_registers(to);
	kernel_put_register(to, layout, BPF_H, BPF_REG_1, REGISTERS_SEGMENT);
	good = bpf_put_jump(to, BPF_JNE, BPF_REG_1, SEGMENT_32);
	kernel_put_exit(to);
	bpf_land(to, good);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_1, REGISTERS_NUMBER);
	good = bpf_put_jump(to, BPF_JLT, BPF_REG_1, (int)calls->count);
	kernel_put_exit(to);
	bpf_land(to, good);
	bpf_put_store(to, BPF_W, BPF_REG_10, STACK_NUMBER, BPF_REG_1);
	bpf_put_find(to, calls->map, STACK_NUMBER);
	known = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	kernel_put_exit(to);
	bpf_land(to, known);
	bpf_put_load(to, BPF_H, BPF_REG_2, BPF_REG_0, (int)offsetof(struct kernel_syscall, id));
	wanted = bpf_put_jump(to, BPF_JNE, BPF_REG_2, 0);
	kernel_put_exit(to);
	bpf_land(to, wanted);
	put_load(to, BPF_REG_1, BPF_REG_0, 0);
	put_store(to, BPF_REG_10, STACK_CALL, BPF_REG_1);
	put_filters(to, layout, calls);
}

/*
 * Put an argument: a text, 32 bits or 64. @place: its register's offset
 *
 * Of 32 bits, all 64 are stored; what follows overwrites the rest, at last the padding. Numbers of both sizes go one way, with a size that
 * the verifier does not know: then it finds that a way with a text before includes one with a number, and takes a twentieth of the time.
 */
static void put_argument(struct bpf_program *to, const struct kernel_layout *layout, unsigned n, int place)
{
	static const struct tracepoint_field text = { .kind = TRACEPOINT_USER_TEXT };
	const int at = payload_of(layout);
	unsigned number, done;

	put_load(to, BPF_REG_1, BPF_REG_10, STACK_CALL);
	bpf_put_copy(to, BPF_REG_2, BPF_REG_1);
	bpf_put_alu(to, BPF_RSH, BPF_REG_2, CALL_SHIFT(texts) + (int)n);
	bpf_put_alu(to, BPF_AND, BPF_REG_2, 1);
	number = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, 0);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, place);
	put_text(to, at, &text);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, number);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_2, place);
	put_store(to, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, CALL_SHIFT(shorts) + (int)n);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, 1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, 2);
	bpf_put_set(to, BPF_REG_0, 8);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_0, BPF_REG_1);
	put_advance(to);
	bpf_land(to, done);
}

void kernel_program_enter(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct kernel_calls *calls)
{
	unsigned ends[KERNEL_ARGUMENTS];

	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	put_filter(to, layout, NULL, false);
	put_identify(to, layout, calls);
	put_begin(to, layout, payload_of(layout) + KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX + WIRE_ALIGN);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, STACK_TEXTS, 0);
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++) {
		put_load(to, BPF_REG_1, BPF_REG_10, STACK_CALL);
		bpf_put_alu(to, BPF_RSH, BPF_REG_1, CALL_SHIFT(count));
		bpf_put_alu(to, BPF_AND, BPF_REG_1, 7);
		ends[n] = bpf_put_jump(to, BPF_JLE, BPF_REG_1, (int)n);
		put_argument(to, layout, n, kernel_argument_places[n]);
	}
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++)
		bpf_land(to, ends[n]);
	put_load(to, BPF_REG_5, BPF_REG_10, STACK_CALL);
	bpf_put_alu(to, BPF_AND, BPF_REG_5, 0xffff);
	put_commit(to, layout, payload_of(layout), true, 0);
}

void kernel_program_exit(struct bpf_program *to, const struct kernel_layout *layout,
			 const struct kernel_calls *calls)
{
	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	put_filter(to, layout, NULL, false);
	put_identify(to, layout, calls);
	put_begin(to, layout, payload_of(layout) + 8 + WIRE_ALIGN);
	put_number(to, payload_of(layout), 8, KERNEL_RESULT);
	put_load(to, BPF_REG_5, BPF_REG_10, STACK_CALL);
	bpf_put_alu(to, BPF_AND, BPF_REG_5, 0xffff);
	put_commit(to, layout, payload_of(layout) + 8, false, 0);
}
