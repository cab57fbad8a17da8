/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* For programs in C at tracepoints: whether an event is of a recorded task, or names one. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_EVENT_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_EVENT_C_H

#include "source/kernel/in_kernel/kernel_task_c.h"

extern uint32_t kernel_named(const void *context);

BPF_INLINE bool kernel_event_is_own(uint32_t thread)
{
	return !BPF_NUMBER(follows) || *kernel_follow_of(thread) >= BPF_NUMBER(least_state);
}

BPF_INLINE bool kernel_event_names(const void *context)
{
	return BPF_NUMBER(names_task) && *kernel_follow_of(kernel_named(context)) >= BPF_NUMBER(least_state);
}

#endif
