/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Entries of unwind tables, and their row for an address. (DWARF's "call frame information": an entry, FDE, covers the code
 * of a function. It is a program that gives, instruction by instruction, the rules for the caller's registers. The common
 * part of several entries is in another entry, CIE.)
 */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_ROW_H
#define BURIN_IMAGE_UNWIND_UNWIND_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "image/unwind/unwind_bytes.h"
#include "image/unwind/unwind_registers.h"

enum {
	/* Bytes of an entry that load() is asked for: the longest of cc1 has 20 KB. A CIE, which others refer to, has some 20 bytes. */
	UNWIND_ENTRY_MAX = 64 << 10,
	UNWIND_COMMON_MAX = 1 << 10,
};

struct unwind_pages;

/* .eh_frame or .debug_frame, which are nearly the same. */
struct unwind_section {
	const unsigned char *bytes;
	uint32_t size;
	uint64_t address; /* in the image */
	bool debug;	  /* it is .debug_frame */
	uint64_t *work;	  /* a counter of instructions that were run for rows; or NULL */
	/* Brings a part of the section into memory; NULL: all of it is there. Longer entries count as broken. */
	void (*load)(struct unwind_pages *pages, uint64_t offset, uint64_t bytes);
	struct unwind_pages *pages; /* for load() */
};

/* The canonical frame address (CFA): the stack pointer before the call. */
enum unwind_cfa {
	UNWIND_CFA_UNKNOWN,    /* there is no entry for that address, or it is broken */
	UNWIND_CFA_REGISTER,   /* register + offset */
	UNWIND_CFA_EXPRESSION, /* at `offset` of the section: its length, then the expression */
};

enum unwind_how {
	UNWIND_SAME,	      /* the caller's value is the register's own */
	UNWIND_UNDEFINED,     /* it is lost; of the return address: there is no caller */
	UNWIND_AT,	      /* it is in memory at CFA + offset */
	UNWIND_VALUE,	      /* it is CFA + offset */
	UNWIND_REGISTER,      /* it is in the register with the number `offset` */
	UNWIND_AT_EXPRESSION, /* it is in memory at the value of an expression */
	UNWIND_EXPRESSION,    /* it is the value of an expression */
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
	uint8_t count;	  /* of the rules; registers without a rule are UNWIND_SAME */
	uint8_t signal;	  /* a signal frame: the code it returns to was interrupted */
	struct unwind_rule rules[UNWIND_RULES];
};

struct unwind_entry {
	uint64_t begin, bytes; /* the code */
	uint64_t code_unit, data_unit;
	unsigned pointers; /* how pointers are encoded: DW_EH_PE_* */
	bool signal;
	struct bytes first, program; /* the program of the CIE, of the FDE */
};

/* unwind_pointer - a pointer of the section in an encoding DW_EH_PE_*; relative ones are made absolute. */
uint64_t unwind_pointer(const struct unwind_section *section, struct bytes *bytes, unsigned encoding);

/*
 * unwind_entry_next - decode the entry at @offset.
 * @next: receives the offset of the next one; section->size, if the end of this one is not known
 * Return: 0; -ENOENT: it is not an FDE; -EINVAL: it is broken.
 */
int unwind_entry_next(const struct unwind_section *section, uint32_t offset, struct unwind_entry *entry,
		      uint32_t *next);

/* unwind_compile - an entry's row for an address. Return: 0; -EINVAL: it is broken, and the row is unknown. */
int unwind_compile(const struct unwind_section *section, const struct unwind_entry *entry, uint64_t address,
		   struct unwind_row *row);

#endif
