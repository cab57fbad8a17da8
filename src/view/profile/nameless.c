/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Images without names; see nameless.h.
 *
 * The weight of a stack goes to the image of its innermost frame, since that is where a name is missing
 * first. Images that would be printed as the same line are one: they are sorted by what is printed of them,
 * and neighbours are added up (merge_images()). Their order is by weight then, so the first hints help most.
 */
#include "view/profile/nameless.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/print.h"
#include "base/text.h"
#include "wire/wire_terms.h"

enum {
	IMAGES_MAX = 10, /* shown one by one */
};

static const char *const warn = print_styles[PRINT_WARN], *const off = print_styles[PRINT_OFF];

/* An image without all names, and the weight of the stacks in it. */
struct nameless {
	const struct burin_image *image; /* NULL: it is counted for another entry */
	uint64_t weight;
	uint32_t number;
};

static int by_weight(const void *a, const void *b)
{
	const struct nameless *one = a, *other = b;

	return number_order(other->weight, one->weight) ?: number_order(one->number, other->number);
}

/* By what is printed of them. */
static int nameless_by_text(const void *a, const void *b)
{
	const struct nameless *one = a, *other = b;

	if (!one->image || !other->image)
		return number_order(!one->image, !other->image);
	return strcmp(one->image->path, other->image->path) ?: strcmp(one->image->hint, other->image->hint)
		       ?: number_order(one->image->names, other->image->names)
		       ?: number_order(one->image->kind, other->image->kind)
		       ?: number_order(one->number, other->number);
}

/* The code that several processes make, or a file that came back, is one line. */
static void merge_images(struct nameless *images, uint32_t count)
{
	struct nameless *first = images;

	qsort(images, count, sizeof(*images), nameless_by_text);
	for (uint32_t n = 1; n < count && images[n].image; n++) {
		const struct burin_image *one = first->image, *other = images[n].image;

		if (strcmp(one->path, other->path) != 0 || strcmp(one->hint, other->hint) != 0 ||
		    one->names != other->names || one->kind != other->kind) {
			first = &images[n];
			continue;
		}
		first->weight += images[n].weight;
		images[n] = (struct nameless){ .image = NULL };
	}
}

static bool nameless_is_named(const struct burin_profile *profile, const struct burin_stack *stack,
			      const struct burin_location *location)
{
	struct burin_frame frame;

	return location->frames &&
	       !burin_profile_frame(profile, stack->location, location->frames - 1, &frame) && frame.function;
}

/* Adds the weight of each stack to the image of its innermost frame. */
static void weigh_images(const struct view_nameless *all, struct nameless *images)
{
	const struct burin_profile *profile = all->profile;
	struct burin_stack stack;
	struct burin_location location;

	for (uint32_t n = 1; n <= burin_profile_images(profile); n++)
		images[n] = (struct nameless){ burin_profile_image(profile, n), 0, n };
	for (uint32_t n = 1; all->weights && n <= burin_profile_stacks(profile); n++)
		if (all->weights[n] && !burin_profile_stack(profile, n, &stack) &&
		    !burin_profile_location(profile, stack.location, &location) &&
		    location.image <= burin_profile_images(profile) &&
		    !(all->calls && nameless_is_named(profile, &stack, &location)))
			images[location.image].weight += all->weights[n];
}

static void print_image(const struct nameless *entry, uint64_t whole, struct view_buffer *out)
{
	const struct burin_image *image = entry->image;

	if (whole)
		view_buffer_print(out, "%15.2f%%  ", 100.0 * (double)entry->weight / (double)whole);
	else
		view_buffer_print(out, "%16s  ", "");
	view_buffer_print(out, "%s: %s", *image->path ? image->path : burin_image_name(image),
			  wire_symbols_terms[image->names].text);
	if (*image->hint)
		view_buffer_print(out, "; missing: %s", image->hint);
	view_buffer_print(out, "\n");
}

static uint64_t nameless_sum_of(const struct view_nameless *all)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; all->weights && n <= burin_profile_stacks(all->profile); n++)
		sum += all->weights[n];
	return sum;
}

/* Prints images without names, the heaviest first, up to IMAGES_MAX with 1 % or more. */
static void print_images(const struct view_nameless *all, bool color, struct view_buffer *out)
{
	const struct burin_profile *profile = all->profile;
	struct nameless *images = calloc((size_t)burin_profile_images(profile) + 1, sizeof(*images));
	const uint64_t whole = nameless_sum_of(all), least = whole / 100;
	unsigned shown = 0, more = 0;

	if (!images) {
		out->failed = true;
		return;
	}
	weigh_images(all, images);
	merge_images(images + 1, burin_profile_images(profile));
	qsort(images + 1, burin_profile_images(profile), sizeof(*images), by_weight);
	for (uint32_t n = 1; n <= burin_profile_images(profile); n++) {
		const struct burin_image *image = images[n].image;

		if (!image || image->names >= BURIN_NAMES_FUNCTIONS || (all->weights && !images[n].weight))
			continue;
		if (!shown && !more)
			view_buffer_print(out, "%sNames are missing%s%s\n", color ? warn : "",
					  color ? off : "", all->calls ? " (shares of the calls)" : "");
		if (shown < IMAGES_MAX && images[n].weight >= least) {
			print_image(&images[n], whole, out);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		view_buffer_print(out, "%16s  %s%u image%s %s%s\n", "", shown ? "and in " : "in ", more,
				  text_plural(more), shown ? "more" : "with less than 1 % each",
				  all->calls ? "" : "; all: burin report --json, \"images\"");
	free(images);
}

/* No image has names while the trace is recorded, or after record --no-symbols. */
static void print_unnamed(const struct burin_profile *profile, bool color, struct view_buffer *out)
{
	const uint32_t count = burin_profile_images(profile);

	for (uint32_t n = 1; n <= count; n++) {
		const struct burin_image *image = burin_profile_image(profile, n);

		if (image && image->names != BURIN_NAMES_UNKNOWN)
			return;
	}
	if (count)
		view_buffer_print(
			out,
			"%sNames have not been looked up%s: this happens when a recording ends, or with "
			"burin symbols\n",
			color ? warn : "", color ? off : "");
}

uint64_t *view_stack_weights(const struct view_profile *counted)
{
	const uint32_t stacks = burin_profile_stacks(counted->profile);
	uint64_t *weights = calloc((size_t)stacks + 1, sizeof(*weights));

	for (size_t n = 0; weights && n < counted->pair_count; n++)
		weights[counted->pairs[n].stack <= stacks ? counted->pairs[n].stack : 0] +=
			counted->pairs[n].weight;
	return weights;
}

void view_nameless_text(const struct view_nameless *all, bool color, struct view_buffer *out)
{
	print_images(all, color, out);
	print_unnamed(all->profile, color, out);
}
