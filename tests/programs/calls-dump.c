/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The calls of a trace as text, for the scripts, in order of their ends:
 *
 *	call NAME depth tid begin_ns end_ns
 *	values NAME arguments result (an unsigned integer; "-": none)
 *	open NAME depth tid stack
 *	count NAME calls
 *	function NAME image offset file
 *
 * Fields are separated by tabs. A function without a name is "?". A fault of the trace ends it with status 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <burin/calls.h>

static _Noreturn void fail(const char *why, int error)
{
	fprintf(stderr, "calls-dump: %s: %d\n", why, error);
	exit(1);
}

static const char *name_of(const struct burin_calls *calls, uint32_t number)
{
	struct burin_function function;

	return burin_calls_function(calls, number, &function) == 0 && function.name ? function.name : "?";
}

static void print_values(const struct burin_calls *calls, const struct burin_record *record, const char *name)
{
	struct burin_call_values values;
	uint64_t result;

	if (burin_calls_values(calls, record, &values) != 0)
		fail("values", 0);
	if (values.first == record->event->fields)
		return;
	printf("values\t%s\t%u\t", name, values.arguments);
	if (values.result >= 0 && burin_record_u64(record, (unsigned)values.result, &result) == 0)
		printf("%" PRIu64 "\n", result);
	else
		printf("-\n");
}

static void print_calls(struct burin_trace *trace, const struct burin_calls *calls)
{
	const struct burin_record *record;
	struct burin_cursor *cursor;
	struct burin_call call;

	if (burin_cursor_open(&cursor, trace, NULL) != 0)
		fail("cursor", 0);
	while (burin_cursor_next(cursor, &record) > 0)
		if (burin_calls_call(calls, record, &call) == 0) {
			print_values(calls, record, name_of(calls, call.function));
			printf("call\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\n",
			       name_of(calls, call.function), call.depth, call.tid,
			       burin_trace_ns(trace, call.begin), burin_trace_ns(trace, call.end));
		}
	burin_cursor_close(cursor);
}

static void print_functions(const struct burin_calls *calls)
{
	for (uint32_t n = 1; n <= burin_calls_functions(calls); n++) {
		struct burin_function function;
		const struct burin_image *image;

		if (burin_calls_function(calls, n, &function) != 0)
			fail("function", (int)n);
		image = burin_profile_image(burin_calls_profile(calls), function.image);
		printf("function\t%s\t%s\t0x%" PRIx64 "\t%s\n", name_of(calls, n), image ? image->path : "?",
		       function.offset, function.file ? function.file : "?");
		if (burin_calls_count(calls, n))
			printf("count\t%s\t%" PRIu64 "\n", name_of(calls, n), burin_calls_count(calls, n));
	}
}

int main(int argc, char **argv)
{
	struct burin_trace *trace;
	struct burin_calls *calls;
	struct burin_call call;
	int error;

	if (argc != 2)
		fail("give a trace", argc);
	error = burin_trace_open(&trace, argv[1], NULL, NULL);
	if (error)
		fail(argv[1], error);
	error = burin_calls_open(&calls, trace);
	if (error)
		fail("no calls", error);
	print_functions(calls);
	print_calls(trace, calls);
	for (uint32_t n = 0; burin_calls_open_call(calls, n, &call) == 0; n++)
		printf("open\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\n", name_of(calls, call.function),
		       call.depth, call.tid, call.stack);
	burin_calls_close(calls);
	burin_trace_close(trace);
	return 0;
}
