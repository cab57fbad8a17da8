/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* For the programs of system calls: memory that arguments point to. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_MEMORY_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_MEMORY_C_H

#include "source/kernel/in_kernel/kernel_fields_c.h"

extern const struct kernel_tables tables;

/* ---- addresses of sockets */

struct kernel_socket {
	uint64_t address;
	uint32_t bytes; /* that the process says */
};

/* The begin of struct msghdr. */
struct kernel_message_name {
	uint64_t address;
	uint32_t bytes, padding;
};

/* One whose header cannot be read gets an address that no process has. A header that is missing has no address. */
BPF_INLINE void kernel_find_message_name(uint64_t header, struct kernel_socket *out)
{
	struct kernel_message_name name = { 0 };

	if (bpf_probe_read_user(&name, sizeof(name), (const void *)header) != 0 && header) {
		name.address = UINT64_MAX;
		name.bytes = 1;
	}
	out->address = name.address;
	out->bytes = name.bytes;
}

/* A length that cannot be read is 0, as all that the kernel's helper cannot read. */
BPF_INLINE void kernel_find_socket(const struct kernel_input *input, unsigned kind, bool exits,
				   struct kernel_socket *out)
{
	const unsigned first = kind == TRACEPOINT_SOCKET_FIFTH ? 4 : kind == TRACEPOINT_SOCKET_FOURTH ? 3 : 1;
	uint64_t length;

	if (kind == TRACEPOINT_SOCKET_MESSAGE) {
		kernel_find_message_name(input->arguments[1], out);
		return;
	}
	out->address = kernel_argument(input, first);
	length = kernel_argument(input, first + 1);
	out->bytes = (uint32_t)length;
	if (!exits)
		return;
	out->bytes = 0;
	if (length)
		bpf_probe_read_user(&out->bytes, sizeof(out->bytes), (const void *)length);
}

/* A length that is negative is none. */
BPF_INLINE uint64_t kernel_socket_bytes(const struct kernel_socket *socket)
{
	return socket->bytes > INT32_MAX ? 0 : socket->bytes;
}

/* ---- pieces of memory */

/* Of what an ioctl points to. */
BPF_INLINE uint64_t kernel_command_bytes(uint32_t command, bool exits)
{
#pragma unroll
	for (unsigned n = 0; n < KERNEL_COMMANDS; n++)
		if (tables.commands[n].command == command && tables.commands[n].returns == exits)
			return tables.commands[n].bytes;
	return 0;
}

/* Whether an argument has one of the values. */
BPF_INLINE bool kernel_condition_holds(const struct kernel_input *input, unsigned number)
{
	const struct tracepoint_condition *condition = &tables.conditions[number & (KERNEL_CONDITIONS - 1)];
	const uint32_t value = (uint32_t)kernel_argument(input, condition->argument) & condition->mask;

	return value < 64 && condition->values >> (value & 63) & 1;
}

/* How many elements a piece of memory has. */
BPF_INLINE uint64_t kernel_piece_times(const struct kernel_input *input, unsigned times, bool exits)
{
	if (times == TRACEPOINT_ONCE)
		return 1;
	if (times < TRACEPOINT_TIMES_RESULT)
		return kernel_argument(input, times - TRACEPOINT_TIMES_ARGUMENT);
	switch (times) {
	case TRACEPOINT_TIMES_RESULT:
		return (uint64_t)input->result;
	case TRACEPOINT_TIMES_COMMAND:
		return kernel_command_bytes((uint32_t)input->arguments[1], exits);
	case TRACEPOINT_TIMES_BITS:
		return ((uint64_t)(uint32_t)input->arguments[0] + 7) >> 3;
	case TRACEPOINT_TIMES_STOPPED: /* no other error comes here */
		return input->result < 0;
	default:
		return kernel_condition_holds(input, times - TRACEPOINT_TIMES_IF);
	}
}

enum {
	KERNEL_RESTART_SLEEP =
		516, /* ERESTART_RESTARTBLOCK: a signal ended a sleep, whose rest is where the call wants it */
};

/* Put a piece as an array. One that cannot be read, or of a call that failed, has no bytes. */
BPF_FUNCTION void kernel_put_piece(const struct kernel_open *open, const struct kernel_input *input,
				   unsigned piece, uint64_t most, bool exits)
{
	const unsigned times = piece >> KERNEL_PLACE_BITS & (0xff >> KERNEL_PLACE_BITS);
	uint64_t address = kernel_argument(input, piece), count, bytes = piece >> 8;

	if (exits && input->result < 0 &&
	    (times != TRACEPOINT_TIMES_STOPPED || input->result != -KERNEL_RESTART_SLEEP))
		address = 0;
	count = kernel_piece_times(input, times, exits);
	count = KERNEL_BOUND(count < most ? count : most, TRACEPOINT_SOCKET_MAX * 2 - 1);
	bytes *= count;
	kernel_put_array(open, address, bytes < most ? bytes : most);
}

/* Put the memory that arguments point to. The first piece without a description ends them. */
BPF_INLINE void kernel_put_memory(const struct kernel_open *open, const struct kernel_input *input,
				  const struct kernel_syscall *call, bool exits)
{
#pragma unroll
	for (unsigned n = 0; n < TRACEPOINT_PIECES; n++) {
		const unsigned piece = call->pieces[n].place | call->pieces[n].bytes << 8;

		if (!piece)
			return;
		kernel_put_piece(open, input, piece, n ? TRACEPOINT_PIECE_MAX : TRACEPOINT_SOCKET_MAX, exits);
	}
}

#endif
