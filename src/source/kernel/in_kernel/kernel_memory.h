/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sizes of what records have of a process's memory, and how arguments of system calls lead to it. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_MEMORY_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KERNEL_COMMANDS = 16,	     /* room for tracepoint_commands ... */
	KERNEL_CONDITIONS = 8,	     /* ... and conditions, in struct kernel_tables; a power of two */
	TRACEPOINT_TEXT_MAX = 256,   /* of a recorded text of dynamic size, with its NUL */
	TRACEPOINT_ARRAY_MAX = 64,   /* bytes of an array */
	TRACEPOINT_SOCKET_MAX = 128, /* of a socket's address: the kernel's limit */
	TRACEPOINT_PIECES = 4,	     /* pieces of memory that a call has */
	TRACEPOINT_PIECE_MAX = 32,   /* bytes of each behind the first one */
	/* Of a message, in one array: struct msghdr, the first of its struct iovec, and of one that is sent the first bytes of these. */
	TRACEPOINT_MESSAGE_HEAD = 56,
	TRACEPOINT_MESSAGE_VECTORS = 4,
	TRACEPOINT_MESSAGE_DATA = 128,
};

/* Which argument of a system call leads to a socket's address, or to the value of an option. */
enum tracepoint_socket {
	TRACEPOINT_SOCKET_NONE,
	TRACEPOINT_SOCKET_SECOND, /* it is the address; the next one is its length, or at an exit the address of that */
	TRACEPOINT_SOCKET_FOURTH, /* the same */
	TRACEPOINT_SOCKET_FIFTH,
	TRACEPOINT_SOCKET_MESSAGE, /* the second one is the address of a struct msghdr, which begins with both */
};

/* How many elements an argument of a system call points to. */
enum tracepoint_times {
	TRACEPOINT_ONCE,
	TRACEPOINT_TIMES_ARGUMENT,				 /* + n: as many as argument n says */
	TRACEPOINT_TIMES_RESULT = TRACEPOINT_TIMES_ARGUMENT + 6, /* as the result says */
	TRACEPOINT_TIMES_COMMAND, /* as the second argument says: the command of an ioctl */
	TRACEPOINT_TIMES_BITS,	  /* as many bytes as a set of so many bits has as the first argument says */
	TRACEPOINT_TIMES_STOPPED, /* once if a signal ended a sleep; else none */
	TRACEPOINT_TIMES_IF,	  /* + n: once if tracepoint_conditions[n] holds; else none */
};

/* One argument decides whether another one points to memory: it has one of these values, which are below 64. */
struct tracepoint_condition {
	uint8_t argument;
	uint32_t mask;	 /* of its bits that count */
	uint64_t values; /* a bit each */
};

enum {
	TRACEPOINT_CONDITIONS = 5,
};

/* A command of ioctl whose third argument points to memory. */
struct tracepoint_command {
	uint32_t command;
	uint8_t bytes;
	bool returns; /* it is written; else it is read */
};

#endif
