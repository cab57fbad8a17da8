/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_SYS_PRCTL_H
#define BURIN_KERNEL_SYS_PRCTL_H

#include <linux/sched.h>

enum {
	PR_GET_NAME,
};

static inline void prctl(int what, char *name, int a, int b, int c)
{
	strscpy(name, current->comm, TASK_COMM_LEN);
}

#endif
