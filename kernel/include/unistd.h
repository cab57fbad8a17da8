/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_UNISTD_H
#define BURIN_KERNEL_UNISTD_H

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>

#include "sys/syscall.h"

/* There is no environment. */
#define environ ((char **)NULL)

/* The system calls of src/base/nolibc.h: the current task in the initial namespaces. */
static inline long syscall(int number)
{
	return number == SYS_getpid   ? task_tgid_nr(current)
	       : number == SYS_gettid ? task_pid_nr(current)
				      : (long)__kuid_val(current_euid());
}

#endif
