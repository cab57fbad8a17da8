/* SPDX-License-Identifier: GPL-2.0-only */
/* All differences between the kernels that the module is built for. */
#ifndef BURIN_KERNEL_COMPAT_H
#define BURIN_KERNEL_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void compat_forbid_writing(struct vm_area_struct *area)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(area, VM_MAYWRITE);
#else
	area->vm_flags &= ~VM_MAYWRITE;
#endif
}

#endif
