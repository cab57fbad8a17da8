/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Print the calls of a trace, one a line: `call` or `open`, tid, stack, depth, begin, end, function. Calls come in the order
 * of their ends, then those that had not ended. The last line counts them.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include <burin/calls.h>

static void print(const char *kind, const struct burin_calls *calls, const struct burin_call *call)
{
	struct burin_function function = { 0 };

	burin_calls_function(calls, call->function, &function);
	printf("%s %u %u %u %llu %llu %s\n", kind, call->tid, call->stack, call->depth,
	       (unsigned long long)call->begin, (unsigned long long)call->end,
	       function.name ? function.name : "?");
}

int main(int argc, char **argv)
{
	struct burin_trace *trace;
	struct burin_calls *calls;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_call call;
	unsigned long long count = 0;
	uint32_t open = 0;
	int error;

	if (argc < 2 || burin_trace_open(&trace, argv[1], NULL, NULL) != 0)
		return 1;
	error = burin_calls_open(&calls, trace);
	if (error == -ENODATA) { /* the program was killed before its first call */
		puts("end 0 0");
		burin_trace_close(trace);
		return 0;
	}
	if (error != 0 || burin_cursor_open(&cursor, trace, NULL) != 0)
		return 2;
	while (burin_cursor_next(cursor, &record) > 0) {
		if (burin_calls_call(calls, record, &call) != 0)
			continue;
		count++;
		print("call", calls, &call);
	}
	for (; burin_calls_open_call(calls, open, &call) == 0; open++)
		print("open", calls, &call);
	printf("end %llu %u\n", count, open);
	burin_cursor_close(cursor);
	burin_calls_close(calls);
	burin_trace_close(trace);
	return 0;
}
