/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A tracepoint of the kernel, or a probe in a program: its fields, and the event that it becomes. */
#ifndef BURIN_SOURCE_KERNEL_POINTS_TRACEPOINT_H
#define BURIN_SOURCE_KERNEL_POINTS_TRACEPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/in_kernel/kernel_memory.h"
#include "wire/wire_event.h"

enum {
	TRACEPOINT_NAME = 64, /* bytes of a name of the kernel, with its NUL */
	TRACEPOINT_LABEL =
		112, /* of one of a probe, with the file's; an event's name has the system's in front of it */
	TRACEPOINT_FIELDS = 48,
};

#define TRACEPOINT_PREFIX   "kernel."
#define TRACEPOINT_SYSCALLS "syscalls"
#define TRACEPOINT_CALLS    "calls"   /* the enum of system calls: their numbers' names */
#define UNNAMED_CALL	    "unnamed" /* stands for the name of a system call whose number has none ... */
#define COMPAT_CALL	    "compat"  /* ... and of one of another interface (unnamed_calls.h) */

enum tracepoint_kind {
	TRACEPOINT_OTHER, /* not recorded */
	TRACEPOINT_INTEGER,
	TRACEPOINT_POINTER,
	TRACEPOINT_CHARS, /* char NAME[N], in the record */
	TRACEPOINT_TEXT,  /* __data_loc char[]: the field has the text's offset in the record and its size */
	TRACEPOINT_ARRAY, /* TYPE NAME[N] */
	TRACEPOINT_USER_TEXT,	/* the address of a text in the process */
	TRACEPOINT_KERNEL_TEXT, /* the address of a text in the kernel */
	TRACEPOINT_CALL, /* not the kernel's: the number of the system call that the current task is in */
	TRACEPOINT_INTERRUPT, /* not the kernel's: whether an interrupt runs instead of the current task */
	TRACEPOINT_SOCKET, /* not the kernel's: the bytes of a socket's address that a system call takes or returns */
	TRACEPOINT_LIST_COUNT, /* not the kernel's: the arguments, or the variables, of an exec */
	TRACEPOINT_LIST, /* not the kernel's: the texts of its arguments, each with its NUL, behind both counts */
	TRACEPOINT_POINTED, /* not the kernel's: bytes that an argument points to */
	TRACEPOINT_VECTORS, /* not the kernel's: struct iovec to which the second argument points, and then their first bytes */
	TRACEPOINT_ELAPSED,	/* not the kernel's: ns since the entry of the system call */
	TRACEPOINT_CALL_NUMBER, /* of the system call that the record is about */
};

extern const struct tracepoint_condition tracepoint_conditions[TRACEPOINT_CONDITIONS];

extern const struct tracepoint_command tracepoint_commands[];
extern const unsigned tracepoint_command_count;

/* Where a field of a probe is. */
enum tracepoint_place {
	TRACEPOINT_RECORD,   /* it is none: the field is in the kernel's record */
	TRACEPOINT_REGISTER, /* in `base` */
	TRACEPOINT_MEMORY,   /* at `base` + `index` * `scale` + `number` */
	TRACEPOINT_NUMBER,   /* it is always `number` */
	TRACEPOINT_CONTEXT, /* 8 bytes at `base` in the program's context, whatever types the kernel has for these */
};

enum {
	TRACEPOINT_NO_REGISTER = 0xff,
	TRACEPOINT_STEPS = 6, /* pointers that lead to a field */
};

struct tracepoint_source {
	uint8_t place;	     /* enum tracepoint_place */
	uint8_t base, index; /* offsets in struct pt_regs; TRACEPOINT_NO_REGISTER */
	uint8_t scale;	     /* as a shift */
	uint8_t shift;	     /* of the register's value to the right, bits */
	/* Of a field in the context: from that pointer on, memory at each plus this offset is the next one; the last one is the field. */
	uint8_t steps;
	bool is_address; /* the last one is not read: its address is that of a text */
	uint16_t offsets[TRACEPOINT_STEPS];
	int64_t number;
};

