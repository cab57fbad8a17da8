/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_SYS_SYSCALL_H
#define BURIN_KERNEL_SYS_SYSCALL_H

enum {
	SYS_getpid,
	SYS_gettid,
	SYS_geteuid,
};

#endif
