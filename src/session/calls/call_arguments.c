/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arguments of calls; see call_arguments.h.
 *
 * A SPEC is parsed from left to right. `struct places` counts what the arguments so far have taken, as the
 * System V ABI for x86-64 (3.2.3) assigns them: integers and pointers to six registers, floating-point
 * numbers to eight, and both to the stack when theirs are used up, in order. A number (argN, %N) sets the
 * count, so the next argument without one follows it.
 *
 * Structures by value are not known here: they take registers or stack that no SPEC counts. Their neighbours
 * need numbers.
 *
 * SPECs lie in the rules of the session, which any process of the user may write. So the library parses them
 * as foreign text: bounded, without an allocator, in signal handlers, too.
 */
#include <errno.h>
#include <string.h>

#include "base/nolibc.h"
#include "session/calls/call_arguments.h"
#include "wire/wire_enum.h"

static_assert(4 + CALL_ARGUMENTS_MAX + 2 <= WIRE_ARGS_MAX, "the fields of an event");

enum {
	PLACE_MAX = 64, /* the last argument that has a number */
};

/* While a SPEC is parsed: the places that are taken. */
struct places {
	unsigned integers, vectors, stack;
};

struct type_name {
	char letter;
	uint8_t bits; /* 0: without a number */
	uint8_t type;
	char conversion;
};

static const struct type_name type_names[] = {
	{ 'i', 8, WIRE_I8, 'd' },   { 'i', 16, WIRE_I16, 'd' }, { 'i', 32, WIRE_I32, 'd' },
	{ 'i', 64, WIRE_I64, 'd' }, { 'i', 0, WIRE_I32, 'd' },	{ 'u', 8, WIRE_U8, 'u' },
	{ 'u', 16, WIRE_U16, 'u' }, { 'u', 32, WIRE_U32, 'u' }, { 'u', 64, WIRE_U64, 'u' },
	{ 'u', 0, WIRE_U32, 'u' },  { 'x', 8, WIRE_U8, 'x' },	{ 'x', 16, WIRE_U16, 'x' },
	{ 'x', 32, WIRE_U32, 'x' }, { 'x', 64, WIRE_U64, 'x' }, { 'x', 0, WIRE_U32, 'x' },
	{ 's', 0, WIRE_STR, 's' },  { 'p', 0, WIRE_PTR, 'p' },	{ 'f', 0, WIRE_F32, 'g' },
	{ 'd', 0, WIRE_F64, 'g' },  { 'c', 0, WIRE_CHAR, 'c' }, { 'b', 0, WIRE_BOOL, 'd' },
};

static bool is_float(unsigned type)
{
	return type == WIRE_F32 || type == WIRE_F64;
}

static const struct type_name *call_arguments_type_of(const char *text, size_t bytes)
{
	const char *end;
	const uint64_t bits = bytes > 1 ? nolibc_number(text + 1, 10, &end) : 0;

	if (!bytes || (bytes > 1 && (end != text + bytes || !bits)))
		return NULL;
	for (size_t n = 0; n < sizeof(type_names) / sizeof(*type_names); n++)
		if (type_names[n].letter == *text && type_names[n].bits == bits)
			return &type_names[n];
	return NULL;
}

static bool call_arguments_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool call_arguments_is_name(const char *text, size_t bytes)
{
	if (!bytes || bytes >= CALL_ARGUMENT_NAME_MAX || !call_arguments_is_letter(*text))
		return false;
	for (size_t n = 1; n < bytes; n++)
		if (!call_arguments_is_letter(text[n]) && !(text[n] >= '0' && text[n] <= '9'))
			return false;
	return true;
}

/* N of "argN" or "fpargN"; 0: it is another name. */
static unsigned call_arguments_number_of(const char *name, const char *prefix)
{
	const size_t bytes = strlen(prefix);
	const char *end;
	uint64_t number;

	if (strncmp(name, prefix, bytes) != 0 || !name[bytes])
		return 0;
	number = nolibc_number(name + bytes, 10, &end);
	return *end || number > PLACE_MAX ? 0 : (unsigned)number;
}

/* @number: from 1; 0: the next one */
static void set_place(struct call_argument *argument, struct places *places, unsigned number)
{
	const bool vector = is_float(argument->type);
	unsigned *taken = vector ? &places->vectors : &places->integers;
	const unsigned room = vector ? CALL_VECTORS : CALL_INTEGERS;

	if (number) {
		*taken = number - 1 < room ? number - 1 : room;
		places->stack = number - 1 < room ? places->stack : number - 1 - room;
	}
	if (*taken < room) {
		argument->place = vector ? CALL_IN_VECTOR : CALL_IN_INTEGER;
		argument->index = (uint8_t)(*taken)++;
	} else {
		argument->place = CALL_ON_STACK;
		argument->index = (uint8_t)places->stack++;
	}
}

