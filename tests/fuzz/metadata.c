/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The description of a trace: the event table, the recording and where it begins, as readers and burin recover take them. */
#include <fcntl.h>
#include <unistd.h>

#include "writer/trace_origin.h"
#include "fuzz.h"
#include "read/trace.h"
#include "view/records/dump.h"
#include "view/records/line.h"

enum {
	RINGS = 4,
};

static int nowhere = -1;

static void walk(const struct burin_trace *trace)
{
	const char *key, *value;
	uint64_t number;
	size_t sum = 0;

	for (unsigned n = 0; !burin_trace_recording_at(trace, n, &key, &value); n++) {
		sum += strlen(key) + strlen(value);
		read_recording_number(trace, key, &number);
	}
	for (uint32_t id = 0; id <= burin_trace_events(trace) + 1; id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (!event)
			continue;
		sum += strlen(event->name) + strlen(event->format) + strlen(event->file) +
		       strlen(event->refused_file);
		for (unsigned n = 0; n < event->fields; n++)
			FUZZ_HOLDS(burin_event_find(event, burin_event_field(event, n)->name) <= (int)n);
		FUZZ_HOLDS(!burin_event_field(event, event->fields));
	}
	fuzz_use(sum);
}

static void prepare_lines(const struct burin_trace *trace, bool json)
{
	const struct view_style style = { .json = json, .absolute = true };
	const struct view_dump dump = { .style = style, .names = true, .threads = 1, .file = nowhere };
	struct view_lines lines;

	if (!view_lines_make(&lines, trace, &style))
		view_lines_free(&lines);
	view_dump(trace, &dump);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return archive_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_origin origins[RINGS];
	int directory;
	struct burin_check_result result;
	struct burin_trace *trace;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	archive_unpack(data, size);
	directory = open(archive_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0);
	origin_read(directory, origins, RINGS);
	close(directory);
	burin_trace_check(archive_directory(), NULL, &result, NULL);
	if (burin_trace_open(&trace, archive_directory(), NULL, NULL))
		return 0;
	walk(trace);
	prepare_lines(trace, size % 2);
	burin_trace_close(trace);
	return 0;
}
