/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Appending from here; see kernel_append.h. The steps are those of the kernel's programs (kernel_append_steps.h).
 *
 * The recorder is the only writer: of rings of its own, or of a program's ring after all programs have stopped. So it takes no lock, and
 * the drain, its own thread, is the reader.
 *
 * A record's time is not before that of the last one in its ring, which `last` has: records of one CPU that come by different events need
 * not be in order, and readers rely on order.
 */
#include <string.h>

#include "source/kernel/in_kernel/kernel_append_steps.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/programs/kernel_append.h"
#include "wire/wire_context.h"

bool kernel_append(struct kernel_ring *ring, const struct kernel_layout *layout,
		   const struct kernel_record *record)
{
	const struct kernel_geometry geometry = { .window = layout->window,
						  .reach = layout->reach,
						  .context_bytes = wire_context_bytes(layout->context),
						  .overwrite = layout->overwrite };
	const struct kernel_head head = { .ns = record->ns > ring->last ? record->ns : ring->last,
					  .tid = record->tid,
					  .id = record->id };
	const uint64_t bytes = sizeof(struct wire_compact) + geometry.context_bytes + record->bytes,
		       tail = kernel_locate(ring, &geometry, head.ns, bytes + WIRE_ALIGN);

	if (!tail)
		return false;
	ring->last = head.ns;
	memcpy(kernel_fields_at(ring, &geometry, tail), record->payload, record->bytes);
	kernel_commit(ring, &geometry, tail, &head, record->bytes);
	return true;
}
