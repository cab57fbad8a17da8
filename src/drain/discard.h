/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Removing traces. */
#ifndef BURIN_DRAIN_DISCARD_H
#define BURIN_DRAIN_DISCARD_H

/* drain_discard - remove a trace that holds no records: it could not be begun, or its program could not be run. */
void drain_discard(const char *path);

/* drain_remove - remove a trace with all its records. What is no part of a trace stays, and so then does the
 * directory. */
void drain_remove(const char *path);

#endif
