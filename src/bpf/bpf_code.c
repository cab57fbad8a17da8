/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Programs that are written in C; see bpf_code.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/bpf_code.h"

/* A number is in two instructions: the lower half, and the upper one. */
static void bpf_code_set_number(struct bpf_insn *load, unsigned kind, uint64_t low, uint64_t high)
{
	load[0].src_reg = (uint8_t)(kind & 15);
	load[0].imm = (int)(uint32_t)low;
	load[1].imm = (int)(uint32_t)high;
}

/* A call of a function that is missing becomes its result. Else bpf_land_symbol() sets where it leads to. */
static void bpf_code_set_call(struct bpf_insn *call, bool missing)
{
	if (missing)
		*call = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 };
	else
		*call = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL };
}

static void bpf_code_set(struct bpf_insn *at, const struct bpf_symbol *symbol)
{
	const uint64_t inside =
		(uint32_t)at->imm; /* of the value: what the compiler has added to the symbol */

	if (symbol->kind == BPF_SYMBOL_FUNCTION)
		bpf_code_set_call(at, !symbol->number);
	else if (symbol->kind == BPF_SYMBOL_NUMBER)
		bpf_code_set_number(at, 0, symbol->number, symbol->number >> 32);
	else if ((int64_t)symbol->number < 0)
		bpf_code_set_number(at, 0, 0, 0);
	else if (symbol->kind == BPF_SYMBOL_MAP)
		bpf_code_set_number(at, BPF_PSEUDO_MAP_FD, symbol->number, 0);
	else
		bpf_code_set_number(at, BPF_PSEUDO_MAP_VALUE, symbol->number, inside);
}

bool bpf_put_code(struct bpf_program *to, const struct bpf_code *code, const struct bpf_symbol *symbols)
{
	if (to->full || code->count > BPF_PROGRAM_MAX - to->count) {
		to->full = true;
		return false;
	}
	memcpy(to->code + to->count, code->code, code->count * sizeof(*code->code));
	for (unsigned n = 0; n < code->place_count; n++) {
		const struct bpf_symbol *symbol = symbols;

		while (symbol->name && strcmp(symbol->name, code->places[n].symbol) != 0)
			symbol++;
		if (!symbol->name)
			return false;
		bpf_code_set(to->code + to->count + code->places[n].at, symbol);
	}
	to->count += code->count;
	return true;
}

void bpf_land_symbol(struct bpf_program *to, const struct bpf_code *first, const char *name)
{
	for (unsigned n = 0; n < first->place_count && !to->full; n++) {
		const unsigned at = first->places[n].at;

		if (strcmp(first->places[n].symbol, name) == 0)
			to->code[at].imm = (int)(to->count - at - 1);
	}
}

void bpf_put_code_call(struct bpf_program *to, const struct bpf_code *code)
{
	if (to->call_count == BPF_PROGRAM_CALLS) {
		to->full = true;
		return;
	}
	to->calls[to->call_count].at = to->count;
	to->calls[to->call_count++].code = code;
	bpf_put(to, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

bool bpf_put_called(struct bpf_program *to, const struct bpf_symbol *symbols)
{
	for (unsigned n = 0; n < to->call_count && !to->full; n++) {
		const struct bpf_code *code = to->calls[n].code;

		if (!code) /* it was a call of one before */
			continue;
		for (unsigned other = n; other < to->call_count; other++)
			if (to->calls[other].code == code) {
				to->code[to->calls[other].at].imm =
					(int)(to->count - to->calls[other].at - 1);
				to->calls[other].code = NULL;
			}
		if (!bpf_put_code(to, code, symbols))
			return false;
	}
	return !to->full;
}

int bpf_load_code(enum bpf_prog_type type, const struct bpf_code *code, const struct bpf_symbol *symbols)
{
	struct bpf_program *program = malloc(sizeof(*program)); /* 66 KiB: some threads have small stacks */
	int result = -ENOMEM;

	if (!program)
		return result;
	bpf_begin(program);
	result = bpf_put_code(program, code, symbols) ? bpf_load(type, program) : -EINVAL;
	free(program);
	return result;
}
