/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of samples, and all that is counted and written by them: report, flame, annotate, diff, export. */
#include <fcntl.h>
#include <unistd.h>

#include "export/export.h"
#include "fuzz.h"
#include "read/check/check_parts.h"
#include "view/compare/compare.h"
#include "view/profile/annotate.h"
#include "view/records/dump.h"
#include "view/profile/flame.h"
#include "view/summary/summary.h"
#include "writer/sample_streams.h"

enum {
	EXPORTED_MAX = 16 << 20, /* bytes of text, of each format */
};

static int nowhere = -1;

static void print_rows(const struct view_profile *counted, struct view_buffer *out)
{
	struct view_report report = { .by = { VIEW_PROGRAM, VIEW_THREAD, VIEW_IMAGE, VIEW_SYMBOL, VIEW_LINE },
				      .by_count = VIEW_PARTS,
				      .limit = UINT64_MAX };
	struct view_rows rows;

	if (view_rows_make(&rows, counted, (1u << VIEW_PARTS) - 1, false))
		return;
	for (report.form = TABLE_TEXT; report.form <= TABLE_CSV; report.form++)
		view_rows_print(counted, &rows, &report, out);
	view_rows_free(&rows);
}

static void print_tree(const struct view_profile *counted, enum view_direction direction,
		       struct view_buffer *out)
{
	const struct view_report report = { .outwards = direction == VIEW_CALLERS };
	const struct view_tree_options options = { .direction = direction,
						   .symbol = "*",
						   .roots = 1 << VIEW_PROGRAM | 1 << VIEW_THREAD };
	struct view_keys keys;
	struct view_tree tree;

	if (!view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, false) &&
	    !view_tree_make(&tree, &keys, counted, &options)) {
		view_tree_json(counted, &tree, &report, out);
		view_tree_text(counted, &tree, &report, out);
		view_tree_free(&tree);
	}
	view_keys_free(&keys);
}

static void print_annotation(const struct view_profile *counted, struct view_buffer *out)
{
	struct view_annotation annotation;

	if (view_annotate(&annotation, counted, "*"))
		return;
	view_annotation_json(&annotation, counted, out);
	view_annotation_free(&annotation);
}

static void print_diff(const struct view_profile *counted, struct view_buffer *out)
{
	static const uint8_t sides[] = { 0, 1, 1 };
	const struct view_profile_filter filter = { .from = 0 };
	struct compare compare;
	int error = compare_begin(&compare, COMPARE_OF_SAMPLES, sides, sizeof(sides));

	for (unsigned n = 0; n < sizeof(sides) && !error; n++) {
		compare_next(&compare, "fuzz");
		error = compare_samples(&compare, counted, &filter, n != 0, false);
	}
	if (!error && !compare_finish(&compare))
		for (enum table_form form = TABLE_TEXT; form <= TABLE_CSV; form++)
			compare_print(&compare, form, true, false, out);
	compare_free(&compare);
}

/* All outputs of every input would be slow: a part of them, by the input's size. */
static void print(const struct view_profile *counted, size_t size)
{
	struct view_buffer out = { .used = 0 };
	struct json json;

	switch (size % 4) {
	case 0:
		print_rows(counted, &out);
		print_annotation(counted, &out);
		break;
	case 1:
		for (unsigned direction = VIEW_WHOLE; direction <= VIEW_CALLERS; direction++)
			print_tree(counted, direction, &out);
		print_diff(counted, &out);
		break;
	case 2:
		view_flame(counted, "fuzz", &out);
		view_ledger_text(counted->trace, counted->profile, counted, false, size, &out);
		json_begin(&json, &out, 0);
		view_ledger_json(counted->profile, &json, NULL);
		break;
	default:
		for (const struct export_format *format = export_formats; format->name; format++) {
			struct export_output exported = { .file = nowhere, .bytes_max = EXPORTED_MAX };

			format->write(counted, &exported);
			FUZZ_HOLDS(exported.bytes <= EXPORTED_MAX);
			view_buffer_free(&exported.buffer);
		}
		break;
	}
	view_buffer_free(&out);
}

/* As the recorder that was killed had left the streams: burin recover cuts them off. */
static void recover(void)
{
	const int directory = open(archive_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	FUZZ_HOLDS(directory >= 0);
	samples_recover(directory, 2);
	close(directory);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return archive_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct view_profile_filter filter = { .to = 0 };
	const struct view_dump dump = { .style.stacks = true, .threads = 1, .file = nowhere };
	struct burin_check_result result;
	struct view_profile counted;
	struct burin_trace *trace;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	archive_unpack(data, size);
	if (size % 16 == 9)
		recover();
	burin_trace_check(archive_directory(), NULL, &result, NULL);
	if (burin_trace_open(&trace, archive_directory(), NULL, NULL))
		return 0;
	if (!view_profile_make(&counted, trace, &filter))
		print(&counted, size);
	view_profile_free(&counted);
	if (size % 8 == 0)
		view_dump(trace, &dump);
	burin_trace_close(trace);
	return 0;
}
