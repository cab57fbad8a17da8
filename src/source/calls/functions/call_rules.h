/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's choice of functions: the rules of the session, evaluated for a function of this process. */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_RULES_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_RULES_H

#include <stddef.h>

#include "source/calls/functions/call_images.h"
#include "wire/wire_call.h"

/*
 * call_rules_state - the switch of a new function.
 * Context: any thread, signal handlers. Return: WIRE_CALL_SWITCHES if it cannot be found out now: the call is in a signal
 * handler that interrupted this function.
 */
uint8_t call_rules_state(const struct call_image *image);

/*
 * call_rules_arguments - what is to be recorded of a function's arguments, and its name.
 * @spec: receives the SPEC of call_arguments.h
 * Context: any thread, signal handlers. Return: false: nothing, or it cannot be found out now.
 */
bool call_rules_arguments(const struct call_image *image, char *spec, size_t spec_bytes, char *name,
			  size_t name_bytes);

/* call_rules_generation - counts changes of the rules from outside. A function that registers meanwhile asks again. */
uint32_t call_rules_generation(void);

#endif
