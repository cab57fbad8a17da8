/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Loading and attaching programs. One that the kernel refuses is written again in a poorer form: without its types, without the registers
 * of processes. The layout keeps that, so later programs begin there.
 */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_ATTACH_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_ATTACH_H

#include "source/kernel/bpf/kernel_files.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/points/tracepoint.h"

/* Writes a program for the layout as it is. Return: false: it is too long. */
typedef bool (*kernel_attach_write)(const void *context, struct bpf_program *code);

/* kernel_attach_point - attach to a tracepoint, a probe or a function of the kernel. Return: 0 or -errno; -E2BIG: too long. */
int kernel_attach_point(struct kernel_files *files, struct kernel_layout *layout,
			const struct tracepoint *point, kernel_attach_write write, const void *context);

/*
 * kernel_attach_calls - attach to the entries or the exits of all system calls.
 * @types: of both raw tracepoints, if @layout->typed
 */
int kernel_attach_calls(struct kernel_files *files, struct kernel_layout *layout, const uint32_t types[2],
			bool exits, kernel_attach_write write, const void *context);

#endif