/* Names of the fields that every call has: in the event, an argument would have to get another one. */
static bool is_reserved(const char *name)
{
	static const char *const names[] = { "function", "start", "start_high", "depth", "returned" };

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		if (strcmp(name, names[n]) == 0)
			return true;
	return false;
}

/* The number behind "NAME/TYPE%"; 0: it has none. @bytes: set to those before it. Return: false: it is not valid. */
static bool call_arguments_parse_place(const char *text, size_t *bytes, unsigned *number)
{
	const char *percent = memchr(text, '%', *bytes), *end;
	uint64_t value;

	*number = 0;
	if (!percent)
		return true;
	value = nolibc_number(percent + 1, 10, &end);
	if (end != text + *bytes || !value || value > PLACE_MAX)
		return false;
	*number = (unsigned)value;
	*bytes = (size_t)(percent - text);
	return true;
}

/*
 * The labels of "NAME/TYPE{A=1 B=2}": add them as the enum of the argument's name. @bytes: set to those before them.
 * Return: NULL, or what is wrong.
 */
static const char *parse_labels(struct call_arguments *arguments, struct call_argument *argument,
				const char *text, size_t *bytes)
{
	const char *brace = memchr(text, '{', *bytes), *slash = memchr(text, '/', *bytes);
	struct nolibc_string out = { arguments->enums, sizeof(arguments->enums), strlen(arguments->enums),
				     false };
	const size_t before = out.used;

	if (!brace || !slash)
		return NULL;
	if (text[*bytes - 1] != '}' || brace < slash)
		return "labels are {A=1 B=2}";
	nolibc_bytes(&out, text, (size_t)(slash - text));
	nolibc_text(&out, " ");
	nolibc_bytes(&out, brace + 1, (size_t)(text + *bytes - 1 - (brace + 1)));
	nolibc_text(&out, "\n");
	if (out.truncated || !wire_enum_valid(arguments->enums + before))
		return "labels are {A=1 B=2}, of letters, digits, _ . : and -, at most 2000 bytes";
	argument->labelled = true;
	*bytes = (size_t)(brace - text);
	return NULL;
}

/* "NAME/TYPE" */
static const char *call_arguments_parse_one(struct call_argument *argument, const char *text, size_t bytes,
					    bool placed)
{
	const char *slash = memchr(text, '/', bytes);
	const size_t name = slash ? (size_t)(slash - text) : bytes;
	const struct type_name *type;

	if (!call_arguments_is_name(text, name))
		return "a name of an argument is 1 to 31 letters, digits and _";
	memcpy(argument->name, text, name);
	argument->name[name] = 0;
	if (is_reserved(argument->name))
		return "function, start, start_high, depth and returned are fields of every call; use "
		       "another name";
	if (!placed && call_arguments_number_of(argument->name, "fparg")) {
		const char *wanted = slash && !strncmp(slash, "/32", bytes - name) ? "f" : "d";

		type = slash && call_arguments_is_letter(slash[1])
			       ? call_arguments_type_of(slash + 1, bytes - name - 1)
			       : call_arguments_type_of(wanted, 1);
		type = type && is_float(type->type) ? type : NULL;
	} else {
		type = slash ? call_arguments_type_of(slash + 1, bytes - name - 1)
			     : call_arguments_type_of("i", 1);
	}
	if (!type)
		return "a type is i, u or x, perhaps with 8, 16, 32 or 64; s, p, f, d, c or b";
	argument->type = type->type;
	argument->conversion = type->conversion;
	return NULL;
}

static const char *call_arguments_inner_add(struct call_arguments *arguments, struct places *places,
					    const char *text, size_t bytes)
{
	struct call_argument argument = { 0 };
	const char *why;
	unsigned number;

	if (!call_arguments_parse_place(text, &bytes, &number))
		return "behind % stands the number of an argument, from 1 to 64";
	why = parse_labels(arguments, &argument, text, &bytes);
	if (why)
		return why;
	why = call_arguments_parse_one(&argument, text, bytes, number != 0);
	if (why)
		return why;
	if (argument.labelled && !strchr("diux", argument.conversion))
		return "only integers have labels";
	if (strcmp(argument.name, "retval") == 0) {
		if (arguments->has_result)
			return "retval is given twice";
		arguments->has_result = true;
		argument.place = is_float(argument.type) ? CALL_IN_VECTOR : CALL_IN_INTEGER;
		arguments->result = argument;
		return NULL;
	}
	if (arguments->count == CALL_ARGUMENTS_MAX)
		return "more than 10 arguments";
	if (!number)
		number = (is_float(argument.type) ? call_arguments_number_of(argument.name, "fparg") : 0)
				 ?: call_arguments_number_of(argument.name, "arg");
	set_place(&argument, places, number);
	arguments->list[arguments->count++] = argument;
	return NULL;
}

