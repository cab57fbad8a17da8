/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which functions' calls are recorded: the rules in the calls area (struct wire_calls, rules). The traced process
 * evaluates them for each new function, a command for all functions when it changes them.
 */
#ifndef BURIN_SESSION_CALLS_CALL_SELECTION_H
#define BURIN_SESSION_CALLS_CALL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire_call.h"

enum {
	CALL_RULE_MAX = 4096,	   /* bytes of the rule for one word, with its NUL */
	CALL_NAME_BARE_MAX = 4096, /* of call_selection_bare() */
};

/* Facts of a function from debug information. NULL: none. */
struct call_known {
	const char *spec; /* of its arguments (call_arguments.h) */
	const char *file; /* of the source */
};

/* A function, as rules see it. */
struct call_subject {
	const char *image; /* path; "": memory without a file */
	uint64_t offset;   /* in the image */
	struct call_known known;
	/* Return: its n-th name, from 0; NULL: it has no more. It is asked only for rules about names. NULL: no names */
	const char *(*name)(void *data, unsigned n);
	void *data;
};

/* call_selection_state - the state of a function. @calls: other processes may be changing it. Context: any, signal-safe. */
enum wire_call_switch call_selection_state(const struct wire_calls *calls,
					   const struct call_subject *subject);

/* call_selection_matches - whether a rule matches a function. @rule: as of call_selection_parse() */
bool call_selection_matches(const char *rule, const struct call_subject *subject);

/*
 * call_selection_parse - the rule for a word of the user: GLOB, file:GLOB, image:GLOB, 0xOFFSET or IMAGE+0xOFFSET.
 * "file::x" is a name. Return: false: the word is empty or too long.
 */
bool call_selection_parse(char rule[CALL_RULE_MAX], char sign, const char *word);

/* call_selection_bytes - the bytes of the rule at an offset, with its NUL; 0: the list ends here. */
size_t call_selection_bytes(const char *rules, size_t at);

/*
 * call_selection_add - append a rule. Rules with the same kind and text are removed before; '^' replaces only '^'.
 * @rules: WIRE_CALL_RULES bytes. Return: false: there is no room; nothing has changed.
 */
bool call_selection_add(char *rules, const char *rule);

/*
 * call_selection_bare - a demangled name without parameters: "a::b" of "a::b(int)".
 * Return: false: it has none, or is too long.
 */
bool call_selection_bare(char out[CALL_NAME_BARE_MAX], const char *name);

#endif
