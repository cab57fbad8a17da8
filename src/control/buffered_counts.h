/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How many records of each event are in a session's rings. */
#ifndef BURIN_CONTROL_BUFFERED_COUNTS_H
#define BURIN_CONTROL_BUFFERED_COUNTS_H

#include <stdint.h>

#include "session/session.h"

/*
 * buffered_counts_read - count the records while programs go on writing.
 * @events: the highest id
 * Return: @events + 1 numbers, by id; NULL: there is no memory. The caller frees them with free().
 */
uint64_t *buffered_counts_read(struct session *session, unsigned events);

#endif
