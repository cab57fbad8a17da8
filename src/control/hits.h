/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How many records of each event are in a session's buffers. */
#ifndef BURIN_CONTROL_HITS_H
#define BURIN_CONTROL_HITS_H

#include <stdint.h>

#include "session/session.h"

/*
 * hits_count - count them, beside writers that go on.
 * @events: ids count from 1 to it
 * Return: events + 1 numbers, index is the id; NULL if there is no memory. Freed by free().
 */
uint64_t *hits_count(struct session *session, unsigned events);

#endif
