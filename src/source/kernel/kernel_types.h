/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's own types (BTF), by which programs load from its structures without a helper. */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_TYPES_H
#define BURIN_SOURCE_KERNEL_KERNEL_TYPES_H

#include <stdint.h>

/*
 * kernel_types_find - find the types of raw tracepoints.
 * @names, @types: receive for each name of a typedef its number
 * Return: 0 or -errno: the kernel has no BTF, or it lacks one of the names.
 */
int kernel_types_find(const char *const *names, uint32_t *types, unsigned count);

/* kernel_types_member - where a member lies in a structure. Return: its offset in bytes; 0: unknown, or the first one. */
unsigned kernel_types_member(const char *structure, const char *member);

#endif
