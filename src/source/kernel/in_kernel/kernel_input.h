/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Data that the programs of system calls share with the recorder, and with filters. Programs in C have this header, too. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_INPUT_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_INPUT_H

#include "source/kernel/in_kernel/kernel_memory.h"

enum {
	KERNEL_CALLS = 512, /* numbers of system calls; the largest that has a name is below */
	KERNEL_CALL_UNNAMED = KERNEL_CALLS, /* stands for all others ... */
	KERNEL_CALL_COMPAT,		    /* ... and for those of another interface (unnamed_calls.h) */
	KERNEL_CALL_ENTRIES,
};

/* A piece of memory. */
struct kernel_piece {
	uint8_t place; /* the argument that points to it; above KERNEL_PLACE_BITS: enum tracepoint_times */
	uint8_t bytes; /* 0: there is none */
};

/* The entry or the exit of a system call. */
struct kernel_syscall {
	uint16_t id;	/* of the event; 0: not recorded */
	uint8_t count;	/* arguments */
	uint8_t shorts; /* a bit for each: 32 bits, else 64 */
	uint8_t texts;	/* a bit for each: the address of a text */
	uint8_t filter; /* its number, from 1; 0: none */
	uint16_t late;	/* id of the event of arguments that are read at the exit; 0: none */
	uint8_t last; /* what the record has behind the other fields: enum tracepoint_socket, or one of the values below */
	uint8_t reserved[7];
	struct kernel_piece pieces[TRACEPOINT_PIECES]; /* read by themselves */
};

enum {
	KERNEL_ARGUMENTS = 6,
	KERNEL_PLACE_BITS = 3,
	KERNEL_HAS_NUMBER = TRACEPOINT_SOCKET_MESSAGE + 1, /* the call's number */
	KERNEL_HAS_VECTORS,				   /* the vectors of writev, and what they lead to */
	KERNEL_HAS_LIST,       /* an exec's lists, beginning with the second argument ... */
	KERNEL_HAS_LIST_THIRD, /* ... or with the third one */
	KERNEL_HAS_MEMORY,
};

/* Tables of tracepoint.h: the value of the map `tables`, which does not change. */
struct kernel_tables {
	struct tracepoint_condition conditions[KERNEL_CONDITIONS];
	struct tracepoint_command commands[KERNEL_COMMANDS]; /* the rest is 0 */
};

/* A call as a program has read it. */
struct kernel_input {
	uint64_t arguments[8]; /* KERNEL_ARGUMENTS; the rest is 0 */
	int64_t result;	       /* 0 at the entry */
	uint32_t number;       /* as the process has it */
	uint32_t mode;	       /* enum of kernel_registers.h */
	uint32_t last_chance;  /* what is not in memory now will not be read later */
	uint32_t reserved;
};

/* A program of events finds this besides the kernel's record, and passes it to the parts that are written when the recording begins. */
enum kernel_found {
	KERNEL_FOUND_NOTHING,
	KERNEL_FOUND_CALL,	/* the system call that the current task is in */
	KERNEL_FOUND_INTERRUPT, /* enum kernel_interrupt */
};

/* kernel_chosen() returns this. */
enum kernel_verdict {
	KERNEL_REFUSED,
	KERNEL_ACCEPTED,
	KERNEL_UNDECIDED, /* a text is not in memory: the exit decides */
};

enum {
	KERNEL_LATE_CALLS = 4096,  /* that wait at one moment */
	KERNEL_LATE_ARGUMENTS = 3, /* all of an exec */
};

/*
 * A call whose texts are read at the exit: a value of the map `late`; the key is the thread's id. The program at the entry makes it, that
 * at the exit takes and removes it. It may be left behind: the exit is not recorded, or the thread is killed in its call. So
 * before a note counts, call number and first arguments must be those of the call that ends.
 */
struct kernel_late {
	uint64_t time;				   /* of the entry's record; without one, of the entry; ns */
	uint64_t arguments[KERNEL_LATE_ARGUMENTS]; /* the first ones */
	uint32_t number;			   /* of the call */
	uint32_t accepted;			   /* the entry has a record */
};

#endif
