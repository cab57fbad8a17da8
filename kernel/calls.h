/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of system calls, as probes.h has those of other tracepoints. */
#ifndef BURIN_KERNEL_CALLS_H
#define BURIN_KERNEL_CALLS_H

#include <linux/types.h>

/* calls_register - @texts: whether texts of processes are recorded, instead of their addresses. */
int calls_register(bool texts);

/* calls_switch - Return: whether it is an event of a system call. */
bool calls_switch(u32 index, bool on);

/* calls_enum - the numbers' names as an enum (wire/wire_enum.h), for kfree(); NULL: no memory. */
char *calls_enum(void);

#endif
