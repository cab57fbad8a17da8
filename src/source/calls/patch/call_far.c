/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Jumps by way of chosen places; see call_far.h.
 *
 *	site:  e9 d0 d1 d2 d3        the five NOPs of a function's begin; the distance leads to
 *	place: e9 r0 r1 r2 r3        in `memory`, which leads to the stub
 *
 * A thread may stand at any of d0 to d3, or come back there from a signal handler at any later time. So each of them
 * must be a NOP, change flags only, or be a prefix of the next one (wire_patch.h). The two upper bytes, `base`, are
 * the same for all functions of an object: call_far_begin() takes the first pair for which the address space has
 * room. Then `memory` covers all places that the lower bytes of any site can lead to. These have 13 values each: a
 * site has 169 places, some of which are taken.
 *
 * A place is free if its five bytes are 0. Jumps cannot overlap unnoticed: five bytes that overlap a jump contain its
 * first byte, which is e9, or its last, which is not 0, since no stub is nearer than NEAREST. Pages without a jump
 * have no memory of their own, so `memory` may be large (MAP_NORESERVE), and places are taken from the last used page
 * as long as it has some.
 *
 * The last byte may be a prefix of the body's first instruction, where only that is in reach (programs in low
 * memory). This is right only if the instruction has no prefix of its own and the pair of upper bytes has no second
 * one: is_possible(), try_base().
 *
 * call_far_slot() does the same for `ff 15 d0 d1 d2 d3`, a call through a slot, whose last byte is 0 if the slot is
 * less than 16 MiB ahead. With another last byte the call goes through an address at a multiple of 16 MiB from the
 * slot. There a copy of the slot must lie before the byte is changed. The copy is made once: such slots are bound
 * when their object is loaded.
 *
 * Only the library writes here, under the lock of call_patch.c, before `memory` is executable. No code leads to a
 * place until a command has changed its site. It checks the bytes by the same rules, since the process may have
 * forged its table.
 */
#if defined(__x86_64__)

#include <string.h>
#include <sys/mman.h>

#include "source/calls/patch/call_far.h"
#include "source/calls/patch/call_sites.h"
#include "wire/wire_patch.h"

enum {
	PAGE = 4096,
	JUMP = CALL_SITE_JUMP,
	SPREAD = 1 << 16, /* bytes that the lower half of a distance covers */
	LOWEST = 1 << 16, /* the kernel permits no lower address */
};

static const uint64_t CODE_MAX = UINT64_C(1) << 30, REACH = UINT64_C(0x7f000000), NEAREST = UINT64_C(1) << 24;

/* The last byte of a distance: harmless by itself, or a prefix of the body's first instruction. Any of the others is one of both. */
static const uint8_t highest[] = { 0xfc, 0xf9, 0xf8, 0xf5, 0x90, 0x26, 0x2e, 0x36, 0x3e }, others[] = {
	0xfc, 0xf9, 0xf8, 0xf5, 0x90, 0x67, 0x66, 0x65, 0x64, 0x3e, 0x36, 0x2e, 0x26
};

static bool is_prefix(uint8_t byte)
{
	return wire_patch_is_harmless(byte, false) && !wire_patch_is_harmless(byte, true);
}

/* ---- memory */

