/* SPDX-License-Identifier: GPL-2.0-only */
/* All differences between the kernels that the module is built for. */
#ifndef BURIN_KERNEL_COMPAT_H
#define BURIN_KERNEL_COMPAT_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
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

/* Of 6.1, only the later releases have it. */
#ifndef __no_stack_protector
#if __has_attribute(__no_stack_protector__)
#define __no_stack_protector __attribute__((__no_stack_protector__))
#else
#define __no_stack_protector
#endif
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define COMPAT_PREEMPT_COUNT pcpu_hot.preempt_count
#else
#define COMPAT_PREEMPT_COUNT __preempt_count
#endif

#ifndef __my_cpu_var
#define __my_cpu_var(variable) (variable)
#endif

/* The arguments of the tracepoint timer_start after the timer, which has all of them but the newer kernel's. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define COMPAT_TIMER_START unsigned long bucket
#else
#define COMPAT_TIMER_START unsigned long expires, unsigned int bits
#endif

/* in_nmi() in one instruction and a branch. */
static __always_inline bool compat_in_nmi(void)
{
#ifdef CONFIG_X86_64
	bool found;

	asm volatile("testl %2, " __percpu_arg(1)
		     : "=@ccnz"(found)
		     : "m"(__my_cpu_var(COMPAT_PREEMPT_COUNT)), "i"(NMI_MASK));
	return found;
#else
	return in_nmi();
#endif
}

/* Subtract from a variable of this CPU. Return: whether it is negative now. */
#ifdef CONFIG_X86_64
#define compat_take(variable, bytes)                                           \
	({                                                                     \
		bool negative;                                                 \
		asm volatile("subq %2, " __percpu_arg(0)                       \
			     : "+m"(__my_cpu_var(variable)), "=@ccs"(negative) \
			     : "er"((s64)(bytes))                              \
			     : "memory");                                      \
		negative;                                                      \
	})
#else
#define compat_take(variable, bytes) (raw_cpu_sub_return(variable, bytes) < 0)
#endif

/* Whether a value is at least a variable of this CPU. */
#ifdef CONFIG_X86_64
#define compat_reached(variable, value)                                \
	({                                                             \
		bool reached;                                          \
		asm("cmpq " __percpu_arg(1) ", %2"                     \
		    : "=@ccae"(reached)                                \
		    : "m"(__my_cpu_var(variable)), "r"((u64)(value))); \
		reached;                                               \
	})
#else
#define compat_reached(variable, value) ((value) >= raw_cpu_read(variable))
#endif

#endif
