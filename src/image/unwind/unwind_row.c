/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Decodes entries of unwind tables and runs their programs up to an address; see unwind_row.h.
 *
 * DWARF 5, section 6.4, defines .debug_frame. The Linux Standard Base (Core, "Exception Frames") defines how
 * .eh_frame differs, and the augmentations:
 *
 *			.eh_frame			.debug_frame
 *	id of a CIE	0				all bits set
 *	id of an FDE	distance back to its CIE	offset of its CIE
 *	id's size	always 4			8, if the length has 8
 *	pointers	encoded, mostly relative	absolute
 *
 * A row is compiled in three steps: the CIE's program gives the rules at the function's begin, the FDE's
 * program changes them up to the address, and rules other than "same" are collected. The state after the
 * CIE's program is kept, since DW_CFA_restore returns to it.
 *
 * Entries are foreign bytes. Reads beyond the end break `struct bytes` and return 0, and each function looks
 * at that once, at its end. Numbers that a row has no room for break it, too: an offset beyond 31 bits, an
 * unknown base of the CFA. Time is bounded by STEPS_MAX and counted in section->work (unwind_meter.h). A
 * broken entry makes an unknown row, never none.
 */
#include <dwarf.h>
#include <errno.h>

#include "image/unwind/unwind_row.h"

enum {
	REMEMBERED_MAX = 16, /* states that a program may save; compilers nest one or two */
	STEPS_MAX = 65536,   /* instructions for a row: the longest entry of cc1 has 20 KB */
	LENGTH_MAX = 12,     /* bytes of an entry's length */
	TEXT_MAX = 16,	     /* bytes of an augmentation: "zPLR" and a few more */
};

uint64_t unwind_pointer(const struct unwind_section *section, struct bytes *bytes, unsigned encoding)
{
	const uint64_t here = section->address + (uint64_t)(bytes->at - section->bytes);
	uint64_t value = 0;

	switch (encoding & 0x0f) { /* the low bits are the form, those of 0x70 what it is relative to */
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = bytes_number(bytes, 8);
		break;
	case DW_EH_PE_udata4:
		value = bytes_number(bytes, 4);
		break;
	case DW_EH_PE_sdata4:
		value = bytes_signed(bytes, 4);
		break;
	case DW_EH_PE_udata2:
		value = bytes_number(bytes, 2);
		break;
	case DW_EH_PE_sdata2:
		value = bytes_signed(bytes, 2);
		break;
	case DW_EH_PE_uleb128:
		value = bytes_uleb(bytes);
		break;
	case DW_EH_PE_sleb128:
		value = bytes_sleb(bytes);
		break;
	default:
		bytes_break(bytes);
	}
	return (encoding & 0x70) == DW_EH_PE_pcrel ? value + here : value;
}

/* Whether an entry is not in memory, since it is too long. */
static bool is_too_long(const struct unwind_section *section, const struct bytes *entry, uint64_t max)
{
	return section->load && bytes_left(entry) > max;
}

/* The bytes of the entry at an offset, without its length. @max: it is read if it is not longer; @wide: its offsets have 8 bytes */
static struct bytes entry_bytes(const struct unwind_section *section, uint32_t offset, uint64_t max,
				bool *wide)
{
	struct bytes rest = { .at = section->bytes + offset, .end = section->bytes + section->size };
	uint64_t length;

	if (section->load)
		section->load(section->pages, offset, LENGTH_MAX);
	length = bytes_number(&rest, 4);
	*wide = length == 0xffffffff; /* DWARF's mark of its 64-bit format */
	if (*wide)
		length = bytes_number(&rest, 8);
	rest = bytes_take(&rest, length);
	if (section->load && !is_too_long(section, &rest, max))
		section->load(section->pages, (uint64_t)(rest.at - section->bytes), bytes_left(&rest));
	return rest;
}

/* Whether an entry's id is that of a CIE. */
static bool is_cie(const struct unwind_section *section, bool wide, uint64_t id)
{
	if (!section->debug)
		return id == 0;
	return id == (wide ? UINT64_MAX : UINT32_MAX);
}

/* "z": its length; "R": the encoding of pointers; "P", "L": for exceptions; "S": signal frame. */
static void read_augmentation(const struct unwind_section *section, const char *text, struct bytes *bytes,
			      struct unwind_entry *entry)
{
	struct bytes data = bytes_take(bytes, bytes_uleb(bytes));

