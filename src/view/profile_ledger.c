/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is missing from a profile, by cause, and what can be done about it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "view/profile.h"
#include "view/unsampled.h"

enum {
	IMAGES_MAX = 10, /* that are told of */
};

static const char warn[] = "\033[1;33m", off[] = "\033[0m";

struct cause {
	const char *key, *what, *remedy;
};

static const struct cause losses[] = {
	{ "lost.ring", "the kernel's ring was full",
	  "record with a larger --sample-buffer, or a lower --frequency" },
	{ "lost.late", "came too late to be put in order",
	  "the machine was overloaded: a lower frequency helps" },
	{ "lost.task", "of threads that nobody knows",
	  "they began before the recording, or their names were lost" },
	{ "lost.mapping", "at addresses in no mapping",
	  "code that was unmapped, or mappings that were lost" },
	{ "lost.context", "of neither the kernel nor a program", "a hypervisor or its guests ran" },
	{ "lost.damaged", "that were no samples", "the kernel's ring was scribbled upon: report this" },
	{ "lost.write", "that could not be written", "see \"trouble\" in burin info" },
};

static const struct cause cuts[] = {
	{ "cut.depth", "deeper than is recorded", "" },
	{ "cut.stack", "the copy of the stack ended", "record with a larger --stack-size" },
	{ "cut.tables", "code without unwind information",
	  "build it with -fno-omit-frame-pointer, or keep .eh_frame" },
	{ "cut.memory", "an address in no mapping", "code made at run time, or an overwritten stack" },
	{ "cut.ring", "lost: the kernel's ring had no room for them", "record with --call-graph fp" },
	{ "cut.image", "an image that could not be read", "record as the user that owns the file" },
};

/* What costs no sample, but may make some say less, or something else. */
static const struct cause remarks[] = {
	{ "throttled", "times the kernel took breath", "a lower frequency spares it that" },
	{ "task_late", "tasks and mappings were told late", "samples just before may be another's" },
	{ "task_lost", "tasks and mappings were lost", "the kernel's ring for them was full" },
	{ "image_unreadable", "files could not be opened", "they were gone, or are not to be read by you" },
	{ "jit_late", "pieces of code made at run time were told late",
	  "where memory was used again, the name is that of the last" },
};

/* Causes that a later recorder may tell of are shown by their keys. */
static const struct cause *find_cause(const struct cause *causes, size_t count, const char *key)
{
	for (size_t n = 0; n < count; n++) {
		if (!strcmp(causes[n].key, key))
			return &causes[n];
	}
	return NULL;
}

static void print_causes(const struct burin_profile *profile, const char *prefix, const struct cause *causes,
			 size_t count, struct view_buffer *out)
{
	char number[TEXT_SHORT];
	const char *key, *value;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		const struct cause *cause = find_cause(causes, count, key);
		uint64_t lost = burin_profile_number(profile, key);

		if (strncmp(key, prefix, strlen(prefix)) != 0 || !lost)
			continue;
		view_buffer_print(out, "%16s  ", text_count(number, lost));
		view_buffer_escape(out, cause ? cause->what : key + strlen(prefix));
		view_buffer_print(out, "%s%s\n", cause && *cause->remedy ? ": " : "",
				  cause ? cause->remedy : "");
	}
}

static void print_remarks(const struct burin_profile *profile, struct view_buffer *out)
{
	char number[TEXT_SHORT];

	for (size_t n = 0; n < sizeof(remarks) / sizeof(remarks[0]); n++) {
		const uint64_t count = burin_profile_number(profile, remarks[n].key);

		if (count)
			view_buffer_print(out, "%16s  %s: %s\n", text_count(number, count), remarks[n].what,
					  remarks[n].remedy);
	}
}

static uint64_t sum_of(const struct burin_profile *profile, const char *prefix)
{
	const char *key, *value;
	uint64_t sum = 0;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (!strncmp(key, prefix, strlen(prefix)))
			sum += burin_profile_number(profile, key);
	}
	return sum;
}

/* An image whose names are not all known, and what was sampled in it. */
struct nameless {
	uint32_t image;
	uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct nameless *one = a, *other = b;

	if (one->weight != other->weight)
		return one->weight > other->weight ? -1 : 1;
	return (one->image > other->image) - (one->image < other->image);
}

/* The weights of the images, by number, where the innermost frames lie. */
static void weigh_images(const struct burin_profile *profile, const struct view_profile *counted,
			 struct nameless *images)
{
	uint32_t stacks = burin_profile_stacks(profile);
	uint64_t *weights = calloc((size_t)stacks + 1, sizeof(*weights));
	struct burin_stack stack;
	struct burin_place place;

