/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The data directory of uftrace, versions 3 and 4, as far as Burin writes and reads it.
 *
 *	info        this header, then lines "key:value" in the order of the bits of `info`
 *	task.txt    lines SESS, TASK, FORK, DLOP
 *	sid-X.map   mappings, as in /proc/PID/maps
 *	NAME.sym    lines "address type name"; address from the begin of the image's first mapping
 *	events.txt  lines "EVENT: id provider:name"
 *	TID.dat     records of 16 bytes, in order of time; with arguments, their bytes follow, padded to 8
 */
#ifndef BURIN_WIRE_WIRE_UFTRACE_H
#define BURIN_WIRE_WIRE_UFTRACE_H

#include <assert.h>
#include <stdint.h>

#define WIRE_UFTRACE_MAGIC "Ftrace!"

enum {
	WIRE_UFTRACE_VERSION_MIN = 3,
	WIRE_UFTRACE_VERSION = 4,
	WIRE_UFTRACE_LITTLE = 1, /* values of `endian` and `elf_class`, as in ELF */
	WIRE_UFTRACE_64 = 2,
	WIRE_UFTRACE_EVENT = 1000000, /* numbers of a program's own events begin here */
	WIRE_UFTRACE_SESSION = 16,    /* hexadecimal digits of a session's name */
	WIRE_UFTRACE_STACK_MAX = 65535,
	WIRE_UFTRACE_DEPTH_MAX = 1024, /* calls deeper than this are hidden unless -D asks for them */
	WIRE_UFTRACE_BUILD_ID = 20,    /* bytes */
};

/* Bits of `features`. */
enum {
	WIRE_UFTRACE_HAS_SESSIONS = 1 << 1,
	WIRE_UFTRACE_HAS_ARGUMENTS = 1 << 3,
	WIRE_UFTRACE_HAS_RESULTS = 1 << 4,
	WIRE_UFTRACE_HAS_RELATIVE = 1 << 5, /* addresses of symbols are relative to their image */
	WIRE_UFTRACE_HAS_STACK_MAX = 1 << 6,
	WIRE_UFTRACE_HAS_EVENTS = 1 << 7,
};

/* Bits of `info`: which lines follow. */
enum {
	WIRE_UFTRACE_INFO_EXE = 1 << 0,
	WIRE_UFTRACE_INFO_STATUS = 1 << 2,
	WIRE_UFTRACE_INFO_COMMAND = 1 << 3,
	WIRE_UFTRACE_INFO_SYSTEM = 1 << 6,
	WIRE_UFTRACE_INFO_TASKS = 1 << 7,
	WIRE_UFTRACE_INFO_ARGUMENTS = 1 << 10,
	WIRE_UFTRACE_INFO_DATE = 1 << 11,
	WIRE_UFTRACE_INFO_PATTERN = 1 << 12, /* how names of functions are compared */
	WIRE_UFTRACE_INFO_VERSION = 1 << 13,
};

struct wire_uftrace_info {
	char magic[8];
	uint32_t version;
	uint16_t header_bytes;
	uint8_t endian, elf_class;
	uint64_t features, info;
	uint16_t stack_max;
	uint16_t reserved[3];
};

/* Types of records. */
enum {
	WIRE_UFTRACE_ENTRY,
	WIRE_UFTRACE_EXIT,
	WIRE_UFTRACE_LOST,     /* `address` is a count */
	WIRE_UFTRACE_HAPPENED, /* an event; `address` is its number */
};

struct wire_uftrace_record {
	uint64_t time; /* ns */
	uint64_t word; /* type:2 | more:1 | magic:3 | depth:10 | address:48 */
};

enum {
	WIRE_UFTRACE_MORE = 1 << 2, /* of a word: bytes follow */
	WIRE_UFTRACE_RECORD_MAGIC = 5,
	WIRE_UFTRACE_DEPTH_BITS = 10,
	WIRE_UFTRACE_ADDRESS_BITS = 48,
};

static_assert(sizeof(struct wire_uftrace_info) == 40, "wire_uftrace_info");
static_assert(sizeof(struct wire_uftrace_record) == 16, "wire_uftrace_record");

static inline uint64_t wire_uftrace_word(unsigned type, uint32_t depth, uint64_t address)
{
	return type | WIRE_UFTRACE_RECORD_MAGIC << 3 |
	       (uint64_t)(depth & ((1u << WIRE_UFTRACE_DEPTH_BITS) - 1)) << 6 | address << 16;
}

static inline unsigned wire_uftrace_type(uint64_t word)
{
	return word & 3;
}

static inline unsigned wire_uftrace_more(uint64_t word)
{
	return word >> 2 & 1;
}

static inline unsigned wire_uftrace_magic(uint64_t word)
{
	return word >> 3 & 7;
}

static inline uint64_t wire_uftrace_address(uint64_t word)
{
	return word >> 16;
}

#endif
