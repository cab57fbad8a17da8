/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Work for samples to find; a function calls another, with frame pointers. */
#include <time.h>

void outer(long ms);

#ifdef SAMPLED_WORK
static volatile unsigned long turns;

__attribute__((noinline, visibility("default"))) void busy(void);
__attribute__((noinline)) void busy(void)
{
	/* A leaf has no frame of its own unless it asks for it; then its caller would be missing from the chain. */
	__asm__ volatile("" ::"r"(__builtin_frame_address(0)));
	for (unsigned n = 0; n < 100000; n++)
		turns += n;
}

/* CPU time of the calling thread, in ms. */
static long spent(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

__attribute__((noinline, visibility("default"))) void outer(long ms)
{
	const long end = spent() + ms;

	while (spent() < end) {
		busy();
		__asm__ volatile("");
	}
}
#endif
