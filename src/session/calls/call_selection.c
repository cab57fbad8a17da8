/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rules for functions; see call_selection.h. Also part of libburin-calls.so: no malloc, no stdio.
 */
#include <string.h>

#include "base/glob.h"
#include "base/nolibc.h"
#include "session/calls/call_selection.h"

enum {
	RULE_TEXT = 3, /* offset of the text: behind sign, kind and ':' */
};

/* The last byte of the rules is never used. */
size_t call_selection_bytes(const char *rules, size_t at)
{
	return at + 1 < WIRE_CALL_RULES && rules[at] ? strnlen(rules + at, WIRE_CALL_RULES - 1 - at) + 1 : 0;
}

/* Rules that choose no functions (call_arguments.h). */
static bool is_about_arguments(char sign)
{
	return sign == '=' || sign == '>';
}

static const char *call_selection_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool matches_image(const char *glob, const char *path)
{
	return glob_match(glob, strchr(glob, '/') ? path : call_selection_last_part(path));
}

/* "src/net/rx.*" also matches "/usr/src/net/rx.c". */
static bool matches_file(const char *glob, const char *path)
{
	while (path) {
		if (glob_match(glob, path))
			return true;
		path = strchr(path, '/');
		path = path ? path + 1 : NULL;
	}
	return false;
}

static bool matches_name(const char *glob, const struct call_subject *subject)
{
	const char *name;

	for (unsigned n = 0; subject->name && (name = subject->name(subject->data, n)); n++)
		if (glob_match(glob, name))
			return true;
	return false;
}

/* "1000-1040,2a00-2a10 GLOB" */
static bool matches_range(const char *text, const struct call_subject *subject)
{
	bool found = false;

	for (;;) {
		const uint64_t from = nolibc_number(text, 16, &text);
		const uint64_t to = *text == '-' ? nolibc_number(text + 1, 16, &text) : 0;

		found |= subject->offset >= from && subject->offset < to;
		if (*text != ',')
			break;
		text++;
	}
	return found && *text == ' ' && matches_image(text + 1, subject->image);
}

bool call_selection_matches(const char *rule, const struct call_subject *subject)
{
	const char *text = rule + RULE_TEXT;

	if (!rule[0] || !rule[1] || rule[2] != ':')
		return false;
	switch (rule[1]) {
	case 'f':
		/* All of them, also those without a name. */
		return strcmp(text, "*") == 0 || matches_name(text, subject);
	case 'i':
		return matches_image(text, subject->image);
	case 's':
		return subject->known.file && matches_file(text, subject->known.file);
	case 'r':
		return matches_range(text, subject);
	default:
		return false;
	}
}

enum wire_call_switch call_selection_state(const struct wire_calls *calls, const struct call_subject *subject)
{
	const bool conditional = calls->depth_max || calls->below;
	bool root = false, any = false;
	char sign = 0;
	size_t bytes;

	for (size_t at = 0; (bytes = call_selection_bytes(calls->rules, at)); at += bytes) {
		const char *rule = calls->rules + at;

		if (is_about_arguments(*rule))
			continue;
		any = true;
		if (*rule == '^' && calls->below)
			root |= call_selection_matches(rule, subject);
		else if (*rule != '^' && call_selection_matches(rule, subject))
			sign = *rule;
	}
	if (!any)
		sign = '+';
	if (root)
		return WIRE_CALL_ROOT;
	if (sign == '#')
		return WIRE_CALL_COUNT;
	if (sign != '+')
		return WIRE_CALL_OFF;
	return conditional ? WIRE_CALL_SLOW : WIRE_CALL_ON;
}

/* Whether the word is "PREFIX:GLOB". "file::open" is a name of C++. */
static const char *call_selection_behind(const char *word, const char *prefix)
{
	const size_t bytes = strlen(prefix);

	return strncmp(word, prefix, bytes) == 0 && word[bytes] && word[bytes] != ':' ? word + bytes : NULL;
}