int call_arguments_parse(struct call_arguments *arguments, const char *spec, const char **why)
{
	struct places places = { 0 };

	*arguments = (struct call_arguments){ 0 };
	for (;;) {
		const size_t bytes = strcspn(spec, ",");

		*why = call_arguments_inner_add(arguments, &places, spec, bytes);
		if (*why)
			return -EINVAL;
		if (!spec[bytes])
			return 0;
		spec += bytes + 1;
	}
}

/* " path=%s" */
static void call_arguments_put_field(struct nolibc_string *out, const char *between,
				     const struct call_argument *argument)
{
	static const char *const lengths[] = {
		[WIRE_I8] = "hh", [WIRE_I16] = "h", [WIRE_I64] = "l",	[WIRE_U8] = "hh",
		[WIRE_U16] = "h", [WIRE_U64] = "l", [WIRE_ARRAY] = NULL
	};
	const char conversion[] = { argument->conversion, 0 };

	nolibc_text(out, between);
	nolibc_text(out, argument->conversion == 'x' ? "%#" : "%");
	nolibc_text(out, lengths[argument->type] ?: "");
	nolibc_text(out, conversion);
	if (argument->labelled) {
		nolibc_text(out, "{");
		nolibc_text(out, argument->name);
		nolibc_text(out, "}");
	}
}

uint64_t call_arguments_format(const struct call_arguments *arguments, char format[WIRE_FORMAT_MAX + 1])
{
	struct nolibc_string out = { format, WIRE_FORMAT_MAX + 1, 0, false };
	uint64_t types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U16 << 8 | WIRE_U16 << 12;
	unsigned shift = 16;

	nolibc_text(&out, WIRE_CALL_FORMAT);
	for (unsigned n = 0; n < arguments->count; n++, shift += 4) {
		nolibc_text(&out, " ");
		nolibc_text(&out, arguments->list[n].name);
		call_arguments_put_field(&out, "=", &arguments->list[n]);
		types |= (uint64_t)arguments->list[n].type << shift;
	}
	if (arguments->has_result) {
		call_arguments_put_field(&out, WIRE_CALL_RESULT_FORMAT, &arguments->result);
		types |= (WIRE_BOOL | (uint64_t)arguments->result.type << 4) << shift;
	}
	return out.truncated ? 0 : types;
}

/* Append the rule that functions of a glob have a SPEC; "": that of their debug information. */
static int call_arguments_add_rule(char *rules, const char *glob, const char *spec, const char **why)
{
	const size_t spec_bytes = strlen(spec) + 1;
	char rule[CALL_RULE_MAX];
	size_t used = 0, bytes;

	*why = "the glob is too long, or of source files";
	if (!call_selection_parse(rule, '=', glob) || rule[1] == 's')
		return -EINVAL;
	while ((bytes = call_selection_bytes(rules, used)))
		used += bytes;
	bytes = strlen(rule) + 1;
	if (used + bytes + 1 + spec_bytes + 1 >= WIRE_CALL_RULES)
		return -ENOSPC;
	memcpy(rules + used, rule, bytes);
	rules[used + bytes] = '>';
	memcpy(rules + used + bytes + 1, spec, spec_bytes);
	rules[used + bytes + 1 + spec_bytes] = 0;
	return 0;
}

int call_arguments_add(char *rules, const char *word, const char **why)
{
	const char *at = strrchr(word, '@');
	struct call_arguments arguments;
	char glob[CALL_RULE_MAX];

	*why = "it is not GLOB@NAME/TYPE,...";
	if (!at || at == word || at - word >= CALL_RULE_MAX)
		return -EINVAL;
	if (call_arguments_parse(&arguments, at + 1, why) != 0)
		return -EINVAL;
	memcpy(glob, word, (size_t)(at - word));
	glob[at - word] = 0;
	return call_arguments_add_rule(rules, glob, at + 1, why);
}

int call_arguments_add_known(char *rules, const char *glob, const char **why)
{
	return call_arguments_add_rule(rules, glob, "", why);
}

const char *call_arguments_of(const struct wire_calls *calls, const struct call_subject *subject)
{
	const char *found = "";
	bool is_known = false;
	size_t bytes;

	for (size_t at = 0; (bytes = call_selection_bytes(calls->rules, at)); at += bytes) {
		const char *rule = calls->rules + at, *next = rule + bytes;

		if (*rule == '=' && call_selection_bytes(calls->rules, at + bytes) && *next == '>' &&
		    call_selection_matches(rule, subject)) {
			found = next + 1;
			is_known = !*found;
		}
	}
	return !is_known ? found : subject->known.spec ?: "";
}

uint8_t call_arguments_state(const struct wire_calls *calls, const struct call_subject *subject,
			     unsigned state)
{
	/* A function that is off or counted has no block for arguments. */
	const bool on = state == WIRE_CALL_ON || state == WIRE_CALL_SLOW || state == WIRE_CALL_ROOT;

	return (uint8_t)(on && *call_arguments_of(calls, subject) ? state | WIRE_CALL_ARGUMENTS : state);
}
