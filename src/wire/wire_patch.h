/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The code of a traced process that can be changed: a table in its private memory, which libburin-calls.so exports as
 * `call_patches`. The library makes it when objects are loaded. A command changes the code by it, from outside: while the
 * threads run (control/running/patch_running.h), or while all are stopped (control/running/patch_process.h).
 *
 * Every pointer is an address of that process. A command trusts none of them: it writes only into private code of files,
 * and only where the text is one of the table's.
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
	WIRE_PATCH_SHORT = 2, /* bytes of a jump; NOPs may follow it, ... */
	WIRE_PATCH_LONG = 5,
	WIRE_PATCH_SLED = 11,
	WIRE_PATCH_TEST_SHORT = 0xa8, /* ... and the `test` of this length: $imm8, %al and $imm32, %eax */
	WIRE_PATCH_TEST_LONG = 0xa9,
};

struct wire_patch {
	uint64_t address;  /* of the instruction */
	uint64_t stub;	   /* 0: it has none */
	uint32_t function; /* number in the session; 0: of all of the object, both texts are the same */
	uint8_t bytes;	   /* of the instruction */
	uint8_t on;	   /* 0 or 1; as the next one no bool, since a program may write any byte there */
	uint8_t raw;	   /* the compiler's text, which may be several instructions, all of them NOPs */
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

/* wire_patch_jump - bytes of the jump that a text has; 0: it has none that begins it. */
static inline unsigned wire_patch_jump(const struct wire_patch *patch)
{
	return patch->bytes == WIRE_PATCH_SHORT					   ? WIRE_PATCH_SHORT
	       : patch->bytes >= WIRE_PATCH_LONG && patch->bytes < WIRE_PATCH_SLED ? WIRE_PATCH_LONG
										   : 0;
}

/* wire_patch_test - the first byte of a `test` as long as the jump; 0: there is none. */
static inline uint8_t wire_patch_test(const struct wire_patch *patch)
{
	const unsigned bytes = wire_patch_jump(patch);

	return bytes == WIRE_PATCH_LONG ? WIRE_PATCH_TEST_LONG : bytes ? WIRE_PATCH_TEST_SHORT : 0;
}

/* wire_patch_is_harmless - whether a byte inside NOPs leaves them such. @last: nothing of them follows */
static inline bool wire_patch_is_harmless(uint8_t byte, bool last)
{
	switch (byte) {
	case 0x90: /* nop */
	case 0xf5: /* cmc, clc, stc, cld */
	case 0xf8:
	case 0xf9:
	case 0xfc:
		return true;
	case 0x26: /* segments, which are not used */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
		return !last;
	default:
		return false;
	}
}

/* wire_patch_is_passable - whether a thread inside a text of WIRE_PATCH_LONG bytes, or of fewer, comes to what follows it. */
static inline bool wire_patch_is_passable(const uint8_t *text, unsigned bytes)
{
	const uint8_t last = text[bytes - 1];
	/* A program in low memory has no other distances: a segment's prefix, of an instruction that has no other one. */
	const bool prefix = last == 0x26 || last == 0x2e || last == 0x36 || last == 0x3e;

	for (unsigned n = 1; n + 1 < bytes; n++)
		if (!wire_patch_is_harmless(text[n], prefix && n + 2 == bytes))
			return false;
	return prefix || wire_patch_is_harmless(last, true);
}

/* wire_patch_is_text - whether memory has one of the texts of a patch, or one on the way between them. */
static inline bool wire_patch_is_text(const struct wire_patch *patch, const uint8_t *text)
{
	const uint8_t test = wire_patch_test(patch);

	for (unsigned n = 0; n < patch->bytes && n < WIRE_PATCH_BYTES; n++)
		if (text[n] != patch->now[n] && text[n] != patch->on_text[n] &&
		    text[n] != patch->off_text[n] && (n || !test || text[n] != test))
			return false;
	return true;
}

static_assert(sizeof(struct wire_patch) == 72 && sizeof(struct wire_patch_object) == 56, "wire_patch");

/* The results of burin_calls_attach() of libburin-calls.so: whether the process is ready to be patched. */
enum wire_patch_attach {
	WIRE_PATCH_READY,
	WIRE_PATCH_NO_SESSION, /* it could not make a session */
	WIRE_PATCH_NO_CALLS,   /* its session was made without calls */
	WIRE_PATCH_CONTEXTS, /* it switches stacks, so return addresses may be on stacks that are not known */
	WIRE_PATCH_BUSY,     /* another thread is at it, for a command that was killed: try again */
	WIRE_PATCH_ANSWERS
};

#endif
