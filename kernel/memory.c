// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the session. Its parts before the rings, and the names ring, are there from the beginning. The rings of a
 * CPU get memory when the CPU first comes online: pages for the slots in use, mapped as one range. The slots of the window
 * that are not in use are one page of zeros, which no writer reaches, since it masks by the window and goes by the size.
 *
 * A ring gets another mapping when its size changes. The change takes place on its CPU with interrupts off, so no writer
 * but an NMI can be inside an append, and the NMI is over when the CPU continues.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "memory.h"
#include "names.h"
#include "record.h"
#include "session/layout_place.h"
#include "views.h"

enum {
	TEXT_BYTES = 512 << 10,
	NAMES_PACKET = 16 << 10,
	NAMES_PACKETS = 64,
	FILTERS_BYTES = 64 << 10,
	ZEROS_USERS_MOST = 1 << 30,
};

/* The pages of one ring. */
struct ring_memory {
	struct page **pages; /* of its window; NULL: not in use yet */
	u32 slots;	     /* that have pages of their own */
};

static struct ring_memory *memory;
static char *names;
static struct page *zeros;
static DEFINE_MUTEX(memory_mutex); /* after the lock of CPU hotplug */

static u32 slot_pages(void)
{
	return burin_session.geometry.packet_bytes / PAGE_SIZE;
}

static u32 window_pages(void)
{
	return burin_session.geometry.ring_packets * slot_pages();
}

static u64 ring_offset(u32 index)
{
	return burin_session.geometry.rings_offset + index * layout_ring_bytes(&burin_session.geometry);
}

/* Rings of NMIs are small: few records come from there. */
static u32 slots_nmi(u32 packets)
{
	return max_t(u32, packets / 4, WIRE_RING_PACKETS_MIN);
}

static u32 slots_for(u32 index, u32 packets)
{
	return index < burin_session.geometry.cpus ? packets : slots_nmi(packets);
}

static struct page *page_at(u64 offset)
{
	const struct wire_geometry *geometry = &burin_session.geometry;
	const struct ring_memory *ring;

	if (offset < geometry->rings_offset)
		return vmalloc_to_page(burin_session.base + offset);
	if (offset >= geometry->names_offset)
		return vmalloc_to_page(names + (offset - geometry->names_offset));
	offset -= geometry->rings_offset;
	ring = &memory[offset / layout_ring_bytes(geometry)];
	return ring->pages ? ring->pages[offset % layout_ring_bytes(geometry) / PAGE_SIZE] : zeros;
}

/* Under the lock until the page is mapped: a change unmaps what was mapped before it. */
int memory_insert(struct vm_area_struct *area, unsigned long address, u64 offset)
{
	struct page *page;
	int error = -EFAULT;

	mutex_lock(&memory_mutex);
	if (offset < burin_session.geometry.file_bytes) {
		page = page_at(offset);
		/* It has a user in each unused slot of each mapping, and the count of them must not wrap. */
		error = page == zeros && page_count(page) > ZEROS_USERS_MOST
				? -ENOMEM
				: vm_insert_page(area, address, page);
	}
	mutex_unlock(&memory_mutex);
	return error == -EBUSY ? 0 : error; /* another thread was faster */
}

static void free_pages_from(struct page **pages, u32 from, u32 to)
{
	for (u32 n = from; n < to; n++)
		put_page(pages[n]);
}

/* A table of the window's pages: the old ones, new ones up to `slots`, zeros behind. NULL: there is no memory. */
static struct page **make_pages(const struct ring_memory *old, u32 slots, int node)
{
	const u32 window = window_pages(), want = slots * slot_pages(), have = old->slots * slot_pages();
	struct page **pages = kvmalloc_array(window, sizeof(*pages), GFP_KERNEL);
	u32 n = min(want, have);

	if (!pages)
		return NULL;
	if (n)
		memcpy(pages, old->pages, n * sizeof(*pages));
	for (; n < want; n++) {
		pages[n] = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY, 0);
		if (!pages[n]) {
			free_pages_from(pages, min(want, have), n);
			kvfree(pages);
			return NULL;
		}
	}
	for (; n < window; n++)
		pages[n] = zeros;
	return pages;
}

