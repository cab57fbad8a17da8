/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwinds the stack of a thread from its registers and a copy of the inner part of its stack, by the tables that compilers
 * write for exceptions (.eh_frame; .debug_frame where there is none).
 *
 * For each address, the table's entry is compiled once into a *row*, a few rules for the caller's registers, and kept. So a
 * frame costs a look-up in a hash table and a few loads. Code without tables (made at run time, written by hand) gets a
 * row that uses the frame pointer; its result is accepted only if it leads outwards and to code.
 *
 * Tables, registers and stacks are foreign: any bytes give some frames or none, in bounded time. Only the copies of the
 * tables and the stack are read.
 */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_H
#define BURIN_IMAGE_UNWIND_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "image/unwind/unwind_code.h"
#include "image/unwind/unwind_registers.h"
#include "image/unwind/unwind_table.h"
#include "wire/wire_profile.h"

/*
 * unwind_registers_from_perf - the registers of a perf sample (PERF_SAMPLE_REGS_USER).
 * @abi: PERF_SAMPLE_REGS_ABI_*; @mask: sample_regs_user; @values: one for each bit of it
 * Return: 0; -ENOTSUP: another ABI (32 bits, or no registers); -EINVAL: no program counter or no stack pointer.
 */
int unwind_registers_from_perf(struct unwind_registers *registers, uint64_t abi, uint64_t mask,
			       const uint64_t *values);

/*
 * unwind_lookup - the tables for an address of the process.
 * @bias: receives the address minus the image's own address
 * Return: the tables of the image there; NULL: none, and @why is WIRE_TRUNCATION_TABLES: code without tables,
 * WIRE_TRUNCATION_IMAGE: code whose file cannot be read, or WIRE_TRUNCATION_MEMORY: not code.
 */
typedef struct unwind_table *unwind_lookup(void *context, uint64_t address, uint64_t *bias,
					   enum wire_truncation *why);

struct unwind_sample {
	const struct unwind_registers *registers;
	const unsigned char *stack; /* a copy, from the stack pointer upwards */
	size_t stack_bytes;
	const uint64_t *chain; /* the kernel's frames by frame pointers, first the program counter; or NULL */
	unsigned chain_count;
	unwind_code_at
		*code;	    /* NULL: code without tables and frame records has no caller that can be found */
	bool *scanned;	    /* receives whether return addresses were searched for; or NULL */
	uint64_t *pointers; /* receives the stack pointer of each frame, 0 for those of the chain; or NULL */
};

/*
 * unwind_frames - the stack of a sample.
 * @locations: of the frames, from the innermost: return addresses minus one, as in traces; exact addresses for the
 *	innermost frame, signal frames, and the frames that these interrupted
 * @max: of frames, at least 1
 * @truncation: WIRE_TRUNCATION_NONE: the last frame is the thread's first; else why its caller is not known
 * Return: the number of frames; 0: the program counter is not in code.
 *
 * Where the tables end, the kernel's chain may continue, see find_splice() in unwind.c. In code that has neither tables nor
 * frame records, the caller is that of the first return address on the stack which the code before it confirms
 * (unwind_code.h). Such a walk is @scanned: it may miss frames, or have wrong ones.
 */
unsigned unwind_frames(const struct unwind_sample *sample, unwind_lookup *lookup, void *context,
		       uint64_t *locations, unsigned max, enum wire_truncation *truncation);

#endif
