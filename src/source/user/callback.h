/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Callbacks: a function of the program's own that is called when an event is passed, beside recording.
 *
 * Nothing is added to the straight way: the site's switch pointer is turned to a private byte that says
 * "checked", and the slow path calls the function and then asks the session's switch whether the event is to
 * be recorded as well.
 */
#ifndef BURIN_SOURCE_USER_CALLBACK_H
#define BURIN_SOURCE_USER_CALLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "burin/burin.h"

/*
 * callback_passes - a checked event: call what is to be called.
 * @buffer: as for burin_emit()
 * Context: any thread, signal handlers. Return: whether the event is to be recorded.
 */
bool callback_passes(struct burin_site *site, const void *buffer, size_t payload_bytes);

/* callback_attach - give a site that has just been registered the callback that was set for its name, if any.
 */
void callback_attach(struct burin_site *site, const unsigned char *session_switch);

#endif
