// SPDX-License-Identifier: GPL-2.0-only
/* Texts of processes; see user_text.h. */
#include <asm/word-at-a-time.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "user_text.h"
#include "wire/wire_event.h"

/*
 * Eight bytes at a time, but the last ones of a page or of the room: the text may end with its page. A fault ends the copy, since page
 * faults are off. Return: with the NUL; 0: there is no NUL before the end; -EFAULT.
 */
static notrace __always_inline long copy(char *out, unsigned long room, unsigned long address)
{
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, zeros, used = 0, inside;
	char byte;

	while (used < room) {
		inside = min(room, used + PAGE_SIZE - offset_in_page(address + used));
		for (; used + sizeof(word) <= inside; used += sizeof(word)) {
			unsafe_get_user(word, (const unsigned long __user *)(address + used), fault);
			/* Not memcpy(), which KASAN makes a call: none is permitted while user access is. */
			__builtin_memcpy(out + used, &word, sizeof(word));
			if (unlikely(has_zero(word, &zeros, &constants))) {
				zeros = create_zero_mask(prep_zero_mask(word, zeros, &constants));
				return used + find_zero(zeros) + 1;
			}
		}
		for (; used < inside; used++) {
			unsafe_get_user(byte, (const char __user *)(address + used), fault);
			out[used] = byte;
			if (!byte)
				return used + 1;
		}
	}
	return 0;
fault:
	return -EFAULT;
}

notrace u32 user_text_copy(char *out, u32 room, unsigned long address)
{
	const unsigned long begin = untagged_addr(address),
			    bytes = begin < TASK_SIZE_MAX ? min_t(unsigned long, room, TASK_SIZE_MAX - begin)
							  : 0;
	long length = -EFAULT;

	pagefault_disable();
	if (bytes && user_access_begin((const void __user *)begin, bytes)) {
		length = copy(out, bytes, begin);
		user_access_end();
	}
	pagefault_enable();
	if (length > 0)
		return length;
	if (length < 0 || bytes < room) {
		memcpy(out, WIRE_NULL, sizeof(WIRE_NULL));
		return sizeof(WIRE_NULL);
	}
	memcpy(out + room - sizeof(WIRE_TRUNCATED), WIRE_TRUNCATED, sizeof(WIRE_TRUNCATED));
	return room;
}