	for (uint32_t n = 1; n <= burin_profile_images(profile); n++)
		images[n].image = n;
	for (size_t n = 0; weights && counted && n < counted->pair_count; n++) {
		if (counted->pairs[n].stack <= stacks)
			weights[counted->pairs[n].stack] += counted->pairs[n].weight;
	}
	for (uint32_t n = 1; weights && n <= stacks; n++) {
		if (weights[n] && !burin_profile_stack(profile, n, &stack) &&
		    !burin_profile_place(profile, stack.place, &place) &&
		    place.image <= burin_profile_images(profile))
			images[place.image].weight += weights[n];
	}
	free(weights);
}

static void print_image(const struct burin_image *image, const struct nameless *entry,
			const struct view_profile *counted, struct view_buffer *out)
{
	static const char *const states[] = { "no names", "exported names only" };

	if (counted && counted->weight)
		view_buffer_print(out, "%15.2f%%  ", 100.0 * (double)entry->weight / (double)counted->weight);
	else
		view_buffer_print(out, "%16s  ", "");
	view_buffer_escape(out, *image->path ? image->path : burin_image_name(image));
	view_buffer_print(out, ": %s", states[image->names]);
	if (*image->remedy) {
		view_buffer_print(out, "; missing: ");
		view_buffer_escape(out, image->remedy);
	}
	view_buffer_print(out, "\n");
}

/* Images whose names are missing: those with most samples first, and no more than can, or need, be cared for at once. */
static void print_images(const struct burin_profile *profile, const struct view_profile *counted, bool color,
			 struct view_buffer *out)
{
	struct nameless *images = calloc((size_t)burin_profile_images(profile) + 1, sizeof(*images));
	uint64_t least = counted ? counted->weight / 100 : 0;
	unsigned told = 0, more = 0;

	if (!images)
		return;
	weigh_images(profile, counted, images);
	qsort(images + 1, burin_profile_images(profile), sizeof(*images), by_weight);
	for (uint32_t n = 1; n <= burin_profile_images(profile); n++) {
		const struct burin_image *image = burin_profile_image(profile, images[n].image);

		if (!image || image->names >= BURIN_NAMES_FUNCTIONS || (counted && !images[n].weight))
			continue;
		if (!told && !more)
			view_buffer_print(out, "%sNames are missing%s\n", color ? warn : "",
					  color ? off : "");
		if (told < IMAGES_MAX && images[n].weight >= least) {
			print_image(image, &images[n], counted, out);
			told++;
		} else {
			more++;
		}
	}
	if (more)
		view_buffer_print(out, "%16s  %s%u images %s; all: burin report --json, \"images\"\n", "",
				  told ? "and in " : "in ", more, told ? "more" : "with less than 1 % each");
	free(images);
}

static void print_limits(const struct burin_profile *profile, bool color, struct view_buffer *out)
{
	const char *key, *value;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (strcmp(key, "limit") != 0)
			continue;
		view_buffer_print(out, "%sNot permitted%s: ", color ? warn : "", color ? off : "");
		view_buffer_escape(out, value);
		view_buffer_print(out, "\n");
	}
}

/* What was not sampled at all, if it is much. */
static void print_unsampled(const struct burin_profile *profile, bool color, struct view_buffer *out)
{
	struct view_unsampled unsampled;

	if (!view_unsampled_of(profile, &unsampled) || !view_unsampled_matters(&unsampled))
		return;
	view_buffer_print(out, "%s", color ? warn : "");
	view_unsampled_text(&unsampled, out);
	view_buffer_print(out, "%s\n%16s  ", color ? off : "", "");
	view_unsampled_remedy(&unsampled, out);
	view_buffer_print(out, "\n");
}

/* What the waits leave out. */
static void print_waits(const struct burin_profile *profile, bool color, struct view_buffer *out)
{
	uint64_t lost = burin_profile_number(profile, "off_cpu.lost_ns");
	uint64_t blocked = burin_profile_number(profile, "blocked_before");
	uint64_t preempted = burin_profile_number(profile, "preempted");
	char number[TEXT_SHORT], duration[TEXT_SHORT];

	if (lost)
		view_buffer_print(out, "%sof waiting, %s or more were lost%s\n", color ? warn : "",
				  text_duration(duration, lost), color ? off : "");
	if (blocked)
		view_buffer_print(
			out,
			"%s threads were blocked when the recording began: where is not known, and not "
			"counted\n",
			text_count(number, blocked));
	if (preempted)
		view_buffer_print(out,
				  "threads were stopped %s times, for %s, although they could have gone on: "
				  "neither running nor waiting\n",
				  text_count(number, preempted),
				  text_duration(duration, burin_profile_number(profile, "preempted_ns")));
}

