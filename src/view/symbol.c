/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of functions without what stands in their brackets; see symbol.h. */
#include "view/symbol.h"

#include <ctype.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"

enum {
	NAME_BYTES = 1024, /* of longer names only so much is compared without brackets */
};

/* The brackets whose contents are left out, and what remains of them. */
struct elision {
	const char *open; /* "<", "<(" */
	bool marked;	  /* as <…> */
};

/* How names are shown, those that are too long for the first by the second. */
static const struct elision shown[] = { { "<", true }, { "<(", true } };

enum {
	WAYS_SHOWN = sizeof(shown) / sizeof(shown[0]),
};

/* Bytes of `operator` and its signs, which are no brackets; 0: none begins here. */
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

/* Bytes from a bracket to the one that closes it, with both; 0: none does. */
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

/* Copies a name without the contents of brackets, cut to fit. What it begins with is no argument: <T as Trait>::f. */
static void elide(const char *name, const struct elision *elision, char *out, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)";
	bool open_end = false; /* a bracket is never closed: what follows stays as it is */
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
		elide(name, &shown[n], room, sizeof(room));
		fits = !strcmp(glob, room);
	}
	return fits;
}

bool view_symbol_fits(const char *glob, const char *name)
{
	static const struct elision all = { "<(", false };
	char bare[NAME_BYTES], *tail, *last;

	if (!strcmp(glob, name) || glob_match(glob, name))
		return true;
	if (!name[strcspn(name, "<(:")])
		return false;
	if (is_shown_as(glob, name))
		return true;
	elide(name, &all, bare, sizeof(bare));
	tail = strstr(bare, "[abi:");
	if (tail)
		*tail = '\0';
	tail = strrchr(bare, ' ');
	if (tail && !strcmp(tail, " const"))
		*tail = '\0';
	last = bare;
	for (char *next = strstr(bare, "::"); next && !strstr(glob, "::"); next = strstr(next + 2, "::"))
		last = next + 2;
	return !strcmp(glob, bare) || glob_match(glob, bare) || glob_match(glob, last);
}

const char *view_symbol_short(const char *name, size_t columns, char *room, size_t size)
{
	if (text_columns(name) <= columns)
		return name;
	for (size_t n = 0; n < WAYS_SHOWN; n++) {
		elide(name, &shown[n], room, size);
		if (text_columns(room) <= columns)
			break;
	}
	return room;
}
