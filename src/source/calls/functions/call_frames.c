/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where functions begin; see call_frames.h. The table is input: nothing in it is trusted. */
#include <string.h>

#include "source/calls/functions/call_frames.h"

enum {
	HEAD = 12, /* bytes of .eh_frame_hdr before its table */
	PAIR = 8,  /* bytes of a function in the table */
	ENTRY_BEGIN =
		8, /* where an entry of .eh_frame has its function's first address, relative to that place ... */
	ENTRY_BYTES = 12, /* ... and how many bytes the function has */
	ENTRY_END = 16,
};

static bool is_readable(const struct dl_phdr_info *object, uint64_t begin, uint64_t bytes)
{
	for (unsigned n = 0; n < object->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[n];
		const uint64_t at = begin - (object->dlpi_addr + part->p_vaddr);

		if (part->p_type == PT_LOAD && (part->p_flags & PF_R) && at <= part->p_memsz &&
		    bytes <= part->p_memsz - at)
			return true;
	}
	return false;
}

struct call_frames call_frames_of(const struct dl_phdr_info *object)
{
	for (unsigned n = 0; n < object->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[n];
		const uint64_t begin = object->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_GNU_EH_FRAME && part->p_memsz >= HEAD &&
		    is_readable(object, begin, part->p_memsz))
			return (struct call_frames){ (const uint8_t *)(uintptr_t)begin, // NOLINT: an address
						     (uint32_t)((part->p_memsz - HEAD) / PAIR) };
	}
	return (struct call_frames){ 0 };
}

bool call_frames_before(const struct call_frames *frames, uint64_t address, struct call_frames_found *found)
{
	const uint8_t *header = frames->header;
	const uint64_t base = (uint64_t)(uintptr_t)header;
	uint32_t count, low = 0, high;
	int32_t pair[2];

	if (!header || header[0] != 1 || header[2] != 0x03 || header[3] != 0x3b)
		return false;
	memcpy(&count, header + 8, sizeof(count));
	for (high = count < frames->max ? count : frames->max; low < high;) {
		const uint32_t middle = low + (high - low) / 2;

		memcpy(pair, header + HEAD + PAIR * (uint64_t)middle, sizeof(pair));
		if (base + (uint64_t)(int64_t)pair[0] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	memcpy(pair, header + HEAD + PAIR * (uint64_t)(low - 1), sizeof(pair));
	*found = (struct call_frames_found){ base + (uint64_t)(int64_t)pair[0],
					     base + (uint64_t)(int64_t)pair[1] };
	return true;
}

/* Entries have the usual encoding if their address is that of the table; only then their bytes are known. */
uint64_t call_frames_function(const struct dl_phdr_info *object, uint64_t address)
{
	const struct call_frames frames = call_frames_of(object);
	struct call_frames_found found;
	const char *entry;
	uint32_t bytes;
	int32_t distance;

	if (!call_frames_before(&frames, address, &found) || !is_readable(object, found.entry, ENTRY_END))
		return 0;
	entry = (const char *)(uintptr_t)found.entry; // NOLINT: an address
	memcpy(&distance, entry + ENTRY_BEGIN, sizeof(distance));
	memcpy(&bytes, entry + ENTRY_BYTES, sizeof(bytes));
	if (found.entry + ENTRY_BEGIN + (uint64_t)(int64_t)distance != found.function)
		return 0;
	return address - found.function < bytes ? found.function : 0;
}
