/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program of kernel_lookup.h. */
#include "bpf/bpf_c.h"

extern char text[];
extern const char format[4];

/* Print the name of the address that is the first argument. Return: its bytes, with the NUL. */
int kernel_lookup_program(const uint64_t *context)
{
	const uint64_t address = context[0];

	return (int)bpf_snprintf(text, (uint32_t)BPF_NUMBER(text_bytes), format, &address, sizeof(address));
}
