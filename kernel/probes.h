/* SPDX-License-Identifier: GPL-2.0-only */
/* Events at the kernel's own tracepoints: each has a probe, which is attached while its event is on. */
#ifndef BURIN_KERNEL_PROBES_H
#define BURIN_KERNEL_PROBES_H

#include <linux/types.h>

struct tracepoint;

/* probes_find - a tracepoint of the kernel; NULL: it has none of that name. */
struct tracepoint *probes_find(const char *name);

/* probes_register - register the events. Context: burin_mutex. */
int probes_register(void);

/* probes_switch - attach or detach the probe of an event, unless it is. */
void probes_switch(u32 index, bool on);

/* The same for the system calls. calls_switch() - Return: whether it is an event of one. */
int calls_register(void);
bool calls_switch(u32 index, bool on);

/* calls_enum - the numbers' names as an enum (wire/wire_enum.h), for kfree(); NULL: no memory. */
char *calls_enum(void);

#endif
