/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A processor of the guest: the stack that it runs on, and what is read from its registers. */
#ifndef BURIN_SOURCE_GUEST_GUEST_VCPU_H
#define BURIN_SOURCE_GUEST_GUEST_VCPU_H

#include "source/guest/guest_clock.h"
#include "source/guest/machines/guest_machine.h"
#include "source/guest/guest_stack.h"
#include "source/guest/guest_task.h"
#include "source/guest/qemu_plugin.h"

enum {
	GUEST_VCPUS = 1024,
	GUEST_FUNCTIONS = 1 << 13, /* of the cache; a power of two */
};

/* A function that was called, and its number in the session. */
struct guest_function {
	uint64_t address;
	uint32_t image, number; /* 0: none */
};

struct guest_vcpu {
	unsigned number;
	bool takes_turns;	   /* several vCPUs run in one thread, and this is all of them */
	struct guest_stack *stack; /* that it ran on last; never NULL */
	struct guest_stack *held;  /* the same also before its task is known */
	uint64_t quiet_begin,
		quiet_bytes; /* a return with its stack pointer there ends no call; no bytes: unknown */
	struct guest_lane lanes[GUEST_LEVELS];
	struct guest_function functions[GUEST_FUNCTIONS];
	struct guest_place place; /* of `held`, as it was looked for */
	struct guest_jump jump;	  /* the last one of the stack pointer */
	uint64_t target;	  /* of the call that is being executed, if that loads it */
	uint64_t segment;	  /* the same, of a far call */
	unsigned loads, stores;	  /* of the far call or return that is being executed */
	const struct guest_machine *machine;
	struct qemu_register *sp, *pc, *level, *levels_hold, *space, *thread,
		*current; /* NULL: it has none */
	struct qemu_register *bases[GUEST_BASES];
	struct qemu_register *general[GUEST_REGISTERS];
	struct qemu_bytes *bytes;
	uint64_t base;		/* where its own data was */
	struct guest_task task; /* that it ran last */
	struct guest_task seen; /* that was the current one last, */
	uint64_t seen_space;	/* in this address space */
	unsigned reads;		/* of it */
	uint64_t calls, returns, unmatched, redirected, unwound;
	uint64_t quiet; /* returns that end no call, which are in none of these counts */
};

extern struct guest_vcpu *guest_vcpus[GUEST_VCPUS];

/* guest_vcpu_begin - a vCPU begins. Context: its thread. Return: false after a message. */
bool guest_vcpu_begin(unsigned index, const struct guest_machine *machine);

/* guest_vcpu_runs_program - whether the code that is being translated is a program's. Context: a callback of translation. Newer versions of
 * QEMU have no registers there: false. */
bool guest_vcpu_runs_program(const struct guest_machine *machine);

/* guest_vcpu_switch - the stack at a stack pointer, when the vCPU ran on another one. Never NULL. */
struct guest_stack *guest_vcpu_switch(struct guest_vcpu *vcpu, uint64_t sp);

/* guest_vcpu_register - a general register by its number in the machine's code. */
uint64_t guest_vcpu_register(const struct guest_vcpu *vcpu, unsigned number);

/* guest_vcpu_sp, _pc - the stack pointer, and where the block begins that is executed, of a machine that links. They are
 * slow. */
uint64_t guest_vcpu_sp(const struct guest_vcpu *vcpu);
uint64_t guest_vcpu_pc(const struct guest_vcpu *vcpu);

/* guest_vcpu_has_levels - whether the processor has levels of privilege now; x86 in real mode has none. */
bool guest_vcpu_has_levels(const struct guest_vcpu *vcpu);

/* guest_vcpu_function - the number of a function that was not called last; 0: it is not selected, or there is no
 * room, which is counted. */
uint32_t guest_vcpu_function(struct guest_function *cached, uint32_t image, uint64_t address);

/* guest_vcpu_doubt - the guest's memory and registers may have become those of another time. Context: no vCPU runs. */
void guest_vcpu_doubt(void);

/* guest_vcpu_forget - the guest may continue another thread, whose stack is at the same address. */
static inline void guest_vcpu_forget(struct guest_vcpu *vcpu)
{
	guest_stack_leave(vcpu->held);
	vcpu->stack = vcpu->held = &guest_stack_nowhere;
	vcpu->quiet_bytes = 0;
}

/*
 * guest_vcpu_jump_begin, _end - before and behind an instruction that loads the stack pointer: the vCPU may come to another stack.
 * @is_done: the instruction has been executed; false: it is about to be
 */
void guest_vcpu_jump_begin(struct guest_vcpu *vcpu);
void guest_vcpu_jump_end(struct guest_vcpu *vcpu, bool is_done);

static inline struct guest_stack *guest_vcpu_stack(struct guest_vcpu *vcpu, uint64_t sp)
{
	struct guest_stack *stack = vcpu->stack;

	guest_clock_update();
	return __builtin_expect(stack->region == guest_region(sp), 1) ? stack : guest_vcpu_switch(vcpu, sp);
}

/* guest_vcpu_quiet - after a return: where the next ones end no call, until a call begins or the vCPU comes to another stack. @sp: of
 * that return */
static inline void guest_vcpu_quiet(struct guest_vcpu *vcpu, uint64_t sp)
{
	const uint64_t bytes = UINT64_C(1) << guest_region_bits(sp), below = guest_stack_top(vcpu->stack)->sp;

	if (vcpu->stack->region != guest_region(sp))
		return;
	vcpu->quiet_begin = sp & ~(bytes - 1);
	vcpu->quiet_bytes = below - vcpu->quiet_begin < bytes ? below - vcpu->quiet_begin : bytes;
}

/* guest_function - the number of a function in the session; 0: none. */
static inline uint32_t guest_function(struct guest_vcpu *vcpu, uint32_t image, uint64_t address)
{
	struct guest_function *cached =
		&vcpu->functions[(address >> 4 ^ address >> 17 ^ image) & (GUEST_FUNCTIONS - 1)];

	return __builtin_expect(cached->address == address && cached->image == image, 1)
		       ? cached->number
		       : guest_vcpu_function(cached, image, address);
}

#endif
