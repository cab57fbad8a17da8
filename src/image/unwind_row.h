/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Entries of unwind tables, and what they say of an address: a row. (DWARF's "call frame information": an
 * entry, FDE, covers the code of a function and is a program that says, instruction by instruction, where the
 * caller's registers are; what several have in common lies in another entry, CIE.)
 */
#ifndef BURIN_IMAGE_UNWIND_ROW_H
#define BURIN_IMAGE_UNWIND_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "image/unwind.h"
#include "image/unwind_bytes.h"

/* .eh_frame or .debug_frame: nearly the same. */
struct unwind_section {
	const unsigned char *bytes;
	uint32_t size;
	uint64_t address; /* in the image */
	bool debug;	  /* it is .debug_frame */
};

/* The canonical frame address (CFA): the stack pointer as it was before the call. */
enum unwind_cfa {
	UNWIND_CFA_UNKNOWN,    /* there is nothing about that address, or it is broken */
	UNWIND_CFA_REGISTER,   /* register + offset */
	UNWIND_CFA_EXPRESSION, /* at `offset` of the section: its length, then itself */
};

enum unwind_how {
	UNWIND_SAME,	      /* the caller's value is the register's own */
	UNWIND_UNDEFINED,     /* it is lost; of the return address: there is no caller */
	UNWIND_AT,	      /* it is in memory at CFA + offset */
	UNWIND_VALUE,	      /* it is CFA + offset */
	UNWIND_REGISTER,      /* it is in the register with the number `offset` */
	UNWIND_AT_EXPRESSION, /* it is in memory where an expression says */
	UNWIND_EXPRESSION,    /* it is what an expression says */
};

enum {
	UNWIND_RULES = 18, /* x86-64: signal frames give all 16 registers and the return address */
};

struct unwind_rule {
	uint8_t number; /* of the register */
	uint8_t how;	/* enum unwind_how */
	int32_t offset;
};

struct unwind_row {
	uint64_t address; /* in the image */
	int32_t offset;	  /* of the CFA */
	uint8_t cfa;	  /* enum unwind_cfa */
	uint8_t base;	  /* the register that it is relative to */
	uint8_t count;	  /* of the rules; registers without any are the same */
	uint8_t signal;	  /* made by a signal: what it returns to was interrupted */
	struct unwind_rule rules[UNWIND_RULES];
};

struct unwind_entry {
	uint64_t begin, bytes; /* the code */
	uint64_t code_unit, data_unit;
	unsigned pointers; /* how pointers are encoded: DW_EH_PE_* */
	bool signal;
	struct bytes first, program; /* of the CIE, of the FDE */
};

/* unwind_pointer - one in an encoding DW_EH_PE_*, from within the section; relative ones made absolute. */
uint64_t unwind_pointer(const struct unwind_section *section, struct bytes *bytes, unsigned encoding);

/*
 * unwind_entry_next - look at the entry at @offset.
 * @next: to be stored: the offset of the following one
 * Return: 0; -ENOENT: it is no FDE; -EINVAL: broken; @next is section->size if it is not known where it ends.
 */
int unwind_entry_next(const struct unwind_section *section, uint32_t offset, struct unwind_entry *entry,
		      uint32_t *next);

/* unwind_compile - what an entry says of an address. Return: 0; -EINVAL: nothing sound: an unknown row. */
int unwind_compile(const struct unwind_section *section, const struct unwind_entry *entry, uint64_t address,
		   struct unwind_row *row);

/* unwind_table_row - what an image's tables say of its address; never NULL. Holds until the next call. */
const struct unwind_row *unwind_table_row(struct unwind_table *table, uint64_t address);

/* unwind_table_start - where the program begins, if the image is one. */
uint64_t unwind_table_start(const struct unwind_table *table);

/* unwind_table_expression - the expression that a row means. */
struct bytes unwind_table_expression(const struct unwind_table *table, int32_t offset);

#endif
