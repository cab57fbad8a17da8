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
 * callback_call - call what is to be called when a site is passed, if anything.
 * @payload: as it would be recorded
 * Context: any thread, signal handlers.
 */
void callback_call(struct burin_site *site, const void *payload, size_t payload_bytes);

/* callback_attach - give a site that has just been registered the callback that was set for its name, if any.
 */
void callback_attach(struct burin_site *site, const unsigned char *session_switch);

#endif
