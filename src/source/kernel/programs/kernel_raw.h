/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Records in the kernel's own form, as tracefs describes it, to payloads of events. */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_RAW_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_RAW_H

#include "source/kernel/points/tracepoint.h"

enum {
	KERNEL_PAYLOAD_MAX = TRACEPOINT_FIELDS * (TRACEPOINT_TEXT_MAX + 2),
};

/*
 * kernel_raw_convert - convert a record.
 * @raw: @bytes of them; what lies behind counts as 0, or as an empty text
 * @out: KERNEL_PAYLOAD_MAX bytes
 * Return: the payload's bytes.
 */
unsigned kernel_raw_convert(const struct tracepoint *point, const char *raw, unsigned bytes, char *out);

#endif
