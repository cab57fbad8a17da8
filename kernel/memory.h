/* SPDX-License-Identifier: GPL-2.0-only */
/* The session's memory. */
#ifndef BURIN_KERNEL_MEMORY_H
#define BURIN_KERNEL_MEMORY_H

#include <linux/mm_types.h>

#include "state.h"

struct memory_options {
	u64 buffer_bytes, buffer_max; /* of each CPU's ring */
	u64 packet_bytes;
	enum wire_mode mode;
	enum wire_clock clock;
	u32 string_max;
};

int memory_make(const struct memory_options *options);
void memory_free(void);

/* memory_insert - map the page at an offset of the session's file. Return: 0; -ENOMEM; -EFAULT: it is behind the end. */
int memory_insert(struct vm_area_struct *area, unsigned long address, u64 offset);

/* memory_ring_add - give the rings of a CPU their memory, unless they have it. Context: CPU hotplug, or its lock held. */
int memory_ring_add(unsigned int cpu);

/* memory_resize - give the rings of all CPUs so many slots. Context: burin_mutex. Return: 0; -errno: nothing changed. */
int memory_resize(u32 packets);

/* memory_close_packets - open the next packet of each ring whose open one has records. */
void memory_close_packets(void);

/* memory_reset - forget all records and losses. */
void memory_reset(void);

#endif