static void *map_at(uint64_t begin, uint64_t bytes)
{
	void *const hint = (void *)(uintptr_t)begin,
		    *area = mmap(hint, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (area == hint)
		return area;
	if (area != MAP_FAILED) /* a kernel that does not know the flag */
		munmap(area, bytes);
	return NULL;
}

static bool try_base(struct call_far *jumps, uint64_t first, uint64_t last, uint8_t high, uint8_t low)
{
	const uint64_t base = (uint64_t)(int64_t)(int32_t)((uint32_t)high << 24 | (uint32_t)low << 16),
		       begin = (first + JUMP + base) & ~(uint64_t)(PAGE - 1),
		       end = (last + JUMP + base + SPREAD + PAGE) & ~(uint64_t)(PAGE - 1);

	/* A prefix must be the only one of the body. Addresses below 0 are large numbers. */
	if ((is_prefix(high) && is_prefix(low)) || begin < LOWEST || end < begin || end >> 47)
		return false;
	jumps->memory = map_at(begin, end - begin);
	jumps->bytes = end - begin;
	jumps->base = base;
	return jumps->memory != NULL;
}

void call_far_begin(struct call_far *jumps, uint64_t first, uint64_t last)
{
	*jumps = (struct call_far){ 0 };
	if (last < first || last - first > CODE_MAX)
		return;
	for (unsigned n = 0; n < sizeof(highest); n++)
		for (unsigned m = 0; m < sizeof(others); m++)
			if (try_base(jumps, first, last, highest[n], others[m]))
				return;
}

void call_far_free(struct call_far *jumps)
{
	if (jumps->memory)
		munmap(jumps->memory, jumps->bytes);
	if (jumps->copy)
		munmap(jumps->copy, PAGE);
	*jumps = (struct call_far){ 0 };
}

bool call_far_end(struct call_far *jumps)
{
	if (!jumps->memory || mprotect(jumps->memory, jumps->bytes, PROT_READ | PROT_EXEC) == 0)
		return true;
	call_far_free(jumps);
	return false;
}

bool call_far_slot(struct call_far *jumps, uint64_t slot, uint8_t *high)
{
	if (jumps->copy) {
		*high = jumps->high;
		return slot == jumps->slot;
	}
	for (unsigned n = 0; n < sizeof(highest) && !is_prefix(highest[n]); n++) {
		const uint64_t at = slot + (uint64_t)((int64_t)(int8_t)highest[n] * (int64_t)NEAREST);

		if (at >> 47 || at < LOWEST)
			continue;
		jumps->copy = map_at(at & ~(uint64_t)(PAGE - 1), PAGE);
		if (!jumps->copy)
			continue;
		memcpy((void *)(uintptr_t)at, (const void *)(uintptr_t)slot, sizeof(uint64_t));
		jumps->slot = slot;
		*high = jumps->high = highest[n];
		return true;
	}
	return false;
}

/* ---- jumps */

/* Whether a thread inside the NOPs comes to the body, whatever the distance is made of. */
static bool is_possible(const struct call_far *jumps, uint64_t site)
{
	const uint8_t *behind = (const uint8_t *)(uintptr_t)(site + JUMP);

	/* Two prefixes of one kind, or one before a lock or repetition, are not worth a thought. */
	return jumps->memory &&
	       (!is_prefix((uint8_t)(jumps->base >> 24)) ||
		!(is_prefix(*behind) || *behind == 0xf0 || *behind == 0xf2 || *behind == 0xf3));
}

/* A jump ends with a byte that is not 0, since no stub is that near. So five zeros are free. */
static bool is_free(const struct call_far *jumps, uint64_t address)
{
	static const uint8_t zeros[JUMP];
	const uint64_t at = address - (uint64_t)(uintptr_t)jumps->memory;

	return at < jumps->bytes && jumps->bytes - at >= JUMP && memcmp(jumps->memory + at, zeros, JUMP) == 0;
}

/* A free place for a jump; 0: none. @page: where it must begin; 0: anywhere */
static uint64_t find(const struct call_far *jumps, uint64_t site, uint64_t page)
{
	for (unsigned n = 0; n < sizeof(others); n++)
		for (unsigned m = 0; m < sizeof(others); m++) {
			const uint64_t address =
				site + JUMP + jumps->base + ((uint64_t)others[n] << 8) + others[m];

			if ((!page || address / PAGE == page / PAGE) && is_free(jumps, address))
				return address;
		}
	return 0;
}

bool call_far_put(struct call_far *jumps, uint64_t site, uint64_t target, uint8_t distance[4])
{
	uint64_t at = 0, rest;
	uint32_t bytes;
	uint8_t *jump;

	if (!is_possible(jumps, site))
		return false;
	if (jumps->page) /* few pages are used */
		at = find(jumps, site, jumps->page);
	if (!at)
		at = find(jumps, site, 0);
	rest = target - (at + JUMP);
	if (!at || (rest + REACH) >= 2 * REACH || rest + NEAREST < 2 * NEAREST)
		return false;
	jumps->page = at;
	jump = (uint8_t *)(uintptr_t)at;
	jump[0] = 0xe9;
	bytes = (uint32_t)rest;
	memcpy(jump + 1, &bytes, sizeof(bytes));
	bytes = (uint32_t)(at - (site + JUMP));
	memcpy(distance, &bytes, sizeof(bytes));
	return true;
}

#endif
