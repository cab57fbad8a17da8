/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where a compiler left room for hooks in a loaded object (x86-64).
 *
 *	__patchable_function_entries	-fpatchable-function-entry=N[,M]: addresses of NOPs
 *	__mcount_loc			-pg -mfentry -mnop-mcount -mrecord-mcount: addresses of one NOP each
 *	(none)				-pg -mfentry: the code is searched for calls of __fentry__
 *	xray_instr_map			-fxray-instrument: sleds, at the begin and at each end
 *	(none)				-finstrument-functions: the linker's jumps to the functions that are called
 *
 * Sections are found by the section headers of the object's file. If these were stripped, only calls of __fentry__ are
 * found. call_frames.h knows where a function begins.
 */
#ifndef BURIN_SOURCE_CALLS_PATCH_CALL_SITES_H
#define BURIN_SOURCE_CALLS_PATCH_CALL_SITES_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_site_kind {
	CALL_SITE_ENTRY, /* one instruction, or NOPs, at the function's begin */
	CALL_SITE_SHORT, /* the same, but only two bytes; five bytes before it are free */
	CALL_SITE_SLED,	 /* XRay: begin */
	CALL_SITE_SLED_END,
	CALL_SITE_SLED_TAIL,
	CALL_SITE_ENTER, /* the linker's jump to __cyg_profile_func_enter(): of no function */
	CALL_SITE_EXIT,	 /* the same of the other */
	CALL_SITE_REFUSED, /* none: too little room for a jump, or an unknown begin; call_sites_find() counts them */
};

enum {
	CALL_SITE_JUMP = 5,	/* bytes of a jump */
	CALL_SITE_INDIRECT = 6, /* bytes of a jump through a slot */
	CALL_SITE_SLED_BYTES = 11,
	CALL_SITE_NOP_MAX = 9, /* bytes of the longest NOP */
};

struct call_found {
	uint64_t function; /* address of its first instruction */
	uint64_t address;  /* of the instruction that can be changed */
	uint64_t body;	   /* of the first instruction behind the hook */
	uint8_t kind;	   /* enum call_site_kind */
	uint8_t bytes;	   /* of the instruction */
};

struct call_sites {
	struct call_found *found; /* by mmap() */
	size_t count, room;
	size_t refused;	     /* functions without one, for lack of room for a jump, or of a known begin */
	bool own_unwinder;   /* the object has one, which no other object can replace */
	uint64_t begin, end; /* of the object in memory */
};

/*
 * call_sites_find - find the sites of a loaded object.
 * Context: it is loaded, and relocated. Return: free it by call_sites_free().
 */
struct call_sites call_sites_find(const struct dl_phdr_info *object);

void call_sites_free(struct call_sites *sites);

#endif
