/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rights that this process lacks to record the kernel's events. */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_RIGHTS_H
#define BURIN_SOURCE_KERNEL_KERNEL_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * kernel_rights_explain - describe why the kernel does not permit something: the capabilities that this process lacks, or lockdown.
 * @what: a word before it; @reads: it is about reading tracefs
 */
void kernel_rights_explain(char *out, size_t room, const char *what, bool reads);

#endif
