/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The code of a traced process that can be changed: a table in its private memory, which libburin-calls.so exports as
 * `call_patches`. The library makes it when objects are loaded. A command changes the code by it, from outside, while all
 * threads are stopped (control/patch_process.h).
 *
 * Every pointer is an address of that process. A command trusts none of them: it only writes into the process itself.
 */
#ifndef BURIN_WIRE_WIRE_PATCH_H
#define BURIN_WIRE_WIRE_PATCH_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	WIRE_PATCH_VERSION = 1,
	WIRE_PATCH_BYTES = 16, /* room for a text; the longest is a sled's, 11 bytes */
	WIRE_PATCH_OBJECTS = 4096,
};

struct wire_patch {
	uint64_t address;  /* of the instruction */
	uint64_t stub;	   /* 0: it has none */
	uint32_t function; /* number in the session; 0: of all of the object, both texts are the same */
	uint8_t bytes;	   /* of the instruction */
	bool on;
	bool raw; /* the compiler's text, which may be several instructions, all of them NOPs */
	uint8_t reserved;
	uint8_t now[WIRE_PATCH_BYTES]; /* the text in memory: this one, or one of the next two */
	uint8_t off_text[WIRE_PATCH_BYTES], on_text[WIRE_PATCH_BYTES];
};

struct wire_patch_object {
	uint64_t begin, end; /* of the object in memory; end == 0: it was unloaded */
	uint64_t area, area_bytes;
	uint64_t patches; /* address of struct wire_patch[count] */
	uint64_t count;
	uint64_t has_slots; /* private to the process */
};

struct wire_patches {
	uint64_t version;
	uint64_t objects; /* in use, unloaded ones too */
	struct wire_patch_object object[WIRE_PATCH_OBJECTS];
};

static_assert(sizeof(struct wire_patch) == 72 && sizeof(struct wire_patch_object) == 56, "wire_patch");

/* The results of burin_calls_attach() of libburin-calls.so: whether the process is ready to be patched. */
enum wire_patch_attach {
	WIRE_PATCH_READY,
	WIRE_PATCH_NO_SESSION, /* it could not make a session */
	WIRE_PATCH_NO_CALLS,   /* its session was made without calls */
	WIRE_PATCH_CONTEXTS, /* it switches stacks, so return addresses may be on stacks that are not known */
	WIRE_PATCH_ANSWERS
};

#endif
