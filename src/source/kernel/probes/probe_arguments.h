/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments of a probe: as the user names them, and where they are. */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_ARGUMENTS_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_ARGUMENTS_H

#include "source/kernel/points/tracepoint.h"

enum {
	PROBE_WHY = 300,	  /* bytes of a message */
	PROBE_ARGUMENTS_MAX = 12, /* that <sys/sdt.h> can have */
};

struct probe_argument {
	char name[TRACEPOINT_NAME]; /* of the field: "file_f_inode" */
	char path[TRACEPOINT_NAME]; /* as it was given: "file->f_inode"; without members it is the name */
	enum tracepoint_kind kind;  /* TRACEPOINT_OTHER: not given */
	uint8_t bytes;
	bool is_signed;
};

struct probe_arguments {
	bool listed; /* there are parentheses */
	unsigned count;
	struct probe_argument list[PROBE_ARGUMENTS_MAX];
};

/*
 * probe_arguments_parse - parse "(NAME[->MEMBER...][:TYPE], ...)".
 * @text: NULL: there are none
 * @why: of PROBE_WHY bytes: why it is wrong
 * Return: whether it is right.
 */
bool probe_arguments_parse(struct probe_arguments *out, const char *text, char *why);

/* probe_arguments_next - the next name of a path. @path: set to the rest. Return: false: it has no more. */
bool probe_arguments_next(const char **path, char name[TRACEPOINT_NAME]);

/* probe_arguments_has_members - whether one of them is a member of a structure. */
bool probe_arguments_has_members(const struct probe_arguments *arguments);

/* probe_arguments_adapt - give a field the name and the type that the user wants. */
void probe_arguments_adapt(struct tracepoint_field *field, const struct probe_argument *given);

/* probe_arguments_of_function - the fields of a function's entry: integer registers, in their order. */
void probe_arguments_of_function(struct tracepoint *point, const struct probe_arguments *given);

/* probe_arguments_register - where the N-th integer argument is in struct pt_regs. @n: from 0, below 6 */
uint8_t probe_arguments_register(unsigned n);

/* probe_arguments_of_return - the field of its return: `ret`, or what the user names. */
void probe_arguments_of_return(struct tracepoint *point, const struct probe_arguments *given);

/*
 * probe_arguments_of_note - the fields of a probe of <sys/sdt.h>.
 * @given: names and types instead of the note's
 * @text: "SIZE@PLACE ...": a register, memory or a constant, in the assembler's syntax. Another one, such as a register of a floating
 * point, is a field that is not recorded.
 */
void probe_arguments_of_note(struct tracepoint *point, const struct probe_arguments *given, const char *text);

#endif
