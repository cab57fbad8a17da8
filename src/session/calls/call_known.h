/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Facts of functions, from the debug information of a command and of its libraries. The recorder stored them in the session. */
#ifndef BURIN_SESSION_CALLS_CALL_KNOWN_H
#define BURIN_SESSION_CALLS_CALL_KNOWN_H

#include "session/calls/call_selection.h"
#include "session/session.h"

/*
 * call_known_find - what is known of a function. @image: its number in the session. Context: any, signal-safe.
 * Return: the texts lie in the session, and end in NUL.
 */
struct call_known call_known_find(const struct session *session, uint32_t image, uint64_t offset);

/* call_known_has - whether the file of an image was read. Context: any, signal-safe. */
bool call_known_has(const struct session *session, uint32_t image);

#endif
