/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Instructions; see x86_instruction.h.
 *
 * This decoder finds lengths, and the few kinds by which code leaves a function. It must never be wrong in silence:
 * after a wrong length all that follows is wrong, and a breakpoint would be put into an instruction. So opcodes that
 * do not exist in 64-bit mode are errors (BAD), and a caller gives a function up at the first error.
 *
 * The length is: prefixes, opcode, then what its form says: a ModRM byte with address bytes, and numbers. Forms are
 * tables of ranges; opcodes that are in none have no bytes behind them. SPECIAL forms depend on other bytes, too
 * (special_bytes()). VEX, EVEX and XOP have their own maps of opcodes, all with a ModRM byte but some of map 1.
 *
 * Bounds: x86_instruction_next() checks each byte that is looked at. Bytes that are only skipped move `at` without a check; so the
 * end compares it with the room, and a kind is noted only if it is within. An instruction has at most 15 bytes.
 *
 * Jumps by a register or memory are of two kinds. Those of switch statements stay in the function: by an index
 * without a base, by an address that was just added up (adds_to), or marked by the compiler (notrack). All others may
 * leave it.
 */
#include <string.h>

#include "source/kernel/probes/x86_instruction.h"

enum {
	BYTES_MAX = 15,
	NO_REGISTER = 0xff,
	NOTRACK = 0x3e, /* before an indirect jump by a table */
};

/* The bytes behind an opcode. */
enum form {
	NONE = 0,
	BAD = 1,	/* there is no such instruction in 64-bit mode */
	MODRM = 1 << 1, /* a byte that describes operands, and what it asks for */
	IMM8 = 1 << 2,	/* numbers */
	IMM16 = 1 << 3,
	IMMZ = 1 << 4, /* of 4 bytes, 2 with an operand prefix */
	REL32 = 1 << 5,
	SPECIAL = 1 << 6,
};

/* Ranges of opcodes that have one form, in order; those between are NONE. */
struct range {
	uint8_t first, last, form;
};

static const struct range one_byte[] = {
	{ 0x62, 0x62, BAD },	      { 0x63, 0x63, MODRM },
	{ 0x68, 0x68, IMMZ },	      { 0x69, 0x69, MODRM | IMMZ },
	{ 0x6a, 0x6a, IMM8 },	      { 0x6b, 0x6b, MODRM | IMM8 },
	{ 0x70, 0x7f, IMM8 },	      { 0x80, 0x80, MODRM | IMM8 },
	{ 0x81, 0x81, MODRM | IMMZ }, { 0x82, 0x82, BAD },
	{ 0x83, 0x83, MODRM | IMM8 }, { 0x84, 0x8f, MODRM },
	{ 0x9a, 0x9a, BAD },	      { 0xa0, 0xa3, SPECIAL },
	{ 0xa8, 0xa8, IMM8 },	      { 0xa9, 0xa9, IMMZ },
	{ 0xb0, 0xb7, IMM8 },	      { 0xb8, 0xbf, SPECIAL },
	{ 0xc0, 0xc1, MODRM | IMM8 }, { 0xc2, 0xc2, IMM16 },
	{ 0xc6, 0xc6, MODRM | IMM8 }, { 0xc7, 0xc7, MODRM | IMMZ },
	{ 0xc8, 0xc8, IMM16 | IMM8 }, { 0xca, 0xca, IMM16 },
	{ 0xcd, 0xcd, IMM8 },	      { 0xce, 0xce, BAD },
	{ 0xd0, 0xd3, MODRM },	      { 0xd4, 0xd6, BAD },
	{ 0xd8, 0xdf, MODRM },	      { 0xe0, 0xe7, IMM8 },
	{ 0xe8, 0xe9, REL32 },	      { 0xea, 0xea, BAD },
	{ 0xeb, 0xeb, IMM8 },	      { 0xf6, 0xf7, MODRM | SPECIAL },
	{ 0xfe, 0xff, MODRM },
};

