/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Losses and other gaps of a profile, by cause, with hints. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/print.h"
#include "base/text.h"
#include "view/chunks_text.h"
#include "view/profile/nameless.h"
#include "view/profile/profile_view.h"
#include "view/profile/unsampled.h"
#include "wire/wire_terms.h"

enum {
	STACK_BYTES_LARGEST = (64 << 10) - 8, /* that the kernel copies */
};

static const char *const warn = print_styles[PRINT_WARN], *const off = print_styles[PRINT_OFF];

/* Stacks from chains of frame pointers end for other reasons. */
static const char *const chain_hints[WIRE_TRUNCATIONS] = {
	[WIRE_TRUNCATION_DEPTH] =
		"a larger sysctl kernel.perf_event_max_stack, or record with --call-graph dwarf",
	[WIRE_TRUNCATION_MEMORY] =
		"code without frame pointers: record without --call-graph fp, or build it with "
		"-fno-omit-frame-pointer",
};

/* The kernel copies no more, and only up to memory that was never touched. It follows frame pointers beyond both. */
static const char *const deep_hints[WIRE_TRUNCATIONS] = {
	[WIRE_TRUNCATION_STACK] =
		"the kernel copies 64 KiB at most, and nothing beyond memory that was never touched: "
		"build C, C++ and Rust with -fno-omit-frame-pointer",
};

static const char file_limit_hint[] =
	"as many files were open as the recorder's limits permit: record with a higher ulimit -n";

/* Events that lose no sample, but may make samples incomplete or wrong. */
static const struct wire_term remarks[] = {
	{ "throttled", "times the kernel throttled sampling", "use a lower --frequency" },
	{ "task_late", "tasks and mappings were reported late",
	  "samples just before may be attributed to another task" },
	{ "task_lost", "tasks and mappings were lost", "the kernel's ring for them was full" },
	{ "tree_missed", "threads and processes were not followed, and have no samples",
	  "too many lived at once: record with -a" },
	{ "image_unreadable", "files could not be opened",
	  "they were removed, or you have no permission to read them" },
	{ "over.jit", "samples in code made at run time were named by address alone",
	  "a jitdump grew faster than it was read; where memory was reused, the last name is shown" },
	{ "over.opens", "mapped files were not opened at once",
	  "a process or user mapped more of them than are opened at a time" },
	{ "over.files", "mapped files were not kept open",
	  "a process or user mapped more of them than are kept; a higher ulimit -n permits more" },
	{ "over.images", "mappings of too many files", "samples in them are lost: outside all mappings" },
	{ "over.mappings", "mappings or pieces of code beyond the limit",
	  "samples in them are lost, or have no name" },
	{ "over.stacks", "samples have one frame only",
	  "the different stacks of a process or user take too much memory" },
	{ "over.unwind", "stacks were not unwound to their end",
	  "the unwind tables of a process or user take too long; they may be damaged" },
	{ "over.waits", "questions about the memory of processes were not answered in time",
	  "a process holds the lock of its memory; its mappings are missing, and samples in them are lost" },
	{ "continued", "stacks were deeper than their copy",
	  "their outer frames are those that the thread had a moment before" },
	{ "scanned", "stacks go through code without unwind information",
	  "their callers were searched for: some may be missing or wrong" },
	{ "jit_late", "pieces of code made at run time were reported late",
	  "where memory was reused, the last name is shown" },
};

/*
 * Prints the values with a prefix. A later recorder may have further causes: these are printed by their keys.
 * @least: below it, a value has no hint
 */
