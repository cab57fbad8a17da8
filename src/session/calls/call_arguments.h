/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which arguments of calls are recorded (`burin record --args GLOB@SPEC`). SPEC is a list, separated by commas, of
 *
 *	NAME/TYPE	the next argument
 *	argN/TYPE	the N-th argument among integers and pointers
 *	fpargN/TYPE	the N-th argument among floating-point numbers; TYPE may be 32 or 64
 *	retval/TYPE	the result
 *
 *	NAME/TYPE{A=1 B=2}	labels of an integer's values
 *
 * TYPE is i, u or x (signed, unsigned, hexadecimal), perhaps with 8, 16, 32 or 64 bits (otherwise 32); s text; p pointer;
 * f float; d double; c char; b bool. Arguments that are not to be recorded must be listed up to the last one that is,
 * unless it is given by its number. "NAME/TYPE%N" is the N-th argument, too: as argN or fpargN, with a name of its own.
 *
 * The places of arguments are those of the System V ABI for x86-64. Also part of libburin-calls.so: no malloc, no stdio.
 */
#ifndef BURIN_SESSION_CALLS_CALL_ARGUMENTS_H
#define BURIN_SESSION_CALLS_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/calls/call_selection.h"
#include "session/session.h"
#include "wire/wire_event.h"

enum {
	CALL_ARGUMENTS_MAX = 10,     /* with the fields of a call, and the result: WIRE_ARGS_MAX */
	CALL_ARGUMENT_NAME_MAX = 32, /* bytes, with its NUL */
	CALL_LABELS_MAX = 2047,	     /* bytes of all labels, as an event has them (wire/wire_enum.h) */
	CALL_INTEGERS = 6,	     /* arguments in registers */
	CALL_VECTORS = 8,
};

enum call_place {
	CALL_IN_INTEGER,
	CALL_IN_VECTOR,
	CALL_ON_STACK,
};

struct call_argument {
	char name[CALL_ARGUMENT_NAME_MAX];
	char conversion; /* of printf */
	uint8_t type;	 /* enum wire_type */
	uint8_t place;	 /* enum call_place */
	uint8_t index;	 /* from 0 */
	bool labelled;	 /* it has labels, in the enum of its name */
};

struct call_arguments {
	unsigned count;
	bool has_result;
	struct call_argument list[CALL_ARGUMENTS_MAX], result;
	char enums[CALL_LABELS_MAX + 1];
};

/* call_arguments_parse - parse a SPEC. Return: 0; -EINVAL, and *why is the reason in a few words. Context: any, signal-safe. */
int call_arguments_parse(struct call_arguments *arguments, const char *spec, const char **why);

/* call_arguments_format - the format of the event, and its types. Return: the types; 0: the format is too long. */
uint64_t call_arguments_format(const struct call_arguments *arguments, char format[WIRE_FORMAT_MAX + 1]);

/* call_arguments_add_known - append the rule for a GLOB: functions that match have the SPECs of call_known_find(). */
int call_arguments_add_known(char *rules, const char *glob, const char **why);

/*
 * call_arguments_add - append the rule for a word of the user, GLOB@SPEC, where GLOB is as of call_selection_parse().
 * Return: 0; -EINVAL: it is not valid, *why is the reason; -ENOSPC: there is no room.
 */
int call_arguments_add(char *rules, const char *word, const char **why);

/*
 * call_arguments_of - the SPEC of a function, by the rules. @calls: other processes may be changing it.
 * Return: "": none; it may change while it is read, but ends in NUL.
 */
const char *call_arguments_of(const struct wire_calls *calls, const struct call_subject *subject);

/* call_arguments_state - the switch of a function. @state: without arguments, enum wire_call_switch. Context: any, signal-safe. */
uint8_t call_arguments_state(const struct wire_calls *calls, const struct call_subject *subject,
			     unsigned state);

#endif
