/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The records of the kernel's rings (perf_event_open(2)), taken apart.
 *
 * A record is looked at as bytes from somewhere: what does not hold is RECORD_DAMAGED, and nothing behind its end is
 * read. Pointers in a struct record point into the bytes.
 */
#ifndef BURIN_SOURCE_SAMPLE_RECORD_H
#define BURIN_SOURCE_SAMPLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind {
	RECORD_OTHER, /* of no use here */
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
	RECORD_MODE_NONE, /* neither the kernel's code nor a program's */
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
	uint64_t abi;		   /* PERF_SAMPLE_REGS_ABI_*; 0: there is nothing */
	const uint64_t *registers; /* in the order of the mask's bits; may be unaligned: copy them */
	unsigned register_count;
	const unsigned char *stack;
	size_t stack_bytes; /* that are sound */
};

struct record_sample {
	enum record_mode mode;
	uint64_t ip;
	uint64_t period;
	const uint64_t
		*chain; /* addresses and PERF_CONTEXT_* marks, the innermost first; copied out with memcpy */
	uint64_t chain_count;
	struct record_user user;
};

struct record_map {
	uint64_t begin, bytes, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	unsigned char build_id[RECORD_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0: the device and the inode tell; otherwise they are 0 */
	const char *path;
};

struct record {
	enum record_kind kind;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* FORK, EXIT */
	uint64_t time;			 /* as the kernel has it; 0: it has none */
	bool exec;			 /* NAME: by an exec; all mappings are gone */
	bool gone;			 /* KERNEL_CODE: it is taken away */
	bool out, preempted;		 /* SWITCH: the thread stops; it could have gone on */
	uint64_t lost;			 /* LOST */
	const char *name;		 /* NAME, KERNEL_CODE; ends in NUL */
	struct record_map map;		 /* MAP; KERNEL_CODE: begin, bytes */
	struct record_sample sample;
};

/* record_kind_of - only what kind it is; for counting. @bytes: at least RECORD_HEAD */
enum record_kind record_kind_of(const void *bytes);

/* record_bytes - its length by its own account. @bytes: at least RECORD_HEAD */
size_t record_bytes(const void *bytes);

/*
 * record_parse - take a record apart.
 * @sample_type: PERF_SAMPLE_* of the event that the ring is of; all other records end in TID and TIME
 * @registers: the mask of user registers
 */
void record_parse(const void *bytes, size_t size, uint64_t sample_type, uint64_t registers,
		  struct record *out);

/*
 * record_pack - copy a record, and of the copy of a stack in it only what the kernel has filled: it makes room for the
 * largest that was asked for.
 * @to: room for @size bytes; elsewhere than @bytes, or the same
 * Return: its length there. What is damaged is copied as it is.
 */
size_t record_pack(void *to, const void *bytes, size_t size, uint64_t sample_type, uint64_t registers);

#endif
