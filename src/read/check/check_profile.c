/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks the samples: the tables, all references, and the ledger: received = attributed + lost, and
 * attributed = samples in the streams.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "read/check/check_parts.h"
#include "read/profile/profile_parts.h"

static void check_references(const struct burin_profile *profile)
{
	const struct read_location *locations = profile->locations.items;

	for (size_t n = 0; n < profile->locations.count; n++) {
		if (locations[n].image > profile->image_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/stacks", 0,
				   "a frame in image %" PRIu32 ", which does not exist", locations[n].image);
		else if (!locations[n].image &&
			 (!locations[n].offset || locations[n].offset >= WIRE_TRUNCATIONS))
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/stacks", 0,
				   "a mark whose cause %" PRIu64 " is unknown", locations[n].offset);
	}
	for (uint32_t n = 0; n < profile->task_count; n++)
		if (profile->tasks[n].image > profile->image_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/tasks", 0,
				   "task %" PRIu32 " runs image %" PRIu32 ", which does not exist", n + 1,
				   profile->tasks[n].image);
}

/* Every sample's context, task and stack must exist. Return: 0 or -ENOMEM. */
static int check_samples(const struct burin_profile *profile, uint64_t *count)
{
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_sample sample;
	int result = burin_cursor_open(&cursor, profile->trace, NULL);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		result = 0;
		if (burin_profile_sample(profile, record, &sample))
			continue;
		(*count)++;
		if (!sample.task)
			read_fault(profile->trace, BURIN_FAULT_TABLE, record->file, record->offset,
				   "a sample of a context that does not exist");
		else if (sample.task > profile->task_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, record->file, record->offset,
				   "a sample of task %" PRIu32 ", which does not exist", sample.task);
		if (sample.stack && sample.stack - 1 >= profile->stack_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, record->file, record->offset,
				   "a sample of stack %" PRIu32 ", which does not exist", sample.stack);
	}
	burin_cursor_close(cursor);
	return result;
}

/* The kernel's count is at least the number of samples times their weight. */
static void check_count(const struct burin_profile *profile)
{
	const uint64_t counted = burin_profile_number(profile, "counted"),
		       samples = burin_profile_number(profile, "received") -
				 burin_profile_number(profile, "off_cpu.received") -
				 burin_profile_number(profile, "wakers.received");
	const char *key, *value;

	for (unsigned n = 0; counted && !burin_profile_value_at(profile, n, &key, &value); n++) {
		const uint64_t each =
			strncmp(key, "weight.sample.", 14) == 0 ? burin_profile_number(profile, key) : 0;

		if (each && counted / each < samples)
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
				   "counted is %" PRIu64 ", but %" PRIu64 " samples stand for %" PRIu64
				   " each",
				   counted, samples, each);
	}
}

static void check_ledger(const struct burin_profile *profile, uint64_t samples)
{
	uint64_t received = burin_profile_number(profile, "received"), lost = 0;
	uint64_t attributed = burin_profile_number(profile, "attributed"),
		 faulty = burin_trace_faults(profile->trace);
	const char *state = burin_profile_value(profile, "state"), *key, *value;

	if (!profile->has_values && !samples)
		return; /* for example a chunk whose recorder was killed before the first sample */
	if (!profile->has_values) {
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "there are samples, but no ledger");
		return;
	}
	if (!state || (strcmp(state, "recording") != 0 && strcmp(state, "ended") != 0))
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "state is missing or unknown");
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++)
		if (!strncmp(key, "lost.", 5))
			lost += burin_profile_number(profile, key);
	if (received != attributed + lost)
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "received (%" PRIu64 ") is not attributed (%" PRIu64 ") plus lost (%" PRIu64 ")",
			   received, attributed, lost);
	check_count(profile);
	/* During a recording the ledger is behind the streams. Unreadable records have been reported. */
	if (state && !strcmp(state, "ended") && attributed != samples && !faulty)
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "attributed is %" PRIu64 ", but there are %" PRIu64 " samples in the streams",
			   attributed, samples);
}

int read_check_profile(const struct burin_trace *trace)
{
	struct burin_profile *profile;
	uint64_t samples = 0;
	int result = burin_profile_open(&profile, trace);

	if (result == -ENODATA)
		return 0;
	if (result)
		return result;
	check_references(profile);
	result = check_samples(profile, &samples);
	if (!result)
		check_ledger(profile, samples);
	burin_profile_close(profile);
	return result;
}
