/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Structures whose members stand at fixed places, as strace writes them: `{tv_sec=1, tv_usec=5}`. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_STRUCTURE_TEXT_H
#define BURIN_VIEW_SYSCALLS_VALUES_STRUCTURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/buffer.h"
#include "view/syscalls/values/memory_form.h"
#include "view/syscalls/values/syscall_words.h"

/*
 * structure_text - write one.
 * @machine: may be NULL
 * Return: false: this form is none, or bytes or the machine's names are missing; nothing was written.
 */
bool structure_text(enum memory_form form, const struct syscall_machine *machine, const uint8_t *bytes,
		    size_t count, struct view_buffer *out);

#endif