void view_ledger_text(const struct burin_profile *profile, const struct view_profile *counted, bool color,
		      struct view_buffer *out)
{
	uint64_t received = burin_profile_number(profile, "received"), lost = sum_of(profile, "lost.");
	uint64_t cut = sum_of(profile, "cut."), whole = burin_profile_number(profile, "complete");
	const char *state = burin_profile_value(profile, "state");
	char number[TEXT_SHORT], all[TEXT_SHORT];

	if (!burin_profile_value(profile, "received")) {
		view_buffer_print(
			out, "%sThe trace does not tell what was lost%s: its .burin/profile is missing\n",
			color ? warn : "", color ? off : "");
	} else if (lost) {
		view_buffer_print(out, "%s%s of %s samples were lost%s\n", color ? warn : "",
				  text_count(number, lost), text_count(all, received), color ? off : "");
		print_causes(profile, "lost.", losses, sizeof(losses) / sizeof(losses[0]), out);
	} else {
		view_buffer_print(out, "none of %s samples was lost\n", text_count(all, received));
	}
	print_unsampled(profile, color, out);
	if (state && strcmp(state, "recording") == 0)
		view_buffer_print(
			out,
			"%sThe recording is not finished%s: what was lost in its last second is not told\n",
			color ? warn : "", color ? off : "");
	if (cut) {
		view_buffer_print(out, "%s of %s stacks are cut\n", text_count(number, cut),
				  text_count(all, cut + whole));
		print_causes(profile, "cut.", cuts, sizeof(cuts) / sizeof(cuts[0]), out);
	}
	print_remarks(profile, out);
	print_waits(profile, color, out);
	print_images(profile, counted, color, out);
	print_limits(profile, color, out);
}

static void json_numbers(const struct burin_profile *profile, const char *prefix, struct view_buffer *out)
{
	const char *key, *value;
	bool first = true;

	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (strncmp(key, prefix, strlen(prefix)) != 0)
			continue;
		view_buffer_print(out, "%s", first ? "" : ",");
		view_buffer_json(out, key + strlen(prefix));
		view_buffer_print(out, ":%" PRIu64, burin_profile_number(profile, key));
		first = false;
	}
}

static void json_unsampled(const struct burin_profile *profile, struct view_buffer *out)
{
	struct view_unsampled unsampled;

	if (view_unsampled_of(profile, &unsampled))
		view_buffer_print(out, ",\"counted\":%" PRIu64 ",\"unsampled\":%" PRIu64, unsampled.counted,
				  unsampled.missing);
	else
		view_buffer_print(out, ",\"counted\":null,\"unsampled\":null");
}

void view_ledger_json(const struct burin_profile *profile, struct view_buffer *out)
{
	static const char *const states[] = { "none", "exported", "functions", "lines", "untold" };
	const char *key, *value, *comma = "";

	view_buffer_print(out, "{\"received\":%" PRIu64 ",\"attributed\":%" PRIu64 ",\"lost\":{",
			  burin_profile_number(profile, "received"),
			  burin_profile_number(profile, "attributed"));
	json_numbers(profile, "lost.", out);
	view_buffer_print(out, "},\"cut\":{");
	json_numbers(profile, "cut.", out);
	view_buffer_print(out, "},\"off_cpu\":{");
	json_numbers(profile, "off_cpu.", out);
	view_buffer_print(
		out,
		"},\"blocked_before\":%" PRIu64 ",\"preempted\":%" PRIu64 ",\"preempted_ns\":%" PRIu64
		",\"complete\":%" PRIu64,
		burin_profile_number(profile, "blocked_before"), burin_profile_number(profile, "preempted"),
		burin_profile_number(profile, "preempted_ns"), burin_profile_number(profile, "complete"));
	for (size_t n = 0; n < sizeof(remarks) / sizeof(remarks[0]); n++)
		view_buffer_print(out, ",\"%s\":%" PRIu64, remarks[n].key,
				  burin_profile_number(profile, remarks[n].key));
	json_unsampled(profile, out);
	view_buffer_print(out, ",\"limits\":[");
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (strcmp(key, "limit") != 0)
			continue;
		view_buffer_print(out, "%s", comma);
		view_buffer_json(out, value);
		comma = ",";
	}
	view_buffer_print(out, "],\"images\":[");
	comma = "";
	for (uint32_t n = 1; n <= burin_profile_images(profile); n++) {
		const struct burin_image *image = burin_profile_image(profile, n);

		if (!image)
			continue;
		view_buffer_print(out, "%s{\"path\":", comma);
		view_buffer_json(out, image->path);
		view_buffer_print(out, ",\"names\":\"%s\",\"remedy\":", states[image->names]);
		view_buffer_json(out, image->remedy);
		view_buffer_print(out, "}");
		comma = ",";
	}
	view_buffer_print(out, "]}");
}
