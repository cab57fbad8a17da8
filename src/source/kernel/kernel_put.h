/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts of the programs that both records and filters need. Register 6 has the context. */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_PUT_H
#define BURIN_SOURCE_KERNEL_KERNEL_PUT_H

#include "bpf/bpf_program.h"
#include "source/kernel/tracepoint.h"
#include "wire/wire_filter.h"

enum {
	KERNEL_STACK_VALUE =
		-40, /* of a probe's argument in its program's memory; of others, what kernel_program.c has there */
	KERNEL_STACK_REGISTERS =
		-128, /* offsets on the stack, below those of kernel_program.c: the process's registers */
	KERNEL_STACK_TEXT = KERNEL_STACK_REGISTERS - TRACEPOINT_TEXT_MAX, /* that a filter tests */

	KERNEL_ARGUMENTS = 6,
	KERNEL_RESULT = 8, /* of a system call, in the context */

	/* Of struct pt_regs of x86-64. */
	REGISTERS_NUMBER = 120, /* orig_ax */
	REGISTERS_SEGMENT = 136,
	REGISTERS_SEGMENT_64 = 0x33, /* its value in code of 64 bits */
};

enum kernel_call {
	KERNEL_CALL_NONE = -1, /* the kernel itself stores it in the number's place where there is no call */
	KERNEL_CALL_UNKNOWN = -2,
};

/* A filter, and the event for which it was compiled. */
struct kernel_filter {
	const struct wire_filter *filter;
	const struct tracepoint *point;
};

struct kernel_layout {
	int rings;	  /* map */
	int members;	  /* map: recorded tasks (kernel_follow.h); -1: all */
	unsigned window;  /* packets of a ring, a power of two */
	unsigned reach;	  /* ns after its base that a packet's compact records reach */
	bool overwrite;	  /* without room, the oldest packet makes room; otherwise the record is lost */
	uint32_t context; /* enum wire_context: of each record; its values are 0 */
	bool typed;	  /* programs of system calls load directly from the registers: bpf_load_typed() */
	bool without_calls; /* the kernel cannot give programs the registers of a process (before 5.15, or without BTF) */
};

extern const int kernel_argument_places[KERNEL_ARGUMENTS]; /* in struct pt_regs */

/* kernel_has_registers - whether a program gets the registers of the process, and which of them is which. */
bool kernel_has_registers(const struct kernel_layout *layout);

/* kernel_put_exit - end the program. */
void kernel_put_exit(struct bpf_program *to);

/* kernel_size_code - BPF_B, BPF_H, ... of a number of bytes. */
unsigned kernel_size_code(unsigned bytes);

/* kernel_put_registers - copy the registers of the process to the stack, on a kernel without types. */
void kernel_put_registers(struct bpf_program *to);

/* kernel_put_register - load a register of the process. @size: BPF_DW, BPF_H; @place: its offset in struct pt_regs */
void kernel_put_register(struct bpf_program *to, const struct kernel_layout *layout, unsigned size,
			 unsigned target, int place);

/*
 * kernel_put_call - the number of the system call that the current task is in, or what `enum kernel_call` has, in register 2.
 * Changes registers 0 to 5.
 */
void kernel_put_call(struct bpf_program *to, const struct kernel_layout *layout);

/* kernel_put_argument - the value of a probe's argument in register 1; 0: it is in memory, and cannot be read without a page fault. */
void kernel_put_argument(struct bpf_program *to, const struct tracepoint_field *field);

/* kernel_put_text_address - the address of a text in the context. Changes register 1. */
void kernel_put_text_address(struct bpf_program *to, unsigned target, const struct tracepoint_field *field);

/*
 * kernel_put_text - copy the text whose address is in register 3 to register @base plus an offset. A longer one ends in a mark; one that
 * cannot be read is WIRE_NULL.
 * Register 0: the bytes of the copy, with the NUL.
 */
void kernel_put_text(struct bpf_program *to, unsigned base, int offset, const struct tracepoint_field *field);

#endif
