/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of processes. */
#ifndef BURIN_KERNEL_USER_TEXT_H
#define BURIN_KERNEL_USER_TEXT_H

#include <linux/types.h>

/*
 * user_text_copy - copy a text of the current process, as far as it is in memory.
 * @room: bytes for it with its NUL, at least 4. A longer one ends in WIRE_TRUNCATED; one that cannot be read is WIRE_NULL
 * Context: any in which `current` is the process; it does not sleep. Return: bytes with the NUL.
 */
u32 user_text_copy(char *out, u32 room, unsigned long address);

#endif