static void print_causes(const struct burin_profile *profile, const char *prefix,
			 const struct wire_term *terms, unsigned count, const char *const *hints,
			 uint64_t least, struct view_buffer *out)
{
	const size_t bytes = strlen(prefix);
	char number[TEXT_SHORT];
	const char *key, *value;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		const uint64_t lost = burin_profile_number(profile, key);
		const char *hint = NULL;
		unsigned cause = 1;

		if (strncmp(key, prefix, bytes) != 0 || !lost)
			continue;
		while (cause < count && strcmp(terms[cause].key, key + bytes) != 0)
			cause++;
		if (cause < count && lost >= least)
			hint = hints && hints[cause] ? hints[cause] : terms[cause].hint;
		view_buffer_print(out, "%16s  %s%s%s\n", text_count(number, lost),
				  cause < count ? terms[cause].text : key + bytes, hint ? ": " : "",
				  hint ? hint : "");
	}
}

static void print_remarks(const struct burin_profile *profile, struct view_buffer *out)
{
	char number[TEXT_SHORT];

	for (size_t n = 0; n < sizeof(remarks) / sizeof(remarks[0]); n++) {
		const uint64_t count = burin_profile_number(profile, remarks[n].key);

		if (count)
			view_buffer_print(out, "%16s  %s: %s\n", text_count(number, count), remarks[n].text,
					  remarks[n].hint);
	}
}

static uint64_t profile_ledger_sum_of(const struct burin_profile *profile, const char *prefix)
{
	const char *key, *value;
	uint64_t sum = 0;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++)
		if (!strncmp(key, prefix, strlen(prefix)))
			sum += burin_profile_number(profile, key);
	return sum;
}

/* Prints all values of a key that may occur several times, a line each. */
static void print_values(const struct burin_profile *profile, const char *wanted, const char *head,
			 bool color, struct view_buffer *out)
{
	const char *key, *value;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++)
		if (!strcmp(key, wanted))
			view_buffer_print(out, "%s%s%s: %s\n", color ? warn : "", head, color ? off : "",
					  value);
}

/* Time without samples, if it is much. */
static void profile_ledger_print_unsampled(const struct burin_profile *profile, bool color,
					   struct view_buffer *out)
{
	struct view_unsampled unsampled;

	if (!view_unsampled_of(profile, &unsampled) || !view_unsampled_matters(&unsampled))
		return;
	view_buffer_print(out, "%s", color ? warn : "");
	view_unsampled_text(&unsampled, out);
	view_buffer_print(out, "%s\n%16s  ", color ? off : "", "");
	view_unsampled_hint(&unsampled, out);
	view_buffer_print(out, "\n");
}

/* Waits that are missing from the samples. */
static void profile_ledger_print_waits(const struct burin_profile *profile, bool color,
				       struct view_buffer *out)
{
	uint64_t lost = burin_profile_number(profile, "off_cpu.lost_ns");
	uint64_t blocked = burin_profile_number(profile, "blocked_before");
	uint64_t preempted = burin_profile_number(profile, "preempted");
	char number[TEXT_SHORT], duration[TEXT_SHORT];

	if (lost)
		view_buffer_print(out, "%sat least %s of waiting was lost%s\n", color ? warn : "",
				  text_duration(duration, lost), color ? off : "");
	if (blocked)
		view_buffer_print(out,
				  "%s threads were blocked when the recording began: these waits "
				  "are not counted\n",
				  text_count(number, blocked));
	if (preempted)
		view_buffer_print(
			out,
			"threads were preempted %s times, for %s: this time is neither running nor waiting\n",
			text_count(number, preempted),
			text_duration(duration, burin_profile_number(profile, "preempted_ns")));
}

/* @whole: also hints about less than 1 % of the stacks, for which hardly anyone builds a program anew */
static void print_truncated(const struct burin_profile *profile, bool whole, struct view_buffer *out)
{
	const uint64_t truncated = profile_ledger_sum_of(profile, "truncated."),
		       stacks = truncated + burin_profile_number(profile, "complete");
	const char *graph = burin_profile_value(profile, "call_graph");
	const char *hints[WIRE_TRUNCATIONS] = { 0 };
	char number[TEXT_SHORT], all[TEXT_SHORT];

	if (!truncated)
		return;
	if (graph && strcmp(graph, "fp") == 0)
		memcpy(hints, chain_hints, sizeof(hints));
	else if (burin_profile_number(profile, "stack_bytes") >= STACK_BYTES_LARGEST)
		memcpy(hints, deep_hints, sizeof(hints));
	if (burin_profile_number(profile, "over.opens") || burin_profile_number(profile, "over.files"))
		hints[WIRE_TRUNCATION_IMAGE] = file_limit_hint;
	view_buffer_print(out, "%s of %s stack%s %s truncated\n", text_count(number, truncated),
			  text_count(all, stacks), text_plural(stacks), truncated == 1 ? "is" : "are");
	print_causes(profile, "truncated.", wire_truncation_terms, WIRE_TRUNCATIONS, hints,
		     whole ? 0 : (stacks + 99) / 100, out);
}