/* Whether the word is 0xOFFSET or IMAGE+0xOFFSET. @image: set to the bytes of IMAGE */
static bool is_offset(const char *word, size_t *image, uint64_t *offset)
{
	const char *plus = strrchr(word, '+'), *number = plus ? plus + 1 : word, *end;

	*image = plus ? (size_t)(plus - word) : 0;
	if (plus == word || number[0] != '0' || (number[1] | 32) != 'x' || !number[2])
		return false;
	*offset = nolibc_number(number + 2, 16, &end);
	return !*end;
}

/* "1240-1241 IMAGE" */
static __attribute__((noinline)) void put_offset(struct nolibc_string *out, uint64_t offset,
						 const char *image, size_t bytes)
{
	nolibc_hex(out, offset);
	nolibc_text(out, "-");
	nolibc_hex(out, offset + 1);
	nolibc_text(out, " ");
	nolibc_bytes(out, bytes ? image : "*", bytes ?: 1);
}

bool call_selection_parse(char rule[CALL_RULE_MAX], char sign, const char *word)
{
	const char *file = call_selection_behind(word, "file:"),
		   *image = call_selection_behind(word, "image:");
	const char start[] = { sign, file ? 's' : image ? 'i' : 'f', ':', 0 };
	struct nolibc_string out = { rule, CALL_RULE_MAX, 0, false };
	uint64_t offset;
	size_t bytes;

	nolibc_text(&out, start);
	if (is_offset(word, &bytes, &offset)) {
		rule[1] = 'r';
		put_offset(&out, offset, word, bytes);
	} else {
		nolibc_text(&out, file ?: image ?: word);
	}
	return *word && !out.truncated;
}

/* Remove rules about the same with the same kind and text. */
static void remove_same(char *rules, const char *rule)
{
	size_t bytes;

	for (size_t at = 0; (bytes = call_selection_bytes(rules, at));) {
		if (strcmp(rules + at + 1, rule + 1) != 0 || is_about_arguments(rules[at]) ||
		    (rules[at] == '^') != (*rule == '^')) {
			at += bytes;
			continue;
		}
		memmove(rules + at, rules + at + bytes, WIRE_CALL_RULES - at - bytes);
		memset(rules + WIRE_CALL_RULES - bytes, 0, bytes);
	}
}

bool call_selection_add(char *rules, const char *rule)
{
	const size_t added = strlen(rule) + 1;
	size_t at = 0, bytes;

	while ((bytes = call_selection_bytes(rules, at)))
		at += bytes;
	if (at + added + 1 >= WIRE_CALL_RULES)
		return false;
	remove_same(rules, rule); /* its new place is the last */
	for (at = 0; (bytes = call_selection_bytes(rules, at));)
		at += bytes;
	memcpy(rules + at, rule, added);
	rules[at + added] = 0;
	return true;
}

/* Where the parameters of a demangled name begin: the first '(' outside of templates and lambdas. */
bool call_selection_bare(char out[CALL_NAME_BARE_MAX], const char *name)
{
	static const char nameless[] = "(anonymous namespace)", operator_word[] = "operator";
	unsigned depth = 0;
	const char *at = name;

	if (strncmp(at, nameless, sizeof(nameless) - 1) == 0)
		at += sizeof(nameless) - 1;
	while (*at && (*at != '(' || depth)) {
		if (strncmp(at, operator_word, sizeof(operator_word) - 1) == 0) {
			at += sizeof(operator_word) - 1;
			at += strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<>-=");
			continue;
		}
		if (*at == '<' || *at == '{')
			depth++;
		else if ((*at == '>' || *at == '}') && depth)
			depth--;
		at++;
		if (strncmp(at, nameless, sizeof(nameless) - 1) == 0)
			at += sizeof(nameless) - 1;
	}
	if (*at != '(' || at == name || at - name >= CALL_NAME_BARE_MAX)
		return false;
	memcpy(out, name, (size_t)(at - name));
	out[at - name] = 0;
	return true;
}
