/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts and vectors; see blame_parts.h. */
#include "view/blame/blame_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "view/sched/sched_stacks.h"

enum {
	NAME_BYTES = 512,
	CALLERS = 64,		 /* functions of a stack that are kept */
	CALLERS_BYTES = 4096,	 /* of their names */
	CALLERS_ALL = 256 << 20, /* of those of all stacks: those of later ones are left out */
	SHORT_FRAMES = 3,	 /* functions of a stack by which waits differ */
};

/* ---- Parts */

uint32_t blame_part_find(struct blame *blame, const struct blame_part *part)
{
	const uint64_t hash =
		hash_pair(hash_pair(hash_pair(part->kind, part->what), hash_pair(part->stack, part->by)),
			  hash_pair(part->callers, part->below));
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&blame->part_numbers, hash, &at));) {
		const struct blame_part *known = &blame->parts[number];

		if (known->kind == part->kind && known->what == part->what && known->stack == part->stack &&
		    known->by == part->by && known->callers == part->callers && known->below == part->below)
			return number;
	}
	number = blame->part_count ? (uint32_t)blame->part_count : 1;
	if (number == UINT32_MAX || !array_reserve(blame->parts, blame->part_room, (size_t)number + 1) ||
	    !hash_table_reserve(&blame->part_numbers))
		return 0;
	blame->parts[number] = *part;
	blame->part_count = (size_t)number + 1;
	hash_table_add(&blame->part_numbers, hash, number);
	return number;
}

int blame_add(struct blame_vector *vector, uint32_t part, uint64_t number)
{
	return blame_add_share(vector, &(struct blame_share){ .part = part, .number = number, .times = 1 });
}

int blame_add_share(struct blame_vector *vector, const struct blame_share *added)
{
	const uint32_t part = added->part;
	const uint64_t hash = hash_pair(part, 0);
	struct blame_share *share;
	uint32_t n;

	for (size_t at = 0; (n = hash_table_next(&vector->numbers, hash, &at));)
		if (vector->shares[n - 1].part == part)
			break;
	if (!n) {
		if (!part || !array_reserve(vector->shares, vector->room, vector->count + 1) ||
		    !hash_table_reserve(&vector->numbers))
			return -ENOMEM;
		n = (uint32_t)++vector->count;
		vector->shares[n - 1] = (struct blame_share){ .part = part };
		hash_table_add(&vector->numbers, hash, n);
	}
	share = &vector->shares[n - 1];
	share->number = view_add(share->number, added->number);
	share->times += added->times;
	return 0;
}

void blame_vector_free(struct blame_vector *vector)
{
	free(vector->shares);
	hash_table_free(&vector->numbers);
}

int blame_add_part(struct blame *blame, struct blame_vector *vector, const struct blame_part *part,
		   uint64_t number)
{
	return blame_add(vector, blame_part_find(blame, part), number);
}

/* ---- Samples */

/* Functions of the kernel through which page faults come. */
static bool is_fault(const char *function)
{
	static const char *const names[] = { "asm_exc_page_fault",
					     "exc_page_fault",
					     "do_user_addr_fault",
					     "handle_mm_fault",
					     "do_page_fault",
					     "do_mem_abort",
					     "el0_da",
					     "el0_ia" };

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (!strcmp(function, names[n]))
			return true;
	return false;
}

/* Whether the kernel's part of a stack has a page fault. */
static bool stack_has_fault(const struct burin_profile *profile, uint32_t stack)
{
	char room[NAME_BYTES];
	struct burin_stack frame;
	struct burin_location location;

	for (; !burin_profile_stack(profile, stack, &frame); stack = frame.caller) {
		const struct burin_image *image = burin_profile_location(profile, frame.location, &location)
							  ? NULL
							  : burin_profile_image(profile, location.image);

		if (!image || (image->kind != BURIN_IMAGE_KERNEL && image->kind != BURIN_IMAGE_MODULE))
			return false;
		if (is_fault(sched_frame_name(profile, frame.location, room, sizeof(room))))
			return true;
	}
	return false;
}

/* Whether an image is the kernel, the vDSO or the C library: the time of a program's calls there belongs to its function. */
static bool is_system(const struct burin_image *image)
{
	static const char *const names[] = { "libc.so",	 "libc-",   "libm.so",	"libpthread",
					     "ld-linux", "ld-musl", "[uprobes]" };
	const char *name = burin_image_name(image);

	if (image->kind == BURIN_IMAGE_KERNEL || image->kind == BURIN_IMAGE_MODULE ||
	    image->kind == BURIN_IMAGE_VDSO)
		return true;
	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (!strncmp(name, names[n], strlen(names[n])))
			return true;
	return false;
}

