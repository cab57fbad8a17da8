/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where instructions begin: a breakpoint within one would change the program. */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_INSTRUCTION_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_INSTRUCTION_H

#include "source/kernel/probes/probe_returns.h"

/*
 * probe_instruction_find - look for the instruction at an offset of a function's code.
 * @begin: set to where it begins, and @next to where the one behind it does
 * Return: PROBE_TAKEN: at @at; PROBE_WITHIN: before it; PROBE_CODE_UNKNOWN; PROBE_BEHIND: the code has fewer bytes.
 */
enum probe_refusal probe_instruction_find(const uint8_t *code, size_t bytes, uint64_t at, uint64_t *begin,
					  uint64_t *next);

#endif
