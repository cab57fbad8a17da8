/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report --spans; see report_spans.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report/open_calls.h"
#include "cmd/report/report_spans.h"
#include "cmd/report/span_windows.h"
#include "view/blame/slowest.h"
#include "view/blame/tail_report.h"
#include "view/spans/span_stats.h"

/* A copy of a word that is cut at commas and other marks; for the life of the process. */
static char *copy_word(const char *text, size_t bytes)
{
	char *copy = strndup(text, bytes);

	if (!copy)
		abort();
	return copy;
}

/* ---- --by */

struct columns {
	struct column names[TABLE_NAMES_MAX];
	unsigned count;
};

/* Return: whether a word is a column that each span has. */
static bool add_own_column(struct columns *columns, struct span_options *options, const char *word)
{
	unsigned part = 0;

	while (part < VIEW_TASK_PARTS && strcmp(view_part_name(part), word) != 0)
		part++;
	if (part < VIEW_TASK_PARTS) {
		options->parts |= 1u << part;
		columns->names[columns->count++] = (struct column){
			.key = view_part_name(part),
			.title = view_part_name(part),
			.kind = part == VIEW_PID || part == VIEW_TID ? COLUMN_DIGITS : COLUMN_TEXT,
			.part = part,
		};
		return true;
	}
	if (strcmp(word, "parent") == 0) {
		options->by_parent = true;
		columns->names[columns->count++] =
			(struct column)COLUMN_NAME("parent", TEXT, SPAN_PART_PARENT);
	}
	return options->by_parent && strcmp(word, "parent") == 0;
}

/* A field's column. In JSON and CSV its key has a prefix, since a program may call a field as any other column is called. */
static void add_field_column(struct columns *columns, struct span_options *options, const char *word)
{
	char key[80];
	const int bytes = snprintf(key, sizeof(key), "by_%s", word);

	columns->names[columns->count++] =
		(struct column){ .key = copy_word(key,
						  bytes < (int)sizeof(key) ? (size_t)bytes : sizeof(key) - 1),
				 .title = word,
				 .kind = COLUMN_TEXT,
				 .part = SPAN_PART_FIELD + options->choice.by_count };
	options->choice.by[options->choice.by_count++] = word;
}

static bool has_column(const struct columns *columns, const char *word)
{
	for (unsigned n = 0; n < columns->count; n++)
		if (strcmp(columns->names[n].title, word) == 0)
			return true;
	return false;
}

/* Return: 0 or CMD_USAGE. */
static int parse_columns(const char *by, struct columns *columns, struct span_options *options)
{
	*columns = (struct columns){ { COLUMN_NAME("span", TEXT, SPAN_PART_NAME) }, 1 };
	while (by && *by) {
		const size_t bytes = strcspn(by, ",");
		const char *word = copy_word(by, bytes);

		by += bytes + (by[bytes] == ',');
		if (strcmp(word, "span") == 0)
			continue;
		if (!*word || has_column(columns, word))
			return cmd_usage(
				"--by: give names of fields, or of program, thread, pid, tid and parent, "
				"each once");
		if (add_own_column(columns, options, word))
			continue;
		if (options->choice.by_count == SPAN_BY_FIELDS)
			return cmd_usage("--by: at most %u fields", (unsigned)SPAN_BY_FIELDS);
		add_field_column(columns, options, word);
	}
	return 0;
}

/* ---- --pair */

/* "u:./bin/server:parse" has the event u:server:parse. Return: @text, changed in place. */
static char *without_folder(char *text)
{
	static const char *const probes[] = { "u:", "uret:", "usdt:" };

	for (unsigned n = 0; n < sizeof(probes) / sizeof(probes[0]); n++) {
		char *file = text + strlen(probes[n]), *name;

		if (strncmp(text, probes[n], strlen(probes[n])) != 0)
			continue;
		name = memrchr(file, '/', strcspn(file, ":"));
		if (name)
			memmove(file, name + 1, strlen(name));
	}
	return text;
}