/* burin recover has completed the trace, but what the recorder knew of losses went with it. */
static bool was_recovered(const struct burin_trace *trace)
{
	const char *state = burin_trace_recording(trace, "state");

	return state && strcmp(state, "finished") == 0;
}

uint64_t view_ledger_lost(const struct burin_profile *profile)
{
	return profile_ledger_sum_of(profile, "lost.");
}

/* Return: whether something was lost, or may have been. */
static bool print_sum(const struct burin_profile *profile, uint64_t received, bool color,
		      struct view_buffer *out)
{
	const uint64_t lost = view_ledger_lost(profile);
	char number[TEXT_SHORT], all[TEXT_SHORT];

	if (!burin_profile_value(profile, "received")) {
		view_buffer_print(out, "%sLosses are unknown%s: the trace has no .burin/profile\n",
				  color ? warn : "", color ? off : "");
		return true;
	}
	text_count(all, received);
	if (lost)
		view_buffer_print(out, "%s%s of %s sample%s %s lost%s\n", color ? warn : "",
				  text_count(number, lost), all, text_plural(received),
				  lost == 1 ? "was" : "were", color ? off : "");
	else
		view_buffer_print(out, "none of %s sample%s was lost\n", all, text_plural(received));
	return lost != 0;
}

bool view_ledger_line(const struct burin_profile *profile, struct view_buffer *out)
{
	return print_sum(profile, burin_profile_number(profile, "received"), false, out);
}

void view_ledger_nameless(const struct burin_profile *profile, const struct view_profile *counted, bool color,
			  struct view_buffer *out)
{
	const struct view_nameless all = { .profile = profile,
					   .weights = counted ? view_stack_weights(counted) : NULL,
					   .calls = counted && counted->calls };

	if (counted && !all.weights)
		out->failed = true;
	else
		view_nameless_text(&all, color, out);
	free(all.weights);
}

static void profile_ledger_print_all(const struct burin_trace *trace, const struct burin_profile *profile,
				     const struct view_profile *counted, bool color, bool whole,
				     struct view_buffer *out)
{
	uint64_t received = burin_profile_number(profile, "received");
	const char *state = burin_profile_value(profile, "state");
	const bool unfinished = state && strcmp(state, "recording") == 0;

	if (unfinished && counted && counted->samples > received) /* the ledger is written once a second */
		received = counted->samples;
	if (print_sum(profile, received, color, out))
		print_causes(profile, "lost.", wire_sample_terms, WIRE_SAMPLE_LOSSES, NULL, 0, out);
	if (counted)
		view_chunks_text(trace, out);
	profile_ledger_print_unsampled(profile, color, out);
	if (unfinished)
		view_buffer_print(out, "%s%s%s: losses of its last second are unknown\n", color ? warn : "",
				  was_recovered(trace) ? "The recorder was killed"
						       : "The recording is not finished",
				  color ? off : "");
	print_truncated(profile, whole, out);
	print_remarks(profile, out);
	profile_ledger_print_waits(profile, color, out);
	view_ledger_nameless(profile, counted, color, out);
	/* The processes and users that caused the remarks that begin with "over". */
	print_values(profile, "excess", "Above the limits for one process or user", color, out);
	print_values(profile, "limit", "Limited", color, out);
}

