/* SPDX-License-Identifier: GPL-2.0-only */
/* Events at the kernel's own tracepoints: each has a probe, which is attached while its event is on. */
#ifndef BURIN_KERNEL_PROBES_H
#define BURIN_KERNEL_PROBES_H

#include <linux/types.h>

/* probes_register - register the events. @texts: as of calls_register(). Context: burin_mutex. */
int probes_register(bool texts);

/* probes_switch - attach or detach the probe of an event, unless it is. */
void probes_switch(u32 index, bool on);

#endif
