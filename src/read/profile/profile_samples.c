/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records that are samples: their events and weights.
 *
 * Samples are events of the trace's table, named `sample.NAME`, with a field `context`. Their weight is a
 * field, if samples differ, or one number for all of them in `.burin/profile`. A trace without either still
 * counts samples. The fields are found once for each event, so a sample costs two loads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "read/profile/profile_parts.h"

/* Finds a field by name and type; *offset is its offset in the payload. */
static bool profile_samples_find_field(const struct read_event *event, const char *name, unsigned type,
				       uint32_t *offset)
{
	int field = burin_event_find(&event->open, name);

	if (field < 0 || event->fields[field].open.type != type)
		return false;
	*offset = event->offsets[field];
	return true;
}

static const char *event_value(const struct burin_profile *profile, const char *prefix, const char *name)
{
	char key[WIRE_NAME_MAX + 16];

	snprintf(key, sizeof(key), "%s.%s", prefix, name);
	return burin_profile_value(profile, key);
}

int read_sample_events_load(struct burin_profile *profile)
{
	const struct burin_trace *trace = profile->trace;
	static const char prefix[] = "sample.";

	profile->events = calloc(trace->event_count + 1, sizeof(*profile->events));
	if (!profile->events)
		return -ENOMEM;
	for (unsigned n = 0; n < trace->event_count; n++) {
		const struct read_event *event = read_event_find(trace, WIRE_STREAM_RECORDS, n + 1);
		struct read_sample_event *sample = &profile->events[n];
		const char *all;

		if (!event || event->variable || strncmp(event->open.name, prefix, sizeof(prefix) - 1) != 0 ||
		    !profile_samples_find_field(event, "context", WIRE_U32, &sample->context))
			continue;
		sample->sample = true;
		sample->weighted = profile_samples_find_field(event, "weight", WIRE_U64, &sample->weight);
		sample->unit = event_value(profile, "unit", event->open.name);
		all = event_value(profile, "weight", event->open.name);
		sample->all = all ? strtoull(all, NULL, 10) : 0;
		if (!sample->unit || (!sample->weighted && !sample->all))
			sample->unit = "samples";
		if (!sample->all)
			sample->all = 1;
	}
	return 0;
}

static const struct read_sample_event *sample_event(const struct burin_profile *profile,
						    const struct burin_event *event)
{
	const struct read_sample_event *sample;

	/* The profile of calls has no samples. */
	if (!profile->events || event->id - 1 >= profile->trace->event_count)
		return NULL;
	sample = &profile->events[event->id - 1];
	/* Announcements have events of their own, with the same ids. */
	return sample->sample && burin_trace_event(profile->trace, event->id) == event ? sample : NULL;
}

int burin_profile_is_sample(const struct burin_profile *profile, const struct burin_event *event)
{
	return sample_event(profile, event) != NULL;
}

const char *burin_profile_unit(const struct burin_profile *profile, const struct burin_event *event)
{
	const struct read_sample_event *sample = sample_event(profile, event);

	return sample ? sample->unit : "samples";
}

int burin_profile_sample(const struct burin_profile *profile, const struct burin_record *record,
			 struct burin_sample *sample)
{
	const struct read_sample_event *event = sample_event(profile, record->event);
	uint32_t number;

	if (!event)
		return -EINVAL;
	number = read_sample_context_number(profile, record->chunk,
					    number_load32(record->payload + event->context));
	sample->context = burin_profile_context(profile, number, &sample->task, &sample->stack) ? 0 : number;
	sample->weight = event->weighted ? number_load64(record->payload + event->weight) : event->all;
	return 0;
}
