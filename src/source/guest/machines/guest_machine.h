/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The architectures of guests: how their instructions are decoded, and which registers are read. */
#ifndef BURIN_SOURCE_GUEST_MACHINES_GUEST_MACHINE_H
#define BURIN_SOURCE_GUEST_MACHINES_GUEST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GUEST_BASES = 2,
	GUEST_REGISTERS = 32,	/* general ones, at most */
	GUEST_INSTRUCTION = 16, /* bytes, at most */
};

/* Instructions that end a block of translated code. Others are of interest only where calls leave the return address in a
 * register. */
enum guest_kind {
	GUEST_OTHER,
	GUEST_CALL,
	GUEST_CALL_REGISTER, /* to where a register points */
	GUEST_CALL_MEMORY,   /* to an address that it loads */
	GUEST_RETURN,
	GUEST_CALL_FAR,	       /* to another segment, whose number is in the instruction; x86 only */
	GUEST_CALL_FAR_MEMORY, /* to where it loads the distance in the segment, and then its number */
	GUEST_RETURN_FAR,
	GUEST_JUMP_TO, /* to a target: a call, if a function begins there */
	GUEST_JUMP,    /* to where a register points, and perhaps the end of a stub */
	GUEST_SWITCH,  /* afterwards another thread or address space may be there */
};

struct guest_instruction {
	enum guest_kind kind;
	uint64_t target;	  /* of GUEST_CALL and GUEST_JUMP_TO; of GUEST_CALL_FAR: in its segment */
	unsigned segment;	  /* of GUEST_CALL_FAR */
	unsigned register_number; /* where the target is, by its number in the machine's code */
	bool in_stub;		  /* it may be in a stub, before the jump */
	bool sets_sp;		  /* afterwards the stack pointer may be anywhere */
	bool jumps_sp; /* it loads the stack pointer, and not from the frame pointer: as a switch between stacks does */
	unsigned sp_from; /* from the register with this number plus 1; 0: from elsewhere */
	unsigned
		sp_to; /* a register, its number plus 1, gets the stack pointer, or an address near it; 0: none does */
	unsigned loads;	  /* a register, the same, gets a value from memory; 0: none does */
	int64_t moves_sp; /* by so many bytes */
};

/* A value that is a part of a register. */
struct guest_field {
	const char *name; /* of the register, as QEMU has it */
	uint64_t mask;
};

struct guest_machine {
	const char *target; /* QEMU's name of the architecture */

	/* The kind of an instruction. @bytes: all `count` of it; @address: of its first byte */
	struct guest_instruction (*decode)(const uint8_t *bytes, size_t count, uint64_t address);

	bool links; /* a call leaves its return address in a register, and not on the stack */
	const char *general[GUEST_REGISTERS]; /* by their numbers in the machine's code */
	const char *sp, *pc;		      /* pc: NULL: never read */
	const char *bases
		[GUEST_BASES]; /* of the CPU's own data: in the kernel, and in a program; NULL: unknown */
	const char *task;      /* while the kernel runs, it points to the current task; NULL: none does */
	struct guest_field level, space, thread;
	struct guest_field
		levels_hold; /* without one of these bits the machine has one level; no name: it always has all */
	uint64_t user;	     /* the level's value while a program runs */
	uint32_t levels[2]; /* of privilege, as the architecture counts them: by enum guest_level */
};

extern const struct guest_machine guest_x86, guest_aarch64;

#endif
