/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parts of programs that are written when the recording begins: where the fields of an event are, and what a filter tests, is known only
 * then. Each part is a function that a program in C calls (kernel_event.bpf.c, kernel_calls.bpf.c). Registers with names hold
 * its values; registers 0 to 5 change with each call.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_PUT_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_PUT_H

#include "bpf/bpf_code.h"
#include "source/kernel/points/tracepoint.h"
#include "wire/wire_filter.h"

enum {
	KERNEL_REG_CONTEXT = BPF_REG_6, /* of the program */
	KERNEL_REG_BYTES =
		BPF_REG_7, /* of texts so far, in the part that copies fields; in a filter the first of two values */
	KERNEL_REG_FOUND = BPF_REG_8, /* by enum kernel_found; of a system call, the number of its filter */
	KERNEL_REG_PLACE =
		BPF_REG_9, /* where the next field comes; in a filter of system calls, struct kernel_input */
};

/* Offsets on the stack of such a part. The kernel permits 512 bytes with those of the functions that call it. */
enum {
	KERNEL_STACK_VALUE = -8, /* of a probe's argument in its program's memory, for a moment */
	KERNEL_STACK_TEXT = -TRACEPOINT_TEXT_MAX, /* that a filter tests; or a socket's address */
};

/* A filter, and the event for which it was compiled. */
struct kernel_filter {
	const struct wire_filter *filter;
	const struct tracepoint *point;
};

/* kernel_size_code - BPF_B, BPF_H, ... of a number of bytes. */
unsigned kernel_size_code(unsigned bytes);

/* kernel_put_result - return a number from the part. */
void kernel_put_result(struct bpf_program *to, int number);

/* kernel_put_argument - the value of a probe's argument in register 1; 0: it is in memory, and cannot be read without a page fault. */
void kernel_put_argument(struct bpf_program *to, const struct tracepoint_field *field);

/* kernel_put_text_address - the address of a field's text in register 2. */
void kernel_put_text_address(struct bpf_program *to, const struct tracepoint_field *field);

/*
 * kernel_put_text - copy the text of a field. A longer one ends in a mark; one that cannot be read is WIRE_NULL.
 * @base, @offset: a register, and the offset from it to where the copy comes
 * Register 0: the bytes of the copy, with the NUL.
 */
void kernel_put_text(struct bpf_program *to, unsigned base, int offset, const struct tracepoint_field *field);

/*
 * kernel_put_user_text - copy a text of the process whose address is in register 2.
 * Register 0: the bytes, as above; -1: it is not in memory, and the copy is WIRE_NULL.
 */
void kernel_put_user_text(struct bpf_program *to, unsigned base, int offset);

enum {
	KERNEL_NULL_BYTES = 4, /* of WIRE_NULL */
};

#endif
