/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of calls as text; see call_names.h. */
#include "view/records/call_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "view/records/call_values_text.h"

enum {
	ADDRESS_BYTES = 512,
};

/* The bytes before the last pair of brackets: the parameters of "a(int (*)(int)) const". */
static size_t bare_bytes(const char *text, size_t bytes)
{
	unsigned open = 0;

	for (size_t at = bytes; at > 1; at--) {
		open += text[at - 1] == ')';
		if (text[at - 1] == '(' && open && --open == 0)
			return at - 1;
	}
	return bytes;
}

/* "main()". A name of C++ has brackets already. */
static bool call_names_add_text(struct view_call_names *names, struct view_function *function)
{
	const size_t bytes = strlen(function->name);
	char *text = malloc(TEXT_ESCAPE_MAX * bytes + 2);
	size_t used;

	if (!text)
		return false;
	used = text_escape(text, function->name, bytes);
	if (!memchr(text, ')', used)) {
		text[used++] = '(';
		text[used++] = ')';
	}
	function->text = arena_keep(&names->texts, text, used);
	function->text_bytes = (uint32_t)used;
	function->bare_bytes = (uint32_t)bare_bytes(text, used);
	free(text);
	return function->text != NULL;
}

static bool call_names_add(struct view_call_names *names, uint32_t number)
{
	const struct burin_profile *profile = names->calls ? burin_calls_profile(names->calls) : NULL;
	struct view_function *shown = &names->functions[number];
	struct burin_function function = { .name = NULL };
	struct burin_stack stack;
	char address[ADDRESS_BYTES] = "?";

	shown->image = "";
	if (number && !burin_calls_function(names->calls, number, &function) && function.image)
		shown->image = burin_image_name(burin_profile_image(profile, function.image));
	if (!function.name && number && !burin_profile_stack(profile, number, &stack))
		burin_profile_address(profile, stack.location, address, sizeof(address));
	shown->name = function.name ? function.name : arena_keep(&names->texts, address, strlen(address));
	return shown->name && call_names_add_text(names, shown);
}

int view_call_names_make(struct view_call_names *names, const struct burin_trace *trace)
{
	bool added = true;
	int result;

	*names = (struct view_call_names){ .calls = NULL };
	result = burin_calls_open(&names->calls, trace);
	if (result == -ENOMEM)
		return result;
	names->count = names->calls ? burin_calls_functions(names->calls) : 0;
	names->functions = calloc((size_t)names->count + 1, sizeof(*names->functions));
	for (uint32_t n = 0; added && names->functions && n <= names->count; n++)
		added = call_names_add(names, n);
	if (names->functions && added)
		return 0;
	view_call_names_free(names);
	return -ENOMEM;
}

void view_call_names_free(struct view_call_names *names)
{
	burin_calls_close(names->calls);
	free(names->functions);
	arena_free(&names->texts);
	*names = (struct view_call_names){ .calls = NULL };
}

bool *view_call_names_select(const struct view_call_names *names, const struct view_globs *globs,
			     bool (*fits)(const char *glob, const char *name))
{
	bool *selected = calloc((size_t)names->count + 1, sizeof(*selected));

	for (uint32_t n = 0; selected && n <= names->count; n++)
		for (size_t at = 0; at < globs->count && !selected[n]; at++)
			selected[n] = fits(globs->globs[at], names->functions[n].name);
	return selected;
}

char *view_put_duration(char *out, uint64_t ns)
{
	static const char units[][3] = { "us", "ms", " s" };
	char digits[NUMBER_DIGITS_MAX + 4], *at;
	unsigned unit = 0, width = VIEW_DURATION - 3;
	uint64_t scale = 1000;

	if (ns < 1000) {
		at = number_decimal(digits, ns);
	} else {
		for (; unit < 2 && ns / scale >= 1000; unit++)
			scale *= 1000;
		at = number_decimal(digits, ns / scale);
		if (ns / scale < 1000) {
			const uint32_t rest = (uint32_t)(ns % scale / (scale / 1000));

			*at++ = '.';
			*at++ = (char)('0' + rest / 100);
			memcpy(at, number_pairs + rest % 100 * 2, 2);
			at += 2;
		}
	}
	for (unsigned count = (unsigned)(at - digits); count < width; count++)
		*out++ = ' ';
	out = view_put(out, digits, (size_t)(at - digits));
	*out++ = ' ';
	return view_put(out, ns < 1000 ? "ns" : units[unit], 2);
}

uint64_t view_call_ns(const struct burin_trace *trace, const struct burin_call *call)
{
	return (uint64_t)(burin_trace_ns(trace, call->end) - burin_trace_ns(trace, call->begin));
}

void view_call_text(const struct view_call_names *names, const struct burin_trace *trace,
		    const struct burin_call *call, const struct burin_record *record, struct view_buffer *out)
{
	const struct view_function *function = view_function_of(names, call->function);
	char duration[VIEW_DURATION + NUMBER_DIGITS_MAX], *from = duration, *end;
	struct burin_call_values values;
	char *at;

	if (view_values_find(names->calls, record, &values)) {
		view_buffer_put(out, function->text, function->bare_bytes);
		view_values_arguments(record, &values, out);
		view_values_result(record, &values, out);
	} else {
		view_buffer_put(out, function->text, function->text_bytes);
	}
	at = view_buffer_reserve(out, sizeof(duration) + NUMBER_DIGITS_MAX + 8);
	if (!at)
		return;
	end = view_put_duration(duration, view_call_ns(trace, call));
	while (*from == ' ')
		from++;
	*at++ = ' ';
	at = view_put(at, from, (size_t)(end - from));
	at = number_decimal(view_put_text(at, " depth="), call->depth);
	view_buffer_commit(out, at);
}

void view_call_json(const struct view_call_names *names, const struct burin_trace *trace,
		    const struct burin_call *call, struct json *json)
{
	const struct view_function *function = view_function_of(names, call->function);

	json_text(json, "function", function->name);
	json_text(json, "image", function->image);
	json_i64(json, "begin_ns", burin_trace_ns(trace, call->begin));
	json_u64(json, "duration_ns", view_call_ns(trace, call));
	json_u64(json, "depth", call->depth);
}