	for (text++; *text && !data.broken; text++) {
		switch (*text) {
		case 'R':
			entry->pointers = (unsigned)bytes_number(&data, 1);
			break;
		case 'P':
			unwind_pointer(section, &data, (unsigned)bytes_number(&data, 1));
			break;
		case 'L':
			bytes_number(&data, 1);
			break;
		case 'S':
			entry->signal = true;
			break;
		default: /* only its length is known; B, G: of aarch64, without data */
			break;
		}
	}
	bytes->broken |= data.broken;
}

/* Reads the entry's CIE. */
static int read_common(const struct unwind_section *section, uint64_t offset, struct unwind_entry *entry,
		       bool *sized)
{
	struct bytes bytes;
	const unsigned char *end;
	const char *text;
	unsigned version;
	bool wide;
	uint64_t id;

	if (offset >= section->size)
		return -EINVAL;
	bytes = entry_bytes(section, (uint32_t)offset, UNWIND_COMMON_MAX, &wide);
	if (is_too_long(section, &bytes, UNWIND_COMMON_MAX))
		return -EINVAL;
	id = bytes_number(&bytes, section->debug && wide ? 8 : 4);
	version = (unsigned)bytes_number(&bytes, 1);
	end = bytes_left(&bytes)
		      ? memchr(bytes.at, '\0', bytes_left(&bytes) < TEXT_MAX ? bytes_left(&bytes) : TEXT_MAX)
		      : NULL;
	if (!end || !is_cie(section, wide, id) || (version != 1 && version != 3 && version != 4))
		return -EINVAL;
	text = (const char *)bytes.at;
	*sized = *text == 'z';
	/* Without "z" the length of unknown data is unknown. GCC 2 wrote such a text, "eh". */
	if (*text && !*sized)
		return -EINVAL;
	bytes.at = end + 1;
	if (version == 4 &&
	    (bytes_number(&bytes, 1) != 8 || bytes_number(&bytes, 1) != 0)) /* pointers, segments */
		return -EINVAL;
	entry->code_unit = bytes_uleb(&bytes);
	entry->data_unit = bytes_sleb(&bytes);
	/* Walks take the return address from this column only. Version 1 has a byte for it. */
	if ((version == 1 ? bytes_number(&bytes, 1) : bytes_uleb(&bytes)) != UNWIND_RETURN)
		return -EINVAL;
	if (*sized)
		read_augmentation(section, text, &bytes, entry);
	entry->first = bytes;
	return bytes.broken ? -EINVAL : 0;
}

int unwind_entry_next(const struct unwind_section *section, uint32_t offset, struct unwind_entry *entry,
		      uint32_t *next)
{
	bool wide, sized;
	struct bytes bytes = entry_bytes(section, offset, UNWIND_ENTRY_MAX, &wide);
	const uint64_t here = (uint64_t)(bytes.at - section->bytes); /* distances count from here */
	uint64_t id;
	int error;

	/* Of a broken one, bytes.end is the section's end: where the next one begins is not known. */
	*next = (uint32_t)(bytes.end - section->bytes);
	if (bytes.broken || is_too_long(section, &bytes, UNWIND_ENTRY_MAX))
		return -EINVAL;
	if (!bytes_left(&bytes)) /* an end mark of .eh_frame; linkers leave some in the middle */
		return -ENOENT;
	id = bytes_number(&bytes, section->debug && wide ? 8 : 4);
	if (bytes.broken || is_cie(section, wide, id))
		return -ENOENT;
	*entry = (struct unwind_entry){ .pointers = DW_EH_PE_absptr };
	error = read_common(section, section->debug ? id : here - id, entry, &sized);
	if (error)
		return error;
	entry->begin = unwind_pointer(section, &bytes, entry->pointers);
	/* A length has the form of a pointer, and is relative to nothing. */
	entry->bytes = unwind_pointer(section, &bytes, entry->pointers & 0x0f);
	if (sized) /* the FDE's own data: where exceptions are handled */
		bytes_take(&bytes, bytes_uleb(&bytes));
	entry->program = bytes;
	return bytes.broken ? -EINVAL : 0;
}

