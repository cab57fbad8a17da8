/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of calls, and all that is counted and written by them: check, replay, dump, report, graph, flame, export. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burin/read.h"
#include "export/export.h"
#include "export/uftrace/uftrace_export.h"
#include "fuzz.h"
#include "view/calls/call_contexts.h"
#include "view/calls/call_profile.h"
#include "view/calls/call_stats.h"
#include "view/calls/replay/replay.h"
#include "view/profile/flame.h"
#include "view/records/dump.h"

enum {
	EXPORTED_MAX = 16 << 20, /* bytes of text, of each format */
};

static int nowhere = -1;
static const struct view_profile_filter all;

static const char *const globs[] = { "*" };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return archive_mutate(data, size, max, seed);
}

static void replay(const struct burin_trace *trace, size_t size)
{
	struct view_replay options = { .style.json = size % 2,
				       .depth = size / 2 % 4,
				       .min_ns = size / 8 % 2 * 1000,
				       .backtrace = 3,
				       .threads = 1,
				       .file = nowhere };

	if (size / 16 % 2)
		options.functions = (struct view_globs){ .globs = (const char **)globs, .count = 1 };
	view_replay(trace, &options);
}

static void report(const struct burin_trace *trace, size_t size)
{
	struct view_report options = { .by = { VIEW_SYMBOL, VIEW_IMAGE, VIEW_TID },
				       .by_count = 3,
				       .limit = UINT64_MAX,
				       .form = (enum table_form)(size % 3) };
	struct view_buffer out = { .used = 0 };
	struct call_stats stats;

	if (call_stats_make(&stats, trace, &all, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE | 1 << VIEW_TID, 1, NULL))
		return;
	call_rows_sort(&stats.rows, (enum call_order)(size % (CALL_BY_MAX + 1)));
	call_stats_print(&stats, &options, &out);
	call_stats_free(&stats);
	view_buffer_free(&out);
}

static void graph(const struct burin_trace *trace, size_t size)
{
	const struct call_graph_report options = { .depth = size % 3 };
	struct view_buffer out = { .used = 0 };
	struct call_contexts contexts;
	uint32_t *keys = NULL;
	ssize_t count;

	if (call_contexts_make(&contexts, trace, &all, 1))
		return;
	(size % 2 ? call_graph_json : call_graph_text)(&contexts, &options, &out);
	count = call_contexts_find(&contexts, "*", &keys);
	if (count > 0)
		(size % 2 ? call_graph_of_json : call_graph_of_text)(&contexts, &options, keys, (size_t)count,
								     &out);
	free(keys);
	call_contexts_free(&contexts);
	view_buffer_free(&out);
}

static void write_profile(const struct burin_trace *trace, size_t size)
{
	struct view_buffer out = { .used = 0 };
	struct view_profile counted;

	if (call_profile_make(&counted, trace, &all, 1) == 0) {
		if (size % 2)
			view_flame(&counted, "fuzz", &out);
		for (const struct export_format *format = export_formats; size % 2 == 0 && format->name;
		     format++) {
			struct export_output exported = { .file = nowhere, .bytes_max = EXPORTED_MAX };

			format->write(&counted, &exported);
			FUZZ_HOLDS(exported.bytes <= EXPORTED_MAX);
			view_buffer_free(&exported.buffer);
		}
	}
	view_profile_free(&counted);
	view_buffer_free(&out);
}

static void write_uftrace(const struct burin_trace *trace)
{
	struct uftrace_export done;
	char path[300];
	int directory;

	snprintf(path, sizeof(path), "%s/uftrace", archive_directory());
	FUZZ_HOLDS(mkdir(path, 0700) == 0);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0);
	/* Nothing is left of what could not be written whole. */
	if (uftrace_export(trace, directory, &done))
		FUZZ_HOLDS(rmdir(path) == 0);
	close(directory);
	archive_remove(path);
}

/* All outputs of every input would be slow: one of them, by the input's size. */
static void print(const struct burin_trace *trace, size_t size)
{
	const struct view_dump dump = { .style.json = size % 2, .threads = 1, .file = nowhere };

	switch (size % 6) {
	case 0:
		replay(trace, size / 6);
		break;
	case 1:
		view_dump(trace, &dump);
		break;
	case 2:
		report(trace, size / 6);
		break;
	case 3:
		graph(trace, size / 6);
		break;
	case 4:
		write_profile(trace, size / 6);
		break;
	default:
		write_uftrace(trace);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct burin_check_result result;
	struct burin_trace *trace;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	archive_unpack(data, size);
	burin_trace_check(archive_directory(), NULL, &result, NULL);
	if (burin_trace_open(&trace, archive_directory(), NULL, NULL))
		return 0;
	print(trace, size);
	burin_trace_close(trace);
	return 0;
}
