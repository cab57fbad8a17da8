/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of functions; see probe_names.h. */
#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/glob.h"
#include "session/calls/call_selection.h"
#include "source/kernel/probes/probe_names.h"

/* ---- one way to write a name */

static bool is_of_word(char byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '_' ||
	       byte == '$' || (byte & 0x80);
}

/* Let spaces separate words only, and what follows a list: "f(int) const". */
static void space_alike(char *text, size_t room)
{
	char copy[DEMANGLE_OUT_MAX];
	size_t used = 0;
	bool spaced = false;

	snprintf(copy, sizeof(copy), "%s", text);
	for (const char *at = copy; *at && used + 2 < room; at++) {
		const char before = used ? text[used - 1] : 0;

		if (*at == ' ') {
			spaced = true;
			continue;
		}
		if (is_of_word(*at) && ((spaced && is_of_word(before)) || before == ')' || before == '>'))
			text[used++] = ' ';
		text[used++] = *at;
		spaced = false;
	}
	text[used] = 0;
}

static void shorten_strings(char *text)
{
	static const char full[] =
		"std::__cxx11::basic_string<char,std::char_traits<char>,std::allocator<char>>";
	static const char name[] = "std::string";
	char *at = text;

	while ((at = strstr(at, full))) {
		memcpy(at, name, sizeof(name) - 1);
		at += sizeof(name) - 1;
		memmove(at, at + sizeof(full) - sizeof(name), strlen(at + sizeof(full) - sizeof(name)) + 1);
	}
}

/* The end of a type's name: where a pointer's or a reference's sign, or the next parameter is. */
static char *end_of_type(char *at)
{
	unsigned depth = 0;

	for (; *at && (depth || !strchr("*&,)>[(", *at)); at++)
		if (*at == '<')
			depth++;
		else if (*at == '>')
			depth--;
	return at;
}

/* "const char*" becomes "char const*", as demanglers write it. */
static void turn_constants(char *text)
{
	static const char word[] = "const ";
	const size_t bytes = sizeof(word) - 1;

	for (char *at = text; (at = strstr(at, word)); at++) {
		char *end = end_of_type(at + bytes);
		const size_t type = (size_t)(end - at) - bytes;

		if (at == text || !strchr("(,<", at[-1]) || !type)
			continue;
		memmove(at, at + bytes, type);
		at[type] = ' ';
		memcpy(at + type + 1, word, bytes - 1);
	}
}

/* Rust's "<a::Type>::method" becomes "a::Type::method"; "<a::Type as a::Trait>::method" stays. */
static void open_type(char *text)
{
	unsigned depth = 0;
	char *at = text;

	if (*text != '<')
		return;
	do
		depth += *at == '<' ? 1 : *at == '>' ? -1u : 0;
	while (depth && *++at);
	if (strncmp(at, ">::", 3) != 0 || memmem(text, (size_t)(at - text), " as ", 4))
		return;
	memmove(at, at + 1, strlen(at));
	memmove(text, text + 1, strlen(text));
}

static void write_alike(char text[DEMANGLE_OUT_MAX])
{
	space_alike(text, DEMANGLE_OUT_MAX);
	shorten_strings(text);
	turn_constants(text);
	open_type(text);
}

/* ---- names of a function */

/* Copies of a function that compilers make are calls of it. */
static const char *const copies[] = { ".constprop.", ".isra.", ".lto_priv.", ".llvm." };
/* These are parts, and no call begins there. */
static const char *const parts[] = { ".cold", ".part." };

/* The symbol without the mark of a copy. Return: false: it is a part of a function. */
static bool cut_mark(char out[DEMANGLE_IN_MAX], const char *symbol)
{
	snprintf(out, DEMANGLE_IN_MAX, "%s", symbol);
	for (unsigned n = 0; n < sizeof(parts) / sizeof(parts[0]); n++)
		if (strstr(out, parts[n]))
			return false;
	for (unsigned n = 0; n < sizeof(copies) / sizeof(copies[0]); n++) {
		char *mark = strstr(out, copies[n]);

		if (mark && mark != out)
			*mark = 0;
	}
	return true;
}

static void name_function(struct probe_function *out, const char *symbol, const char *base)
{
	out->symbol = symbol;
	if (demangle(out->text, base))
		write_alike(out->text);
	else
		snprintf(out->text, sizeof(out->text), "%.*s", (int)sizeof(out->text) - 1, base);
	if (!call_selection_bare(out->bare, out->text))
		strcpy(out->bare, out->text);
}

/* ---- comparison */

void probe_names_want(struct probe_wanted *out, const char *name, const char *whole)
{
	out->given = name;
	out->near = 0;
	snprintf(out->name, sizeof(out->name), "%s", name);
	snprintf(out->whole, sizeof(out->whole), "%s", whole ? whole : "");
	write_alike(out->name);
	write_alike(out->whole);
}

/* Whether a qualified name ends in this one. */
static bool probe_names_ends_in(const char *qualified, const char *name)
{
	const size_t all = strlen(qualified), bytes = strlen(name);

	return all > bytes + 2 && strcmp(qualified + all - bytes, name) == 0 &&
	       strncmp(qualified + all - bytes - 2, "::", 2) == 0;
}

/* Whether a name is that of a template, without the arguments of this instance of it. */
static bool is_template(const char *instance, const char *name)
{
	const size_t all = strlen(instance), bytes = strlen(name);
	unsigned depth = 0;

	if (all <= bytes || instance[all - 1] != '>' || instance[bytes] != '<' ||
	    strncmp(instance, name, bytes) != 0)
		return false;
	for (size_t n = bytes; n < all; n++) {
		depth += instance[n] == '<' ? 1 : instance[n] == '>' ? -1u : 0;
		if (!depth && n + 1 < all)
			return false;
	}
	return true;
}

static enum probe_match match_readable(const struct probe_wanted *wanted,
				       const struct probe_function *function)
{
	const bool whole = *wanted->whole;

	if (whole && (!strcmp(wanted->whole, function->text) || !strcmp(wanted->whole, function->bare)))
		return PROBE_BY_WHOLE;
	if (whole && glob_match(wanted->whole, function->text))
		return PROBE_BY_WHOLE_GLOB;
	if (!strcmp(wanted->name, function->text) || !strcmp(wanted->name, function->bare) ||
	    is_template(function->bare, wanted->name))
		return PROBE_BY_NAME;
	if (glob_match(wanted->name, function->text) || glob_match(wanted->name, function->bare))
		return PROBE_BY_GLOB;
	return probe_names_ends_in(function->bare, wanted->name) ? PROBE_UNQUALIFIED : PROBE_NO_MATCH;
}

enum probe_match probe_names_match(struct probe_wanted *wanted, struct probe_function *out,
				   const char *symbol)
{
	char base[DEMANGLE_IN_MAX];
	const bool whole = cut_mark(base, symbol);
	enum probe_match match = PROBE_NO_MATCH;

	name_function(out, symbol, whole ? base : symbol);
	if (whole)
		match = match_readable(wanted, out);
	if (!strcmp(wanted->given, symbol) && match < PROBE_BY_NAME)
		match = PROBE_BY_NAME;
	else if (glob_match(wanted->given, symbol) && match < PROBE_BY_GLOB)
		match = PROBE_BY_GLOB;
	if (match || !whole)
		return match;
	return edit_distance_nearer(wanted->name, out->bare, &wanted->near) ? PROBE_NEAR : PROBE_NO_MATCH;
}
