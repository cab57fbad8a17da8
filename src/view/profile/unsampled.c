/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Time without samples; see unsampled.h. */
#include <string.h>

#include "base/text.h"
#include "view/profile/unsampled.h"

enum {
	MATTERS_ONE_IN = 50, /* less than 2 % changes no row of a report by more than that */
	/* A sound recording lacks part of a period for each thread and CPU that it ran on. The error of a
	 * hundred samples is about as large. */
	MATTERS_SAMPLES = 10,
	/* By events of CPUs, chance decides which thread a sample meets: n samples may be 4 * sqrt(n) too few. */
	MATTERS_CHANCE = 4 * 4,
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

	*unsampled = (struct view_unsampled){
		.kernel = !burin_profile_value(profile, "limit"),
		.by_cpu = burin_profile_number(profile, "by_cpu"),
		.by_task = burin_profile_value(profile, "by_task"),
	};
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (strncmp(key, weight, strlen(weight)) == 0) {
			event = key + strlen(weight);
			unsampled->each = burin_profile_number(profile, key);
		}
	}
	for (unsigned n = 0; event && !burin_profile_value_at(profile, n, &key, &value); n++)
		if (strncmp(key, unit, strlen(unit)) == 0 && strcmp(key + strlen(unit), event) == 0)
			unsampled->time = strcmp(value, "ns") == 0;
	view_unsampled_set(unsampled, burin_profile_number(profile, "counted"),
			   burin_profile_number(profile, "received") -
				   burin_profile_number(profile, "off_cpu.received") -
				   burin_profile_number(profile, "wakers.received"));
	return unsampled->each && burin_profile_value(profile, "counted");
}

bool view_unsampled_matters(const struct view_unsampled *unsampled)
{
	const uint64_t missing = unsampled->each ? unsampled->missing / unsampled->each : 0;

	if (unsampled->by_cpu && (double)missing * (double)missing * (double)unsampled->each <
					 MATTERS_CHANCE * (double)unsampled->counted)
		return false;
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

void view_unsampled_hint(const struct view_unsampled *unsampled, struct view_buffer *out)
{
	char period[TEXT_SHORT];

	text_duration(period, unsampled->each);
	if (!unsampled->time)
		view_buffer_print(out, "there were too many events at once");
	else if (unsampled->by_cpu == 1)
		view_buffer_print(out, "the kernel's timer was late or throttled: use a lower --frequency");
	else if (unsampled->by_cpu)
		view_buffer_print(out, "of threads that ran already, some us of each time slice are not "
				       "sampled: record with -a");
	else if (unsampled->kernel)
		view_buffer_print(
			out,
			"a thread has no sample before it has run for %s on a CPU, and some us of each "
			"time slice are not sampled, so short threads are sampled too rarely: record with -a",
			period);
	else
		view_buffer_print(
			out,
			"the kernel is not sampled, and no thread before it has run for %s on a CPU: "
			"record as root",
			period);
	if (unsampled->by_task && unsampled->time) {
		view_buffer_print(out, " (one event per CPU was not possible: ");
		view_buffer_escape(out, unsampled->by_task);
		view_buffer_print(out, ")");
	}
}
