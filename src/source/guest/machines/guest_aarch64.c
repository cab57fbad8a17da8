/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aarch64. A call leaves its return address in x30, and a return jumps to where a register points. Code of 32 bits is not
 * decoded; none of its instructions has the bits of these.
 */
#include <string.h>

#include "source/guest/machines/guest_machine.h"

enum {
	FRAME = 29, /* x29: the frame pointer */
	LINK = 30,  /* x30: the return address */
	SP = 31,    /* in some instructions; in others it is zero */
	STUB_1 =
		16, /* x16, x17: what linkers put between a call and its function may change them, and nothing else */
	STUB_2 = 17,
};

/* Fields of a branch to where a register points. */
enum {
	TO_JUMP = 0,
	TO_CALL = 1,
	TO_RETURN = 2,
	TO_EXCEPTION = 4, /* eret */
	SIGNED = 8,	  /* a flag: a second register is a part of the signature */
	PLAIN = 0,
	KEY_A = 2, /* the address is signed, by one of two keys */
	KEY_B = 3,
};

static uint32_t field(uint32_t word, unsigned low, unsigned bits)
{
	return word >> low & ((UINT32_C(1) << bits) - 1);
}

static bool is_stub_register(uint32_t number)
{
	return number == STUB_1 || number == STUB_2;
}

/* How stubs compute an address: the linker's, the kernel's for its modules, and the first entry of a PLT. */
static bool is_in_stub(uint32_t word)
{
	static const struct {
		uint32_t mask, value;
		bool reads; /* one of their registers */
	} known[] = {
		{ 0x1f000000, 0x10000000, false }, /* adr, adrp */
		{ 0xff000000, 0x58000000, false }, /* ldr from a distance to the instruction */
		{ 0x9f800000, 0x92800000, false }, /* movn, movz, movk */
		{ 0xff800000, 0x91000000, true },  /* add a number */
		{ 0xff200000, 0x8b000000, true },  /* add a register */
		{ 0xffc00000, 0xf9400000, true },  /* ldr */
	};

	if ((word & 0xfffff01f) == 0xd503201f) /* bti, nop and others that change nothing else */
		return true;
	if (word == 0xa9bf7bf0) /* stp x16, x30, [sp, #-16]! */
		return true;
	for (size_t n = 0; n < sizeof(known) / sizeof(*known); n++)
		if ((word & known[n].mask) == known[n].value && is_stub_register(field(word, 0, 5)) &&
		    (!known[n].reads || is_stub_register(field(word, 5, 5))))
			return true;
	return false;
}

