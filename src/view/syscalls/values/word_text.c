/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of values, and quoted texts; see word_text.h. */
#include "view/syscalls/values/word_text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const char null_sign[] = "\u2400", cut_sign[] = "\u2026";

static bool is_cut(const char *text)
{
	const size_t mark = sizeof(cut_sign) - 1, bytes = strlen(text);

	return bytes >= mark && strcmp(text + bytes - mark, cut_sign) == 0;
}

bool word_text_is_whole(const char *text)
{
	return strcmp(text, null_sign) != 0 && !is_cut(text);
}

void word_text_quoted(struct view_buffer *out, const char *text, size_t most)
{
	const size_t mark = sizeof(cut_sign) - 1;
	size_t bytes = strlen(text);
	bool cut = is_cut(text);
	char piece[64];

	if (strcmp(text, null_sign) ==
	    0) { /* or a page that is not in memory, neither at the end: programs of the kernel do not wait for it */
		view_buffer_print(out, "?");
		return;
	}
	bytes -= cut ? mark : 0;
	cut |= most != SIZE_MAX && bytes < most;
	if (bytes >= most) {
		bytes = most;
		cut = false;
	}
	view_buffer_print(out, "\"");
	for (size_t at = 0; at < bytes;) {
		size_t length = strcspn(text + at, "\"");

		if (length > bytes - at)
			length = bytes - at;
		if (!length) {
			view_buffer_print(out, "\\\"");
			at++;
			continue;
		}
		if (length >= sizeof(piece)) /* at most one character is cut, which then shows as bytes */
			length = sizeof(piece) - 1;
		memcpy(piece, text + at, length);
		piece[length] = 0;
		view_buffer_escape(out, piece);
		at += length;
	}
	view_buffer_print(out, cut ? "\"..." : "\"");
}

static bool word_text_is_plain(uint8_t byte)
{
	return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

void word_text_octets(struct view_buffer *out, const uint8_t *bytes, size_t count)
{
	static const char escaped[] = "\"\t\n\v\f\r", escapes[] = "\"tnvfr";

	view_buffer_print(out, "\"");
	for (size_t n = 0; n < count; n++) {
		const bool digit_follows = n + 1 < count && bytes[n + 1] >= '0' && bytes[n + 1] <= '9';
		const char *letter = bytes[n] ? strchr(escaped, bytes[n]) : NULL;

		if (word_text_is_plain(bytes[n]))
			view_buffer_print(out, "%c", bytes[n]);
		else if (bytes[n] == '\\')
			view_buffer_print(out, "\\\\");
		else if (letter)
			view_buffer_print(out, "\\%c", escapes[letter - escaped]);
		else
			view_buffer_print(out, digit_follows ? "\\%03o" : "\\%o", bytes[n]);
	}
	view_buffer_print(out, "\"");
}

/* The word that stands for most of the lowest bit's neighbours; NULL: none. */
static const struct syscall_word *find_flag(const struct syscall_words *words, uint64_t bits)
{
	const uint64_t lowest = bits & -bits;
	const struct syscall_word *found = NULL;

	for (unsigned n = 0; n < words->count; n++) {
		const struct syscall_word *word = &words->words[n];

		if (!(word->value & words->mask) && (word->value & lowest) && !(word->value & ~bits) &&
		    (!found || __builtin_popcountll(word->value) > __builtin_popcountll(found->value)))
			found = word;
	}
	return found;
}

void word_text_put(struct view_buffer *out, const struct syscall_words *words, uint64_t value, bool is_signed)
{
	uint64_t bits = value & ~words->mask;
	const char *between = "";

	for (unsigned n = 0; n < words->count; n++) {
		const struct syscall_word *word = &words->words[n];

		if (!(word->value & ~words->mask) && word->value == (value & words->mask) &&
		    (words->mask || !value)) {
			view_buffer_print(out, "%s", word->name);
			between = "|";
			break;
		}
	}
	if (!*between && (value & words->mask)) {
		if (is_signed)
			view_buffer_print(out, "%" PRId64, (int64_t)(value & words->mask));
		else
			view_buffer_print(out, "%#" PRIx64, value & words->mask);
		between = "|";
	}
	while (bits) {
		const struct syscall_word *word = find_flag(words, bits);
		const uint64_t lowest = bits & -bits;

		if (word)
			view_buffer_print(out, "%s%s", between, word->name);
		else
			view_buffer_print(out, "%s%#" PRIx64, between, lowest);
		bits &= ~(word ? word->value : lowest);
		between = "|";
	}
	if (!*between)
		view_buffer_print(out, "0");
}

/* The next line of an argument, from line @n on; NULL: none. */
static const struct syscall_argument *word_text_find_line(unsigned n, const char *call, const char *name)
{
	for (; n < syscall_argument_count; n++)
		if (strcmp(syscall_arguments[n].call, call) == 0 &&
		    strcmp(syscall_arguments[n].name, name) == 0)
			return &syscall_arguments[n];
	return NULL;
}

const struct syscall_words *word_text_find(const struct syscall_machine *machine, const char *call,
					   const char *name)
{
	const struct syscall_argument *line = word_text_find_line(0, call, name);

	return line ? &machine->words[line->words] : NULL;
}

void word_text_member(struct view_buffer *out, const struct syscall_machine *machine, const char *call,
		      const char *name, uint64_t value)
{
	const struct syscall_argument *line = word_text_find_line(0, call, name), *next;
	const char *between = "";

	for (; line; line = next) {
		const struct syscall_words *words = &machine->words[line->words];

		next = word_text_find_line((unsigned)(line - syscall_arguments) + 1, call, name);
		if (!next && !value && *between)
			return;
		view_buffer_print(out, "%s", between);
		word_text_put(out, words, next ? value & words->mask : value, false);
		value &= ~words->mask;
		between = "|";
	}
}

void word_text_mode(struct view_buffer *out, uint32_t mode)
{
	static const struct {
		uint32_t value;
		const char *name;
	} kinds[] = { { S_IFREG, "S_IFREG" },  { S_IFDIR, "S_IFDIR" }, { S_IFCHR, "S_IFCHR" },
		      { S_IFBLK, "S_IFBLK" },  { S_IFIFO, "S_IFIFO" }, { S_IFLNK, "S_IFLNK" },
		      { S_IFSOCK, "S_IFSOCK" } },
	  bits[] = { { S_ISUID, "S_ISUID" }, { S_ISGID, "S_ISGID" }, { S_ISVTX, "S_ISVTX" } };
	const char *kind = NULL;

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		kind = (mode & S_IFMT) == kinds[n].value ? kinds[n].name : kind;
	if (kind)
		view_buffer_print(out, "%s|", kind);
	else if (mode & S_IFMT)
		view_buffer_print(out, "%#o|", mode & S_IFMT);
	for (unsigned n = 0; n < sizeof(bits) / sizeof(bits[0]); n++)
		if (mode & bits[n].value)
			view_buffer_print(out, "%s|", bits[n].name);
	view_buffer_print(out, "0%03o", mode & 0777);
}

void word_text_address(struct view_buffer *out, uint64_t value)
{
	if (value)
		view_buffer_print(out, "%#" PRIx64, value);
	else
		view_buffer_print(out, "NULL");
}
