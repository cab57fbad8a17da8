/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The options of a command stand in one table. Its arguments are parsed by this table, and its --help is printed from it
 * (option_parse.h).
 *
 * An entry is a macro below, one per kind of value: the option as --help prints it, the variable that receives the
 * value, and the text of --help, which is wrapped. The variable keeps its default unless the option is given. Designated
 * fields may follow: OPTION_FLAG("-j, --json", &json, "one JSON object", .given = form).
 *
 * A value in brackets, "--calls[=GLOB]", may be left out; then it is the text of `.absent`. It is given only by "=".
 */
#ifndef BURIN_CMD_OPTION_TABLE_H
#define BURIN_CMD_OPTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "view/records/selection.h"

enum {
	OPTION_NAME = 32, /* bytes of a long option's name, with its dashes and a NUL */
};

struct cmd_option {
	const char *head; /* "-o, --output DIR", "--mode MODE", "--all"; NULL ends the table */
	enum {
		OPTION_IS_FLAG,
		OPTION_IS_TEXT,
		OPTION_IS_LIST,
		OPTION_IS_NUMBER,
		OPTION_IS_SIZE,
		OPTION_IS_DURATION,
		OPTION_IS_CHOICE,
		OPTION_IS_NUMBERS,
		OPTION_IS_PARSED,
		OPTION_IS_COMMAND,
		OPTION_IS_ALIAS,
		OPTION_IS_GROUP,
		OPTION_IS_HEADING,
		OPTION_IS_HELP,
	} kind;
	union {
		void *number; /* of `bytes` bytes */
		bool *flag;
		const char **text;
		struct view_globs *list;
		unsigned *choice;
		struct view_set *numbers;
		bool (*parse)(const char *value);
		char ***command;
		const struct cmd_option *group;
	} to;
	uint64_t min, max;
	unsigned bytes; /* of the number: 4 or 8 */
	const char *const *
		names; /* of a choice, by its value; of OPTION_PARSED, words that the value may have; ends with NULL */
	const char *absent; /* the value of an option that was given without one; NULL: it needs one */
	const char *hint;   /* what to do after an invalid value; NULL: made from kind and bounds */
	const char *alias;  /* the present name */
	const char *help;   /* NULL: not listed */
	char *given;	    /* OPTION_NAME bytes: receives the option's name; NULL: none */
	uint8_t often; /* of a table with headings: --help without a value shows it, in this place from 1 on; 0: not */
	bool many;  /* of a list: all words up to the next option are its values, too */
	bool alone; /* refused if another option with the same `given`, or the same option, was given before */
};

/* clang-format off */
/* bool: set to true. */
#define OPTION_FLAG(option, target, ...) \
	{ .head = option, .kind = OPTION_IS_FLAG, .to.flag = (target), .help = __VA_ARGS__ }
/* const char *: the value as it is. */
#define OPTION_TEXT(option, target, ...) \
	{ .head = option, .kind = OPTION_IS_TEXT, .to.text = (target), .help = __VA_ARGS__ }
/* struct view_globs: each value is appended; NULL follows the last one. */
#define OPTION_LIST(option, target, ...) \
	{ .head = option, .kind = OPTION_IS_LIST, .to.list = (target), .help = __VA_ARGS__ }
/* A number of 32 or 64 bits, within bounds; a size has K, M or G. UINT64_MAX: no upper bound. */
#define OPTION_NUMBER(option, target, least, most, ...) \
	{ .head = option, .kind = OPTION_IS_NUMBER, .to.number = (target), .bytes = OPTION_BYTES(target), \
	  .min = (least), .max = (most), .help = __VA_ARGS__ }
#define OPTION_SIZE(option, target, least, most, ...) \
	{ .head = option, .kind = OPTION_IS_SIZE, .to.number = (target), .bytes = OPTION_BYTES(target), \
	  .min = (least), .max = (most), .help = __VA_ARGS__ }
/* uint64_t, ns: "250ms". @least: 0 or 1 */
#define OPTION_DURATION(option, target, least, ...) \
	{ .head = option, .kind = OPTION_IS_DURATION, .to.number = (target), .bytes = OPTION_BYTES(target), \
	  .min = (least), .max = UINT64_MAX, .help = __VA_ARGS__ }
/* unsigned or an enum: the index of one of the names. */
#define OPTION_CHOICE(option, target, choices, ...) \
	{ .head = option, .kind = OPTION_IS_CHOICE, .to.choice = (target), .names = (choices), .help = __VA_ARGS__ }
/* struct view_set: numbers separated by commas, decimal or with 0x, are added. */
#define OPTION_NUMBERS(option, target, most, ...) \
	{ .head = option, .kind = OPTION_IS_NUMBERS, .to.numbers = (target), .max = (most), .help = __VA_ARGS__ }
/* Anything else. @parser: bool (const char *value), false: the value is invalid; @advice: "give ..." */
#define OPTION_PARSED(option, parser, advice, ...) \
	{ .head = option, .kind = OPTION_IS_PARSED, .to.parse = (parser), .hint = (advice), .help = __VA_ARGS__ }
/* char **: the words behind "--" are a command; NULL: there is no "--". It excludes operands. */
#define OPTION_COMMAND(target) \
	{ .head = "--", .kind = OPTION_IS_COMMAND, .to.command = (target) }
/* A former name, for scripts; not listed. */
#define OPTION_ALIAS(former, present) \
	{ .head = former, .kind = OPTION_IS_ALIAS, .alias = present }
/* The options up to the next one are of a group: --help=WORD shows them. Such a table begins with one. */
#define OPTION_HEADING(word, title) \
	{ .head = word, .kind = OPTION_IS_HEADING, .help = title }
/* The entries of another table. */
#define OPTION_GROUP(table) \
	{ .head = "", .kind = OPTION_IS_GROUP, .to.group = (table) }
/* clang-format on */

#define OPTION_BYTES(target) _Generic(*(target), int32_t : 4, uint32_t : 4, uint64_t : 8)

#endif