/* A change of a ring's memory, carried out on its CPU. */
struct ring_change {
	struct ring *ring;
	char *slots;
	u32 size;
	int error;
};

static void set_size(struct ring *ring, u32 size)
{
	const u64 before = READ_ONCE(ring->control->size);
	const u64 word = ((before >> WIRE_RING_CHANGES_SHIFT) + ((u32)before != size))
				 << WIRE_RING_CHANGES_SHIFT |
			 size;

	WRITE_ONCE(ring->control->size, word);
	WRITE_ONCE(ring->backed, word);
}

/* No writer may be in a slot that loses its memory, and none opens one, once the size is smaller. */
static int leave_slots(struct ring *ring, u32 size)
{
	const u32 before = (u32)ring->control->size;

	set_size(ring, size);
	if (!ring->ready_words || !ring->control->tail || ring_switch_packet(ring) == RING_DONE)
		return 0;
	set_size(ring, before); /* a reader has to give packets back first */
	return -EBUSY;
}

static void change_ring(void *data)
{
	struct record_cpu *cpu = this_cpu_ptr(&record_cpu);
	struct ring_change *change = data;
	struct ring *ring = change->ring;

	cpu->nmi_depth++; /* records of NMIs are lost meanwhile, and counted */
	barrier();
	if (change->size < (u32)ring->control->size)
		change->error = leave_slots(ring, change->size);
	if (!change->error) {
		WRITE_ONCE(ring->slots, change->slots);
		set_size(ring, change->size);
		WRITE_ONCE(ring->control->state, WIRE_RING_READY);
		/* Release: who sees it sees the slots. */
		smp_store_release(&ring->ready_words, (u32)ring->packet_words);
	}
	record_refresh(ring);
	barrier();
	cpu->nmi_depth--;
}

/* On the ring's CPU; one that is not online writes nothing. Context: CPU hotplug locked. */
static void on_cpu_of(const struct ring *ring, smp_call_func_t function, void *data)
{
	if (smp_call_function_single(ring->cpu, function, data, 1) == 0)
		return;
	preempt_disable();
	function(data);
	preempt_enable();
}

/* In stream mode slots with packets that may be unread keep their memory, for the next time that the ring grows. */
static int set_slots(u32 index, u32 slots)
{
	struct ring_memory *old = &memory[index];
	struct ring *ring = &burin_session.rings[index];
	const u32 room = ring->overwrite ? slots : max(slots, old->slots);
	struct ring_change change = { .ring = ring, .size = slots };
	struct page **pages = make_pages(old, room, cpu_to_node(ring->cpu));
	char *before = ring->slots;

	if (!pages)
		return -ENOMEM;
	change.slots = vmap(pages, window_pages(), VM_MAP, PAGE_KERNEL);
	if (change.slots)
		on_cpu_of(ring, change_ring, &change);
	if (!change.slots || change.error) {
		if (change.slots)
			vunmap(change.slots);
		free_pages_from(pages, min(old->slots, room) * slot_pages(), room * slot_pages());
		kvfree(pages);
		return change.slots ? change.error : -ENOMEM;
	}
	if (before)
		vunmap(before);
	if (old->slots > room)
		free_pages_from(old->pages, room * slot_pages(), old->slots * slot_pages());
	kvfree(old->pages);
	*old = (struct ring_memory){ pages, room };
	return 0;
}

static void show_ring(u32 index)
{
	views_cut(ring_offset(index), layout_ring_bytes(&burin_session.geometry));
}

static u32 present_packets(void)
{
	return (u32)burin_session.rings[0].control->size;
}

