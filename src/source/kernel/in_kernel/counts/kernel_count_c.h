/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For programs in C: counting an event; see kernel_count.h.
 *
 * BPF_NUMBER(values): numbers of a field are counted, or times. BPF_NUMBER(source_N), BPF_NUMBER(at_N): the fact that word N is, and where
 * the key has it. Fields are left to the program.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_COUNT_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_COUNT_C_H

#include "source/kernel/in_kernel/counts/kernel_count.h"
#include "source/kernel/in_kernel/kernel_task_c.h"
#include "source/kernel/in_kernel/kernel_text_c.h"

extern struct bpf_map rows, pages;
extern struct kernel_count_state state;
extern const struct kernel_count_row empty;

BPF_INLINE void kernel_count_add(uint64_t *to, uint64_t number)
{
	__sync_fetch_and_add(to, number);
}

/* ---- keys */

/* The last part of the path of a process's executable file. Threads of the kernel have none. */
BPF_FUNCTION void kernel_count_program(char *to)
{
	const char *at = (const char *)bpf_get_current_task();

	bpf_probe_read_kernel(&at, sizeof(at), at + BPF_NUMBER(task_memory));
	if (!at)
		return;
	bpf_probe_read_kernel(&at, sizeof(at), at + BPF_NUMBER(memory_file));
	bpf_probe_read_kernel(&at, sizeof(at), at + BPF_NUMBER(file_entry));
	bpf_probe_read_kernel(&at, sizeof(at), at + BPF_NUMBER(entry_name));
	bpf_probe_read_kernel_str(to, KERNEL_COUNT_TEXT_BYTES, at);
}

BPF_INLINE void kernel_count_fact(struct kernel_count_key *key, uint64_t source, uint64_t at)
{
	char *to = (char *)key + at;

	if (source == KERNEL_COUNT_CPU)
		*(uint64_t *)to = key->cpu;
	if (source == KERNEL_COUNT_TID)
		*(uint64_t *)to = (uint32_t)bpf_get_current_pid_tgid();
	if (source == KERNEL_COUNT_PID)
		*(uint64_t *)to = bpf_get_current_pid_tgid() >> 32;
	if (source == KERNEL_COUNT_THREAD)
		bpf_get_current_comm(to, KERNEL_COUNT_NAME_BYTES);
	if (source == KERNEL_COUNT_PROGRAM)
		kernel_count_program(to);
}

/* Put word @n, which is a fact; behind kernel_count_begin(). */
#define KERNEL_COUNT_FACT(key, n) kernel_count_fact(key, BPF_NUMBER(source_##n), BPF_NUMBER(at_##n))

/* All of it but the words. */
BPF_INLINE void kernel_count_begin(struct kernel_count_key *key, uint32_t event)
{
	key->event = event;
	key->cpu = (uint16_t)bpf_get_smp_processor_id();
	key->slot = (uint16_t) * (volatile uint64_t *)&state.slot;
#pragma unroll
	for (unsigned n = 0; n < sizeof(key->words) / sizeof(key->words[0]); n++)
		if (BPF_NUMBER(key_words) > n)
			*(volatile uint64_t *)&key->words[n] = 0;
}

/* @result: of the helper that has copied a text of at most KERNEL_COUNT_TEXT_BYTES */
BPF_INLINE void kernel_count_end_text(char *to, long result)
{
	if (result == KERNEL_COUNT_TEXT_BYTES)
		*(volatile uint32_t *)(to + KERNEL_COUNT_TEXT_BYTES - 4) = KERNEL_MARK_TRUNCATED;
	if (result < 0)
		*(volatile uint32_t *)to = KERNEL_MARK_NULL;
}

BPF_INLINE void kernel_count_user_text(char *to, const void *from)
{
	const long result = bpf_probe_read_user_str(to, KERNEL_COUNT_TEXT_BYTES, from);

	if (result < 0 && from)
		kernel_count_add(&state.unread, 1);
	kernel_count_end_text(to, result);
}

/* ---- rows */