/* The parts of a sum are indented. */
static bool profile_ledger_is_part(const char *line)
{
	return *line == ' ';
}

/* Copies text, without the last parts if it has more than so many lines. */
static void profile_ledger_shorten(const struct view_buffer *text, size_t lines, struct view_buffer *out)
{
	const char *end = text->bytes + text->used, *next;
	size_t all = 0, parts = 0, kept, left_out = 0;

	for (const char *line = text->bytes; line < end; line = next) {
		next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
		all++;
		parts += profile_ledger_is_part(line);
	}
	kept = all <= lines ? parts : lines > all - parts ? lines - (all - parts) : 0;
	for (const char *line = text->bytes; line < end; line = next) {
		next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
		if (profile_ledger_is_part(line) && !kept)
			left_out++;
		else
			view_buffer_add(out, &(struct view_buffer){ .bytes = (char *)line,
								    .used = (size_t)(next - line) });
		kept -= profile_ledger_is_part(line) && kept;
	}
	if (left_out)
		view_buffer_print(out, "%zu more line%s on what is missing and what to do: --verbose\n",
				  left_out, text_plural(left_out));
}

void view_ledger_text(const struct burin_trace *trace, const struct burin_profile *profile,
		      const struct view_profile *counted, bool color, size_t lines, struct view_buffer *out)
{
	struct view_buffer text = { .used = 0 };

	profile_ledger_print_all(trace, profile, counted, color, lines == SIZE_MAX, &text);
	if (text.used && !text.failed) /* a line without its end is not written */
		profile_ledger_shorten(&text, lines, out);
	out->failed |= text.failed;
	view_buffer_free(&text);
}

/* Prints the numbers whose keys have this prefix, without it. */
static void json_numbers(const struct burin_profile *profile, struct json *json, const char *name,
			 const char *prefix)
{
	const char *key, *value;

	json_object(json, name);
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++)
		if (!strncmp(key, prefix, strlen(prefix)) && burin_profile_value(profile, key) == value)
			json_u64(json, key + strlen(prefix), burin_profile_number(profile, key));
	json_end(json);
}

/* Prints all values of a key that may occur several times. */
static void json_texts(const struct burin_profile *profile, struct json *json, const char *name,
		       const char *wanted)
{
	const char *key, *value;

	json_array(json, name);
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++)
		if (!strcmp(key, wanted))
			json_text(json, NULL, value);
	json_end(json);
}

void view_ledger_json(const struct burin_profile *profile, struct json *json, const char *key)
{
	static const char *const numbers[] = { "received",	 "attributed",	     "complete",
					       "blocked_before", "preempted",	     "preempted_ns",
					       "throttled",	 "task_late",	     "task_lost",
					       "tree_missed",	 "image_unreadable", "jit_late",
					       "continued",	 "scanned" };
	struct view_unsampled unsampled;

	json_object(json, key);
	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		json_u64(json, numbers[n], burin_profile_number(profile, numbers[n]));
	json_numbers(profile, json, "lost", "lost.");
	json_numbers(profile, json, "truncated", "truncated.");
	json_numbers(profile, json, "off_cpu", "off_cpu.");
	json_numbers(profile, json, "wakers", "wakers.");
	json_numbers(profile, json, "over", "over.");
	if (view_unsampled_of(profile, &unsampled)) {
		json_u64(json, unsampled.time ? "counted_ns" : "counted_events", unsampled.counted);
		json_u64(json, unsampled.time ? "unsampled_ns" : "unsampled_events", unsampled.missing);
	}
	json_texts(profile, json, "limits", "limit");
	json_texts(profile, json, "excess", "excess");
	json_array(json, "images");
	for (uint32_t n = 1; n <= burin_profile_images(profile); n++) {
		const struct burin_image *image = burin_profile_image(profile, n);

		if (!image)
			continue;
		json_object(json, NULL);
		json_text(json, "path", image->path);
		json_text(json, "names", wire_symbols_terms[image->names].key);
		json_text(json, "hint", image->hint);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}