int memory_ring_add(unsigned int cpu)
{
	const u32 cpus = burin_session.geometry.cpus, indexes[] = { cpu, cpu + cpus };
	int error = 0;

	mutex_lock(&memory_mutex);
	for (u32 n = 0; n < ARRAY_SIZE(indexes) && !error; n++)
		if (!memory[indexes[n]].pages)
			error = set_slots(indexes[n], slots_for(indexes[n], present_packets()));
	mutex_unlock(&memory_mutex);
	if (!error)
		for (u32 n = 0; n < ARRAY_SIZE(indexes); n++)
			show_ring(indexes[n]);
	return error;
}

/* Whether there is so much memory that other users of it do not go short: before that the kernel would end processes. */
static bool is_affordable(u32 packets)
{
	u64 pages = 0;

	for (u32 n = 0; n < session_names_index(&burin_session); n++) {
		const u32 slots = slots_for(n, packets);

		if (memory[n].pages && slots > memory[n].slots)
			pages += (u64)(slots - memory[n].slots) * slot_pages();
	}
	return pages <= max(si_mem_available(), 0L) / 4 * 3;
}

int memory_resize(u32 packets)
{
	const u32 rings = session_names_index(&burin_session), before = present_packets();
	int error;
	u32 n;

	cpus_read_lock();
	mutex_lock(&memory_mutex);
	error = is_affordable(packets) ? 0 : -ENOMEM;
	for (n = 0; n < rings && !error; n++) {
		if (memory[n].pages)
			error = set_slots(n, slots_for(n, packets));
		else
			burin_session.rings[n].control->size = slots_for(n, packets);
	}
	/* To shrink takes little memory, so it succeeds but for the tables. */
	for (u32 back = 0; error && back + 1 < n; back++)
		if (memory[back].pages)
			set_slots(back, slots_for(back, before));
		else
			burin_session.rings[back].control->size = slots_for(back, before);
	mutex_unlock(&memory_mutex);
	cpus_read_unlock();
	for (n = 0; n < rings; n++)
		show_ring(n);
	return error;
}

/* On the ring's CPU. A full ring has no next packet: then the reader finds the records of the open one again. */
static void close_packet(void *data)
{
	struct record_cpu *cpu = this_cpu_ptr(&record_cpu);
	struct ring *ring = data;

	cpu->nmi_depth++;
	barrier();
	if (ring->ready_words && ring->control->tail & WIRE_TAIL_COUNT_MASK)
		ring_switch_packet(ring);
	record_refresh(ring);
	barrier();
	cpu->nmi_depth--;
}

void memory_close_packets(void)
{
	cpus_read_lock();
	for (u32 n = 0; n < session_names_index(&burin_session); n++)
		on_cpu_of(&burin_session.rings[n], close_packet, &burin_session.rings[n]);
	cpus_read_unlock();
}

/* On the ring's CPU: no writer is inside an append. */
static void reset_ring(void *data)
{
	struct record_cpu *cpu = this_cpu_ptr(&record_cpu);
	struct ring *ring = data;

	cpu->nmi_depth++;
	barrier();
	smp_store_release(&ring->control->tail, 0);
	WRITE_ONCE(ring->control->consumed, 0);
	ring->control->clock_steps = 0;
	memset(ring->control->lost, 0, sizeof(ring->control->lost));
	record_refresh(ring);
	barrier();
	cpu->nmi_depth--;
}

static void reset_conditions(void)
{
	for (u32 n = 0; n < session_event_count(&burin_session); n++) {
		struct wire_condition *condition = &burin_session.conditions[n];

		WRITE_ONCE(condition->passed, 0);
		WRITE_ONCE(condition->sampled_out, 0);
		WRITE_ONCE(condition->limited, 0);
	}
}

void memory_reset(void)
{
	struct wire_geometry *geometry = &burin_session.geometry;

	get_random_bytes(geometry->uuid, sizeof(geometry->uuid));
	memcpy(burin_session.shared->geometry.uuid, geometry->uuid, sizeof(geometry->uuid));
	memcpy(burin_session.header.uuid, geometry->uuid, sizeof(geometry->uuid));
	cpus_read_lock();
	for (u32 n = 0; n < session_names_index(&burin_session); n++)
		on_cpu_of(&burin_session.rings[n], reset_ring, &burin_session.rings[n]);
	cpus_read_unlock();
	reset_conditions();
	names_reset();
}