/* The innermost frame outside of these; the innermost one if there is none. */
static uint32_t program_frame(const struct burin_profile *profile, uint32_t stack)
{
	struct burin_stack frame;
	struct burin_location location;

	for (uint32_t n = stack; !burin_profile_stack(profile, n, &frame); n = frame.caller) {
		const struct burin_image *image = burin_profile_location(profile, frame.location, &location)
							  ? NULL
							  : burin_profile_image(profile, location.image);

		if (image && !is_system(image))
			return n;
	}
	return stack;
}

/* Return: NULL: the function of a location has no name. */
static const char *named_function(const struct burin_profile *profile, uint32_t location,
				  char room[NAME_BYTES])
{
	struct burin_frame frame;

	return !burin_profile_frame(profile, location, 0, &frame) && frame.function
		       ? sched_frame_name(profile, location, room, NAME_BYTES)
		       : NULL;
}

/* The function of a location: its name, or where it begins. Addresses of unknown functions are those of their image, so that they are one part. */
static const char *function_of(const struct burin_profile *profile, uint32_t location, char room[NAME_BYTES])
{
	const char *name = named_function(profile, location, room);
	struct burin_location at;

	if (name)
		return name;
	if (burin_profile_location(profile, location, &at))
		return "[unknown]";
	return at.image && at.size ? burin_profile_address(profile, location, room, NAME_BYTES)
				   : burin_image_name(burin_profile_image(profile, at.image));
}

/* The functions of a stack that have names, from a frame on, a line each; that of the first one is empty if it has none. Return: a string. */
static uint32_t callers_of(struct blame *blame, struct blame_stacks *stacks, uint32_t stack)
{
	const struct burin_profile *profile = stacks->profile;
	char text[CALLERS_BYTES], room[NAME_BYTES];
	struct burin_stack frame;
	size_t used = 0;

	*text = 0;
	if (stacks->bytes > CALLERS_ALL)
		return 0;
	for (unsigned n = 0; n < CALLERS && !burin_profile_stack(profile, stack, &frame); n++) {
		const char *name = named_function(profile, frame.location, room);

		stack = frame.caller;
		if (name && used + strlen(name) + 2 > sizeof(text))
			break;
		if (name)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", n ? "\n" : "",
						 name);
	}
	stacks->bytes += used;
	return view_string(blame->strings, text);
}

uint32_t blame_part_of_stack(struct blame *blame, struct blame_stacks *stacks, uint32_t stack)
{
	const struct burin_profile *profile = stacks->profile;
	struct blame_part part = { .kind = BLAME_RUNNING };
	char room[NAME_BYTES];
	struct burin_stack frame;
	uint32_t own;

	if (!stack || stack > burin_profile_stacks(profile))
		return BLAME_UNSAMPLED;
	if (stacks->parts[stack])
		return stacks->parts[stack];
	if (stack_has_fault(profile, stack))
		part.kind = BLAME_FAULT;
	own = program_frame(profile, stack);
	if (!burin_profile_stack(profile, own, &frame)) {
		part.what = view_string(blame->strings, function_of(profile, frame.location, room));
		part.callers = callers_of(blame, stacks, own);
	}
	return stacks->parts[stack] = blame_part_find(blame, &part);
}

uint32_t blame_short_stack(struct blame *blame, uint32_t stack)
{
	const char *text = blame->strings->texts[stack], *end = text;
	char room[(SHORT_FRAMES + 1) * NAME_BYTES];

	for (unsigned n = 0; n <= SHORT_FRAMES && end; n++) {
		end = strchr(end, '\n');
		end = end ? end + 1 : NULL;
	}
	if (!end || (size_t)(end - text) > sizeof(room))
		return stack;
	memcpy(room, text, (size_t)(end - text) - 1);
	room[end - text - 1] = 0;
	return view_string(blame->strings, room);
}

/* ---- Times of one vector */

static int largest_first(const void *a, const void *b)
{
	const struct blame_share *one = a, *other = b;

	return number_order(other->number, one->number) ?: number_order(one->part, other->part);
}

size_t blame_resolve(const struct blame_vector *vector, const struct blame_part *parts,
		     struct blame_share *shares)
{
	uint64_t weights = 0, left = vector->running;
	size_t count = 0, last = SIZE_MAX;

	for (size_t n = 0; n < vector->count; n++)
		if (blame_is_sampled(&parts[vector->shares[n].part]))
			weights = view_add(weights, vector->shares[n].number);
	for (size_t n = 0; n < vector->count; n++) {
		struct blame_share share = vector->shares[n];

		if (blame_is_sampled(&parts[share.part])) {
			share.number = weights ? (uint64_t)((unsigned __int128)vector->running *
							    share.number / weights)
					       : 0;
			share.number = share.number < left ? share.number : left;
			left -= share.number;
			last = count;
		}
		shares[count++] = share;
	}
	if (last != SIZE_MAX && weights)
		shares[last].number += left; /* the rest of rounding */
	else if (left)
		shares[count++] = (struct blame_share){ .part = BLAME_UNSAMPLED, .number = left, .times = 1 };
	if (count)
		qsort(shares, count, sizeof(*shares), largest_first);
	return count;
}
