/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Probes in programs and libraries, which need no tracepoints and no restart: at the entry and the return of a function, and at the probes of
 * <sys/sdt.h>.
 *
 *	u:FILE:FUNCTION[(ARGUMENTS)]		ARGUMENTS: NAME[:TYPE], ...; by debug information, or of integer registers in their order
 *	u:FILE:FUNCTION+OFFSET			an instruction within it; so does u:FILE:0xADDRESS
 *	u:FILE:SOURCE:LINE			the code of a line
 *	uret:FILE:FUNCTION[(NAME[:TYPE])]	its return, with the result: ret, an i64
 *	usdt:FILE:PROVIDER:NAME[(ARGUMENTS)]	without ARGUMENTS: arg1, arg2, ... as the file describes them
 *
 * FUNCTION is a symbol or a name in the source, with or without parameters: "ns::f(int)"; it, PROVIDER and NAME are globs. FILE is a path, or a command in PATH. TYPE is i8 to i64, u8 to u64, ptr or str.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_H

#include "source/kernel/probes/probe_arguments.h"

enum {
	PROBE_FIRST_ID = 1 << 30, /* of `tracepoint.id`: the kernel's are smaller */
};

/* probe_is_one - whether a value of --kernel describes a probe, not a tracepoint. */
bool probe_is_one(const char *text);

/*
 * probe_find - find the places that a description means.
 * @file: set to the file, open; -1: none. The caller closes it after attaching
 * @take: as of tracefs_each()
 * @why: one line without a newline, if the description is wrong or means nothing
 * Context: forks. Return: 0; -EINVAL, -ENOENT: see *why; another -errno.
 */
int probe_find(const char *text, int *file, int (*take)(void *context, const struct tracepoint *),
	       void *context, char why[PROBE_WHY]);

/* probe_is_like - whether one program can serve both: their fields are the same, in the same file. */
bool probe_is_like(const struct tracepoint *one, const struct tracepoint *other);

/*
 * probe_attach_all - run a program of bpf_load_places() at probes that are alike. Its cookie is the number of the event.
 * Return: a descriptor; -errno: see bpf_attach_places().
 */
int probe_attach_all(const struct tracepoint *points, const uint16_t *ids, unsigned count, int program);

/* probe_attach - run a program of BPF_PROG_TYPE_KPROBE at a probe. Return: a descriptor; -EOPNOTSUPP: the kernel has no
 * probes in programs; -errno. */
int probe_attach(const struct tracepoint *point, int program);

#endif
