/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions of x86 that end a block of translated code. */
#ifndef BURIN_SOURCE_GUEST_GUEST_X86_H
#define BURIN_SOURCE_GUEST_GUEST_X86_H

#include <stddef.h>
#include <stdint.h>

enum guest_kind {
	GUEST_OTHER,
	GUEST_CALL,
	GUEST_CALL_REGISTER, /* to where a register points */
	GUEST_CALL_MEMORY,   /* to an address that it loads */
	GUEST_RETURN,
	GUEST_SWITCH, /* afterwards another thread or address space may be there */
};

struct guest_instruction {
	enum guest_kind kind;
	uint64_t target;	  /* of GUEST_CALL */
	unsigned register_number; /* of GUEST_CALL_REGISTER: its number in the machine's code */
};

/* guest_x86_decode - the kind of an instruction. @bytes: all `count` of it; @address: of its first byte */
struct guest_instruction guest_x86_decode(const uint8_t *bytes, size_t count, uint64_t address);

#endif
