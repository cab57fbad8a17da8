/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A system call as strace writes it: `openat(AT_FDCWD, "path", O_RDONLY|O_CLOEXEC) = 3`. */
#ifndef BURIN_VIEW_SYSCALLS_SYSCALL_TEXT_H
#define BURIN_VIEW_SYSCALLS_SYSCALL_TEXT_H

#include "burin/read.h"
#include "view/buffer.h"
#include "view/syscalls/values/descriptor_calls.h"
#include "view/syscalls/values/memory_text.h"

/* How an event's arguments are written. */
struct syscall_style {
	const struct syscall_argument *
		*arguments; /* by field: the first of its lines; NULL: as its type says */
	const char *call;
	const struct syscall_machine *machine;
	unsigned count;
	bool address;		   /* the result is an address */
	int number;		   /* the field with the call's number, which is no argument; -1: none */
	unsigned first;		   /* field that is an argument */
	uint32_t descriptors;	   /* fields that are some, a bit each */
	int memory[MEMORY_PIECES]; /* fields with what arguments point to, behind the arguments; -1: none */
	bool vectors; /* the first of them has vectors and their first bytes; older traces have more vectors, and no bytes */
	int socket;			    /* the field with a socket's address; -1: none */
	const struct memory_call *pointers; /* which arguments, at the begin and at the end; NULL: none */
	/* Of an exec, fields with its lists, which are no arguments themselves: arguments and variables. -1: none */
	int list, counts[2];
};

/* The arguments as text: those that the end replaces are a part of their own. */
struct syscall_arguments {
	struct view_buffer before, memory, after;
	struct view_buffer returned; /* what the end says behind the result; empty: nothing */
	struct view_buffer list;     /* of an exec; empty: unknown */
	int64_t argc, vars;	     /* of an exec; -1: unknown */
	enum memory_form form;	     /* of what the end has */
	int64_t descriptors;	     /* in sets of a select; -1: unknown */
	bool failed;		     /* no memory */
};

/* syscall_text_machine - the kind of machine that recorded a trace. Return: NULL: one whose flags have no names here. */
const struct syscall_machine *syscall_text_machine(const struct burin_trace *trace);

/* syscall_style_make - @machine: may be NULL. @call: the name, which must stay. Return: false: no memory. */
bool syscall_style_make(struct syscall_style *style, const struct syscall_machine *machine,
			const struct burin_event *event, const char *call);
void syscall_style_free(struct syscall_style *style);

/* syscall_text_arguments - write the arguments, separated by commas. @place: of its descriptors */
void syscall_text_arguments(const struct syscall_style *style, const struct descriptor_place *place,
			    const struct burin_record *record, struct syscall_arguments *out);

/* syscall_text_returned - put in what the record of the end has. The begin may be missing. @place: as the call has left them */
void syscall_text_returned(const struct syscall_style *style, const struct descriptor_place *place,
			   const struct burin_record *record, int64_t result, struct syscall_arguments *out);

/* syscall_arguments_text - the whole text, which then has no parts any more. */
const struct view_buffer *syscall_arguments_text(struct syscall_arguments *arguments);

/* syscall_arguments_empty - let it have no text; syscall_arguments_free - free it. */
void syscall_arguments_empty(struct syscall_arguments *arguments);
void syscall_arguments_free(struct syscall_arguments *arguments);

/* syscall_text_result - append `3`, `0x7f0000000000`, `-1 ENOENT`, or `? ERESTARTSYS` of a call that will be restarted. */
void syscall_text_result(const struct syscall_style *style, int64_t result, struct view_buffer *out);

#endif
