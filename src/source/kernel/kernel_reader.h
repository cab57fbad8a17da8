/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One pass over the kernel's rings: it converts the times of their records to the trace's clock, and takes note of names.
 *
 * A recording in stream mode reads the rings once. The flight recorder reads them in each round for the names, and again for each
 * snapshot and at its end; each pass converts by itself.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_READER_H
#define BURIN_SOURCE_KERNEL_KERNEL_READER_H

#include "drain/drain.h"
#include "source/kernel/kernel_clock.h"
#include "source/kernel/points/task_names.h"

/* The state of a ring's times. */
struct kernel_times {
	uint64_t ns, ticks; /* of the last record */
};

struct kernel_reader {
	struct drain_more more; /* for a drain; its `round` does nothing */
	const struct kernel_clock *clock;
	struct task_names *names; /* NULL: another pass takes note of them */
	struct kernel_times *times;
	uint32_t head; /* bytes of a record before its fields */
};

/*
 * kernel_reader_begin - begin a pass.
 * @rings: their `control` may be mapped for reading only; @context: enum wire_context of the records
 * Return: 0 or -ENOMEM; the caller must call kernel_reader_free() in both cases.
 */
int kernel_reader_begin(struct kernel_reader *reader, const struct ring *rings, unsigned count,
			const struct kernel_clock *clock, struct task_names *names, uint32_t context);

/* kernel_reader_convert - convert a piece of a ring. */
void kernel_reader_convert(struct kernel_reader *reader, unsigned ring, struct wire_packet *packet,
			   const struct ring_piece *piece);

void kernel_reader_free(struct kernel_reader *reader);

#endif
