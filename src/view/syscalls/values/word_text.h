/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Values by their names, and texts in quotes, as strace writes them. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_WORD_TEXT_H
#define BURIN_VIEW_SYSCALLS_VALUES_WORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/buffer.h"
#include "view/syscalls/values/syscall_words.h"

/* word_text_quoted - @most: bytes; a shorter text was recorded up to its NUL, and ends in dots. SIZE_MAX: the NUL is its end */
void word_text_quoted(struct view_buffer *out, const char *text, size_t most);

/* word_text_is_whole - whether a text was read, and none of it was cut. */
bool word_text_is_whole(const char *text);

/* word_text_octets - bytes in quotes: those that cannot be printed are octal numbers, as short as can be. */
void word_text_octets(struct view_buffer *out, const uint8_t *bytes, size_t count);

/* word_text_put - a value by names of a set. @is_signed: what has no name */
void word_text_put(struct view_buffer *out, const struct syscall_words *words, uint64_t value,
		   bool is_signed);

/* word_text_member - a value whose bits may be of several sets: the numbers of all but the last one, then the flags of that. */
void word_text_member(struct view_buffer *out, const struct syscall_machine *machine, const char *call,
		      const char *name, uint64_t value);

/* word_text_mode - a file's kind and permissions. */
void word_text_mode(struct view_buffer *out, uint32_t mode);

/* word_text_address - 0 is NULL. */
void word_text_address(struct view_buffer *out, uint64_t value);

/* word_text_find - the set of an argument, whatever the others are. */
const struct syscall_words *word_text_find(const struct syscall_machine *machine, const char *call,
					   const char *name);

#endif
