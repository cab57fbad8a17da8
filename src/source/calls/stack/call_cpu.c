/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* CPUs; see call_cpu.h. This file is compiled for general registers only: fast paths call it. */
#include <sys/mman.h>

#include "ring/section_rseq.h"
#include "session/calls/session_calls.h"
#include "source/calls/stack/call_cpu.h"
#include "source/tracepoint/thread.h"

enum {
	COUNT_TRIES = 4, /* times that a thread may be moved to another CPU, or interrupted */
};

/* Neither a CPU, nor what the kernel has for a thread that it does not know. */
static const struct call_cpu nowhere = { .cpu = INT32_MAX };

#if RING_HAVE_RSEQ
/* Of this library's sections. Weak: a program that is linked statically has that of libburin.a. */
__attribute__((weak)) ptrdiff_t ring_rseq_offset;
#endif

__thread const struct call_cpu *call_cpu_here = &nowhere;

static struct call_cpu *cpus; /* NULL: there are no fast paths */

void call_cpu_begin(void)
{
#if RING_HAVE_RSEQ
	const uint32_t count = tracepoint_session.geometry.cpus;
	void *memory;

	if (!__rseq_size || !count)
		return;
	memory =
		mmap(NULL, count * sizeof(*cpus), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		cpus = memory;
#endif
}

bool call_cpu_is_fast(void)
{
	return cpus != NULL;
}

#if RING_HAVE_RSEQ
/* Threads may do this at once: they store the same. */
static void fill(struct call_cpu *entry, uint32_t cpu)
{
	const struct ring *ring = &tracepoint_session.rings[cpu];
	char *slots = __atomic_load_n(&ring->slots, __ATOMIC_RELAXED);

	entry->tail = &ring->control->tail;
	entry->slots = slots;
	entry->byte_mask = ring->word_mask * 8;
	entry->packet_mask = ring->packet_mask * 8;
	entry->counts = session_call_counts(&tracepoint_session, cpu + 1);
	entry->cpu = cpu;
	/* Release: hook_near.c loads `slots` behind it. All else is the same in each call of fill(). */
	__atomic_store_n(&entry->room, slots ? (ring->packet_words - 4) * 8 : 0, __ATOMIC_RELEASE);
}

void call_cpu_enter(void)
{
	uint32_t cpu;

	if (!cpus)
		return;
	cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
	if (cpu >= tracepoint_session.geometry.cpus)
		return;
	if (!cpus[cpu].room)
		fill(&cpus[cpu], cpu);
	__atomic_store_n(&call_cpu_here, &cpus[cpu], __ATOMIC_RELAXED);
}

static bool count_on_cpu(uint32_t function)
{
	for (unsigned n = 0; cpus && n < COUNT_TRIES; n++) {
		const struct call_cpu *cpu;

		call_cpu_enter();
		cpu = call_cpu_here;
		if (section_rseq_count(&cpu->cpu, &cpu->counts[function]) == RING_DONE)
			return true;
	}
	return false;
}
#else
void call_cpu_enter(void)
{
}

static bool count_on_cpu(uint32_t function)
{
	(void)function;
	return false;
}
#endif

void call_count(uint32_t function)
{
	if (!count_on_cpu(function))
		__atomic_fetch_add(&session_call_counts(&tracepoint_session, 0)[function], 1,
				   __ATOMIC_RELAXED);
}
