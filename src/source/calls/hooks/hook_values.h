/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The begins of calls whose arguments are recorded (call_values.h). */
#ifndef BURIN_SOURCE_CALLS_HOOKS_HOOK_VALUES_H
#define BURIN_SOURCE_CALLS_HOOKS_HOOK_VALUES_H

#include "source/calls/stack/call_values.h"

/*
 * call_values_begin - a function begins whose arguments are recorded. Its frame is opened, if its call is recorded at all.
 * Context: any thread, signal handlers; all vector registers have been saved. Return: whether the call has a frame.
 */
bool call_values_begin(uint32_t function, const struct call_registers *registers);

#endif
