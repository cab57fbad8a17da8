/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Images; the table `images`. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "read/profile/profile_parts.h"

static int take_image(void *data, struct read_entry *entry)
{
	struct burin_profile *profile = data;
	struct burin_image image = { .names = BURIN_NAMES_UNKNOWN, .hint = "" };
	size_t bytes;

	image.kind = (unsigned)read_entry_number(entry, WIRE_IMAGES - 1, "an unknown kind of image");
	image.size = read_entry_number(entry, UINT64_MAX, "");
	image.build_id =
		(const unsigned char *)read_entry_keep(entry, &profile->arena, true, &image.build_id_bytes);
	image.path = read_entry_keep(entry, &profile->arena, false, &bytes);
	if (!entry->reason && !image.kind)
		entry->reason = "an unknown kind of image";
	if (!entry->reason)
		*(struct burin_image *)entry->row = image;
	return image.build_id && image.path ? 0 : -ENOMEM;
}

/* Sets the states of names from the symbols, which have been read before the images. */
static void set_states(struct burin_profile *profile)
{
	const struct read_image_state *states = profile->states.items;

	for (size_t n = 0; n < profile->states.count; n++) {
		struct burin_image *image;

		if (states[n].image - 1 >= profile->image_count) {
			read_fault(profile->trace, BURIN_FAULT_TABLE, profile->files->symbols, 0,
				   "a state of image %" PRIu32 ", which is not there", states[n].image);
			continue;
		}
		image = &profile->images[states[n].image - 1];
		/* Of several chunks, the one with most names. */
		if (image->names != BURIN_NAMES_UNKNOWN && image->names >= states[n].state)
			continue;
		image->names = states[n].state;
		image->hint = states[n].hint;
	}
}

int read_images_load(struct burin_profile *profile)
{
	const struct read_table table = {
		profile->files->images, WIRE_TABLE_IMAGES, 4, sizeof(struct burin_image), 0, take_image,
		read_profile_memory
	};
	int result = read_table_load(profile->trace, &table, profile->newest, profile,
				     (void **)&profile->images, &profile->image_count);

	if (!result)
		set_states(profile);
	return result;
}

uint32_t burin_profile_images(const struct burin_profile *profile)
{
	return profile->image_count;
}

const struct burin_image *burin_profile_image(const struct burin_profile *profile, uint32_t number)
{
	return number - 1 < profile->image_count && profile->images[number - 1].kind
		       ? &profile->images[number - 1]
		       : NULL;
}

const char *burin_image_name(const struct burin_image *image)
{
	const char *slash;

	if (!image)
		return "[unknown]";
	if (image->kind == BURIN_IMAGE_KERNEL)
		return "[kernel]";
	if (image->kind == BURIN_IMAGE_VDSO)
		return "[vdso]";
	if (!*image->path)
		return image->kind == BURIN_IMAGE_JIT ? "[jit]" : "[anon]";
	slash = *image->path == '/' ? strrchr(image->path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : image->path;
}
