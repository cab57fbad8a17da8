/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86. A call stores its return address on the stack, and a return loads it from there.
 */
#include <string.h>

#include "source/guest/machines/guest_machine.h"

enum {
	IN_REGISTER = 0xc0, /* the least byte behind the opcode that names a register */
	SP = 4,		    /* numbers of registers */
	FRAME = 5,
	STACK_SEGMENT = 2,
	TWO_BYTES = 0x0f,
	POP_SP = 0x5c,
	EXCHANGE = 0x87,
	STORE = 0x89, /* mov to a register or memory */
	LOAD = 0x8b,  /* mov from a register or memory */
	LOAD_ADDRESS = 0x8d,
	LOAD_SEGMENT = 0x8e,
	EXCHANGE_SP = 0x94,
	NUMBER_TO_SP = 0xbc,
	RETURN_SHORTER = 0xc2, /* it also pops arguments */
	RETURN = 0xc3,
	CALL_FAR = 0x9a, /* a distance of 2 or 4 bytes, and the segment in 2 */
	RETURN_FAR_SHORTER = 0xca,
	RETURN_FAR = 0xcb,
	INTERRUPT_RETURN = 0xcf,
	CALL_RELATIVE = 0xe8,
	JUMP_RELATIVE = 0xe9,
	JUMP_SHORT = 0xeb,
	GROUP_5 = 0xff,	      /* a register field of 2: an indirect call, 3: a far one */
	SYSTEM_RETURN = 0x07, /* behind TWO_BYTES: sysret */
	SYSTEM_EXIT = 0x35,   /* sysexit */
	TO_CONTROL = 0x22,    /* mov to a control register; a register field of 3: cr3 */
};

/* Legacy prefixes, and REX: in 32-bit code instructions of one byte have its values. */
static bool is_prefix(uint8_t byte)
{
	static const uint8_t legacy[] = { 0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65 };

	return (byte & 0xf0) == 0x40 || memchr(legacy, byte, sizeof(legacy));
}

/* Whether the last prefix, before an opcode, adds 8 to the number of the register. */
static bool is_extended(const uint8_t *bytes, size_t opcode)
{
	return opcode && (bytes[opcode - 1] & 0xf1) == 0x41;
}

static unsigned register_field(uint8_t byte)
{
	return byte >> 3 & 7;
}

/* A distance of 2 or 4 bytes, counted from the end of the instruction. */
static int64_t distance(const uint8_t *bytes, size_t count)
{
	int32_t wide = 0;
	int16_t narrow;

	if (count == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, bytes, count < sizeof(wide) ? count : sizeof(wide));
	return wide;
}

/* The bit of a REX prefix that extends a register's number: 4 of the register field, 1 of the other one. */
static unsigned extension(const uint8_t *bytes, size_t opcode, unsigned bit)
{
	return opcode && (bytes[opcode - 1] & 0xf0) == 0x40 && bytes[opcode - 1] & bit ? 8 : 0;
}

/* A value goes from a register to another one. */
static void move(struct guest_instruction *found, unsigned from, unsigned to)
{
	found->jumps_sp = to == SP && from != FRAME && from != SP;
	found->sp_from = to == SP ? from + 1 : 0;
	found->sp_to = from == SP ? to + 1 : 0;
}

/* Instructions that load or copy the stack pointer. @at: the place of the opcode */
static void decode_sp(struct guest_instruction *found, const uint8_t *bytes, size_t at, size_t count)
{
	const uint8_t mode = at + 1 < count ? bytes[at + 1] : 0,
		      base = at + 2 < count ? bytes[at + 2] & 7 : 0;
	const unsigned one = register_field(mode) + extension(bytes, at, 4),
		       other = (mode & 7) + extension(bytes, at, 1);
	const bool both = mode >= IN_REGISTER;

	switch (bytes[at]) {
	case STORE:
		if (both)
			move(found, one, other);
		break;
	case LOAD:
		if (both) {
			move(found, other, one);
		} else {
			found->jumps_sp = one == SP;
			found->loads = one + 1;
		}
		break;
	case LOAD_ADDRESS:
		found->sp_to = other == SP && base == SP ? one + 1 : 0;
		break;
	case LOAD_SEGMENT:
		found->jumps_sp = one == STACK_SEGMENT;
		break;
	case EXCHANGE:
		found->jumps_sp = one == SP || (both && other == SP);
		break;
	case POP_SP:
	case EXCHANGE_SP:
	case NUMBER_TO_SP:
		found->jumps_sp = !extension(bytes, at, 1);
		break;
	default:
		break;
	}
}

