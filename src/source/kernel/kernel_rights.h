/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whether this process may record the kernel's events, and which rights it lacks. */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_RIGHTS_H
#define BURIN_SOURCE_KERNEL_KERNEL_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * kernel_rights_explain - describe why the kernel does not permit something: the capabilities that this process lacks, or lockdown.
 * @what: a word before it; @reads: it is about reading tracefs
 */
void kernel_rights_explain(char *out, size_t room, const char *what, bool reads);

/* kernel_rights_describe - the same, or another error: -ENOSYS: the kernel has no programs. @what: "tracefs" is about reading it */
void kernel_rights_describe(char *out, size_t room, int error, const char *what);

/*
 * kernel_rights_tracefs - open tracefs's folder of events.
 * @why: receives why not, one line
 * Return: a descriptor; -errno: also -ENOTSUP: this process is in a PID namespace of its own.
 */
int kernel_rights_tracefs(char *why, size_t room);

/* kernel_rights_programs - whether the kernel takes programs from us. Return: 0 or -errno. */
int kernel_rights_programs(void);

#endif
