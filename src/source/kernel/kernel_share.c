/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's rings of a flight recorder; see kernel_share.h.
 *
 * The clock has one writer, the recorder, and readers in other processes, which have no lock: a sequence lock.
 * `version` is odd while the clock is written. The release fence behind the first store pairs with the acquire fence
 * in front of the reader's second load; the release of the second store with its first load. A copy between two equal
 * even versions is whole. A version of 0 is a clock that was never published.
 *
 * A reader may find anything: it gets descriptors by numbers from a file that any process of the user can write. So
 * it asks the kernel what each map is, before it maps it, and for reading only. The number of packets follows from
 * the size of a value, and must be possible. The uuid must be the session's: otherwise the records are of another
 * recording, whose events have other ids.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/bpf_program.h"
#include "ring/ring.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/in_kernel/kernel_ring.h"
#include "source/kernel/kernel_share.h"

enum {
	SHARE_TRIES = 1000, /* to copy the clock: it is written every 5 ms at most, in about a microsecond */
};

void kernel_clock_publish(struct kernel_shared_clock *shared, const struct kernel_clock *clock)
{
	__atomic_store_n(&shared->version, shared->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* the version is odd before the clock changes */
	shared->clock = *clock;
	__atomic_store_n(&shared->version, shared->version + 1, __ATOMIC_RELEASE);
}

/* Return: whether the clock was copied whole, and is one. */
static bool copy_clock(const struct kernel_shared_clock *shared, struct kernel_clock *clock)
{
	for (int tries = 0; tries < SHARE_TRIES; tries++) {
		const uint64_t version = __atomic_load_n(&shared->version, __ATOMIC_ACQUIRE);

		*clock = shared->clock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (version && version % 2 == 0 &&
		    __atomic_load_n(&shared->version, __ATOMIC_RELAXED) == version)
			return clock->same ||
			       (clock->count >= 1 && clock->all && clock->count <= KERNEL_CLOCK_PAIRS);
	}
	return false;
}

int kernel_share(const struct session *session, int rings, char *memory, int *map,
		 struct kernel_shared_clock **clock)
{
	void *value;

	*map = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
					       sizeof(struct kernel_shared_clock), 1, BPF_F_MMAPABLE });
	if (*map < 0)
		return *map;
	value = mmap(NULL, sizeof(**clock), PROT_READ | PROT_WRITE, MAP_SHARED, *map, 0);
	if (value == MAP_FAILED)
		return -errno;
	*clock = value;
	((struct kernel_ring *)memory)->clock = (uint64_t)*map + 1;
	__atomic_store_n(&session->shared->kernel_rings, (uint32_t)rings + 1, __ATOMIC_RELEASE);
	return 0;
}

void kernel_share_end(const struct session *session)
{
	__atomic_store_n(&session->shared->kernel_rings, 0, __ATOMIC_RELEASE);
}

/* The packets of a ring in a value of this size; 0: no ring is like that. */
static unsigned window_of_value(unsigned bytes)
{
	unsigned window = WIRE_RING_PACKETS_MIN;

	while (window < (1 << 14) && kernel_ring_bytes(window) < bytes)
		window *= 2;
	return kernel_ring_bytes(window) == bytes ? window : 0;
}

/* Map a map of another process. @file: its number there, + 1. Return: its value; NULL. */
static void *borrow_map(int process, uint64_t file, struct bpf_map *map)
{
	const int copy =
		file && file <= INT32_MAX ? (int)syscall(SYS_pidfd_getfd, process, (int)file - 1, 0) : -1;
	void *memory = MAP_FAILED;

	if (copy >= 0 && bpf_map_describe(copy, map) == 0 && map->type == BPF_MAP_TYPE_ARRAY &&
	    map->key_bytes == sizeof(uint32_t) && map->flags & BPF_F_MMAPABLE)
		memory = mmap(NULL, (size_t)map->value_bytes * map->entries, PROT_READ, MAP_SHARED, copy, 0);
	if (copy >= 0)
		close(copy);
	return memory == MAP_FAILED ? NULL : memory;
}

static int borrow_clock(struct kernel_borrowed *borrowed, int process)
{
	const struct kernel_ring *first = (const struct kernel_ring *)borrowed->memory;
	struct bpf_map map = { .entries = 0 };
	struct kernel_shared_clock *shared = borrow_map(process, first->clock, &map);
	bool whole = shared && map.entries == 1 && map.value_bytes == sizeof(*shared) &&
		     copy_clock(shared, &borrowed->clock);

	if (shared)
		munmap(shared, (size_t)map.value_bytes * map.entries);
	return whole ? 0 : -EBADMSG;
}

static int kernel_share_borrow(struct kernel_borrowed *borrowed, const struct session *session, int process,
			       uint32_t file)
{
	const unsigned count =
		kernel_ring_count(); /* a session whose clock is not the processor's has no rings of CPUs */
	struct kernel_layout layout = { .overwrite = true };
	struct bpf_map map = { .entries = 0 };
	int error;

	borrowed->memory = borrow_map(process, file, &map);
	if (!borrowed->memory)
		return -EPERM;
	borrowed->bytes = (size_t)map.value_bytes * map.entries;
	layout.window = window_of_value(map.value_bytes);
	if (!layout.window || map.entries != count ||
	    memcmp(((const struct kernel_ring *)borrowed->memory)->header.uuid, session->geometry.uuid,
		   sizeof(session->geometry.uuid)) != 0)
		return -EBADMSG;
	error = borrow_clock(borrowed, process);
	borrowed->rings = calloc(count, sizeof(*borrowed->rings));
	if (error || !borrowed->rings)
		return error ? error : -ENOMEM;
	for (unsigned n = 0; n < count; n++)
		borrowed->rings[n] = kernel_ring_view(borrowed->memory, n, &layout, &session->header);
	error = kernel_reader_begin(&borrowed->reader, borrowed->rings, count, &borrowed->clock, NULL,
				    session->geometry.context);
	return error ? error : 1;
}

int kernel_borrow(struct kernel_borrowed *borrowed, const struct session *session)
{
	const uint32_t file = __atomic_load_n(&session->shared->kernel_rings, __ATOMIC_ACQUIRE);
	int process, result;

	*borrowed = (struct kernel_borrowed){ .bytes = 0 };
	if (!file || session->geometry.owner_kind != WIRE_OWNER_RECORDER)
		return 0;
	process = (int)syscall(SYS_pidfd_open, (pid_t)session->geometry.owner, 0);
	if (process < 0)
		return -errno;
	result = kernel_share_borrow(borrowed, session, process, file);
	close(process);
	return result;
}

void kernel_borrow_end(struct kernel_borrowed *borrowed)
{
	kernel_reader_free(&borrowed->reader);
	free(borrowed->rings);
	if (borrowed->memory)
		munmap(borrowed->memory, borrowed->bytes);
	*borrowed = (struct kernel_borrowed){ .bytes = 0 };
}
