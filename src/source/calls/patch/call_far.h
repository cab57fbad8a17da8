/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Jumps to stubs by way of places that are chosen by their distance (x86-64).
 *
 * In a program that runs already, a thread may stand inside the NOPs of a function's begin, or a signal handler may return there. The
 * bytes of a jump behind its first one are the distance to its target. If each of them is a NOP, the prefix of one, or changes flags only, such
 * a thread comes to the body in any case (wire/wire_patch.h). So the jump goes to a second one, which lies in such a distance, and leads
 * to the stub.
 *
 * These distances are from -1.9 GB to -50 MB; for programs at low addresses some above 600 MB. There the last byte is a prefix
 * that the first instruction of the body ignores.
 */
#ifndef BURIN_SOURCE_CALLS_PATCH_CALL_FAR_H
#define BURIN_SOURCE_CALLS_PATCH_CALL_FAR_H

#include <stdbool.h>
#include <stdint.h>

struct call_far {
	uint8_t *memory; /* NULL: there is none */
	uint64_t bytes;
	uint64_t base; /* upper bytes of all distances, as of -50 MB */
	uint64_t page; /* in which the last jump was put */
	void *copy;    /* of a slot's page; NULL: there is none */
	uint64_t slot; /* of which there is a copy ... */
	uint8_t high;  /* ... at this distance from it, in 16 MiB */
};

/* call_far_begin - memory for jumps from code at addresses from @first to @last. */
void call_far_begin(struct call_far *jumps, uint64_t first, uint64_t last);

/*
 * call_far_put - put a jump to @target, for code at @site of which the first five bytes are NOPs.
 * @distance: receives the four bytes of the distance, for a jump at @site
 * Return: false: there is no room.
 */
bool call_far_put(struct call_far *jumps, uint64_t site, uint64_t target, uint8_t distance[4]);

/*
 * call_far_slot - copy a slot, for calls through it at addresses that are less than 16 MiB before it. The last byte of their distance may become
 * @high, which is an instruction by itself that does nothing.
 * Return: false: there is no room.
 */
bool call_far_slot(struct call_far *jumps, uint64_t slot, uint8_t *high);

/* call_far_end - make the jumps executable. Return: false: a policy refuses that; they are gone. */
bool call_far_end(struct call_far *jumps);

/* call_far_free - no code leads there any more. */
void call_far_free(struct call_far *jumps);

#endif
