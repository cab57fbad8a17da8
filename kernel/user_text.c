// SPDX-License-Identifier: GPL-2.0-only
/* Texts of processes; see user_text.h. */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "user_text.h"
#include "wire/wire_event.h"

enum {
	PART = 64, /* bytes that are copied at once: they are never in two pages */
};

notrace u32 user_text_copy(char *out, u32 room, unsigned long address)
{
	for (u32 used = 0; used < room;) {
		const u32 bytes = min_t(u32, room - used, PART - (address + used) % PART);
		u32 length;

		if (copy_from_user_nofault(out + used, (const void __user *)(address + used), bytes)) {
			memcpy(out, WIRE_NULL, sizeof(WIRE_NULL));
			return sizeof(WIRE_NULL);
		}
		length = strnlen(out + used, bytes);
		used += length;
		if (length < bytes)
			return used + 1;
	}
	memcpy(out + room - sizeof(WIRE_TRUNCATED), WIRE_TRUNCATED, sizeof(WIRE_TRUNCATED));
	return room;
}
