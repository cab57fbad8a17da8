/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The floating-point state of the calling thread, for a library that computes inside a program: which may have set another
 * rounding mode, may have unmasked exceptions, which are signals, and may look at the flags. <fenv.h> does the same,
 * but lies in libm, which a traced program may not need otherwise.
 */
#ifndef BURIN_BASE_FLOAT_STATE_H
#define BURIN_BASE_FLOAT_STATE_H

#include <stdint.h>

struct float_state {
#if defined(__x86_64__)
	uint32_t x87[7]; /* of fnstenv */
	uint32_t mxcsr;
#elif defined(__aarch64__)
	uint64_t fpcr, fpsr;
#else
	char none;
#endif
};

/* float_state_default - save the state, and set that of a new process: round to nearest, no signals. */
static inline void float_state_default(struct float_state *saved)
{
#if defined(__x86_64__)
	static const uint16_t x87 = 0x37f;
	static const uint32_t mxcsr = 0x1f80;

	__asm__ volatile("fnstenv %0\n\tstmxcsr %1\n\tfldcw %2\n\tldmxcsr %3"
			 : "=m"(saved->x87), "=m"(saved->mxcsr)
			 : "m"(x87), "m"(mxcsr)
			 : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr"
			 : "=&r"(saved->fpcr), "=&r"(saved->fpsr)
			 :
			 : "memory");
#else
	saved->none = 0;
#endif
}

/* float_state_restore - restore the state, the flags of exceptions with it. */
static inline void float_state_restore(const struct float_state *saved)
{
#if defined(__x86_64__)
	__asm__ volatile("fldenv %0\n\tldmxcsr %1" : : "m"(saved->x87), "m"(saved->mxcsr) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(saved->fpcr), "r"(saved->fpsr) : "memory");
#else
	(void)saved;
#endif
}

#endif
