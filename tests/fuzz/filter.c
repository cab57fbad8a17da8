/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What filters are made of. The first byte says which: a program (with its checksum put right or not), an expression for an
 * event, a format, a glob, rules. A program that is found sound runs on any payload; an expression becomes a sound program.
 */
#include "base/glob.h"
#include "filter/filter_entry.h"
#include "fuzz.h"
#include "filter/filter.h"
#include "session/events/rules.h"
#include "wire/wire_enum.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

enum {
	KIND_PROGRAM,
	KIND_PROGRAM_SUMMED,
	KIND_EXPRESSION,
	KIND_FORMAT,
	KIND_GLOB,
	KIND_RULES,
	KINDS
};

static const struct filter_subject subject = {
	4242, 4243, 3, 2, UINT64_C(0xfedcba9876543210), "worker", NULL
};

static void run(const struct wire_filter *filter, const uint8_t *data, size_t size)
{
	char *payload = fuzz_copy(data, size);
	unsigned quick;

	filter_passes(filter, payload, (uint32_t)size, &subject);
	quick = filter_quick(filter, payload, (uint32_t)size);
	if (quick == WIRE_FILTER_YES || quick == WIRE_FILTER_NO)
		FUZZ_HOLDS(filter_passes(filter, payload, (uint32_t)size, &subject) ==
			   (quick == WIRE_FILTER_YES));
	free(payload);
}

/* types, bytes of the program, program, payload */
static void try_program(struct fuzz_input input, bool summed)
{
	const uint64_t types = fuzz_take(&input, 8);
	size_t room = fuzz_take(&input, 2) % (WIRE_FILTER_MAX + 64);
	struct wire_filter *program;

	room = room < input.left ? room : input.left;
	program = fuzz_copy(input.at, room);
	if (summed && room >= sizeof(*program)) {
		program->bytes = (uint16_t)(room / WIRE_FILTER_ALIGN * WIRE_FILTER_ALIGN);
		program->types = types;
		program->checksum = filter_checksum(program, program->bytes);
	}
	if (filter_verify(program, room, types) == 0)
		run(program, input.at + room, input.left - room);
	free(program);
}

/* types, bytes of the format, format, NUL, expression, NUL, payload */
static void try_expression(struct fuzz_input input)
{
	const uint64_t types = fuzz_take(&input, 8);
	char *text = fuzz_text(input.at, input.left), *expression = strchr(text, 0);
	size_t used;
	_Alignas(64) char program[WIRE_FILTER_MAX];
	struct wire_filter *filter = (struct wire_filter *)program;
	struct filter_error fault;

	expression += (size_t)(expression - text) < input.left;
	used = (size_t)(expression - text) + strlen(expression);
	used += used < input.left;
	if (filter_compile(expression, text, "e A=0 B=-5\nf\n", types, filter, sizeof(program), &fault) ==
	    0) {
		FUZZ_HOLDS(filter_verify(filter, filter->bytes, types) == 0);
		run(filter, input.at + used, input.left - used);
	} else {
		FUZZ_HOLDS(fault.offset <= strlen(expression) &&
			   fault.bytes <= strlen(expression) - fault.offset);
	}
	free(text);
}

/* Every enum of a valid text is found by its name, and its labels are within the text. */
static void try_enums(const char *text)
{
	struct wire_label label;

	if (!wire_enum_valid(text))
		return;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *at = wire_enum_find(text, line, strcspn(line, " \n"));

		FUZZ_HOLDS(at && at <= line + strcspn(line, " \n"));
		while (wire_enum_next(&at, &label))
			FUZZ_HOLDS(label.bytes && label.bytes <= WIRE_ENUM_LABEL_MAX &&
				   label.text + label.bytes < at);
		FUZZ_HOLDS(*at == '\n');
	}
}

static void try_format(struct fuzz_input input)
{
	const uint64_t types = fuzz_take(&input, 8);
	char *text = fuzz_text(input.at, input.left);
	struct format format;
	const char *why = NULL;

	try_enums(text);
	if (format_parse(text, types, &format, &why) == 0) {
		FUZZ_HOLDS(format.count <= WIRE_ARGS_MAX);
		for (unsigned n = 0; n < format.count; n++)
			FUZZ_HOLDS(format.fields[n].spec + format.fields[n].spec_bytes +
						   format.fields[n].enum_bytes <=
					   strlen(text) &&
				   *format.fields[n].name);
	} else {
		FUZZ_HOLDS(why);
	}
	free(text);
}

static void try_glob(struct fuzz_input input)
{
	char *pattern = fuzz_text(input.at, input.left), *text = strchr(pattern, 0);

	text += (size_t)(text - pattern) < input.left;
	if (strlen(pattern) < 4096)
		glob_match(pattern, text);
	free(pattern);
}

/* types, level, bytes of the rules, rules, format, NUL: an event that registers under these rules */
static void try_rules(struct fuzz_input input)
{
	static const struct session_rule own = {
		.state = WIRE_CONDITIONAL, .level = 4, .sample = 2, .limit = 3, .where = "n > 1"
	};
	const uint64_t types = fuzz_take(&input, 8);
	const unsigned level = (unsigned)fuzz_take(&input, 1) % 10;
	size_t bytes = fuzz_take(&input, 2) % WIRE_RULES_MAX;
	char *rules = calloc(1, WIRE_RULES_MAX), *format;
	_Alignas(64) struct filter_entry entry;
	struct filter_error fault;
	struct session_rule rule;

	bytes = bytes < input.left ? bytes : input.left;
	FUZZ_HOLDS(rules != NULL);
	memcpy(rules, input.at, bytes);
	format = fuzz_text(input.at + bytes, input.left - bytes);
	session_rules_match(rules, "fuzz.text", level, &rule);
	if (rule.state == WIRE_CONDITIONAL &&
	    filter_entry_make(&entry, rule.where, format, "", types, &fault) == 0)
		FUZZ_HOLDS(filter_verify(entry.bytes, sizeof(entry.bytes), types) == 0 &&
			   entry.size <= sizeof(entry.bytes));
	if (rules_add(rules, "fuzz.t*", &own)) {
		session_rules_match(rules, "fuzz.text", level, &rule);
		FUZZ_HOLDS(rule.state == (level > own.level ? WIRE_OFF : WIRE_CONDITIONAL) &&
			   rule.sample == own.sample && rule.limit == own.limit &&
			   strcmp(rule.where, own.where) == 0);
	}
	free(format);
	free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	const unsigned kind = (unsigned)fuzz_take(&input, 1) % KINDS;

	if (kind <= KIND_PROGRAM_SUMMED)
		try_program(input, kind == KIND_PROGRAM_SUMMED);
	else if (kind == KIND_EXPRESSION)
		try_expression(input);
	else if (kind == KIND_FORMAT)
		try_format(input);
	else if (kind == KIND_GLOB)
		try_glob(input);
	else
		try_rules(input);
	return 0;
}
