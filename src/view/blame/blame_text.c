/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts of blame as text and as JSON; see blame.h. */
#include "view/blame/blame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "view/sched/sched_stacks.h"

static const char *const kinds[] = { "running", "page_fault", "runnable", "blocked", "unknown", "lost" };

static const char *const kind_texts[] = { "running", "page faults", "waiting for a CPU",
					  "blocked", "unknown",	    "lost" };

const char *blame_kind_text(enum blame_kind kind)
{
	return kind_texts[kind];
}

static const char *string_of(const struct blame *blame, uint32_t string)
{
	return blame->strings->texts[string];
}

/* Words that are put together, cut at the end of their room. */
struct words {
	char *text;
	size_t used, room;
};

static void __attribute__((format(printf, 2, 3))) put_words(struct words *words, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(words->text + words->used, words->room - words->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		words->used += (size_t)length < words->room - words->used ? (size_t)length
									  : words->room - words->used - 1;
}

/* "for lock, at wait < main": see sched_stacks.h for the text of a stack. */
static void put_stack(struct words *words, const char *stack)
{
	const char *line = strchr(stack, '\n'), *between = ", at ";

	if (*stack && *stack != '\n')
		put_words(words, ", for %.*s", (int)strcspn(stack, "\n"), stack);
	for (; line; line = strchr(line, '\n')) {
		line++;
		put_words(words, "%s%.*s", between, (int)strcspn(line, "\n"), line);
		between = " < ";
	}
}

static void put_blocked(struct words *words, const struct blame *blame, const struct blame_part *part)
{
	put_words(words, "blocked");
	if (part->what)
		put_words(words, " in %s", string_of(blame, part->what));
	if (part->stack)
		put_stack(words, string_of(blame, part->stack));
	if (part->by)
		put_words(words, ", woken by %s", string_of(blame, part->by));
}

const char *blame_text(const struct blame *blame, uint32_t number, char text[BLAME_TEXT])
{
	const struct blame_part *part = &blame->parts[number];
	struct words words = { .text = text, .room = BLAME_TEXT };
	const char *what = part->what ? string_of(blame, part->what) : NULL;

	*text = 0;
	if (part->kind == BLAME_RUNNING)
		put_words(&words, "running%s %s",
			  !what		? ","
			  : part->below ? " below"
					: "",
			  what ? what : "without a sample");
	else if (part->kind == BLAME_FAULT)
		put_words(&words, "page faults%s%s",
			  !what		? ""
			  : part->below ? " below "
					: " in ",
			  what ? what : "");
	else if (part->kind == BLAME_RUNNABLE)
		put_words(&words, "waiting for a CPU%s%s", what ? " behind " : "", what ? what : "");
	else if (part->kind == BLAME_BLOCKED)
		put_blocked(&words, blame, part);
	else
		put_words(&words,
			  part->kind == BLAME_LOST ? "lost: records of the kernel are missing" : "unknown");
	return text;
}

static void optional_json(const struct blame *blame, const char *key, uint32_t string, struct json *json)
{
	if (string)
		json_text(json, key, string_of(blame, string));
	else
		json_null(json, key);
}

void blame_json(const struct blame *blame, uint32_t number, struct json *json)
{
	const struct blame_part *part = &blame->parts[number];

	json_text(json, "kind", kinds[part->kind]);
	optional_json(blame, "what", part->what, json);
	optional_json(blame, "by", part->by, json);
	if (part->stack)
		sched_stack_json(string_of(blame, part->stack), "stack", json);
}

void blame_missing_text(const struct blame *blame, struct view_buffer *out)
{
	if (!blame->has_switches)
		view_buffer_print(out,
				  "the trace has no switches, so waits are %s; next time record with "
				  "--sched=wakers\n",
				  blame->has_stacks ? "known by their stacks only" : "unknown");
	else if (!blame->has_wakes)
		view_buffer_print(out,
				  "the trace has no wake-ups, so wakers are unknown; next time record with "
				  "--sched\n");
	else if (!blame->has_stacks)
		view_buffer_print(out,
				  "the trace has no stacks of waits; next time record with --sched=wakers\n");
	if (!blame->has_samples)
		view_buffer_print(
			out, "the trace has no samples, so the functions that ran are unknown; next time "
			     "record without --no-samples\n");
	if (blame->dropped)
		view_buffer_print(out, "the states of threads took too much memory: parts of long spans are "
				       "unknown\n");
}

void blame_missing_json(const struct blame *blame, struct json *json)
{
	json_bool(json, "has_switches", blame->has_switches);
	json_bool(json, "has_wakeups", blame->has_wakes);
	json_bool(json, "has_stacks", blame->has_stacks);
	json_bool(json, "has_samples", blame->has_samples);
	json_bool(json, "forgotten", blame->dropped != 0);
}
