/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Threads by their stacks; see kernel_stacks.h. */
#include <stddef.h>

#include "source/kernel/bpf/kernel_stacks.h"

enum {
	STACKS = 1024,	  /* places for threads */
	STACK_SHIFT = 12, /* stacks are apart by a page at least */
	TASK_SHIFT = 3,
};

struct stacks {
	uint64_t distance; /* of the registers from the begin of their stack; 0: not known yet */
	uint64_t tasks[STACKS];
};

#define STACK(member) ((int)offsetof(struct stacks, member))

int kernel_stacks_make(void)
{
	return bpf_map_make(
		&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(struct stacks), 1, 0 });
}

/* The lower half of a register becomes a number, also if it has an address, of which the verifier would not let the whole be one. */
static void put_half(struct bpf_program *to, unsigned target, unsigned source)
{
	bpf_put(to, BPF_ALU | BPF_MOV | BPF_X, target, source, 0, 0);
}

/* Ask the helper. Register 0: the task; what is found here goes to the table, whose place is in register 7. */
static void put_ask(struct bpf_program *to, const struct kernel_layout *layout)
{
	bpf_put_call(to, BPF_FUNC_get_current_task_btf);
	kernel_put_load(to, BPF_REG_1, BPF_REG_6, 0);
	kernel_put_store(to, BPF_REG_7, STACK(tasks), BPF_REG_0);
	put_half(to, BPF_REG_2, BPF_REG_1);
	kernel_put_load(to, BPF_REG_1, BPF_REG_0, (int)layout->task.stack);
	put_half(to, BPF_REG_1, BPF_REG_1);
	bpf_put(to, BPF_ALU | BPF_SUB | BPF_X, BPF_REG_2, BPF_REG_1, 0, 0);
	bpf_put_value(to, BPF_REG_3, layout->stacks);
	kernel_put_store(to, BPF_REG_3, STACK(distance), BPF_REG_2);
	bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_0, (int)layout->task.id);
}

void kernel_stacks_put(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned other, known;

	kernel_put_load(to, BPF_REG_1, BPF_REG_6, 0);
	put_half(to, BPF_REG_2, BPF_REG_1);
	bpf_put_alu(to, BPF_RSH, BPF_REG_2, STACK_SHIFT);
	bpf_put_alu(to, BPF_AND, BPF_REG_2, STACKS - 1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_2, TASK_SHIFT);
	bpf_put_value(to, BPF_REG_7, layout->stacks);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_7, BPF_REG_2);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, STACK(tasks));
	bpf_put_set(to, BPF_REG_2, (int)layout->task.type);
	bpf_put_kernel_call(to, layout->task.cast);
	kernel_put_load(to, BPF_REG_2, BPF_REG_0, (int)layout->task.stack);
	bpf_put_value(to, BPF_REG_3, layout->stacks);
	kernel_put_load(to, BPF_REG_3, BPF_REG_3, STACK(distance));
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_2, BPF_REG_3);
	kernel_put_load(to, BPF_REG_1, BPF_REG_6, 0);
	other = bpf_put_jump_register(to, BPF_JNE, BPF_REG_1, BPF_REG_2);
	bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_0, (int)layout->task.id);
	known = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, other);
	put_ask(to, layout);
	bpf_land(to, known);
}
