/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of calls, and what is printed by them: check, replay, dump. */
#include <fcntl.h>

#include "burin/read.h"
#include "fuzz.h"
#include "view/calls/replay.h"
#include "view/records/dump.h"

static int nowhere = -1;

static const char *const globs[] = { "*" };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return archive_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view_dump dump = { .style.json = size % 2, .threads = 1 };
	struct view_replay replay = { .style.json = size % 2,
				      .depth = size / 2 % 4,
				      .min_ns = size / 8 % 2 * 1000,
				      .backtrace = 3,
				      .threads = 1 };
	struct burin_check_result result;
	struct burin_trace *trace;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	replay.file = dump.file = nowhere;
	if (size / 16 % 2)
		replay.functions = (struct view_globs){ .globs = (const char **)globs, .count = 1 };
	archive_unpack(data, size);
	burin_trace_check(archive_directory(), NULL, &result, NULL);
	if (burin_trace_open(&trace, archive_directory(), NULL, NULL))
		return 0;
	view_replay(trace, &replay);
	if (size % 8 == 0)
		view_dump(trace, &dump);
	burin_trace_close(trace);
	return 0;
}
