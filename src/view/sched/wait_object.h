/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The object that a thread waits for, by the functions of the kernel in which it does. */
#ifndef BURIN_VIEW_SCHED_WAIT_OBJECT_H
#define BURIN_VIEW_SCHED_WAIT_OBJECT_H

/* wait_object - what a function of the kernel waits for: "disk", "network"; NULL: the function does not show it. */
const char *wait_object(const char *function);

#endif
