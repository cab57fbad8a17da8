/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Appending to a ring of kernel events from here, as the programs of kernel_program.c do. */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_APPEND_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_APPEND_H

#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/in_kernel/kernel_ring.h"
#include "wire/wire_record.h"

struct kernel_record {
	uint16_t id;
	uint32_t tid;
	uint64_t ns; /* CLOCK_MONOTONIC */
	const void *payload;
	unsigned bytes; /* of it */
};

/*
 * kernel_append - append a record. The caller is the ring's only writer.
 * @ring: with its packets; a time before the last record's becomes that one
 * Return: false: there is no room.
 */
bool kernel_append(struct kernel_ring *ring, const struct kernel_layout *layout,
		   const struct kernel_record *record);

#endif
