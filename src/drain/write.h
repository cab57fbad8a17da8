/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing all of it. */
#ifndef BURIN_DRAIN_WRITE_H
#define BURIN_DRAIN_WRITE_H

#include <stddef.h>
#include <stdint.h>

/* write_fully - write so many bytes at a place of a file. Return: 0 or -errno; then some of them may be there. */
int write_fully(int fd, const void *data, size_t bytes, uint64_t at);

#endif
