/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Instructions of x86-64 code, one after the other: how long each is, and whether it leaves its function. The source is the manual of
 * the processor's maker, "Instruction Format" and the maps of opcodes.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_X86_INSTRUCTION_H
#define BURIN_SOURCE_KERNEL_PROBES_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_kind {
	X86_OTHER,
	X86_RETURN,
	X86_JUMP,    /* to `target`, also if a condition holds */
	X86_JUMP_BY, /* to the address in a register or in memory */
	X86_JUMP_IN, /* the same, to one of a table */
};

struct x86_instruction {
	enum x86_kind kind;
	unsigned bytes;
	int64_t target;	 /* from its own begin */
	uint8_t jump_by; /* of X86_JUMP_BY: the register's number; 0xff: memory */
	uint8_t adds_to; /* the register that it adds another one to; 0xff: none */
};

/* x86_instruction_parse - Return: false: it is not known, or does not end in @room bytes. */
bool x86_instruction_parse(const uint8_t *code, size_t room, struct x86_instruction *out);

#endif
