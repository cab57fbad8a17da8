/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of the kernel, by its own type information (BTF):
 *
 *	k:FUNCTION[(ARGUMENTS)]		its entry; without ARGUMENTS: all parameters that are integers or pointers, by their names
 *	kret:FUNCTION			its return, with `ret`
 *
 * ARGUMENTS are names of parameters, each perhaps with a TYPE, as of a probe (probe.h). `str` is a text in the kernel.
 * They are called by trampolines (fentry and fexit), so the kernel needs no kprobes.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_KERNEL_FUNCTION_H
#define BURIN_SOURCE_KERNEL_PROBES_KERNEL_FUNCTION_H

#include "source/kernel/probes/probe_arguments.h"

enum {
	KERNEL_FUNCTION_FIRST_ID = (int)(3u << 29), /* of `tracepoint.id`: those of probes are smaller */
};

/* kernel_function_is_one - whether a value of --kernel describes a function of the kernel. */
bool kernel_function_is_one(const char *text);

/*
 * kernel_function_find - find the functions that a description means; FUNCTION is a glob.
 * @take: as of tracefs_each()
 * @why: one line without a newline, if the description is wrong or means nothing
 * Return: 0; -EINVAL, -ENOENT: see *why; another -errno.
 */
int kernel_function_find(const char *text, int (*take)(void *context, const struct tracepoint *),
			 void *context, char why[PROBE_WHY]);

#endif
