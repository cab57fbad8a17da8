/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The registers of a thread, as unwinding uses them. */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_REGISTERS_H
#define BURIN_IMAGE_UNWIND_UNWIND_REGISTERS_H

#include <stdint.h>

/* Registers, by their numbers in DWARF. Samples are from this machine, so a build has one architecture. */
enum {
#if defined(__aarch64__)
	UNWIND_REGISTERS = 33,
	UNWIND_GENERAL = 32, /* those below are general registers */
	UNWIND_FRAME = 29,
	UNWIND_STACK = 31,
	UNWIND_RETURN = 30,
#else
	UNWIND_REGISTERS = 17,
	UNWIND_GENERAL = 16,
	UNWIND_FRAME = 6,
	UNWIND_STACK = 7,
	UNWIND_RETURN = 16, /* a column in the tables, not a register */
#endif
};

struct unwind_registers {
	uint64_t pc;
	uint64_t known; /* bit n: value[n] is known */
	uint64_t value[UNWIND_REGISTERS];
};

#endif