static int64_t signed_field(uint32_t word, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

/* A pair of registers is loaded or stored, and its base is moved. */
static void decode_pair(uint32_t word, struct guest_instruction *found)
{
	const uint32_t size = field(word, 30, 2);

	if (size == 1 && !field(word, 26, 1)) /* signed words, or tags: of other sizes */
		found->sets_sp = true;
	else
		found->moves_sp = signed_field(word, 15, 7) * (field(word, 26, 1) ? 4 << size : size ? 8 : 4);
}

/*
 * Whether and how the stack pointer changes. Instructions that read what an exception leaves count as such a change, too: the
 * exception has made it.
 */
static void decode_sp(uint32_t word, struct guest_instruction *found)
{
	static const struct {
		uint32_t mask, value;
	} setters[] = {
		{ 0x3fe0001f, 0x0b20001f }, /* add, sub a register */
		{ 0x5f80001f, 0x1200001f }, /* and, orr with a number */
		{ 0x7f80001f, 0x5200001f }, /* eor */
		{ 0x1f80001f, 0x1180001f }, /* add, sub with a tag */
		{ 0xff200fe0, 0xf8200fe0 }, /* loads of signed pointers */
		{ 0xff2007e0, 0xd92007e0 }, /* stores of tags */
		{ 0xbfa003e0, 0x0c8003e0 }, /* loads and stores of several vectors */
		{ 0xbf8003e0, 0x0d8003e0 }, /* and of parts of them */
		{ 0xfffff0ff, 0xd50040bf }, /* msr SPSel */
		{ 0xffffffe0, 0xd5184200 }, { 0xffd9ffc0, 0xd5184000 }, /* mrs, msr: SPSR, ELR */
		{ 0xffd9ffe0, 0xd5185200 },				/* mrs, msr: ESR */
	};
	const bool to_sp = field(word, 0, 5) == SP, from_sp = field(word, 5, 5) == SP;
	const int64_t number = (int64_t)field(word, 10, 12) << (field(word, 22, 1) ? 12 : 0);

	if ((word & 0x3f800000) == 0x11000000 && to_sp) { /* add, sub a number */
		found->moves_sp = field(word, 30, 1) ? -number : number;
		found->sets_sp = !from_sp || !field(word, 31, 1);
		found->jumps_sp = !from_sp && field(word, 5, 5) != FRAME;
		found->sp_from = field(word, 5, 5) + 1;
	} else if ((word & 0x3f800000) == 0x11000000 && from_sp) {
		found->sp_to = field(word, 0, 5) + 1;
	} else if ((word & 0xffc00000) == 0xf9400000) { /* ldr */
		found->loads = field(word, 0, 5) + 1;
	} else if ((word & 0x3a800000) == 0x28800000 && from_sp) {
		decode_pair(word, found);
	} else if ((word & 0x3b200400) == 0x38000400 && from_sp) { /* a register */
		found->moves_sp = signed_field(word, 12, 9);
	}
	for (size_t n = 0; n < sizeof(setters) / sizeof(*setters) && !found->sets_sp; n++)
		found->sets_sp = (word & setters[n].mask) == setters[n].value;
}

static enum guest_kind kind_of_jump(uint32_t number)
{
	return number == LINK ? GUEST_RETURN : is_stub_register(number) ? GUEST_JUMP : GUEST_OTHER;
}

/* A branch to where a register points. */
static struct guest_instruction decode_branch(uint32_t word)
{
	const uint32_t key = field(word, 10, 6), to = field(word, 21, 4);
	struct guest_instruction found = { .register_number = field(word, 5, 5) };

	if (field(word, 16, 5) != 31 || (key != KEY_A && key != KEY_B && (key != PLAIN || field(word, 0, 5))))
		return found;
	switch (to) {
	case TO_JUMP:
		found.kind = kind_of_jump(found.register_number);
		break;
	case TO_CALL:
	case TO_CALL | SIGNED:
		found.kind = GUEST_CALL_REGISTER;
		break;
	case TO_RETURN:
		found.kind = GUEST_RETURN;
		if (key != PLAIN)
			found.register_number = LINK;
		break;
	case TO_EXCEPTION:
		found.kind = GUEST_SWITCH;
		found.sets_sp = true;
		break;
	default:
		break;
	}
	return found;
}

static struct guest_instruction decode(const uint8_t *bytes, size_t count, uint64_t address)
{
	struct guest_instruction found = { 0 };
	uint32_t word;

	if (count != sizeof(word))
		return found;
	memcpy(&word, bytes, sizeof(word));
	if (field(word, 26, 5) == 0x05) { /* b, bl */
		found.kind = field(word, 31, 1) ? GUEST_CALL : GUEST_JUMP_TO;
		found.target = address + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
	} else if (field(word, 25, 7) == 0x6b) {
		found = decode_branch(word);
	} else {
		found.in_stub = is_in_stub(word);
		decode_sp(word, &found);
	}
	return found;
}

const struct guest_machine guest_aarch64 = {
	.target = "aarch64",
	.decode = decode,
	.links = true,
	.general = { "x0",  "x1",  "x2",  "x3",	 "x4",	"x5",  "x6",  "x7",  "x8",  "x9",  "x10",
		     "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
		     "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30" },
	.sp = "sp",
	.pc = "pc",
	.task = "SP_EL0",
	.level = { "cpsr", 0xc }, /* the exception level */
	.user = 0,
	.levels = { 1, 0 },
	.space = { "TTBR0_EL1", UINT64_C(0xfffffffffffe) }, /* without the address-space id */
	.thread = { "TPIDR_EL0", UINT64_MAX },
};
