/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parses the records of the kernel's rings (perf_event_open(2)).
 *
 * The bytes are not trusted: an invalid record is RECORD_DAMAGED, and nothing behind its end is read. Pointers in a
 * struct record point into the bytes.
 */
#ifndef BURIN_SOURCE_PERF_RINGS_PERF_RECORD_H
#define BURIN_SOURCE_PERF_RINGS_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind {
	RECORD_OTHER, /* not used here */
	RECORD_DAMAGED,
	RECORD_SAMPLE,
	RECORD_LOST,
	RECORD_THROTTLE,
	RECORD_MAP,
	RECORD_NAME, /* COMM */
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_KERNEL_CODE, /* KSYMBOL */
	RECORD_SWITCH,
};

enum record_mode {
	RECORD_MODE_NONE, /* neither kernel code nor a program's */
	RECORD_MODE_KERNEL,
	RECORD_MODE_USER,
};

enum {
	RECORD_BUILD_ID_MAX = 20,
	RECORD_REGISTERS_MAX = 64,
	RECORD_HEAD = 8, /* bytes of struct perf_event_header */
};

/* Registers and a copy of the stack of an interrupted thread in user mode. */
struct record_user {
	uint64_t abi;		   /* PERF_SAMPLE_REGS_ABI_*; 0: there are none */
	const uint64_t *registers; /* in the order of the mask's bits; may be unaligned: copy them */
	unsigned register_count;
	const unsigned char *stack;
	size_t stack_bytes; /* that are valid */
};

struct record_sample {
	enum record_mode mode;
	uint64_t ip;
	uint64_t period;
	const uint64_t *chain; /* addresses and PERF_CONTEXT_* marks, the innermost first; may be unaligned */
	uint64_t chain_count;
	const unsigned char *raw; /* a tracepoint's record */
	uint32_t raw_bytes;
	struct record_user user;
};

struct sample_image;

struct record_map {
	uint64_t begin, bytes, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	unsigned char build_id[RECORD_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0: device and inode identify the file; otherwise these are 0 */
	const char *path;
	struct sample_image *image; /* found when the record was read; NULL: not yet */
};

struct record {
	enum record_kind kind;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* FORK, EXIT */
	uint64_t time;			 /* in the kernel's clock; 0: it has none */
	bool exec;			 /* NAME: from an exec; all mappings are gone */
	bool gone;			 /* KERNEL_CODE: it was removed */
	bool out, preempted;		 /* SWITCH: the thread stops; it was still runnable */
	uint64_t lost;			 /* LOST */
	const char *name;		 /* NAME, KERNEL_CODE; ends in NUL */
	struct record_map map;		 /* MAP; KERNEL_CODE: begin, bytes */
	struct record_sample sample;
};

/* record_kind_of - only the kind, for counting. @bytes: at least RECORD_HEAD */
enum record_kind record_kind_of(const void *bytes);

/* record_bytes - the length in its header, not validated. @bytes: at least RECORD_HEAD */
size_t record_bytes(const void *bytes);

/*
 * record_parse - parse a record.
 * @sample_type: PERF_SAMPLE_* of the ring's event; records that are not samples end in TID and TIME
 * @registers: the mask of user registers
 */
void record_parse(const void *bytes, size_t size, uint64_t sample_type, uint64_t registers,
		  struct record *out);

/*
 * record_pack - copy a record, but only the filled part of the stack copy in it. The kernel always reserves the configured
 * size for that.
 * @to: room for @size bytes; may be @bytes, but must not overlap otherwise
 * Return: its length there. A damaged record is copied unchanged.
 */
size_t record_pack(void *to, const void *bytes, size_t size, uint64_t sample_type, uint64_t registers);

#endif
