/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arguments and variables of an exec; see kernel_list.h. Registers: as kernel_record.c has them; 8 counts in between.
 *
 * The verifier follows a loop turn by turn, and stops when a turn begins in a state that it has seen. States differ
 * by what it knows of numbers. So all that grows lies in the ring's own memory (struct kernel_ring: list), of which
 * it knows nothing; only the count of turns, which ends the loop, is in a register. Numbers from there are masked or
 * compared before they become a part of an address.
 *
 * A program holds its ring's lock, so no other one uses the list. Addresses and texts are read one after the other,
 * and another thread may change them in between.
 */
#include "source/kernel/bpf/kernel_list.h"
#include "source/kernel/bpf/kernel_record.h"

enum {
	ARGUMENTS,
	VARIABLES,
	COUNTS = 8,		   /* bytes of both */
	HEAD = COUNTS + 2,	   /* and of the number of bytes that follow */
	BYTES_MASK = 2 * 1024 - 1, /* more than KERNEL_LIST_MAX */
};

#define LIST(member) KERNEL_RING(list.member)

/* Register 9: the address of the record's part behind as many bytes as register 1 has. */
static void kernel_list_put_part(struct bpf_program *to, const struct kernel_layout *layout)
{
	kernel_put_load(to, BPF_REG_9, BPF_REG_7, LIST(tail));
	kernel_record_place(to, layout, BPF_REG_2);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_9, BPF_REG_1);
}

/* Copy the text at register 3, if the longest one has room. */
static void put_one(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	static const struct tracepoint_field text = { .kind = TRACEPOINT_USER_TEXT };
	unsigned full;

	kernel_put_load(to, BPF_REG_1, BPF_REG_7, LIST(bytes));
	full = bpf_put_jump(to, BPF_JGT, BPF_REG_1, KERNEL_LIST_MAX - TRACEPOINT_TEXT_MAX);
	kernel_list_put_part(to, layout);
	kernel_put_text(to, BPF_REG_9, KERNEL_SLOTS + at, &text);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, LIST(bytes));
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_0);
	kernel_put_store(to, BPF_REG_7, LIST(bytes), BPF_REG_1);
	bpf_land(to, full);
}

/* Count a list, and copy its texts if it is that of the arguments. */
static void put_walk(struct bpf_program *to, const struct kernel_layout *layout, int at, int list)
{
	unsigned begin, failed, end;

	bpf_put_set(to, BPF_REG_8, 0);
	begin = to->count;
	kernel_put_load(to, BPF_REG_3, BPF_REG_7, LIST(places) + list * 8);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_8);
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, 3);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_3, BPF_REG_1);
	bpf_put_address(to, BPF_REG_1, KERNEL_STACK_LISTED);
	bpf_put_set(to, BPF_REG_2, 8);
	bpf_put_call(to, BPF_FUNC_probe_read_user);
	failed = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	kernel_put_load(to, BPF_REG_3, BPF_REG_10, KERNEL_STACK_LISTED);
	end = bpf_put_jump(to, BPF_JEQ, BPF_REG_3, 0);
	if (list == ARGUMENTS)
		put_one(to, layout, at);
	bpf_put_alu(to, BPF_ADD, BPF_REG_8, 1);
	bpf_put_again(to, BPF_JLT, BPF_REG_8, KERNEL_LIST_COUNT, begin);
	bpf_land(to, failed);
	bpf_put_set(to, BPF_REG_8, -1);
	bpf_land(to, end);
	kernel_put_store(to, BPF_REG_7, LIST(counts) + list * 8, BPF_REG_8);
}

/* Put the lists that begin at the addresses in the ring. */
static void kernel_list_put_lists(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	kernel_put_store(to, BPF_REG_7, LIST(tail), BPF_REG_8);
	kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_TEXTS);
	kernel_put_store(to, BPF_REG_7, LIST(bytes), BPF_REG_1);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, LIST(bytes)); /* now one that the verifier does not know */
	bpf_put_alu(to, BPF_AND, BPF_REG_1, BYTES_MASK);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_TEXTS, BPF_REG_1);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, HEAD);
	kernel_put_store(to, BPF_REG_7, LIST(bytes), BPF_REG_1);
	put_walk(to, layout, at, ARGUMENTS);
	put_walk(to, layout, at, VARIABLES);

	kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_TEXTS);
	kernel_list_put_part(to, layout);
	for (int list = ARGUMENTS; list <= VARIABLES; list++) {
		kernel_put_load(to, BPF_REG_2, BPF_REG_7, LIST(counts) + list * 8);
		bpf_put_store(to, BPF_W, BPF_REG_9, KERNEL_SLOTS + at + list * 4, BPF_REG_2);
	}
	kernel_put_load(to, BPF_REG_2, BPF_REG_7, LIST(bytes));
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_2, BPF_REG_1);
	bpf_put_alu(to, BPF_SUB, BPF_REG_2, HEAD);
	bpf_put_store(to, BPF_H, BPF_REG_9, KERNEL_SLOTS + at + COUNTS, BPF_REG_2);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, LIST(bytes));
	bpf_put_alu(to, BPF_AND, BPF_REG_1, BYTES_MASK);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_TEXTS, BPF_REG_1);
	kernel_list_put_part(to, layout);
	kernel_put_load(to, BPF_REG_8, BPF_REG_7, LIST(tail));
}

/* Let the lists begin at the addresses in an argument and the next one. */
static void kernel_list_put_places(struct bpf_program *to, const struct kernel_layout *layout,
				   unsigned argument)
{
	for (unsigned list = ARGUMENTS; list <= VARIABLES; list++) {
		kernel_put_register(to, layout, BPF_DW, BPF_REG_2, kernel_argument_places[argument + list]);
		kernel_put_store(to, BPF_REG_7, LIST(places) + (int)list * 8, BPF_REG_2);
	}
}

void kernel_list_put(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	const unsigned third = bpf_put_jump(to, BPF_JNE, BPF_REG_1, 0);
	unsigned done;

	kernel_list_put_places(to, layout, 1);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, third);
	kernel_list_put_places(to, layout, 2);
	bpf_land(to, done);
	kernel_list_put_lists(to, layout, at);
}

void kernel_list_put_new(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	unsigned other;

	bpf_put_call(to, BPF_FUNC_get_current_task_btf);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_0);
	bpf_put_call(to, BPF_FUNC_task_pt_regs);
	bpf_put_load(to, BPF_DW, BPF_REG_1, BPF_REG_0, REGISTERS_MODE);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, REGISTERS_MODE_MASK);
	bpf_put_set(to, BPF_REG_2, 0);
	other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, REGISTERS_MODE_64);
	kernel_put_load(to, BPF_REG_2, BPF_REG_0, REGISTERS_STACK);
	bpf_put_alu(to, BPF_ADD, BPF_REG_2, 8); /* their number lies below them */
	bpf_land(to, other);
	kernel_put_store(to, BPF_REG_7, LIST(places), BPF_REG_2);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, LIST(places) + 8, 0);
	kernel_list_put_lists(to, layout, at);
}

void kernel_list_put_none(struct bpf_program *to, int at)
{
	for (int list = ARGUMENTS; list <= VARIABLES; list++)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_9, 0, KERNEL_SLOTS + at + list * 4, -1);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_H, BPF_REG_9, 0, KERNEL_SLOTS + at + COUNTS, 0);
	bpf_put_set(to, BPF_REG_0, HEAD);
	kernel_record_advance(to);
}
