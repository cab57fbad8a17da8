/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Instructions around a return address: whether a call was made there, and whether the code ends the thread. For code that
 * has neither unwind tables nor frame pointers.
 */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_CODE_H
#define BURIN_IMAGE_UNWIND_UNWIND_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	UNWIND_CODE_BEFORE = 8, /* bytes */
	UNWIND_CODE_BEHIND = 16,
};

struct unwind_code {
	bool known;	   /* the instructions could be read; made at run time they cannot */
	const void *image; /* differs for each image */
	uint64_t start;	   /* the program's first instruction; 0: it is not a program's code */
	unsigned char bytes[UNWIND_CODE_BEFORE +
			    UNWIND_CODE_BEHIND]; /* those before an address, and from there on */
};

/*
 * unwind_code_at - the instructions around an address of the process.
 * Return: false: it is not code.
 */
typedef bool unwind_code_at(void *context, uint64_t address, struct unwind_code *code);

/*
 * unwind_code_calls - whether the instruction before @address is a call, or is unknown.
 * @target: receives what it calls; 0: that is unknown
 */
bool unwind_code_calls(const struct unwind_code *code, uint64_t address, uint64_t *target);

/* unwind_code_makes_frame - whether the instructions from an address on begin a function that has a stack frame. */
bool unwind_code_makes_frame(const struct unwind_code *code);

/*
 * unwind_code_calls_first - whether the instructions from an address on take the result of the first function of a program or
 * a thread, as C libraries do: they pass main's to exit(), or store that of a thread in its descriptor at the thread pointer.
 * Or whether they are those to which the first function of a goroutine returns.
 * @next: receives the address where they continue if they begin with a jump; else 0
 */
bool unwind_code_calls_first(const struct unwind_code *code, uint64_t address, uint64_t *next);

/* unwind_code_exits - whether the instructions from an address on end the thread, so that it has no caller. */
bool unwind_code_exits(const struct unwind_code *code);

#endif
