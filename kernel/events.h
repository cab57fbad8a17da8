/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of the kernel and of modules: registered, switched by rules, and off at the end. */
#ifndef BURIN_KERNEL_EVENTS_H
#define BURIN_KERNEL_EVENTS_H

/* events_begin - @texts: as of calls_register(). */
int events_begin(bool texts);
void events_end(void);

#endif
