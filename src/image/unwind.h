/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stack of a thread, from its registers and a copy of the inner part of its stack, by the tables that
 * compilers leave for exceptions (.eh_frame; .debug_frame where there is none).
 *
 * What a table says of an address is compiled once into a *row*, a few rules that tell where the caller's
 * registers are, and kept: a frame costs a look-up in a hash table and a few loads. Code without tables (made
 * at run time, written by hand) gets a row that trusts the frame pointer, and its answer is believed only if
 * it leads outwards and to code.
 *
 * Tables, registers and stacks are foreign: any bytes give some frames or none, in bounded time. Nothing is
 * read but the tables' copy and the stack's.
 */
#ifndef BURIN_IMAGE_UNWIND_H
#define BURIN_IMAGE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "wire/profile.h"

/* Registers, by their numbers in DWARF. Samples come from this machine: one architecture per build. */
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
	UNWIND_RETURN = 16, /* a place in the tables, no register */
#endif
};

struct unwind_registers {
	uint64_t pc;
	uint64_t known; /* bit n: value[n] is */
	uint64_t value[UNWIND_REGISTERS];
};

/*
 * unwind_registers_from_perf - what perf puts into a sample (PERF_SAMPLE_REGS_USER).
 * @abi: PERF_SAMPLE_REGS_ABI_*; @mask: sample_regs_user; @values: one for each bit of it
 * Return: 0; -ENOTSUP: another ABI than ours (32 bits, or no registers); -EINVAL: program counter or stack
 * pointer lack.
 */
int unwind_registers_from_perf(struct unwind_registers *registers, uint64_t abi, uint64_t mask,
			       const uint64_t *values);

/* The tables of one image, and the rows that were compiled of them. Not for several threads at once. */
struct unwind_table;

/*
 * unwind_table_open - find an image's tables and copy them: what becomes of the file later harms nobody.
 * @image: is needed no longer afterwards
 * Return: 0; -ENOENT: it has none; -ENOTSUP: code of another architecture; -ENOMEM.
 */
int unwind_table_open(struct unwind_table **table, const struct image *image);
void unwind_table_close(struct unwind_table *table);

/*
 * unwind_table_extent - the code that the table's entry for an address covers: as a rule a function, also where no
 * symbol names it.
 * Return: 0; -ENOENT: there is no entry.
 */
int unwind_table_extent(const struct unwind_table *table, uint64_t address, uint64_t *begin, uint64_t *bytes);

/*
 * unwind_lookup - what lies at an address of the process.
 * @bias: to be stored: the address minus the image's own
 * Return: the tables of the image there; NULL: there are none, and @why is WIRE_CUT_TABLES: it is code all
 * the same, WIRE_CUT_IMAGE: code whose file cannot be read, or WIRE_CUT_MEMORY: no code.
 */
typedef struct unwind_table *unwind_lookup(void *context, uint64_t address, uint64_t *bias,
					   enum wire_cut *why);

struct unwind_sample {
	const struct unwind_registers *registers;
	const unsigned char *stack; /* what lies from the stack pointer upwards */
	size_t stack_bytes;
	const uint64_t *chain; /* what the kernel found by frame pointers: first the program counter; NULL */
	unsigned chain_count;
};

/*
 * unwind_frames - the stack of a sample.
 * @places: of the frames, from the innermost: return addresses minus one, but for the innermost, signal
 *	frames, and what they interrupted; as traces keep them
 * @max: at most so many, at least 1
 * @cut: WIRE_CUT_NONE: the last is where the thread began; else why its caller is not known
 * Return: the number of frames; 0: the program counter is in no code.
 *
 * Where the tables do not get on, the kernel's chain does, see find_splice() in unwind.c.
 */
unsigned unwind_frames(const struct unwind_sample *sample, unwind_lookup *lookup, void *context,
		       uint64_t *places, unsigned max, enum wire_cut *cut);

#endif
