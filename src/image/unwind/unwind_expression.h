/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The copy of a stack, and DWARF expressions over it and registers. */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_EXPRESSION_H
#define BURIN_IMAGE_UNWIND_UNWIND_EXPRESSION_H

#include <errno.h>

#include "image/unwind/unwind_bytes.h"
#include "image/unwind/unwind_registers.h"

struct unwind_memory {
	const unsigned char *bytes;
	uint64_t begin, size; /* its address in the process */
};

/* unwind_load - 1, 2, 4 or 8 bytes from the stack. Return: 0; -EFAULT: the copy does not have them. */
static inline int unwind_load(const struct unwind_memory *memory, uint64_t address, unsigned size,
			      uint64_t *value)
{
	const uint64_t offset = address - memory->begin;
	struct bytes bytes;

	if (offset > memory->size || memory->size - offset < size)
		return -EFAULT;
	bytes = (struct bytes){ .at = memory->bytes + offset, .end = memory->bytes + offset + size };
	*value = bytes_number(&bytes, size);
	return 0;
}

/*
 * unwind_evaluate - the value of a DWARF expression.
 * @cfa: on its stack at the beginning; NULL: the stack is empty
 * Return: 0; -EFAULT: it reads beyond the copy of the stack; -EINVAL: it is invalid, uses an unknown register, or takes
 * too long.
 */
int unwind_evaluate(struct bytes expression, const struct unwind_registers *registers,
		    const struct unwind_memory *memory, const uint64_t *cfa, uint64_t *value);

#endif
