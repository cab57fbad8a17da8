/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where functions begin, by .eh_frame_hdr: a sorted table that linkers write, which is in memory also if the object is stripped. The
 * usual encoding is the only one that they write: a count of 4 bytes, pairs of 4 bytes relative to the header.
 */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_FRAMES_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_FRAMES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct call_frames {
	const uint8_t *header; /* NULL: there is none */
	uint32_t max;	       /* functions that it has room for */
};

struct call_frames_found {
	uint64_t function; /* its first instruction */
	uint64_t entry;	   /* of .eh_frame; not checked */
};

/* call_frames_of - the table of a loaded object. Context: any. */
struct call_frames call_frames_of(const struct dl_phdr_info *object);

/* call_frames_before - the last function that begins at or before an address. Context: any. Return: whether there is one. */
bool call_frames_before(const struct call_frames *frames, uint64_t address, struct call_frames_found *found);

/* call_frames_function - the function that has an address; 0: it is not known. Context: any. */
uint64_t call_frames_function(const struct dl_phdr_info *object, uint64_t address);

#endif