static void decide(const struct memory_options *options)
{
	struct wire_geometry *geometry = &burin_session.geometry;
	struct timespec64 now;

	ktime_get_real_ts64(&now);
	*geometry = (struct wire_geometry){
		.version = WIRE_SESSION_VERSION,
		.header_bytes = sizeof(struct wire_session),
		.mode = options->mode,
		.clock = options->clock,
		.packet_bytes = roundup_pow_of_two(options->packet_bytes),
		.names_packet_bytes = NAMES_PACKET,
		.names_packets = NAMES_PACKETS,
		.cpus = nr_cpu_ids,
		.locked = nr_cpu_ids,
		.string_max = options->string_max,
		.events_max = EVENTS_MAX,
		.filters_bytes = FILTERS_BYTES,
		.text_bytes = TEXT_BYTES,
		.owner_kind = WIRE_OWNER_PROGRAM,
		.created_ns = timespec64_to_ns(&now),
		.program = "kernel",
	};
	geometry->ring_packets = roundup_pow_of_two(
		max_t(u64, DIV_ROUND_UP(options->buffer_max, geometry->packet_bytes), WIRE_RING_PACKETS_MIN));
	get_random_bytes(geometry->uuid, sizeof(geometry->uuid));
	layout_decide(geometry);
	memcpy(geometry->magic, WIRE_SESSION_MAGIC, sizeof(geometry->magic));
}

static void fill(const struct memory_options *options)
{
	const struct wire_geometry *geometry = &burin_session.geometry;
	const u32 packets = max_t(u64, DIV_ROUND_UP(options->buffer_bytes, geometry->packet_bytes),
				  WIRE_RING_PACKETS_MIN);
	const u32 last = session_names_index(&burin_session);

	for (u32 n = 0; n <= last; n++) {
		layout_ring(&burin_session, n);
		burin_session.rings[n].control->size = slots_for(n, packets);
	}
	burin_session.rings[last].control->size = geometry->names_packets;
	burin_session.rings[last].control->state = WIRE_RING_READY;
	burin_session.rings[last].slots = names;
	burin_session.rings[last].overwrite = geometry->mode == WIRE_MODE_FLIGHT;
	burin_session.rings[last].backed = geometry->names_packets;
	burin_session.rings[last].ready_words = burin_session.rings[last].packet_words;
	*burin_session.events = (struct wire_events){ .magic = WIRE_EVENTS_MAGIC, .text_bytes = 1 };
	burin_session.shared->filters_used = WIRE_FILTERS_FIRST;
	burin_session.shared->geometry = *geometry;
}

int memory_make(const struct memory_options *options)
{
	const struct wire_geometry *geometry = &burin_session.geometry;

	decide(options);
	burin_session.base = vmalloc_user(geometry->rings_offset);
	names = vmalloc_user((u64)NAMES_PACKET * NAMES_PACKETS);
	zeros = alloc_page(GFP_KERNEL | __GFP_ZERO);
	memory = kvcalloc(2 * nr_cpu_ids, sizeof(*memory), GFP_KERNEL);
	burin_session.rings = kvcalloc(2 * nr_cpu_ids + 1, sizeof(*burin_session.rings), GFP_KERNEL);
	if (!burin_session.base || !names || !zeros || !memory || !burin_session.rings) {
		memory_free();
		return -ENOMEM;
	}
	layout_place(&burin_session);
	fill(options);
	return 0;
}

void memory_free(void)
{
	for (u32 n = 0; memory && burin_session.ring_count && n < session_names_index(&burin_session); n++) {
		if (burin_session.rings[n].slots)
			vunmap(burin_session.rings[n].slots);
		if (memory[n].pages)
			free_pages_from(memory[n].pages, 0, memory[n].slots * slot_pages());
		kvfree(memory[n].pages);
	}
	kvfree(memory);
	kvfree(burin_session.rings);
	vfree(burin_session.base);
	vfree(names);
	if (zeros)
		put_page(zeros);
}
