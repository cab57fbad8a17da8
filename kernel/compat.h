/* SPDX-License-Identifier: GPL-2.0-only */
/* All differences between the kernels that the module is built for. */
#ifndef BURIN_KERNEL_COMPAT_H
#define BURIN_KERNEL_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

/* A read-only mapping for single pages. */
static inline void compat_map_pages(struct vm_area_struct *area)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(area, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
#else
	area->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
	area->vm_flags |= VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP;
#endif
}

#endif
