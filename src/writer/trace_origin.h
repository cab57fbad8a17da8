/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* `.burin/origin`: where a trace begins in its session (wire/wire_origin.h). It is written once, before any stream. */
#ifndef BURIN_WRITER_TRACE_ORIGIN_H
#define BURIN_WRITER_TRACE_ORIGIN_H

#include "wire/wire_origin.h"

/* origin_write - Return: 0 or -errno. */
int origin_write(int directory, const struct wire_origin *origins, unsigned count);

/* origin_read - fill @origins; all zero if there is no file. Return: 0; -errno; -EBADMSG: invalid, or not of @count rings. */
int origin_read(int directory, struct wire_origin *origins, unsigned count);

#endif
