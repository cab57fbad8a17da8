/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Return instructions; see probe_returns.h.
 *
 * Finding all returns of a function is only possible if all of its ways out are known. So each jump must lead into
 * the function, or is noted, and the caller decides whether its target belongs to it (its cold part). Jumps by a
 * register count as a switch statement's only where the code shows the table; else they may be a tail call, whose
 * callee returns in place of the function, and the function is refused.
 */
#include <stdbool.h>
#include <string.h>

#include "source/kernel/probes/probe_returns.h"
#include "source/kernel/probes/x86_instruction.h"

const char *const probe_refusals[PROBE_REFUSALS] = {
	[PROBE_WITHOUT_SIZE] = "the file does not say how long it is",
	[PROBE_CODE_UNKNOWN] = "its code is not understood",
	[PROBE_LEAVES] = "it ends by a jump to another function (a tail call)",
	[PROBE_NEVER_RETURNS] = "it has no return instruction",
	[PROBE_CHOSEN_AT_LOAD] = "its code is chosen when it is loaded (an IFUNC); probe one of the "
				 "functions that it chooses from",
	[PROBE_WITHIN] = "no instruction begins there",
	[PROBE_BEHIND] = "it is behind the function's end",
	[PROBE_NO_CODE] = "the file has no code of a function there",
};

static bool add_return(struct probe_returns *out, size_t at)
{
	if (out->count == PROBE_RETURNS_MAX)
		return false;
	out->returns[out->count++] = (uint32_t)at;
	return true;
}

/* Of a jump: only a target outside is of interest. */
static bool probe_returns_add_jump(struct probe_returns *out, int64_t target, size_t bytes)
{
	if (target >= 0 && (uint64_t)target < bytes)
		return true;
	if (out->jump_count == PROBE_JUMPS_MAX)
		return false;
	out->jumps[out->jump_count++] = target;
	return true;
}

#ifdef __x86_64__

/* Linear, since compilers put nothing but instructions between a function's begin and end. */
enum probe_refusal probe_returns_find(const uint8_t *code, size_t bytes, struct probe_returns *out)
{
	struct x86_instruction one, last = { .adds_to = 0xff };
	bool room = true;

	out->count = out->jump_count = 0;
	for (size_t at = 0; at < bytes && room; at += one.bytes) {
		if (!x86_instruction_parse(code + at, bytes - at, &one))
			return PROBE_CODE_UNKNOWN;
		if (one.kind == X86_RETURN)
			room = add_return(out, at);
		else if (one.kind == X86_JUMP)
			room = probe_returns_add_jump(out, (int64_t)at + one.target, bytes);
		else if (one.kind == X86_JUMP_BY && (one.jump_by == 0xff || last.adds_to != one.jump_by))
			return PROBE_LEAVES; /* otherwise the address is from a table */
		last = one;
	}
	return room ? PROBE_TAKEN : PROBE_CODE_UNKNOWN;
}

#else

enum {
	WORD = 4,
};

static int64_t signed_part(uint32_t word, unsigned from, unsigned bits)
{
	return ((int64_t)((uint64_t)word << (64 - from - bits)) >> (64 - bits)) * WORD;
}

/* The distance of a direct jump; 0: it is another instruction. */
static int64_t distance_of(uint32_t word)
{
	if ((word & 0xfc000000) == 0x14000000) /* b */
		return signed_part(word, 0, 26);
	if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) /* b.cond; cbz, cbnz */
		return signed_part(word, 5, 19);
	if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		return signed_part(word, 5, 14);
	return 0;
}

enum probe_refusal probe_returns_find(const uint8_t *code, size_t bytes, struct probe_returns *out)
{
	bool room = true;

	out->count = out->jump_count = 0;
	for (size_t at = 0; at + WORD <= bytes && room; at += WORD) {
		uint32_t word;
		int64_t distance;

		memcpy(&word, code + at, sizeof(word));
		distance = distance_of(word);
		if ((word & 0xfffffc1f) == 0xd65f0000 || word == 0xd65f0bff || word == 0xd65f0fff)
			room = add_return(out, at); /* ret, retaa, retab */
		else if (distance)
			room = probe_returns_add_jump(out, (int64_t)at + distance, bytes);
		else if (word == 0xd61f0200 || word == 0xd61f0220)
			return PROBE_LEAVES; /* br x16, br x17: others are of tables */
	}
	return room ? PROBE_TAKEN : PROBE_CODE_UNKNOWN;
}

#endif
