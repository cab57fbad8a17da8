/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report: where the time went. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burin/profile.h"
#include "cmd/profile.h"

const char cmd_report_help[] =
	"Usage: burin report [options] DIR\n"
	"\n"
	"Tell where the programs spent their time, by the samples of the trace in DIR:\n"
	"self is a function's own share, total includes what it called. Below: what is\n"
	"missing, and what to do about it.\n"
	"\n"
	"      --by PART,...    rows by program, thread, image, symbol, line, in this order;\n"
	"                       otherwise by symbol,image\n"
	"      --sort ORDER     self or total\n"
	"      --min PERCENT    leave out what has less of all, or of the tree; otherwise 0.1,\n"
	"                       in trees 1\n"
	"  -n, --limit N        no more than N rows; otherwise 50, as JSON and CSV all\n"
	"                       (--by, --sort, --limit and --csv do not go with trees)\n"
	"      --tree           the tree of calls instead\n"
	"      --callers GLOB   who called this function, as a tree\n"
	"      --callees GLOB   what this function called, as a tree\n" CMD_PROFILE_HELP
	"  -j, --json           one JSON object\n"
	"      --csv            rows as comma-separated values\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n";

static const char name[] = "report";

enum {
	ROWS = 50, /* of text, if nobody says how many */
};

enum {
	OPTION_BY = CMD_PROFILE_OWN,
	OPTION_SORT,
	OPTION_MIN,
	OPTION_TREE,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_CSV,
};

static const struct option options[] = {
	CMD_PROFILE_OPTIONS,
	{ "by", required_argument, NULL, OPTION_BY },
	{ "sort", required_argument, NULL, OPTION_SORT },
	{ "min", required_argument, NULL, OPTION_MIN },
	{ "limit", required_argument, NULL, 'n' },
	{ "tree", no_argument, NULL, OPTION_TREE },
	{ "callers", required_argument, NULL, OPTION_CALLERS },
	{ "callees", required_argument, NULL, OPTION_CALLEES },
	{ "json", no_argument, NULL, 'j' },
	{ "csv", no_argument, NULL, OPTION_CSV },
	{ NULL, 0, NULL, 0 },
};

struct arguments {
	struct cmd_profile profile;
	struct view_report report;
	struct view_tree_options tree_options;
	bool tree, json, csv;
	const char *of_rows; /* the last option that says nothing about trees; NULL: none */
	const char *path;
};

static int take_by(struct view_report *report, const char *text)
{
	report->by_count = 0;
	for (const char *at = text; *at;) {
		size_t bytes = strcspn(at, ",");
		unsigned part = 0;

		while (part < VIEW_PARTS &&
		       (strncmp(view_part_name(part), at, bytes) != 0 || view_part_name(part)[bytes]))
			part++;
		for (unsigned n = 0; n < report->by_count; n++)
			part = report->by[n] == part ? VIEW_PARTS : part;
		if (part == VIEW_PARTS)
			return cmd_usage(
				name, "--by wants some of program, thread, image, symbol, line, not \"%s\"",
				text);
		report->by[report->by_count++] = part;
		at += bytes + (at[bytes] == ',');
	}
	return report->by_count ? 0 : cmd_usage(name, "--by wants program, thread, image, symbol or line");
}

static int take_tree(struct arguments *arguments, enum view_direction direction, const char *symbol)
{
	if (arguments->tree)
		return cmd_usage(name, "one of --tree, --callers, --callees at a time");
	arguments->tree = true;
	arguments->tree_options.direction = direction;
	arguments->report.outwards = direction == VIEW_CALLERS;
	arguments->tree_options.symbol = symbol;
	return 0;
}

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;
	struct view_report *report = &arguments->report;
	const char *rest;
	char *end;

	switch (option) {
	case OPTION_BY:
		arguments->of_rows = "--by";
		return take_by(report, value);
	case OPTION_SORT:
		arguments->of_rows = "--sort";
		report->by_total = !strcmp(value, "total");
		if (report->by_total || !strcmp(value, "self"))
			return 0;
		return cmd_usage(name, "--sort wants self or total, not \"%s\"", value);
	case OPTION_MIN:
		report->min = strtod(value, &end);
		if (end != value && !*end && report->min >= 0 && report->min <= 100)
			return 0;
		return cmd_usage(name, "--min wants a number from 0 to 100, not \"%s\"", value);
	case 'n':
		arguments->of_rows = "--limit";
		if (cmd_number(value, UINT64_MAX, &report->limit, &rest) && !*rest && report->limit)
			return 0;
		return cmd_usage(name, "--limit wants a number of rows, 1 or more, not \"%s\"", value);
	case OPTION_TREE:
		return take_tree(arguments, VIEW_WHOLE, NULL);
	case OPTION_CALLERS:
		return take_tree(arguments, VIEW_CALLERS, value);
	case OPTION_CALLEES:
		return take_tree(arguments, VIEW_CALLEES, value);
	case 'j':
		arguments->json = true;
		return 0;
	case OPTION_CSV:
		arguments->of_rows = "--csv";
		arguments->csv = true;
		return 0;
	default:
		return -1;
	}
}