/* Behind 0x0f; in VEX and EVEX it is map 1. */
static const struct range two_bytes[] = {
	{ 0x00, 0x03, MODRM },	      { 0x04, 0x04, BAD },	    { 0x0a, 0x0a, BAD },
	{ 0x0c, 0x0c, BAD },	      { 0x0d, 0x0d, MODRM },	    { 0x0f, 0x0f, MODRM | IMM8 },
	{ 0x10, 0x23, MODRM },	      { 0x24, 0x27, BAD },	    { 0x28, 0x2f, MODRM },
	{ 0x36, 0x36, BAD },	      { 0x39, 0x39, BAD },	    { 0x3b, 0x3f, BAD },
	{ 0x40, 0x6f, MODRM },	      { 0x70, 0x73, MODRM | IMM8 }, { 0x74, 0x76, MODRM },
	{ 0x78, 0x79, MODRM },	      { 0x7a, 0x7b, BAD },	    { 0x7c, 0x7f, MODRM },
	{ 0x80, 0x8f, REL32 },	      { 0x90, 0x9f, MODRM },	    { 0xa3, 0xa3, MODRM },
	{ 0xa4, 0xa4, MODRM | IMM8 }, { 0xa5, 0xa7, MODRM },	    { 0xab, 0xab, MODRM },
	{ 0xac, 0xac, MODRM | IMM8 }, { 0xad, 0xb9, MODRM },	    { 0xba, 0xba, MODRM | IMM8 },
	{ 0xbb, 0xc1, MODRM },	      { 0xc2, 0xc2, MODRM | IMM8 }, { 0xc3, 0xc3, MODRM },
	{ 0xc4, 0xc6, MODRM | IMM8 }, { 0xc7, 0xc7, MODRM },	    { 0xd0, 0xff, MODRM },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned form_in(const struct range *ranges, size_t count, uint8_t opcode)
{
	for (size_t n = 0; n < count; n++)
		if (opcode >= ranges[n].first && opcode <= ranges[n].last)
			return ranges[n].form;
	return NONE;
}

/* The first 64 opcodes are eight operations in the same forms. */
static unsigned form_of(uint8_t opcode)
{
	static const uint8_t operations[8] = { MODRM, MODRM, MODRM, MODRM, IMM8, IMMZ, BAD, BAD };

	return opcode < 0x40 ? operations[opcode & 7] : form_in(one_byte, COUNT(one_byte), opcode);
}

/* The text of an instruction while it is read. */
struct reader {
	const uint8_t *code;
	size_t at, room;
	bool operand, address, repeat; /* prefixes: 0x66; 0x67; 0xf2 */
	bool notrack;
	uint8_t rex; /* 0: none */
};

static bool x86_instruction_next(struct reader *reader, uint8_t *byte)
{
	if (reader->at >= reader->room)
		return false;
	*byte = reader->code[reader->at++];
	return true;
}

static bool x86_instruction_is_prefix(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 || (byte & 0xe7) == 0x26 || (byte >= 0x64 && byte <= 0x67) ||
	       byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

/* Legacy prefixes, then REX, which counts only directly before the opcode. */
static bool read_prefixes(struct reader *reader, uint8_t *opcode)
{
	for (;;) {
		if (!x86_instruction_next(reader, opcode))
			return false;
		switch (*opcode) {
		case 0x66:
			reader->operand = true;
			break;
		case 0x67:
			reader->address = true;
			break;
		case 0xf2:
			reader->repeat = true;
			break;
		case NOTRACK:
			reader->notrack = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x64:
		case 0x65:
		case 0xf0:
		case 0xf3:
			break;
		default:
			if ((*opcode & 0xf0) != 0x40)
				return true;
			reader->rex = *opcode;
			return x86_instruction_next(reader, opcode) && !x86_instruction_is_prefix(*opcode);
		}
	}
}

/* The bytes behind a ModRM byte: of the address. @sib: set to that byte, or 0 */
static bool skip_address(struct reader *reader, uint8_t modrm, uint8_t *sib)
{
	const unsigned mode = modrm >> 6, base = modrm & 7;

	*sib = 0;
	if (mode == 3)
		return true;
	if (base == 4 && !x86_instruction_next(reader, sib))
		return false;
	if (mode == 1)
		reader->at += 1;
	else if (mode == 2 || base == 5 || (base == 4 && (*sib & 7) == 5))
		reader->at += 4;
	return true;
}

static unsigned x86_instruction_bytes_of(const struct reader *reader, unsigned form)
{
	return (form & IMM8 ? 1 : 0) + (form & IMM16 ? 2 : 0) + (form & REL32 ? 4 : 0) +
	       (form & IMMZ ? (reader->operand && !(reader->rex & 8) ? 2 : 4) : 0);
}

/* VEX, EVEX and XOP: a map of opcodes, and the opcode. @head: the bytes behind the first one, before the opcode */
static bool read_vector(struct reader *reader, unsigned map, unsigned head)
{
	unsigned form = MODRM;
	uint8_t opcode, modrm, sib;

	reader->at += head;
	if (!x86_instruction_next(reader, &opcode))
		return false;
	if (map == 1)
		form = form_in(two_bytes, COUNT(two_bytes), opcode);
	else if (map == 3 || map == 8)
		form = MODRM | IMM8;
	else if (map == 10)
		form = MODRM | REL32;
	else if (map != 2 && map != 5 && map != 6 && map != 9)
		return false;
	if (form & BAD)
		return false;
	if ((form & MODRM) && (!x86_instruction_next(reader, &modrm) || !skip_address(reader, modrm, &sib)))
		return false;
	reader->at += x86_instruction_bytes_of(reader, form);
	return true;
}

/* Return: whether the opcode is a prefix of such instructions; then *known is set. */
static bool is_vector(struct reader *reader, uint8_t opcode, bool *known)
{
	const uint8_t second = reader->at < reader->room ? reader->code[reader->at] : 0;

	if (opcode == 0xc5)
		*known = read_vector(reader, 1, 1);
	else if (opcode == 0xc4)
		*known = read_vector(reader, second & 0x1f, 2);
	else if (opcode == 0x62)
		*known = read_vector(reader, second & 7, 3);
	else if (opcode == 0x8f && (second & 0x1f) >= 8)
		*known = read_vector(reader, second & 0x1f, 2);
	else
		return false;
	return true;
}

/* Forms that depend on more than the opcode. */
static unsigned special_bytes(const struct reader *reader, uint8_t opcode, uint8_t modrm)
{
	if (opcode == 0xf6 || opcode == 0xf7) /* of its operations only two have a number */
		return (modrm & 0x38) > 8 ? 0
					  : x86_instruction_bytes_of(reader, opcode == 0xf6 ? IMM8 : IMMZ);
	if (opcode <= 0xa3)
		return reader->address ? 4 : 8;
	return reader->rex & 8 ? 8 : x86_instruction_bytes_of(reader, IMMZ);
}

static void set_target(struct x86_instruction *out, const struct reader *reader, unsigned bytes)
{
	int32_t distance = 0;

	out->kind = X86_JUMP;
	if (bytes == 1)
		distance = (int8_t)reader->code[reader->at - 1];
	else
		memcpy(&distance, reader->code + reader->at - 4, sizeof(distance));
	out->target = (int64_t)reader->at + distance;
}

/* jmp by a register or memory. Memory with an index and no base is a table; so is what compilers mark. */
static void note_jump_by(struct x86_instruction *out, const struct reader *reader, uint8_t modrm, uint8_t sib)
{
	const bool indexed = modrm >> 6 != 3 && (modrm & 7) == 4 && (sib >> 3 & 7) != 4;

	out->kind = indexed || reader->notrack ? X86_JUMP_IN : X86_JUMP_BY;
	if (modrm >> 6 == 3)
		out->jump_by = (uint8_t)((modrm & 7) | (reader->rex & 1 ? 8 : 0));
}

static void note_kind(struct x86_instruction *out, const struct reader *reader, bool two, uint8_t opcode,
		      uint8_t modrm, uint8_t sib)
{
	if (two && (opcode & 0xf0) == 0x80)
		set_target(out, reader, 4);
	else if (two)
		return;
	else if (opcode == 0xc2 || opcode == 0xc3)
		out->kind = X86_RETURN;
	else if ((opcode & 0xf0) == 0x70 || opcode == 0xeb || (opcode >= 0xe0 && opcode <= 0xe3))
		set_target(out, reader, 1);
	else if (opcode == 0xe9)
		set_target(out, reader, 4);
	else if (opcode == 0xff && (modrm >> 3 & 7) == 4)
		note_jump_by(out, reader, modrm, sib);
	else if (opcode == 0x01 && modrm >> 6 == 3) /* add to a register: the address from a table */
		out->adds_to = (uint8_t)((modrm & 7) | (reader->rex & 1 ? 8 : 0));
	else if (opcode == 0x03 && modrm >> 6 == 3)
		out->adds_to = (uint8_t)((modrm >> 3 & 7) | (reader->rex & 4 ? 8 : 0));
}

/* Behind the prefixes. @two: behind 0x0f */
static bool read_usual(struct reader *reader, uint8_t opcode, struct x86_instruction *out)
{
	const bool two = opcode == 0x0f;
	uint8_t modrm = 0, sib = 0;
	unsigned form;

	if (two && !x86_instruction_next(reader, &opcode))
		return false;
	if (two && (opcode == 0x38 || opcode == 0x3a)) {
		form = opcode == 0x38 ? MODRM : MODRM | IMM8;
		if (!x86_instruction_next(reader, &opcode))
			return false;
		opcode = 0; /* none of these leaves a function */
	} else {
		form = two ? form_in(two_bytes, COUNT(two_bytes), opcode) : form_of(opcode);
	}
	if (form & BAD)
		return false;
	if ((form & MODRM) && (!x86_instruction_next(reader, &modrm) || !skip_address(reader, modrm, &sib)))
		return false;
	/* extrq and insertq have two numbers more */
	if (two && opcode == 0x78 && (reader->operand || reader->repeat))
		reader->at += 2;
	reader->at += form & SPECIAL ? special_bytes(reader, opcode, modrm)
				     : x86_instruction_bytes_of(reader, form);
	if (reader->at <= reader->room)
		note_kind(out, reader, two, opcode, modrm, sib);
	return true;
}

bool x86_instruction_parse(const uint8_t *code, size_t room, struct x86_instruction *out)
{
	struct reader reader = { .code = code, .room = room < BYTES_MAX ? room : BYTES_MAX };
	uint8_t opcode;
	bool known = false;

	*out = (struct x86_instruction){ .jump_by = NO_REGISTER, .adds_to = NO_REGISTER };
	if (!read_prefixes(&reader, &opcode))
		return false;
	if (!is_vector(&reader, opcode, &known))
		known = read_usual(&reader, opcode, out);
	out->bytes = (unsigned)reader.at;
	return known && reader.at <= reader.room;
}
