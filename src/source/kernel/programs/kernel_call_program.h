/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The programs at the entries and the exits of all system calls. */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_CALL_PROGRAM_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_CALL_PROGRAM_H

#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/bpf/kernel_put.h"

enum {
	KERNEL_FILTERS_MAX = 16, /* different ones of system calls */
};

/* A piece of memory, as the programs see it. */
struct kernel_piece {
	uint8_t place; /* the argument that points to it; above KERNEL_PLACE_BITS: enum tracepoint_times */
	uint8_t bytes; /* 0: there is none */
};

/* The entry or the exit of a system call, as the programs see it. */
struct kernel_syscall {
	uint16_t id; /* of the event; 0: not recorded */
	uint8_t count; /* arguments; above KERNEL_COUNT_BITS: enum tracepoint_socket, or one of the values below */
	uint8_t shorts; /* a bit for each: 32 bits, else 64 */
	uint8_t texts;	/* a bit for each: the address of a text */
	uint8_t filter; /* number in struct kernel_calls, from 1; 0: none */
	uint16_t late;	/* id of the event of arguments that are read at the exit; 0: none */
	struct kernel_piece pieces[TRACEPOINT_PIECES]; /* read by themselves */
};

enum {
	KERNEL_COUNT_BITS = 3,
	KERNEL_PLACE_BITS = 3,
	/* What the record has behind the other fields: */
	KERNEL_HAS_NUMBER = TRACEPOINT_SOCKET_MESSAGE + 1, /* the call's number */
	KERNEL_HAS_VECTORS,				   /* the vectors of writev, and what they lead to */
	KERNEL_HAS_LIST,       /* an exec's lists, beginning with the second argument ... */
	KERNEL_HAS_LIST_THIRD, /* ... or with the third one */
	KERNEL_HAS_MEMORY,
};

/* All entries, or all exits. */
struct kernel_calls {
	int map; /* an array of struct kernel_syscall, by number (kernel_points_call()) */
	struct kernel_filter filters[KERNEL_FILTERS_MAX];
	unsigned filter_count;
	bool sockets; /* some have a socket's address */
	bool numbers; /* some have their number */
	bool lists;   /* some have lists */
	bool vectors; /* some have vectors */
	/* Some have memory: of each piece, a bit for each argument that points to it, and for each enum tracepoint_times. */
	unsigned memory[TRACEPOINT_PIECES], times[TRACEPOINT_PIECES];
	const struct kernel_calls
		*entries; /* of the exits: those whose arguments are read again; NULL: none */
};

/*
 * kernel_program_enter, kernel_program_exit - the programs of all system calls: BPF_PROG_TYPE_RAW_TRACEPOINT at sys_enter and
 * sys_exit, or of bpf_load_typed() there.
 */
void kernel_program_enter(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct kernel_calls *calls);
void kernel_program_exit(struct bpf_program *to, const struct kernel_layout *layout,
			 const struct kernel_calls *calls);

/*
 * kernel_program_exec - the program of BPF_PROG_TYPE_TRACEPOINT at sched_process_exec: it writes the arguments of an exec that succeeds and whose
 * path was not in memory.
 * @number: of execve; @point: the tracepoint
 * Return: false: it lacks a field.
 */
bool kernel_program_exec(struct bpf_program *to, const struct kernel_layout *layout,
			 const struct kernel_calls *entries, int number, const struct tracepoint *point);

#endif
