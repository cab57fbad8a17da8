/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The values in the maps of kernel_follow.h, for the recorder and its programs in the kernel. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_FOLLOW_STATE_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_FOLLOW_STATE_H

#include <stdint.h>

enum {
	KERNEL_FOLLOW_TASKS = 1 << 22, /* the kernel's limit of thread ids */
};

/* A task's byte in the map. */
enum kernel_follow_state {
	KERNEL_FOLLOW_NOT,
	KERNEL_FOLLOW_WAITS, /* for its exec */
	KERNEL_FOLLOW_RECORDED,
};

/* A task that is not recorded, but in whose time a record about one that is was made: it may have ended when that is read. */
struct kernel_met {
	uint32_t process;
	char name[16];
};

#endif