/* The rules for the caller's registers at one instruction. */
struct state {
	struct unwind_row cfa; /* without its rules */
	struct {
		uint8_t how;
		int32_t offset;
	} registers[UNWIND_REGISTERS];
};

struct run {
	const struct unwind_section *section;
	const struct unwind_entry *entry;
	uint64_t location, address;
	struct state now, first, remembered[REMEMBERED_MAX];
	unsigned depth, steps;
	struct bytes code;
};

static void unwind_row_set(struct run *run, uint64_t number, enum unwind_how how, uint64_t offset)
{
	if (number >=
	    UNWIND_REGISTERS) /* for example vector registers, which are not needed to find callers */
		return;
	/* Offsets of frames, and of expressions in the section. A row has 32 bits for either, with a sign. */
	if ((uint64_t)(int32_t)offset != offset)
		bytes_break(&run->code);
	run->now.registers[number].how = (uint8_t)how;
	run->now.registers[number].offset = (int32_t)offset;
}

static void unwind_row_restore(struct run *run, uint64_t number)
{
	if (number < UNWIND_REGISTERS)
		run->now.registers[number] = run->first.registers[number];
}

static void set_cfa(struct run *run, enum unwind_cfa how, uint64_t base, uint64_t offset)
{
	if (base >= UNWIND_REGISTERS || (uint64_t)(int32_t)offset != offset)
		bytes_break(&run->code);
	run->now.cfa.cfa = (uint8_t)how;
	run->now.cfa.base = (uint8_t)base;
	run->now.cfa.offset = (int32_t)offset;
}

static void set_cfa_offset(struct run *run, uint64_t offset)
{
	set_cfa(run, UNWIND_CFA_REGISTER, run->now.cfa.base, offset);
}

/* Skips an expression. Return: its offset in the section. */
static uint64_t unwind_row_expression(struct run *run)
{
	const uint64_t offset = (uint64_t)(run->code.at - run->section->bytes);

	bytes_take(&run->code, bytes_uleb(&run->code));
	return offset;
}

/* The unit is mostly -8: the product wraps to a negative offset, as two's complement. */
static uint64_t data_unsigned(struct run *run)
{
	return bytes_uleb(&run->code) * run->entry->data_unit;
}

static uint64_t data_signed(struct run *run)
{
	return bytes_sleb(&run->code) * run->entry->data_unit;
}

/*
 * The CFA is a part of what is remembered, as in GCC's unwinder: compilers put both back behind an early
 * return.
 */
static void unwind_row_remember(struct run *run)
{
	if (run->depth == REMEMBERED_MAX)
		bytes_break(&run->code);
	else
		run->remembered[run->depth++] = run->now;
}

static void unwind_row_recall(struct run *run)
{
	if (run->depth == 0)
		bytes_break(&run->code);
	else
		run->now = run->remembered[--run->depth];
}

static void unwind_row_advance(struct run *run, uint64_t units)
{
	run->location += units * run->entry->code_unit;
}

