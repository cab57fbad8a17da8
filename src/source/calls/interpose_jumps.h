/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of the C library and of the unwinder that are replaced (interpose_jumps.c). */
#ifndef BURIN_SOURCE_CALLS_INTERPOSE_JUMPS_H
#define BURIN_SOURCE_CALLS_INTERPOSE_JUMPS_H

/* interpose_jumps_begin - look up what is replaced. Context: before there are threads. */
void interpose_jumps_begin(void);

#endif
