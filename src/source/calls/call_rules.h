/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's choice of functions (struct wire_calls, rules). */
#ifndef BURIN_SOURCE_CALLS_CALL_RULES_H
#define BURIN_SOURCE_CALLS_CALL_RULES_H

#include "source/calls/call_images.h"
#include "wire/wire_call.h"

/* call_rules_state - the state of a new function. */
static inline enum wire_call_switch call_rules_state(const struct call_image *image)
{
	(void)image;
	return WIRE_CALL_ON;
}

#endif
