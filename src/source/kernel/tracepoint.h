/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tracepoint of the kernel: its fields as tracefs describes them, and the event that it becomes. */
#ifndef BURIN_SOURCE_KERNEL_TRACEPOINT_H
#define BURIN_SOURCE_KERNEL_TRACEPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire_event.h"

enum {
	TRACEPOINT_NAME = 64, /* bytes of a name of the kernel, with its NUL */
	TRACEPOINT_FIELDS = 48,
	TRACEPOINT_TEXT_MAX = 256, /* of a recorded text of dynamic size, with its NUL */
	TRACEPOINT_ARRAY_MAX = 64, /* bytes of an array */
};

#define TRACEPOINT_PREFIX   "kernel."
#define TRACEPOINT_SYSCALLS "syscalls"

enum tracepoint_kind {
	TRACEPOINT_OTHER, /* not recorded */
	TRACEPOINT_INTEGER,
	TRACEPOINT_POINTER,
	TRACEPOINT_CHARS, /* char NAME[N], in the record */
	TRACEPOINT_TEXT,  /* __data_loc char[]: the field has the text's offset in the record and its size */
	TRACEPOINT_ARRAY, /* TYPE NAME[N] */
	TRACEPOINT_USER_TEXT, /* the address of a text in the process */
};

struct tracepoint_field {
	char name[TRACEPOINT_NAME];
	char type[TRACEPOINT_NAME]; /* as the kernel writes it */
	enum tracepoint_kind kind;
	bool is_signed;
	uint16_t offset, size; /* in the kernel's record, bytes */
	uint16_t element;      /* of an array: bytes of an element */
	uint8_t bytes;	       /* of an integer: those recorded, which may be its lower ones */
	bool recorded;	       /* the event has it */
};

struct tracepoint {
	char system[TRACEPOINT_NAME], name[TRACEPOINT_NAME];
	unsigned id; /* the kernel's */
	unsigned count;
	struct tracepoint_field fields[TRACEPOINT_FIELDS];
	/* the event */
	char event[WIRE_NAME_MAX + 1], format[WIRE_FORMAT_MAX + 1];
	uint64_t types;
};

/*
 * tracepoint_parse - parse the text of a file `format`, and choose what is recorded.
 * Return: false: it is not one.
 */
bool tracepoint_parse(struct tracepoint *out, const char *system, const char *name, const char *text);

/* tracepoint_without_texts - let texts of a process be their addresses. */
void tracepoint_without_texts(struct tracepoint *point);

/* tracepoint_field - a recorded field by its name; NULL: there is none. */
const struct tracepoint_field *tracepoint_field(const struct tracepoint *point, const char *name);

/* tracepoint_syscall - the name of the system call that a tracepoint is about; NULL: it is another one. */
const char *tracepoint_syscall(const struct tracepoint *point, bool *enters);

#endif
