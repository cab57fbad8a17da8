/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A system call as text; see syscall_text.h. */
#include "view/kernel/syscall_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/kernel/kernel_view.h"
#include "view/kernel/socket_text.h"
#include "view/kernel/syscall_words.h"

static const char null_sign[] = "\u2400", cut_sign[] = "\u2026";

enum {
	ERRNO_OWN = 512, /* from here on: of the kernel itself */
	NEGATIVE =
		4096, /* a number of 32 bits is negative if it is so near to its end: a descriptor that is none */
};

static const struct syscall_argument *find_argument(const char *call, const char *name)
{
	for (unsigned n = 0; n < syscall_argument_count; n++)
		if (strcmp(syscall_arguments[n].name, name) == 0 &&
		    (*syscall_arguments[n].call == '*' || strcmp(syscall_arguments[n].call, call) == 0))
			return &syscall_arguments[n];
	return NULL;
}

static void find_socket(struct syscall_style *style, const struct burin_event *event, const char *call)
{
	static const struct {
		const char *call;
		unsigned place;
		bool returns;
	} calls[] = {
		{ "bind", 1, false },	 { "connect", 1, false },    { "sendto", 4, false },
		{ "accept", 1, true },	 { "accept4", 1, true },     { "getsockname", 1, true },
		{ "recvfrom", 4, true }, { "getpeername", 1, true },
	};

	style->first = burin_event_find(event, "after_ns") == 0; /* of arguments that were read at the end */
	style->socket = burin_event_find(event, "sockaddr");
	if (style->socket >= 0 && burin_event_field(event, (unsigned)style->socket)->type != BURIN_TYPE_ARRAY)
		style->socket = -1;
	for (unsigned n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		if (strcmp(calls[n].call, call) == 0) {
			style->has_place = true;
			style->returns = calls[n].returns;
			style->place = style->first + calls[n].place;
		}
}

bool syscall_style_make(struct syscall_style *style, const struct burin_event *event, const char *call)
{
	static const char *const addresses[] = { "brk", "mmap", "mremap", "shmat" };

	*style = (struct syscall_style){ .count = event->fields };
	for (unsigned n = 0; n < sizeof(addresses) / sizeof(addresses[0]); n++)
		style->address |= strcmp(call, addresses[n]) == 0;
	find_socket(style, event, call);
	style->opens = strcmp(call, "open") == 0 || strcmp(call, "openat") == 0;
	style->arguments = calloc((size_t)event->fields + 1, sizeof(style->arguments[0]));
	for (unsigned n = 0; style->arguments && n < event->fields; n++)
		style->arguments[n] = find_argument(call, burin_event_field(event, n)->name);
	return style->arguments;
}

void syscall_style_free(struct syscall_style *style)
{
	free(style->arguments);
	style->arguments = NULL;
}

/* ---- arguments */

static void put_quoted(struct view_buffer *out, const char *text)
{
	const size_t bytes = strlen(text), mark = sizeof(cut_sign) - 1;
	const bool cut = bytes >= mark && strcmp(text + bytes - mark, cut_sign) == 0;
	char piece[64];

	if (strcmp(text, null_sign) ==
	    0) { /* or a page that is not in memory, neither at the end: programs of the kernel do not wait for it */
		view_buffer_print(out, "?");
		return;
	}
	view_buffer_print(out, "\"");
	for (size_t at = 0, whole = cut ? bytes - mark : bytes; at < whole;) {
		size_t length = strcspn(text + at, "\"");

		if (length > whole - at)
			length = whole - at;
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

static void put_words(struct view_buffer *out, const struct syscall_words *words, uint64_t value,
		      bool is_signed)
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

static void put_address(struct view_buffer *out, uint64_t value)
{
	if (value)
		view_buffer_print(out, "%#" PRIx64, value);
	else
		view_buffer_print(out, "NULL");
}

static void put_plain(struct view_buffer *out, unsigned type, uint64_t value)
{
	if (type == BURIN_TYPE_PTR)
		put_address(out, value);
	else if (type >= BURIN_TYPE_I8 && type <= BURIN_TYPE_I64)
		view_buffer_print(out, "%" PRId64, (int64_t)value);
	else if (type == BURIN_TYPE_U32 && (uint32_t)value > UINT32_MAX - NEGATIVE)
		view_buffer_print(out, "%d", (int32_t)(uint32_t)value);
	else
		view_buffer_print(out, "%" PRIu64, value);
}

/* Read any integer, with its sign. */
static bool get_number(const struct burin_record *record, unsigned field, uint64_t *value)
{
	int64_t number;

	if (burin_record_u64(record, field, value) == 0)
		return true;
	if (burin_record_i64(record, field, &number))
		return false;
	*value = (uint64_t)number;
	return true;
}

static void put_argument(const struct syscall_style *style, const struct burin_record *record, unsigned n,
			 struct view_buffer *out)
{
	const struct syscall_argument *argument = n < style->count ? style->arguments[n] : NULL;
	const unsigned type = burin_event_field(record->event, n)->type;
	const bool is_signed = type >= BURIN_TYPE_I8 && type <= BURIN_TYPE_I64;
	const char *text;
	uint64_t value;

	if (type == BURIN_TYPE_STR && burin_record_string(record, n, &text, NULL) == 0) {
		put_quoted(out, text);
		return;
	}
	if (!get_number(record, n, &value)) {
		view_buffer_print(out, "?");
		return;
	}
	switch (argument ? argument->form : SYSCALL_PLAIN) {
	case SYSCALL_WORDS:
		put_words(out, &syscall_words[argument->words], value, is_signed);
		break;
	case SYSCALL_OCTAL:
		view_buffer_print(out, value ? "0%" PRIo64 : "%" PRIo64, value & 07777777);
		break;
	case SYSCALL_ADDRESS:
		put_address(out, value);
		break;
	case SYSCALL_HEXADECIMAL:
		view_buffer_print(out, "%#" PRIx64, value);
		break;
	case SYSCALL_SIGNED:
		view_buffer_print(out, "%" PRId64, (int64_t)value);
		break;
	case SYSCALL_INTEGER:
		view_buffer_print(out, "%d", (int32_t)(uint32_t)value);
		break;
	default:
		put_plain(out, type, value);
	}
}

/* Return: false: the record has no address. */
static bool put_socket(const struct syscall_style *style, const struct burin_record *record,
		       struct view_buffer *out)
{
	const void *bytes;
	size_t count;

	if (style->socket < 0 || burin_record_array(record, (unsigned)style->socket, &bytes, &count) != 0 ||
	    !count)
		return false;
	socket_text(bytes, count, out);
	return true;
}

/* Whether an open makes a file: only then it has a mode. */
static bool makes_file(const struct burin_record *record)
{
	const int field = burin_event_find(record->event, "flags");
	uint64_t flags = 0;

	return field < 0 || !get_number(record, (unsigned)field, &flags) || (flags & O_CREAT) ||
	       (flags & __O_TMPFILE) == __O_TMPFILE;
}

/* The part of the text that an argument belongs to. */
static struct view_buffer *part_of(const struct syscall_style *style, unsigned n,
				   struct syscall_arguments *out)
{
	if (!style->has_place || !style->returns || n < style->place)
		return &out->before;
	return n < style->place + 2 ? &out->socket : &out->after;
}

void syscall_text_arguments(const struct syscall_style *style, const struct burin_record *record,
			    struct syscall_arguments *out)
{
	syscall_arguments_empty(out);
	for (unsigned n = style->first; n < record->event->fields; n++) {
		struct view_buffer *part = part_of(style, n, out);
		const bool points = style->has_place && !style->returns && n == style->place;

		if ((int)n == style->socket ||
		    (style->opens && strcmp(burin_event_field(record->event, n)->name, "mode") == 0 &&
		     !makes_file(record)))
			continue;
		if (n > style->first)
			view_buffer_print(part, ", ");
		if (!points || !put_socket(style, record, part))
			put_argument(style, record, n, part);
	}
}

void syscall_text_returned(const struct syscall_style *style, const struct burin_record *record,
			   struct syscall_arguments *out)
{
	const void *bytes;
	size_t count;

	if (!out->socket.used || style->socket < 0 ||
	    burin_record_array(record, (unsigned)style->socket, &bytes, &count) != 0 || !count)
		return;
	out->socket.used = 0;
	view_buffer_print(&out->socket, ", ");
	socket_text(bytes, count, &out->socket);
	view_buffer_print(&out->socket, ", [%zu]", count);
}

const struct view_buffer *syscall_arguments_text(struct syscall_arguments *arguments)
{
	view_buffer_add(&arguments->before, &arguments->socket);
	view_buffer_add(&arguments->before, &arguments->after);
	arguments->socket.used = arguments->after.used = 0;
	arguments->failed |= arguments->before.failed || arguments->socket.failed || arguments->after.failed;
	return &arguments->before;
}

void syscall_arguments_empty(struct syscall_arguments *arguments)
{
	arguments->before.used = arguments->socket.used = arguments->after.used = 0;
}

void syscall_arguments_free(struct syscall_arguments *arguments)
{
	view_buffer_free(&arguments->before);
	view_buffer_free(&arguments->socket);
	view_buffer_free(&arguments->after);
}

void syscall_text_result(const struct syscall_style *style, int64_t result, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	if (kernel_is_error(result))
		view_buffer_print(out, "%s %s", result <= -ERRNO_OWN ? "?" : "-1",
				  kernel_errno_name((int)-result, text));
	else if (style && style->address)
		view_buffer_print(out, "%#" PRIx64, (uint64_t)result);
	else
		view_buffer_print(out, "%" PRId64, result);
}
