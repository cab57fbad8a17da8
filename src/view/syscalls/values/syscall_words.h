/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names of flags of system calls, and which arguments have them. Made by syscall_words.py from the system's headers. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_SYSCALL_WORDS_H
#define BURIN_VIEW_SYSCALLS_VALUES_SYSCALL_WORDS_H

#include <stdint.h>

struct syscall_word {
	const char *name;
	uint64_t value;
};

struct syscall_words {
	const struct syscall_word *words;
	unsigned count;
	uint64_t mask; /* these bits are one number, with one name; each other bit is a flag */
};

enum syscall_form {
	SYSCALL_PLAIN, /* as its type says */
	SYSCALL_WORDS,
	SYSCALL_OCTAL,
	SYSCALL_ADDRESS, /* hexadecimal; 0 is NULL */
	SYSCALL_HEXADECIMAL,
	SYSCALL_SIGNED,
	SYSCALL_INTEGER, /* of 32 bits, with a sign */
	SYSCALL_BUFFER,	 /* a text of as many bytes as `other` has */
	SYSCALL_NONE,	 /* the call does not use it */
};

struct syscall_argument {
	const char *call; /* "*": of any call */
	const char *name;
	enum syscall_form form;
	unsigned words; /* of a machine's */
	/* Another argument; of any other form it must have one of these values, in the bits of the mask. NULL: any. */
	const char *other;
	uint64_t mask;
	const uint64_t *values;
	unsigned value_count;
};

/* Some values are those of one kind of machine. */
struct syscall_machine {
	const char *name; /* as `uname -m` prints it */
	const struct syscall_words *words;
};

extern const struct syscall_machine syscall_machines[];
extern const unsigned syscall_machine_count;
extern const struct syscall_argument syscall_arguments[]; /* the first one that fits counts */
extern const unsigned syscall_argument_count;

#endif