struct tracepoint_field {
	char name[TRACEPOINT_NAME];
	char type[TRACEPOINT_NAME]; /* as the kernel writes it */
	enum tracepoint_kind kind;
	bool is_signed;
	uint16_t offset, size; /* in the kernel's record, bytes */
	uint16_t element;      /* of an array: bytes of an element */
	uint8_t bytes;	       /* of an integer: those recorded, which may be its lower ones */
	uint8_t socket;	       /* of a socket's address: enum tracepoint_socket */
	uint8_t list;	       /* of a list, or of memory: the argument that leads to it */
	uint8_t times;	       /* of memory: what its size is multiplied by, enum tracepoint_times */
	bool recorded;	       /* the event has it */
	bool labelled; /* its values have names, in the enum of its own name (struct tracepoint.enums) */
	struct tracepoint_source source;
};

struct tracepoint {
	char system[TRACEPOINT_NAME], name[TRACEPOINT_LABEL];
	unsigned id; /* the kernel's; of a probe, a number above those */
	/* Of a probe, else 0: */
	int file; /* the program or library, which the caller closes */
	bool is_probe;
	uint64_t site, counter; /* offsets in the file; of the counter of users, 0: none */
	const char *refused;	/* why it cannot be recorded, a static phrase; NULL: it can */
	/* Of a function of the kernel, else 0: */
	uint32_t function; /* number of its type */
	bool is_return;
	/* Of a system call: */
	unsigned late; /* of an entry: number of tracepoint_late() among all, from 1; 0: none */
	bool is_late;
	/* the event */
	const char *enums; /* of its fields, as wire/wire_enum.h has them; NULL: none. */
	uint64_t types;
	char event[WIRE_NAME_MAX + 1], format[WIRE_FORMAT_MAX + 1];
	unsigned count;
	struct tracepoint_field
		fields[TRACEPOINT_FIELDS]; /* last, since most have few of them: tracepoint_copy() */
};

/*
 * tracepoint_parse - parse the text of a file `format`, and choose what is recorded.
 * Return: false: it is not one.
 */
bool tracepoint_parse(struct tracepoint *out, const char *system, const char *name, const char *text);

/* tracepoint_copy - copy a tracepoint; the rest of its room is not touched. */
void tracepoint_copy(struct tracepoint *to, const struct tracepoint *from);

/* tracepoint_make_event - name the event, and choose which fields it has. */
void tracepoint_make_event(struct tracepoint *point);

/*
 * tracepoint_late - the event of a system call's arguments that are read at its exit, since memory was missing at the entry.
 * Return: false: none of them is in memory.
 */
bool tracepoint_late(struct tracepoint *out, const struct tracepoint *enter);

/* tracepoint_arguments - how many arguments a system call's entry has. */
unsigned tracepoint_arguments(const struct tracepoint *point);

/* tracepoint_has_memory - whether the tracepoint of a system call, "sys_enter_NAME", has a socket's address or other memory. */
bool tracepoint_has_memory(const char *name);

/* tracepoint_without_texts - let texts of a process be their addresses, and leave out what else is read in its memory. Return: whether it had any. */
bool tracepoint_without_texts(struct tracepoint *point);

/* tracepoint_field - a recorded field by its name; NULL: there is none. */
const struct tracepoint_field *tracepoint_field(const struct tracepoint *point, const char *name);

/* tracepoint_has_calls - whether the event's format refers to the enum of system calls. */
bool tracepoint_has_calls(const struct tracepoint *point);

/* tracepoint_needs_registers - whether it has a field for which the program needs the registers of the process. */
bool tracepoint_needs_registers(const struct tracepoint *point);

/* tracepoint_syscall - the name of the system call that a tracepoint is about; NULL: it is another one. */
const char *tracepoint_syscall(const struct tracepoint *point, bool *enters);

#endif
