/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All that the ring needs from its environment: whether there are restartable sequences, memory, the clock, and whether
 * the owner of a lock is alive.
 *
 * On x86-64, threads write to their CPU's ring by restartable sequences. On other machines RING_HAVE_RSEQ is 0, and
 * under emulators and valgrind no thread is registered; then threads write to the rings under locks.
 */
#ifndef BURIN_RING_RING_DEPS_H
#define BURIN_RING_RING_DEPS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "wire/wire_session.h"

#if defined(__x86_64__)
#define RING_HAVE_RSEQ 1
#else
#define RING_HAVE_RSEQ 0
#endif

/* ring_silent - if set, writing makes no system call: it allocates no memory and takes no thread for dead. */
extern bool ring_silent __attribute__((visibility("default")));

/*
 * Allocate memory for a part of the mapping. Without it the first store would, and a lack of memory would be SIGBUS;
 * MADV_POPULATE_WRITE returns an error instead. It needs Linux 5.14. Older kernels return EINVAL; there each page is
 * touched, and a file system that is full at that moment is SIGBUS after all.
 */
static inline int ring_have_memory(void *begin, size_t bytes)
{
	uintptr_t from = (uintptr_t)begin & ~(uintptr_t)4095,
		  to = ((uintptr_t)begin + bytes + 4095) & ~(uintptr_t)4095;
	int saved = errno, done = madvise((void *)from, to - from, MADV_POPULATE_WRITE) == 0;

	if (!done && errno == EINVAL) {
		for (uintptr_t page = from; page < to; page += 4096) /* others may be writing there */
			__atomic_fetch_or((uint64_t *)page, 0, __ATOMIC_RELAXED);
		done = 1;
	}
	errno = saved;
	return done;
}

/* The session's clock; set once when joining, before any ring is written. */
extern enum wire_clock ring_clock_source __attribute__((visibility("default")));

/* Of WIRE_CLOCK_GUEST: the word that has the time. */
extern const uint64_t *ring_guest_clock __attribute__((visibility("default")));

#if RING_HAVE_RSEQ
/* A copy of __rseq_offset, set with the first session: the C library's own takes one more load, and the clock waits for it. */
extern ptrdiff_t ring_rseq_offset __attribute__((visibility("hidden")));
#endif

static inline uint64_t ring_clock(void)
{
	struct timespec now;

#if defined(__x86_64__)
	if (__builtin_expect(ring_clock_source == WIRE_CLOCK_TSC, 1))
		return __builtin_ia32_rdtsc();
#endif
	if (__builtin_expect(ring_clock_source == WIRE_CLOCK_GUEST, 0))
		return __atomic_load_n(ring_guest_clock, __ATOMIC_RELAXED);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether the thread `tid` is gone. All writers of a session are in one PID namespace (session/join.c checks). */
static inline int ring_owner_is_dead(uint32_t tid)
{
	int saved = errno, dead;

	if (ring_silent)
		return 0;
	/* Damaged memory may have any number. The kernel takes those below 0 for groups of processes. */
	dead = (pid_t)tid < 0 || (kill((pid_t)tid, 0) != 0 && errno == ESRCH);
	errno = saved;
	return dead;
}

/*
 * Whether the thread is dead but keeps its id, since its parent has not reaped it. The first thread of a process also
 * keeps its id while other threads of the process live.
 */
static inline int ring_owner_is_zombie(uint32_t tid)
{
	char path[32] = "/proc/", text[128], *at = path + 6;
	int saved = errno, fd, dead = 0;
	ssize_t got;

	if (ring_silent)
		return 0;
	for (uint32_t unit = 1000000000, begun = 0; unit; unit /= 10) {
		begun |= tid / unit;
		if (begun)
			*at++ = (char)('0' + tid / unit % 10);
	}
	memcpy(at, "/stat", 6);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got > 0) {
		/* "tid (name) state ...": the name may contain any bytes, so find the last parenthesis. */
		text[got] = 0;
		at = strrchr(text, ')');
		dead = at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');
	}
	errno = saved;
	return dead;
}

#endif
