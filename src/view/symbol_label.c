/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of functions without the contents of their brackets; see symbol_label.h. */
#include "view/symbol_label.h"

#include <ctype.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"

enum {
	NAME_BYTES = 1024, /* of a name without brackets; the rest is not compared */
};

/* The brackets whose contents are left out. */
struct elision {
	const char *open; /* "<", "<(" */
	bool marked;	  /* with <…> in their place */
};

/* Ways to shorten a name; the second for names that are too long with the first. */
static const struct elision shown[] = { { "<", true }, { "<(", true } };

enum {
	WAYS_SHOWN = sizeof(shown) / sizeof(shown[0]),
};

/* Bytes of `operator` and its signs, which are not brackets; 0: none begins here. */
static size_t operator_bytes(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t bytes = sizeof(word) - 1;

	if (strncmp(at, word, bytes) != 0 || (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
		return 0;
	if (!strncmp(at + bytes, "()", 2))
		return bytes + 2;
	return bytes + strspn(at + bytes, "<>=-");
}

/* Bytes from a bracket through the one that closes it; 0: it is not closed. */
static size_t bracket_bytes(const char *at)
{
	size_t depth = 0;

	for (const char *end = at; *end; end++) {
		if (*end == '<' || *end == '(')
			depth++;
		else if (*end == ')' || (*end == '>' && end[-1] != '-'))
			depth--;
		if (!depth)
			return (size_t)(end - at) + 1;
	}
	return 0;
}

/* Copies a name without the contents of brackets, truncated to fit. Those at its beginning are kept: <T as Trait>::f. */
static void symbol_label_elide(const char *name, const struct elision *elision, char *out, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)";
	bool open_end = false; /* a bracket is not closed: the rest is kept */
	size_t used = 0;

	for (const char *at = name; *at;) {
		size_t keep = operator_bytes(name, at), skip = 0;
		char mark[8] = "";

		if (!keep && !strncmp(at, anonymous, sizeof(anonymous) - 1)) {
			keep = sizeof(anonymous) - 1;
		} else if (at == name && *at == '<') {
			keep = bracket_bytes(at);
		} else if (!keep && !open_end && strchr(elision->open, *at)) {
			skip = bracket_bytes(at);
			open_end = !skip;
		}
		if (skip > 2 && elision->marked)
			strcpy(mark, *at == '<' ? "<\xe2\x80\xa6>" : "(\xe2\x80\xa6)");
		else if (skip && elision->marked)
			strcpy(mark, *at == '<' ? "<>" : "()");
		keep = skip ? strlen(mark) : keep ? keep : 1;
		if (used + keep >= size)
			break;
		memcpy(out + used, skip ? mark : at, keep);
		used += keep;
		at += skip ? skip : keep;
	}
	out[used] = '\0';
}

static bool is_shown_as(const char *glob, const char *name)
{
	char room[NAME_BYTES];
	bool fits = false;

	for (size_t n = 0; n < WAYS_SHOWN && !fits && strstr(glob, "\xe2\x80\xa6"); n++) {
		symbol_label_elide(name, &shown[n], room, sizeof(room));
		fits = !strcmp(glob, room);
	}
	return fits;
}

static void cut_at(char *name, const char *mark)
{
	char *found = strstr(name, mark);

	if (found)
		*found = '\0';
}

/* A name behind the type of its result, which C++ writes for templates, and Java for all methods. */
static const char *without_result(const char *name)
{
	const char *begin = name;
	unsigned depth = 0;

	for (const char *at = name; *at && !operator_bytes(name, at); at++) {
		if (*at == '<' || *at == '(')
			depth++;
		else if (depth && (*at == '>' || *at == ')'))
			depth--;
		else if (!depth && *at == ' ')
			begin = at + 1;
	}
	return begin;
}

bool view_symbol_fits(const char *glob, const char *name)
{
	static const struct elision all = { "<(", false };
	char bare[NAME_BYTES], *tail;
	const char *own, *last;

	if (!strcmp(glob, name) || glob_match(glob, name))
		return true;
	if (!name[strcspn(name, "<(:")])
		return false;
	if (is_shown_as(glob, name))
		return true;
	symbol_label_elide(name, &all, bare, sizeof(bare));
	cut_at(bare, "[abi:");
	cut_at(bare, " [clone ");
	tail = strrchr(bare, ' ');
	if (tail && !strcmp(tail, " const"))
		*tail = '\0';
	own = last = without_result(bare);
	for (const char *next = strstr(own, "::"); next && !strstr(glob, "::"); next = strstr(next + 2, "::"))
		last = next + 2;
	return !strcmp(glob, bare) || glob_match(glob, bare) || glob_match(glob, own) ||
	       glob_match(glob, last);
}

const char *view_symbol_short(const char *name, size_t columns, unsigned less, char *room, size_t size)
{
	unsigned way = 0; /* 0: the whole name */

	for (const char *text = name; text_columns(text) > columns && way < WAYS_SHOWN; text = room)
		symbol_label_elide(name, &shown[way++], room, size);
	if (way <= less)
		return name;
	symbol_label_elide(name, &shown[way - less - 1], room, size);
	return room;
}
