/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of a guest's functions that a trace has; see guest_known.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "cmd/record/names/guest_known.h"
#include "wire/wire_call.h"

bool guest_known_is(const char *image)
{
	return strncmp(image, WIRE_GUEST_USER, sizeof(WIRE_GUEST_USER) - 1) == 0;
}

static int guest_known_compare(const void *one, const void *other)
{
	const struct guest_known_function *a = one, *b = other;

	return number_order(a->image, b->image) ?: number_order(a->begin, b->begin);
}

/* Whether a location has a name that a line of a map can have. */
static bool guest_known_find(const struct burin_profile *profile, uint32_t number,
			     struct guest_known_function *function)
{
	struct burin_location location;
	const struct burin_image *image;
	struct burin_frame frame;

	if (burin_profile_location(profile, number, &location) || !location.image || !location.size ||
	    burin_profile_frame(profile, number, 0, &frame) || !frame.function ||
	    strchr(frame.function, '\n'))
		return false;
	image = burin_profile_image(profile, location.image);
	*function = (struct guest_known_function){ location.image, location.begin, location.size,
						   frame.function };
	return image && guest_known_is(image->path);
}

int guest_known_read(struct guest_known *known, const struct burin_profile *profile)
{
	struct guest_known_function function;
	size_t kept = 0;

	*known = (struct guest_known){ 0 };
	for (uint32_t n = 1; n <= burin_profile_locations(profile); n++) {
		if (!guest_known_find(profile, n, &function))
			continue;
		if (!array_reserve(known->all, known->room, known->count + 1))
			return -ENOMEM;
		known->all[known->count++] = function;
	}
	if (known->count)
		qsort(known->all, known->count, sizeof(*known->all), guest_known_compare);
	for (size_t n = 0; n < known->count; n++)
		if (!n || guest_known_compare(&known->all[n], &known->all[kept - 1]) != 0)
			known->all[kept++] = known->all[n];
	known->count = kept;
	return 0;
}

void guest_known_free(struct guest_known *known)
{
	free(known->all);
	*known = (struct guest_known){ 0 };
}

int guest_known_names(const struct guest_known *known, uint32_t image, struct guest_names *names)
{
	int error = 0;

	*names = (struct guest_names){ 0 };
	for (size_t n = 0; n < known->count && !error; n++)
		if (known->all[n].image == image)
			error = guest_names_add(names, known->all[n].begin, known->all[n].size,
						known->all[n].name);
	if (error)
		guest_names_free(names);
	return error;
}
