/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checks the files that are not streams: metadata, the recording file, the event table. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "read/check/check_parts.h"
#include "wire/wire_profile.h"
#include "wire/wire_terms.h"

static const char recording_file[] = ".burin/recording", events_file[] = ".burin/events";

enum {
	METADATA_MAX = 128 << 20,
};

static void check_metadata(const struct burin_trace *trace)
{
	static const char begins[] = "/* CTF 1.8";
	char *text;
	size_t bytes = 0;
	int result = read_directory_load(trace, "metadata", METADATA_MAX, &text, &bytes);

	if (result) {
		read_fault(trace, BURIN_FAULT_METADATA, "metadata", 0, "cannot read: %s",
			   burin_fault_name(result));
		return;
	}
	if (bytes < sizeof(begins) || memcmp(text, begins, sizeof(begins) - 1) != 0)
		read_fault(trace, BURIN_FAULT_METADATA, "metadata", 0, "does not begin \"/* CTF 1.8\"");
	else if (strlen(text) != bytes)
		read_fault(trace, BURIN_FAULT_METADATA, "metadata", strlen(text), "a NUL byte in the text");
	else if (text[bytes - 1] != '\n')
		read_fault(trace, BURIN_FAULT_METADATA, "metadata", bytes, "does not end with a newline");
	free(text);
}

/* Checks a key whose value is one of a few words. */
static void check_word(const struct burin_trace *trace, const char *key, const char *const words[],
		       unsigned count)
{
	const char *value = burin_trace_recording(trace, key);

	for (unsigned n = 0; value && n < count; n++)
		if (!strcmp(value, words[n]))
			return;
	read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0,
		   value ? "%s has an unknown value" : "%s is missing", key);
}

static void check_uuid(const struct burin_trace *trace, const char *key)
{
	const char *value = burin_trace_recording(trace, key);
	uint8_t uuid[16];

	if (!value || strlen(value) != 36 || !read_uuid_parse(value, uuid))
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0,
			   value ? "%s is not a uuid" : "%s is missing", key);
}

static void check_number(const struct burin_trace *trace, const char *key, uint64_t low, uint64_t high,
			 bool power)
{
	uint64_t value = 0;

	if (read_recording_number(trace, key, &value))
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0, "%s is missing or not a number",
			   key);
	else if (value < low || value > high || (power && (value & (value - 1))))
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0, "%s is %llu, which is impossible",
			   key, (unsigned long long)value);
}

static void check_recording(const struct burin_trace *trace)
{
	static const char *const states[] = { "recording", "finished", "failed" };

	check_word(trace, "state", states, 3);
	check_word(trace, "clock", wire_clock_keys, WIRE_CLOCKS);
	check_word(trace, "mode", wire_mode_keys, WIRE_MODES);
	check_uuid(trace, "uuid");
	check_uuid(trace, "boot_id");
	check_number(trace, "packet_bytes", WIRE_PACKET_MIN, WIRE_PACKET_MAX, true);
	check_number(trace, "ring_packets", 1, UINT32_MAX, false);
	check_number(trace, "cpus", 0, READ_NUMBER_MAX, false);
	check_number(trace, "locked", 0, READ_NUMBER_MAX, false);
}

static int check_tables_by_name(const void *a, const void *b)
{
	const struct burin_event *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name) ?: number_order((*one)->id, (*other)->id);
}

/* No two events have one name: with another format the second is refused, with the same it is the same event. */
static void check_names_unique(const struct burin_trace *trace)
{
	const struct burin_event **events = calloc(trace->event_count + 1, sizeof(*events));
	size_t count = 0;

	if (!events)
		return;
	for (uint32_t id = 1; id <= trace->event_count; id++) {
		events[count] = burin_trace_event(trace, id);
		count += events[count] != NULL;
	}
	qsort(events, count, sizeof(*events), check_tables_by_name);
	for (size_t n = 1; n < count; n++)
		if (!strcmp(events[n]->name, events[n - 1]->name))
			read_fault(trace, BURIN_FAULT_EVENTS, events_file,
				   sizeof(struct wire_events) +
					   (events[n]->id - 1) * sizeof(struct wire_event),
				   "two events are named %s: %u and %u", events[n]->name, events[n - 1]->id,
				   events[n]->id);
	free(events);
}

/* Whether there are records of tracepoints; samples are written by the recorder. */
static bool has_tracepoint_records(const struct burin_trace *trace)
{
	for (unsigned n = 0; n < trace->stream_count; n++)
		if (trace->streams[n].ring.number < WIRE_SAMPLES_INSTANCE && trace->streams[n].packet_count)
			return true;
	return false;
}

/* Every thread announces itself, so if there are records and no names, the names were lost. */
static void check_names_present(const struct burin_trace *trace)
{
	uint64_t lost = 0;

	if (trace->has_records && has_tracepoint_records(trace) && !trace->names_stream.packet_count &&
	    (read_recording_number(trace, "lost_names", &lost) || !lost))
		read_fault(trace, BURIN_FAULT_FILE, "names", 0,
			   "there are records, but no names of their threads");
}

void read_check_tables(const struct burin_trace *trace, bool *unfinished)
{
	const char *state = burin_trace_recording(trace, "state");

	*unfinished = !state || strcmp(state, "finished") != 0;
	check_metadata(trace);
	if (trace->recording.sound)
		check_recording(trace);
	check_names_unique(trace);
	check_names_present(trace);
}
