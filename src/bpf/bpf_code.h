/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Programs that are written in C (FOO.bpf.c, with bpf/bpf_c.h). The build compiles them with clang, and bpf_table.py makes a header
 * of each: instructions, and where they need what is known only when they are loaded. So there is no object file at run time, and no
 * library that reads it.
 */
#ifndef BURIN_BPF_BPF_CODE_H
#define BURIN_BPF_BPF_CODE_H

#include "bpf/bpf_program.h"

/* An instruction that loads or calls a symbol, which is extern in the program. */
struct bpf_place {
	unsigned at;
	const char *symbol;
};

struct bpf_code {
	const struct bpf_insn *code;
	const struct bpf_place *places;
	unsigned count, place_count;
};

/* The meaning of a symbol. */
struct bpf_symbol {
	const char *name;
	enum {
		BPF_SYMBOL_NUMBER,
		BPF_SYMBOL_MAP,
		BPF_SYMBOL_VALUE,    /* the first value of an array */
		BPF_SYMBOL_FUNCTION, /* that follows: bpf_land_symbol() */
	} kind;
	uint64_t
		number; /* MAP, VALUE: the map's descriptor; negative: the program does not come there. FUNCTION: 0: the same, a call returns 0 */
};

/*
 * bpf_put_code - append a function. It begins at the next instruction, and returns to its caller or ends the program.
 * @symbols: all that it needs, and more; the last one's name is NULL
 * Return: false: a symbol is missing, or the program is full.
 */
bool bpf_put_code(struct bpf_program *to, const struct bpf_code *code, const struct bpf_symbol *symbols);

/* bpf_land_symbol - a function that the first function of the program calls by this name begins at the next instruction. */
void bpf_land_symbol(struct bpf_program *to, const struct bpf_code *first, const char *name);

/*
 * bpf_put_code_call - call a function, with the registers 1 to 5.
 * bpf_put_called - append those that are called so, each once. As bpf_put_code()
 */
void bpf_put_code_call(struct bpf_program *to, const struct bpf_code *code);
bool bpf_put_called(struct bpf_program *to, const struct bpf_symbol *symbols);

/* bpf_load_code - have a program verified that is just one function. Return: as bpf_load(); -EINVAL: a symbol is missing */
int bpf_load_code(enum bpf_prog_type type, const struct bpf_code *code, const struct bpf_symbol *symbols);

#endif