/* Instructions whose opcode has all eight bits. */
static void step_extended(struct run *run, unsigned operation)
{
	struct bytes *code = &run->code;
	uint64_t number;

	switch (operation) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state: /* whether return addresses are signed */
		return;
	case DW_CFA_set_loc:
		run->location = unwind_pointer(run->section, code, run->entry->pointers);
		return;
	case DW_CFA_advance_loc1:
		return unwind_row_advance(run, bytes_number(code, 1));
	case DW_CFA_advance_loc2:
		return unwind_row_advance(run, bytes_number(code, 2));
	case DW_CFA_advance_loc4:
		return unwind_row_advance(run, bytes_number(code, 4));
	case DW_CFA_restore_extended:
		return unwind_row_restore(run, bytes_uleb(code));
	case DW_CFA_remember_state:
		return unwind_row_remember(run);
	case DW_CFA_restore_state:
		return unwind_row_recall(run);
	case DW_CFA_def_cfa_register:
		return set_cfa(run, UNWIND_CFA_REGISTER, bytes_uleb(code), (uint64_t)run->now.cfa.offset);
	case DW_CFA_def_cfa_offset:
		return set_cfa_offset(run, bytes_uleb(code));
	case DW_CFA_def_cfa_offset_sf:
		return set_cfa_offset(run, data_signed(run));
	case DW_CFA_def_cfa_expression:
		return set_cfa(run, UNWIND_CFA_EXPRESSION, 0, unwind_row_expression(run));
	case DW_CFA_GNU_args_size: /* for landing pads of exceptions only */
		bytes_uleb(code);
		return;
	}
	number = bytes_uleb(code); /* the others begin with a register */
	switch (operation) {
	case DW_CFA_undefined:
		return unwind_row_set(run, number, UNWIND_UNDEFINED, 0);
	case DW_CFA_same_value:
		return unwind_row_set(run, number, UNWIND_SAME, 0);
	case DW_CFA_register:
		return unwind_row_set(run, number, UNWIND_REGISTER, bytes_uleb(code));
	case DW_CFA_offset_extended:
		return unwind_row_set(run, number, UNWIND_AT, data_unsigned(run));
	case DW_CFA_offset_extended_sf:
		return unwind_row_set(run, number, UNWIND_AT, data_signed(run));
	case DW_CFA_GNU_negative_offset_extended:
		return unwind_row_set(run, number, UNWIND_AT, -data_unsigned(run));
	case DW_CFA_val_offset:
		return unwind_row_set(run, number, UNWIND_VALUE, data_unsigned(run));
	case DW_CFA_val_offset_sf:
		return unwind_row_set(run, number, UNWIND_VALUE, data_signed(run));
	case DW_CFA_expression:
		return unwind_row_set(run, number, UNWIND_AT_EXPRESSION, unwind_row_expression(run));
	case DW_CFA_val_expression:
		return unwind_row_set(run, number, UNWIND_EXPRESSION, unwind_row_expression(run));
	case DW_CFA_def_cfa:
		return set_cfa(run, UNWIND_CFA_REGISTER, number, bytes_uleb(code));
	case DW_CFA_def_cfa_sf:
		return set_cfa(run, UNWIND_CFA_REGISTER, number, data_signed(run));
	default: /* its operands are unknown, so nothing behind it can be read */
		return bytes_break(code);
	}
}

static void unwind_row_step(struct run *run)
{
	const unsigned operation = (unsigned)bytes_number(&run->code, 1), low = operation & 0x3f;

	switch (operation & 0xc0) {
	case DW_CFA_advance_loc:
		return unwind_row_advance(run, low);
	case DW_CFA_offset:
		return unwind_row_set(run, low, UNWIND_AT, data_unsigned(run));
	case DW_CFA_restore:
		return unwind_row_restore(run, low);
	default:
		return step_extended(run, operation);
	}
}

/*
 * Runs up to the first instruction behind the address. An advance changes no rule, so the rules are those at
 * the address.
 */
static int run_program(struct run *run, struct bytes code)
{
	run->code = code;
	while (bytes_left(&run->code)) {
		const struct bytes before = run->code;

		if (run->steps++ == STEPS_MAX)
			return -EINVAL;
		unwind_row_step(run);
		if (run->location > run->address) {
			run->code = before;
			break;
		}
	}
	return run->code.broken ? -EINVAL : 0;
}

static int unwind_row_collect(const struct run *run, struct unwind_row *row)
{
	*row = run->now.cfa;
	row->signal = run->entry->signal;
	for (unsigned n = 0; n < UNWIND_REGISTERS; n++) {
		if (run->now.registers[n].how == UNWIND_SAME)
			continue;
		if (row->count == UNWIND_RULES)
			return -EINVAL;
		row->rules[row->count++] = (struct unwind_rule){ .number = (uint8_t)n,
								 .how = run->now.registers[n].how,
								 .offset = run->now.registers[n].offset };
	}
	return 0;
}

int unwind_compile(const struct unwind_section *section, const struct unwind_entry *entry, uint64_t address,
		   struct unwind_row *row)
{
	struct run run = { .section = section, .entry = entry, .location = entry->begin, .address = address };
	int error = run_program(&run, entry->first);

	run.first = run.now;
	if (!error)
		error = run_program(&run, entry->program);
	if (section->work)
		*section->work += run.steps;
	if (!error)
		error = unwind_row_collect(&run, row);
	if (error)
		*row = (struct unwind_row){ .cfa = UNWIND_CFA_UNKNOWN };
	row->address = address;
	return error;
}
