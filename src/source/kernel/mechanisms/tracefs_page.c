/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pages of the kernel's trace buffer; see tracefs_page.h. Their form is that of Linux 2.6.28 and all later ones
 * (events/header_page).
 *
 * A record has the time since the one before it, in 27 bits; a stamp in front of it adds more. So a time is right
 * only if every record and stamp of the page before it was counted: also padding, which is a removed record, has a
 * time.
 *
 * The bytes are the kernel's. Nevertheless each size is compared with the end of the page before it is used: what
 * does not fit ends the page.
 */
#include <stddef.h>

#include "base/number.h"
#include "source/kernel/mechanisms/tracefs_page.h"

enum {
	HEADER = 16,		   /* the time, and the used bytes with marks above them */
	USED_MASK = (1 << 20) - 1, /* of those bytes */
	TYPE_BITS = 5,		   /* of a record's first word: its type, or its size in words */
	TYPE_DATA_MAX = 28,
	TYPE_PADDING = 29,
	TYPE_EXTEND,	/* more bits of the time since the last record */
	TYPE_ABSOLUTE,	/* the time itself */
	TIME_BITS = 27, /* of the first word */
	STAMP_BITS = TIME_BITS + 32,
};

static unsigned used_of(const char *bytes, unsigned count)
{
	return count < HEADER ? 0 : number_load32(bytes + 8) & USED_MASK;
}

bool tracefs_page_is_full(const char *bytes, unsigned count)
{
	return used_of(bytes, count) > count / 2;
}

bool tracefs_page_begin(struct tracefs_page *page, const char *bytes, unsigned count)
{
	const unsigned used = used_of(bytes, count);

	if (count < HEADER || used > count - HEADER)
		return false;
	*page = (struct tracefs_page){
		.at = bytes + HEADER,
		.end = bytes + HEADER + used,
		.time = number_load64(bytes),
	};
	return true;
}

/* Skip what is no record. Return: the bytes that follow its first word, for a record those in front of it as well; -1: the page ends. */
static ptrdiff_t tracefs_page_step(struct tracefs_page *page, bool *is_record, unsigned *front)
{
	const ptrdiff_t left = page->end - page->at - 4;
	const uint32_t word = left < 0 ? 0 : number_load32(page->at), type = word & ((1U << TYPE_BITS) - 1),
		       more = left < 4 ? 0 : number_load32(page->at + 4);
	const uint64_t stamp = (word >> TYPE_BITS) | (uint64_t)more << TIME_BITS;

	*is_record = type <= TYPE_DATA_MAX;
	*front = type == 0 ? 4 : 0;
	if (left < 0 || (left < 4 && (type == 0 || type > TYPE_DATA_MAX)) ||
	    (type == TYPE_PADDING && word >> TYPE_BITS == 0)) /* the rest of the page is empty */
		return -1;
	if (type == TYPE_ABSOLUTE) /* its upper bits are those of the time before */
		page->time = stamp | (page->time >> STAMP_BITS << STAMP_BITS);
	else
		page->time += type == TYPE_EXTEND ? stamp : word >> TYPE_BITS;
	if (type == 0 || type == TYPE_PADDING) /* the size counts its own word */
		return more < 4 ? -1 : (ptrdiff_t)more;
	return type > TYPE_DATA_MAX ? 4 : (ptrdiff_t)type * 4;
}

bool tracefs_page_next(struct tracefs_page *page, struct tracefs_record *record)
{
	for (;;) {
		bool is_record;
		unsigned front;
		const ptrdiff_t bytes = tracefs_page_step(page, &is_record, &front);

		if (bytes < 0 || bytes > page->end - page->at - 4) {
			page->at = page->end;
			return false;
		}
		*record = (struct tracefs_record){ .time = page->time,
						   .raw = page->at + 4 + front,
						   .bytes = (unsigned)bytes - front };
		page->at += 4 + bytes;
		if (is_record)
			return true;
	}
}
