/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Traces of samples whose truth is known. */
#ifndef BURIN_TESTS_READ_PROFILE_SAMPLE_H
#define BURIN_TESTS_READ_PROFILE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * 1000 samples, 1 ms each, of two programs (callers first, [f] inlined):
 *
 *	server/server  400  main handle parse [next_token]
 *	server/server  200  main fib fib fib
 *	server/worker  100  main handle malloc             malloc in libc, which has exported names only
 *	server/worker  100  (cut: no unwind information) libc+0x5000
 *	client/client  150  start read sys_read             sys_read in the kernel
 *	client/client   50  start
 *
 * received 1015 = 1000 + ring 10 + task 5. `factor` is how many samples instead of each one of `parse` there are,
 * 1 for the above. With `waits` there are samples of sample.off-cpu, too: 10 of 50 ms in malloc of the worker, 5 of 100 ms
 * in sys_read of the client.
 */
void sample_small(const char *path, unsigned parse_factor, bool waits);

/* A million samples, or so many, of 8 threads in about `stacks` different stacks of 4 to 40 frames. */
void sample_big(const char *path, uint32_t samples, uint32_t stacks);

/* 100 samples in the function `hot` of a file: 75 at its offset + 4, on `line` of a source, 25 at its beginning, on the
 * line before, of `other`, if it is not NULL. The 75 are called from its offset + 8, on the same line. */
void sample_function(const char *path, const char *image, const char *build_id, uint64_t offset,
		     uint64_t size, const char *source, uint32_t line, const char *other);

#endif