/* @count: of the distance and the segment */
static void decode_far(struct guest_instruction *found, const uint8_t *bytes, size_t count)
{
	uint32_t target = 0;
	uint16_t segment;

	if (count != sizeof(uint16_t) + sizeof(segment) && count != sizeof(target) + sizeof(segment))
		return;
	memcpy(&target, bytes, count - sizeof(segment));
	memcpy(&segment, bytes + count - sizeof(segment), sizeof(segment));
	found->kind = GUEST_CALL_FAR;
	found->target = target;
	found->segment = segment;
}

static enum guest_kind kind_of_two(const uint8_t *bytes, size_t count)
{
	if (count && (bytes[0] == SYSTEM_RETURN || bytes[0] == SYSTEM_EXIT))
		return GUEST_SWITCH;
	return count > 1 && bytes[0] == TO_CONTROL && register_field(bytes[1]) == 3 ? GUEST_SWITCH
										    : GUEST_OTHER;
}

static struct guest_instruction decode(const uint8_t *bytes, size_t count, uint64_t address)
{
	struct guest_instruction found = { 0 };
	size_t at = 0;

	while (at < count && is_prefix(bytes[at]))
		at++;
	if (at == count)
		return found;
	switch (bytes[at++]) {
	case CALL_RELATIVE:
		found.kind = GUEST_CALL;
		found.target = address + count + (uint64_t)distance(bytes + at, count - at);
		break;
	case JUMP_RELATIVE:
		found.kind = GUEST_JUMP_TO;
		found.target = address + count + (uint64_t)distance(bytes + at, count - at);
		break;
	case JUMP_SHORT:
		found.kind = GUEST_JUMP_TO;
		found.target = address + count + (uint64_t)(at < count ? (int8_t)bytes[at] : 0);
		break;
	case GROUP_5:
		if (at < count && register_field(bytes[at]) == 2) {
			found.kind = bytes[at] >= IN_REGISTER ? GUEST_CALL_REGISTER : GUEST_CALL_MEMORY;
			found.register_number = (bytes[at] & 7) | (is_extended(bytes, at - 1) ? 8 : 0);
		} else if (at < count && register_field(bytes[at]) == 3 && bytes[at] < IN_REGISTER) {
			found.kind = GUEST_CALL_FAR_MEMORY;
		}
		break;
	case RETURN:
	case RETURN_SHORTER:
		found.kind = GUEST_RETURN;
		break;
	case RETURN_FAR:
	case RETURN_FAR_SHORTER:
		found.kind = GUEST_RETURN_FAR;
		break;
	case CALL_FAR:
		decode_far(&found, bytes + at, count - at);
		break;
	case INTERRUPT_RETURN:
		found.kind = GUEST_SWITCH;
		break;
	case TWO_BYTES:
		found.kind = kind_of_two(bytes + at, count - at);
		break;
	default:
		decode_sp(&found, bytes, at - 1, count);
		break;
	}
	return found;
}

const struct guest_machine guest_x86 = {
	.target = "x86_64",
	.decode = decode,
	.general = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
		     "r13", "r14", "r15" },
	.sp = "rsp",
	.bases = { "gs_base", "k_gs_base" },
	.level = { "cs", 3 },
	.user = 3,
	.levels_hold = { "cr0", 1 }, /* protected mode: in real mode the segment's number may be any */
	.levels = { 0, 3 },
	/* Without the process-context id, and without the bit by which page-table isolation has two spaces. */
	.space = { "cr3", ~UINT64_C(0x1fff) },
	.thread = { "fs_base", UINT64_MAX },
};
