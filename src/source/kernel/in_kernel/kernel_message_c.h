/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For the programs of system calls: messages of sendmsg and recvmsg, and vectors. An array in the record gets the header, the vectors, and
 * bytes of what they lead to, one behind the other. A part that cannot be read ends the array there, so its length is what was copied.
 *
 * Header and vectors are read from the record, where they were copied, and not from the process again. So what is followed is what is
 * recorded, also if another thread changes the memory in between. Their numbers are foreign: the number of vectors is asked
 * before each, since behind the last one lie older bytes of the ring.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_MESSAGE_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_MESSAGE_C_H

#include "source/kernel/in_kernel/kernel_fields_c.h"

enum {
	/* Of one that is received, and of one that is sent. */
	KERNEL_MESSAGE_RECEIVED = TRACEPOINT_MESSAGE_HEAD + TRACEPOINT_MESSAGE_VECTORS * 16,
	KERNEL_MESSAGE_SENT = KERNEL_MESSAGE_RECEIVED + TRACEPOINT_MESSAGE_DATA,
};

/* As the kernel has them. */
struct kernel_vector {
	uint64_t address, bytes;
};

struct kernel_header {
	uint64_t name;
	uint32_t name_bytes, padding;
	uint64_t vectors, vector_count;
	uint64_t control, control_bytes;
	uint32_t flags, more_padding;
};

static_assert(sizeof(struct kernel_header) == TRACEPOINT_MESSAGE_HEAD, "as the kernel has them");

/* Copy bytes behind those of the array so far. @bytes: bounded. Return: false: they cannot be read. */
BPF_INLINE bool kernel_copy_more(const struct kernel_open *open, char *array, uint64_t from, uint64_t bytes)
{
	volatile uint64_t *copied = &open->ring->fields.copied;

	if (!from ||
	    bpf_probe_read_user(array + KERNEL_BOUND(*copied, 255), (uint32_t)bytes, (const void *)from) != 0)
		return false;
	*copied += bytes;
	return true;
}

/* Copy the first bytes of each vector while there is room. */
BPF_INLINE void kernel_copy_data(const struct kernel_open *open, char *array,
				 const volatile struct kernel_vector *vectors, uint64_t count)
{
	volatile uint64_t *left = &open->ring->fields.left;

	*left = TRACEPOINT_MESSAGE_DATA;
#pragma unroll
	for (unsigned n = 0; n < TRACEPOINT_MESSAGE_VECTORS; n++) {
		uint64_t bytes, room;

		if (count <= n)
			return;
		bytes = vectors[n].bytes;
		room = *left;
		bytes = bytes < room ? bytes : room;
		bytes = KERNEL_BOUND(bytes < TRACEPOINT_MESSAGE_DATA ? bytes : TRACEPOINT_MESSAGE_DATA,
				     TRACEPOINT_MESSAGE_DATA * 2 - 1);
		*left = room - bytes;
		if (bytes && !kernel_copy_more(open, array, vectors[n].address, bytes))
			return;
	}
}

/* Copy the vectors, and what they lead to. */
BPF_INLINE void kernel_copy_vectors(const struct kernel_open *open, char *array, char *to, uint64_t from,
				    uint64_t count, bool with_data)
{
	uint64_t some = count < TRACEPOINT_MESSAGE_VECTORS ? count : TRACEPOINT_MESSAGE_VECTORS;

	some = KERNEL_BOUND(some, TRACEPOINT_MESSAGE_VECTORS * 2 - 1);
	if (!some || !kernel_copy_more(open, array, from, some * sizeof(struct kernel_vector)))
		return;
	if (with_data)
		kernel_copy_data(open, array, (const volatile struct kernel_vector *)to, count);
}

/* Put the message that the second argument points to, and then its control messages. */
BPF_FUNCTION void kernel_put_message(const struct kernel_open *open, const struct kernel_input *input,
				     bool exits)
{
	char *array = kernel_next(open) + KERNEL_ARRAY;
	const volatile struct kernel_header *header = (const volatile struct kernel_header *)array;
	uint64_t control = 0, control_bytes = 0;

	open->ring->fields.copied = 0;
	if ((!exits || input->result >= 0) &&
	    kernel_copy_more(open, array, input->arguments[1], sizeof(*header))) {
		control = header->control;
		control_bytes = header->control_bytes;
		kernel_copy_vectors(open, array, array + sizeof(*header), header->vectors,
				    header->vector_count, !exits);
	}
	kernel_put_array_end(open, KERNEL_BOUND(open->ring->fields.copied, 255));
	kernel_put_array(open, control, control_bytes);
}

/* Put the vectors of writev, and what they lead to. */
BPF_FUNCTION void kernel_put_vectors(const struct kernel_open *open, const struct kernel_input *input)
{
	char *array = kernel_next(open) + KERNEL_ARRAY;

	open->ring->fields.copied = 0;
	kernel_copy_vectors(open, array, array, input->arguments[1], input->arguments[2], true);
	kernel_put_array_end(open, KERNEL_BOUND(open->ring->fields.copied, 255));
}

#endif