static int parse_arguments(struct arguments *arguments, int argc, char **argv)
{
	const int result = cmd_profile_options(&arguments->profile, argc, argv, "p:n:j", options, take_option,
					       arguments);

	if (result)
		return result;
	if (argc - optind != 1)
		return cmd_usage(name, argc == optind
					       ? "which trace? Give the directory that burin record made"
					       : "one trace at a time; burin diff compares two");
	if (arguments->tree && arguments->of_rows)
		return cmd_usage(name, "%s is for rows, not for trees; of these --min leaves branches out",
				 arguments->of_rows);
	if (arguments->json && arguments->csv)
		return cmd_usage(name, "either --json or --csv");
	arguments->path = argv[optind];
	if (!arguments->report.by_count) {
		arguments->report.by[0] = VIEW_SYMBOL;
		arguments->report.by[1] = VIEW_IMAGE;
		arguments->report.by_count = 2;
	}
	if (!arguments->report.limit)
		arguments->report.limit = arguments->json || arguments->csv ? UINT64_MAX : ROWS;
	if (arguments->report.min < 0)
		arguments->report.min = arguments->tree ? 1 : arguments->json || arguments->csv ? 0 : 0.1;
	return 0;
}

static int print_rows(const struct arguments *arguments, struct view_buffer *out)
{
	const struct view_profile *counted = &arguments->profile.counted;
	struct view_rows rows;
	unsigned parts = 0;
	int result;

	for (unsigned n = 0; n < arguments->report.by_count; n++)
		parts |= 1u << arguments->report.by[n];
	result = view_rows_make(&rows, counted, parts);
	if (result)
		return result;
	if (arguments->json)
		view_rows_json(counted, &rows, &arguments->report, out);
	else if (arguments->csv)
		view_rows_csv(counted, &rows, &arguments->report, out);
	else
		view_rows_text(counted, &rows, &arguments->report, out);
	view_rows_free(&rows);
	return 0;
}

static int print_tree(const struct arguments *arguments, struct view_buffer *out)
{
	const struct view_profile *counted = &arguments->profile.counted;
	struct view_keys keys;
	struct view_tree tree;
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE);

	if (!result)
		result = view_tree_make(&tree, &keys, counted, &arguments->tree_options);
	if (!result) {
		if (arguments->json)
			view_tree_json(counted, &tree, &arguments->report, out);
		else
			view_tree_text(counted, &tree, &arguments->report, out);
		view_tree_free(&tree);
	}
	view_keys_free(&keys);
	return result;
}

static int print(const struct arguments *arguments)
{
	struct view_buffer out = { .used = 0 };
	int result = arguments->tree ? print_tree(arguments, &out) : print_rows(arguments, &out);

	if (result) {
		view_buffer_free(&out);
		return cmd_failed(name, "%s", strerror(-result));
	}
	if (!arguments->json && !arguments->csv) {
		view_buffer_print(&out, "\n");
		view_ledger_text(arguments->profile.counted.profile, &arguments->profile.counted,
				 arguments->report.color, &out);
	}
	return cmd_profile_write(name, &out, dup(STDOUT_FILENO));
}

int cmd_report(int argc, char **argv)
{
	struct arguments arguments = { .profile.name = name, .report.min = -1 };
	int result = parse_arguments(&arguments, argc, argv);

	arguments.report.color = cmd_color(STDOUT_FILENO);
	if (!result)
		result = cmd_profile_open(&arguments.profile, arguments.path);
	if (!result)
		result = print(&arguments);
	return cmd_profile_close(&arguments.profile, arguments.path, result);
}
