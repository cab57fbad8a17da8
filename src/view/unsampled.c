/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What no sample stands for; see unsampled.h. */
#include <string.h>

#include "base/text.h"
#include "view/unsampled.h"

enum {
	MATTERS_ONE_IN = 50, /* less than 2 % changes no row of a report by more than that */
	/* A sound recording lacks part of a period for each thread and CPU that it ran on; and a share of a hundred
	 * samples is no more precise than these. */
	MATTERS_SAMPLES = 10,
};

void view_unsampled_set(struct view_unsampled *unsampled, uint64_t counted, uint64_t samples)
{
	uint64_t stands;

	unsampled->counted = counted;
	unsampled->missing = 0;
	if (!__builtin_mul_overflow(samples, unsampled->each, &stands) && stands < counted)
		unsampled->missing = counted - stands;
}

bool view_unsampled_of(const struct burin_profile *profile, struct view_unsampled *unsampled)
{
	static const char weight[] = "weight.sample.", unit[] = "unit.sample.";
	const char *key, *value, *event = NULL;

	*unsampled = (struct view_unsampled){ .kernel = !burin_profile_value(profile, "limit") };
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (strncmp(key, weight, strlen(weight)) == 0) {
			event = key + strlen(weight);
			unsampled->each = burin_profile_number(profile, key);
		}
	}
	for (unsigned n = 0; event && !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (strncmp(key, unit, strlen(unit)) == 0 && strcmp(key + strlen(unit), event) == 0)
			unsampled->time = strcmp(value, "ns") == 0;
	}
	view_unsampled_set(unsampled, burin_profile_number(profile, "counted"),
			   burin_profile_number(profile, "received") -
				   burin_profile_number(profile, "off_cpu.received"));
	return unsampled->each && burin_profile_value(profile, "counted");
}

bool view_unsampled_matters(const struct view_unsampled *unsampled)
{
	return unsampled->missing / MATTERS_SAMPLES >= unsampled->each &&
	       unsampled->missing >= unsampled->counted / MATTERS_ONE_IN;
}

void view_unsampled_text(const struct view_unsampled *unsampled, struct view_buffer *out)
{
	char *(*const text)(char[TEXT_SHORT], uint64_t) = unsampled->time ? text_duration : text_count;
	char missing[TEXT_SHORT], counted[TEXT_SHORT];

	view_buffer_print(out, "%s of %s%s have no sample", text(missing, unsampled->missing),
			  text(counted, unsampled->counted),
			  unsampled->time ? " of processor time" : " events");
}

void view_unsampled_remedy(const struct view_unsampled *unsampled, struct view_buffer *out)
{
	char period[TEXT_SHORT];

	text_duration(period, unsampled->each);
	if (!unsampled->time)
		view_buffer_print(out, "there were too many at once");
	else if (unsampled->kernel)
		view_buffer_print(out,
				  "no thread is sampled before it has run for %s on a CPU, and of each turn "
				  "there some us "
				  "are not seen, so short ones are seen too rarely: record with -a",
				  period);
	else
		view_buffer_print(
			out,
			"the kernel is not seen, and no thread before it has run for %s on a CPU: record as "
			"root, and short threads with -a",
			period);
}
