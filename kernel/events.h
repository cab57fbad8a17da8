/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of the kernel and of modules: registered, switched by rules, and off at the end. */
#ifndef BURIN_KERNEL_EVENTS_H
#define BURIN_KERNEL_EVENTS_H

int events_begin(void);
void events_end(void);

#endif