BPF_INLINE struct kernel_count_row *kernel_count_find(const struct kernel_count_key *key)
{
	struct kernel_count_row *row = bpf_map_lookup_elem(&rows, key);
	long result;

	if (row)
		return row;
	result = bpf_map_update_elem(&rows, key, &empty, BPF_NOEXIST);
	row = bpf_map_lookup_elem(&rows, key);
	if (!row)
		kernel_count_add(result == -BPF_EBUSY ? &state.lost[KERNEL_COUNT_LOST_BUSY]
						      : &state.lost[KERNEL_COUNT_LOST_ROWS],
				 1);
	return row;
}

enum {
	KERNEL_COUNT_TRIES = 8, /* a program is interrupted by few others */
};

/* Let a bound include a number. */
BPF_INLINE void kernel_count_bound(uint64_t *bound, uint64_t number, bool greatest)
{
#pragma unroll
	for (int n = 0; n < KERNEL_COUNT_TRIES; n++) {
		const uint64_t before = *(volatile uint64_t *)bound;

		if (greatest ? number <= before : number >= before)
			return;
		if (__sync_val_compare_and_swap(bound, before, number) == before)
			return;
	}
}

/* The number of the highest bit of a number that is not 0. */
BPF_INLINE unsigned kernel_count_power(uint64_t number)
{
	unsigned power = 0;

#pragma unroll
	for (unsigned bits = 32; bits; bits /= 2)
		if (number >> bits) {
			number >>= bits;
			power += bits;
		}
	return power;
}

/* Take a page for a row. Return: its number + 1; 0: there is no room. */
BPF_FUNCTION uint32_t kernel_count_take_page(uint32_t *place, uint32_t slot)
{
	uint64_t page = __sync_fetch_and_add(&state.pages[slot & 1], 1);
	uint32_t before;

	if (page >= BPF_NUMBER(page_count)) {
		kernel_count_add(&state.lost[KERNEL_COUNT_LOST_PAGES], 1);
		return 0;
	}
	if (slot & 1)
		page += BPF_NUMBER(page_count);
	/* One that an interrupting program took first is used; the other one stays empty. */
	before = __sync_val_compare_and_swap(place, 0, (uint32_t)page + 1);
	return before ? before : (uint32_t)page + 1;
}

BPF_FUNCTION int kernel_count_bucket(struct kernel_count_row *row, uint64_t size, bool negative,
				     uint32_t slot)
{
	const unsigned power = kernel_count_power(size);
	const uint64_t part = power >= KERNEL_COUNT_BUCKET_BITS
				      ? size >> ((power - KERNEL_COUNT_BUCKET_BITS) & 63)
				      : size << ((KERNEL_COUNT_BUCKET_BITS - power) & 63);
	uint32_t *place = &row->pages[((negative ? 64 : 0) + power) & (KERNEL_COUNT_PAGES - 1)];
	uint32_t page = *(volatile uint32_t *)place;
	uint64_t *counts;

	if (!page)
		page = kernel_count_take_page(place, slot);
	if (!page)
		return 0;
	page--;
	counts = bpf_map_lookup_elem(&pages, &page);
	if (counts)
		kernel_count_add(&counts[part & (KERNEL_COUNT_BUCKETS - 1)], 1);
	return 0;
}

/* Count a number. @has_sign: it has one */
BPF_INLINE void kernel_count_number(struct kernel_count_row *row, uint64_t number, bool has_sign,
				    uint32_t slot)
{
	const bool negative = has_sign && (int64_t)number < 0;
	const uint64_t order = has_sign ? number ^ (uint64_t)1 << 63 : number;
	const uint64_t before = __sync_fetch_and_add(&row->sum, number);
	const uint64_t high = (uint64_t)(before + number < before) - negative;

	if (high)
		kernel_count_add(&row->sum_high, high);
	kernel_count_bound(&row->least, order, false);
	kernel_count_bound(&row->greatest, order, true);
	if (!number)
		kernel_count_add(&row->zeros, 1);
	else
		kernel_count_bucket(row, negative ? -number : number, negative, slot);
}

/* Count an event. */
BPF_INLINE void kernel_count_end(const struct kernel_count_key *key, uint64_t number, bool has_sign)
{
	struct kernel_count_row *row = kernel_count_find(key);

	if (!row)
		return;
	kernel_count_add(&row->records, 1);
	if (BPF_NUMBER(values))
		kernel_count_number(row, number, has_sign, key->slot);
}

#endif
