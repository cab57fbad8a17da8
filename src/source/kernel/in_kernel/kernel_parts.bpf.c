/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions that the parts of programs call which are written when the recording begins (kernel_put.h). */
#include "source/kernel/in_kernel/kernel_memory_c.h"

uint64_t kernel_text_kernel(char *to, const void *from)
{
	return kernel_text_of_kernel(to, from);
}

/* Return: -1: the text is not in memory. */
int64_t kernel_text_user(char *to, const void *from)
{
	long result;

	if (BPF_NUMBER(in_kernel)) /* the kernel has copied it, in an exec */
		return (int64_t)kernel_text_of_kernel(to, from);
	result = kernel_read_text(to, from);
	if (result < 0 && from) {
		kernel_text_bytes(to, result);
		return -1;
	}
	return (int64_t)kernel_text_bytes(to, result);
}

/* An array of characters. @bytes: its size, which the copy does not exceed */
uint64_t kernel_text_chars(char *to, const void *from, uint32_t bytes)
{
	const long result = bpf_probe_read_kernel_str(to, bytes, from);

	return result > 0 ? (uint64_t)result : kernel_mark(to, KERNEL_MARK_NULL, 2);
}

/* Copy a socket's address. @kind: enum tracepoint_socket. Return: its bytes; -1: it is not in memory now. */
int64_t kernel_copy_socket(const struct kernel_input *input, unsigned kind, bool exits, char *to)
{
	struct kernel_socket socket = { 0 };
	uint64_t bytes;

	if (!exits || input->result >= 0) /* what is noted is read again whatever the result */
		kernel_find_socket(input, kind, exits, &socket);
	bytes = kernel_socket_bytes(&socket);
	bytes = KERNEL_BOUND(bytes < TRACEPOINT_SOCKET_MAX ? bytes : TRACEPOINT_SOCKET_MAX,
			     TRACEPOINT_SOCKET_MAX * 2 - 1);
	if (!socket.address)
		return 0;
	if (bpf_probe_read_user(to, (uint32_t)bytes, (const void *)socket.address) != 0)
		return exits ? 0 : -1;
	return (int64_t)bytes;
}