/* "[NAME=]BEGIN,END[@FIELD,...]" Return: false: it has another form. */
static bool parse_pair(const char *text, struct span_pair *pair)
{
	const char *name = strchr(text, '='), *at = strchr(text, '@'), *events = name ? name + 1 : text,
		   *comma;

	if (name && at && at < name)
		return false;
	comma = strchr(events, ',');
	if (!comma || (at && comma > at))
		return false;
	*pair = (struct span_pair){
		.text = text,
		.begin = without_folder(copy_word(events, (size_t)(comma - events))),
		.end = without_folder(
			copy_word(comma + 1, at ? (size_t)(at - comma - 1) : strlen(comma + 1))),
	};
	pair->name = name ? copy_word(text, (size_t)(name - text))
			  : copy_word(events, at ? (size_t)(at - events) : strlen(events));
	while (at && *at) {
		const size_t bytes = strcspn(++at, ",");

		if (!bytes || pair->field_count == SPAN_KEY_FIELDS)
			return false;
		pair->fields[pair->field_count++] = copy_word(at, bytes);
		at += bytes;
	}
	return *pair->name && *pair->begin && *pair->end && !strchr(pair->end, ',');
}

/* Return: 0 or CMD_USAGE. */
static int parse_pairs(const struct view_globs *given, struct span_options *options)
{
	struct span_pair *pairs = given->count ? calloc(given->count, sizeof(*pairs)) : NULL;

	if (!pairs && given->count)
		abort();
	for (size_t n = 0; n < given->count; n++)
		if (!parse_pair(given->globs[n], &pairs[n]))
			return cmd_usage(
				"--pair %s: give [NAME=]BEGIN,END, two names of events, and, if the ends "
				"may be of two threads, @ and up to %u fields that are equal in both",
				given->globs[n], (unsigned)SPAN_KEY_FIELDS);
	options->choice.pairs = pairs;
	options->choice.pair_count = given->count;
	return 0;
}

/* ---- --slowest */

static int print_slowest(const char *path, const struct burin_trace *trace,
			 const struct report_spans *options, const struct view_report *report,
			 const struct span_options *counted, const char **missing, struct view_buffer *out)
{
	struct span_pick_options chosen = { .spans = counted };
	struct span_pick pick;
	int error = cmd_slowest_parse(options->slowest, &chosen);

	if (error)
		return error;
	error = span_pick_make(&pick, trace, &chosen, missing);
	if (error)
		return error;
	error = chosen.share > 0 ? tail_print(&pick, report, options->slowest, path, out)
				 : slowest_print(&pick, report, out);
	span_pick_free(&pick);
	return error;
}

/* ---- The whole */

static int print_counted(const struct burin_trace *trace, const struct report_spans *options,
			 const struct view_report *report, const struct span_options *counted,
			 const struct columns *columns, enum call_order order, const char **missing,
			 struct view_buffer *out)
{
	struct span_stats stats;
	int error = span_stats_make(&stats, trace, counted, missing);

	if (error)
		return error;
	call_rows_sort(&stats.rows, order);
	span_stats_print(&stats, report, columns->names, columns->count, options->histogram, out);
	span_stats_free(&stats);
	return 0;
}

int report_spans(const char *path, const struct report_spans *options, const struct view_report *report,
		 enum call_order order)
{
	struct span_options counted = { .choice = { .names = &options->names }, .threads = cmd_threads() };
	struct view_buffer out = { .used = 0 };
	const char *missing = NULL;
	struct columns columns;
	struct cmd_calls opened;
	int result = parse_columns(options->by, &columns, &counted), error;

	if (!result)
		result = parse_pairs(&options->pairs, &counted);
	if (!result && options->slowest && (options->by || options->histogram))
		result =
			cmd_usage("--by and --histogram are for counted spans, --slowest is for single ones");
	if (result)
		return result;
	result = cmd_calls_open(&opened, path, cmd_profile_filter());
	if (!result && opened.filter.symbols.count)
		result = cmd_usage("--symbol is for samples and calls; --span selects spans");
	if (!result) {
		counted.filter = &opened.filter;
		counted.choice.where = &opened.filter.where;
		error = options->slowest
				? print_slowest(path, opened.trace, options, report, &counted, &missing, &out)
				: print_counted(opened.trace, options, report, &counted, &columns, order,
						&missing, &out);
		if (error)
			view_buffer_free(&out);
		result = error < 0 ? cmd_spans_failed(path, opened.trace, error, &options->names, missing)
			 : error   ? error
				   : cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
	}
	return cmd_calls_close(&opened, path, result);
}
