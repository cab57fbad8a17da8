/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rings in a map of the kernel; see in_kernel/kernel_ring.h. */
#include "ring/ring.h"
#include "session/session.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/in_kernel/kernel_ring.h"

unsigned kernel_ring_count(void)
{
	const long cpus = session_cpus();

	return (cpus < 1 ? 1 : (unsigned)cpus) * KERNEL_DEPTHS;
}

struct ring kernel_ring_view(char *memory, unsigned n, const struct kernel_layout *layout,
			     const struct wire_packet *header)
{
	char *ring = memory + (size_t)n * kernel_ring_bytes(layout->window);

	return (struct ring){ .control = &((struct kernel_ring *)ring)->control,
			      .slots = ring + KERNEL_SLOTS,
			      .word_mask = (uint64_t)layout->window * KERNEL_PACKET / 8 - 1,
			      .packet_mask = KERNEL_PACKET / 8 - 1,
			      .packet_words = KERNEL_PACKET / 8,
			      .window = layout->window,
			      .locked = true,
			      .fixed = true,
			      .overwrite = layout->overwrite,
			      .cpu = n / KERNEL_DEPTHS,
			      .header = header,
			      .stream_instance = WIRE_KERNEL_INSTANCE + n };
}
