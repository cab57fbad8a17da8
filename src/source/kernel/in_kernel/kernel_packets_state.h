/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packets that threads send to their own machine, as each CPU knows them; see kernel_packets.h. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_PACKETS_STATE_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_PACKETS_STATE_H

#include <stdint.h>

enum {
	KERNEL_PACKETS_SENT = 16, /* packets of a CPU's list that are known, by their addresses */
};

/* The state of a CPU: a value of the map. */
struct kernel_packets {
	uint32_t delivered; /* the thread whose packet is delivered now; 0: none */
	uint32_t round;	    /* deliveries of the list so far */
	uint64_t scratch;
	struct {
		uint64_t packet;
		uint32_t sender; /* the thread */
		uint32_t round;	 /* before which it was sent: others have been delivered or dropped */
	} sent[KERNEL_PACKETS_SENT];
};

#endif
