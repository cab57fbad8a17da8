/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Packets that threads send to their own machine; see kernel_packets.h.
 *
 * Each CPU has a state of its own, which only programs on this CPU change:
 *
 *	kernel_packets_send()		notes packet, thread and round
 *	kernel_packets_deliver()	`delivered` becomes the thread whose packet that is; 0 if none
 *	kernel_packets_end()		`delivered` becomes 0, and the next round begins
 *
 * A packet is known by its address, in one of the places by some of its bits. Another one with the same bits takes the place: then
 * the wake-ups by the first one are those of an interrupt, which is what they would be without all this. An address is used again
 * after its packet is gone. So a note holds in the round in which it was made only: at its end all packets of the list have been
 * delivered or dropped.
 */
#include "source/kernel/in_kernel/kernel_packets_state.h"
#include "source/kernel/in_kernel/kernel_task_c.h"

enum {
	ADDRESS_SHIFT = 8, /* the kernel's structures of packets are of 256 bytes at least */
};

extern struct bpf_map packets; /* struct kernel_packets of each CPU */

BPF_INLINE struct kernel_packets *kernel_packets_here(void)
{
	const uint32_t cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&packets, &cpu);
}

BPF_INLINE unsigned kernel_packets_place(uint64_t packet)
{
	return packet >> ADDRESS_SHIFT & (KERNEL_PACKETS_SENT - 1);
}

/* A thread sends a packet, itself or as an answer to the delivery of another one of its own. */
int kernel_packets_send(const uint64_t *context)
{
	const uint32_t thread = (uint32_t)bpf_get_current_pid_tgid();
	struct kernel_packets *here = kernel_packets_here();
	const unsigned place = kernel_packets_place(context[0]);

	if (!here)
		return 1;
	if (kernel_interrupt(&here->scratch) != KERNEL_INTERRUPT_NONE && here->delivered != thread)
		return 1;
	here->sent[place].packet = context[0];
	here->sent[place].sender = thread;
	here->sent[place].round = here->round;
	return 1;
}

/* A packet is delivered, of a thread or of a device. */
int kernel_packets_deliver(const uint64_t *context)
{
	struct kernel_packets *here = kernel_packets_here();
	const unsigned place = kernel_packets_place(context[0]);

	if (!here)
		return 1;
	here->delivered = here->sent[place].packet == context[0] && here->sent[place].round == here->round
				  ? here->sent[place].sender
				  : 0;
	return 1;
}

/* All packets of the list have been delivered, or some of a device. */
int kernel_packets_end(const uint64_t *context)
{
	struct kernel_packets *here = kernel_packets_here();

	(void)context;
	if (!here)
		return 1;
	here->delivered = 0;
	here->round++;
	return 1;
}
