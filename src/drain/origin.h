/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* `.burin/origin`: where a trace begins within its session (wire/origin.h). Written once, before any stream. */
#ifndef BURIN_DRAIN_ORIGIN_H
#define BURIN_DRAIN_ORIGIN_H

#include "wire/origin.h"

/* origin_write - Return: 0 or -errno. */
int origin_write(int directory, const struct wire_origin *origins, unsigned count);

/* origin_read - all zero if there is none. Return: 0; -errno; -EBADMSG: it is not one of so many rings. */
int origin_read(int directory, struct wire_origin *origins, unsigned count);

/* origin_load - the same, of the trace at @path. */
int origin_load(const char *path, struct wire_origin *origins, unsigned count);

#endif
