/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin events kernel: the kernel's tracepoints. */
#ifndef BURIN_CMD_CONTROL_KERNEL_LISTING_H
#define BURIN_CMD_CONTROL_KERNEL_LISTING_H

#include <stdbool.h>

#include "session/session.h"
#include "view/buffer.h"

/* kernel_listing_fields - print the fields of an event, of the kernel or of a program: "len:u32 proto:str". */
void kernel_listing_fields(const char *text, uint64_t types, struct view_buffer *out);

/*
 * kernel_listing - print the tracepoints whose names (SYSTEM:NAME) match.
 * @globs: ends with NULL; none: all
 * @module: the kernel's session, whose events are left out; NULL: there is none
 * @found: the module has events that match: then it is no error if there are no others
 * Return: the exit code.
 */
int kernel_listing(const char *const *globs, bool as_json, const struct session *module, bool found);

#endif
