/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report --calls --suggest: the options that would leave out most calls. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "burin/calls.h"
#include "cmd/report/open_calls.h"
#include "view/calls/suggest.h"

enum {
	SUGGEST_LIMIT = 10, /* options */
};

/* Count the records of each function, and add those that were only counted. Return: 0 or a negative errno. */
static int suggest_calls_count_calls(const struct burin_trace *trace, const struct burin_calls *calls,
				     struct call_suggest *functions)
{
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_call call;
	int result = burin_cursor_open(&cursor, trace, NULL);

	if (result)
		return result;
	while ((result = burin_cursor_next(cursor, &record)) > 0)
		if (!burin_calls_call(calls, record, &call) && call.function)
			functions[call.function - 1].calls++;
	burin_cursor_close(cursor);
	for (uint32_t n = 1; n <= burin_calls_functions(calls); n++)
		functions[n - 1].calls += burin_calls_count(calls, n);
	return result;
}

static void suggest_calls_describe(const struct burin_calls *calls, struct call_suggest *functions)
{
	for (uint32_t n = 1; n <= burin_calls_functions(calls); n++) {
		struct burin_function function = { 0 };
		const struct burin_image *image;

		burin_calls_function(calls, n, &function);
		image = burin_profile_image(burin_calls_profile(calls), function.image);
		functions[n - 1].name = function.name;
		functions[n - 1].image = image ? image->path : "";
		functions[n - 1].offset = function.offset;
	}
}

static int print_suggestion(const struct burin_trace *trace, const struct burin_calls *calls)
{
	const uint32_t count = burin_calls_functions(calls);
	struct call_suggest *functions = calloc((size_t)count + 1, sizeof(*functions));
	struct view_buffer out = { .used = 0 };
	int result = functions ? suggest_calls_count_calls(trace, calls, functions) : -ENOMEM;

	if (!result) {
		suggest_calls_describe(calls, functions);
		call_suggest_print(functions, count, SUGGEST_LIMIT, &out);
		result = cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
	}
	free(functions);
	return result;
}

int cmd_calls_suggest(const char *path)
{
	const struct view_profile_filter all = { .to = 0 };
	struct burin_calls *calls = NULL;
	struct cmd_calls opened;
	int result = cmd_calls_open(&opened, path, &all);

	if (!result) {
		result = burin_calls_open(&calls, opened.trace);
		result = result ? cmd_calls_failed(opened.trace, path, result)
				: print_suggestion(opened.trace, calls);
		if (result < 0)
			result = cmd_calls_failed(opened.trace, path, result);
		burin_calls_close(calls);
	}
	return cmd_calls_close(&opened, path, result);
}
