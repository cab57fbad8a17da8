/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What to leave out; see suggest.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "view/calls/suggest.h"
#include "view/table.h"

enum {
	SUGGEST_PERCENT_MIN = 5,
};

static int suggest_by_name(const void *one, const void *other)
{
	const struct call_suggest *a = one, *b = other;
	const int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");

	if (order || a->name)
		return order;
	return strcmp(a->image, b->image) ?: number_order(a->offset, b->offset);
}

static int by_calls(const void *one, const void *other)
{
	const struct call_suggest *a = one, *b = other;

	return a->calls != b->calls ? number_order(b->calls, a->calls) : suggest_by_name(one, other);
}

/* One option chooses all functions with its name. Return: how many are left. */
static size_t suggest_add_up(struct call_suggest *functions, size_t count)
{
	size_t kept = 0;

	qsort(functions, count, sizeof(*functions), suggest_by_name);
	for (size_t n = 0; n < count; n++) {
		if (kept && suggest_by_name(&functions[kept - 1], &functions[n]) == 0)
			functions[kept - 1].calls += functions[n].calls;
		else
			functions[kept++] = functions[n];
	}
	return kept;
}

/*
 * For a shell, in single quotes; bytes that have a meaning in a glob become '?', which matches them. A name is
 * foreign: a quote in it would end the word, and the rest would be a command of the program's maker.
 */
static void print_word(const struct call_suggest *function, struct view_buffer *out)
{
	const char *slash = strrchr(function->image, '/');
	char *word = strdup(function->name ? function->name : slash ? slash + 1 : function->image);

	if (!word) {
		out->failed = true;
		return;
	}
	for (char *at = word; *at; at++)
		if (strchr("'*[", *at))
			*at = '?';
	if (function->name)
		view_buffer_print(out, "--no-calls '%s'", word);
	else
		view_buffer_print(out, "--no-calls '%s+0x%" PRIx64 "'", word, function->offset);
	free(word);
}

void call_suggest_print(struct call_suggest *functions, size_t count, unsigned limit, struct view_buffer *out)
{
	uint64_t all = 0, saved = 0;
	char text[TEXT_SHORT];

	for (size_t n = 0; n < count; n++)
		all += functions[n].calls;
	count = suggest_add_up(functions, count);
	qsort(functions, count, sizeof(*functions), by_calls);
	for (size_t n = 0; n < count && n < limit; n++) {
		const double percent = table_percent(functions[n].calls, all);

		if (percent < SUGGEST_PERCENT_MIN)
			break;
		saved += functions[n].calls;
		view_buffer_print(out, "%6.2f%%  ", percent);
		print_word(&functions[n], out);
		view_buffer_print(out, "\n");
	}
	if (saved)
		view_buffer_print(out, "they save %s of", text_count(text, saved));
	else
		view_buffer_print(out, "no function has %d%% of", SUGGEST_PERCENT_MIN);
	view_buffer_print(out, " %s calls\n", text_count(text, all));
}
