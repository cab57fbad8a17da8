/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checking of the samples: the tables, what they and the samples refer to, and the ledger:
 * received = attributed + what was lost, and attributed = samples in the streams.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "read/check.h"
#include "read/profile.h"

static void check_references(const struct burin_profile *profile)
{
	const struct read_place *places = profile->places.items;

	for (size_t n = 0; n < profile->places.count; n++) {
		if (places[n].image > profile->image_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/stacks", 0,
				   "a frame in image %" PRIu32 ", which is not there", places[n].image);
		else if (!places[n].image && (!places[n].offset || places[n].offset >= WIRE_CUTS))
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/stacks", 0,
				   "a mark whose cause %" PRIu64 " is unknown", places[n].offset);
	}
	for (uint32_t n = 0; n < profile->task_count; n++) {
		if (profile->tasks[n].image > profile->image_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/tasks", 0,
				   "task %" PRIu32 " runs image %" PRIu32 ", which is not there", n + 1,
				   profile->tasks[n].image);
	}
}

/* Every sample's spot, task and stack are there. Return: 0 or -ENOMEM. */
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
				   "a sample at a spot that is not there");
		else if (sample.task > profile->task_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, record->file, record->offset,
				   "a sample of task %" PRIu32 ", which is not there", sample.task);
		if (sample.stack && sample.stack - 1 >= profile->stack_count)
			read_fault(profile->trace, BURIN_FAULT_TABLE, record->file, record->offset,
				   "a sample of stack %" PRIu32 ", which is not there", sample.stack);
	}
	burin_cursor_close(cursor);
	return result;
}

/* What the kernel has counted is at least what samples stand for. */
static void check_count(const struct burin_profile *profile)
{
	const uint64_t counted = burin_profile_number(profile, "counted"),
		       samples = burin_profile_number(profile, "received") -
				 burin_profile_number(profile, "off_cpu.received");
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

	if (!profile->told && !samples)
		return; /* a chunk, say, whose recorder was killed before there were any */
	if (!profile->told) {
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "there are samples, but no ledger");
		return;
	}
	if (!state || (strcmp(state, "recording") != 0 && strcmp(state, "ended") != 0))
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "state is missing or unknown");
	for (unsigned n = 0; !burin_profile_value_at(profile, n, &key, &value); n++) {
		if (!strncmp(key, "lost.", 5))
			lost += burin_profile_number(profile, key);
	}
	if (received != attributed + lost)
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/profile", 0,
			   "received (%" PRIu64 ") is not attributed (%" PRIu64 ") plus lost (%" PRIu64 ")",
			   received, attributed, lost);
	check_count(profile);
	/* While it is being recorded, the ledger is behind the streams; records that cannot be read were told of. */
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
