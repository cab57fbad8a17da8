/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that change the session. */
#ifndef BURIN_KERNEL_CONTROL_H
#define BURIN_KERNEL_CONTROL_H

#include <linux/types.h>

struct wire_device_change;
struct wire_device_counts;
long control_change(const struct wire_device_change __user *user);
long control_counts(struct wire_device_counts __user *user);

/* control_consume - give packets of a ring back. Context: burin_mutex. */
long control_consume(u32 ring, u64 sequence);

/* control_readable - whether a packet is complete and not given back. */
bool control_readable(void);

/* control_switch - switch the events whose names match, with an entry in the history. Return: how many; -errno. */
int control_switch(const char *glob, bool on);
int control_pause(bool paused);

#endif
