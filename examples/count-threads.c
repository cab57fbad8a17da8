/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Count the events of each thread of a trace: cc count-threads.c $(pkg-config --cflags --libs burin-read) */
#include <inttypes.h>
#include <stdio.h>

#include <burin/read.h>

int main(int argc, char **argv)
{
	static struct {
		uint32_t tid;
		uint64_t count;
	} threads[1000]; /* enough for an example */
	const struct burin_record *record;
	struct burin_diagnosis why;
	struct burin_cursor *cursor;
	struct burin_trace *trace;
	unsigned n, used = 0;

	if (argc != 2 || burin_trace_open(&trace, argv[1], NULL, &why)) {
		fprintf(stderr, "%s\n", argc == 2 ? why.reason : "usage: count-threads TRACE");
		return 1;
	}
	if (burin_cursor_open(&cursor, trace, NULL))
		return 1;
	while (burin_cursor_next(cursor, &record) > 0) {
		for (n = 0; n < used && threads[n].tid != record->tid; n++)
			;
		if (n == used && used < 1000)
			threads[used++].tid = record->tid;
		if (n < used)
			threads[n].count++;
	}
	for (n = 0; n < used; n++)
		printf("%10" PRIu64 "  thread %" PRIu32 "\n", threads[n].count, threads[n].tid);
	burin_cursor_close(cursor);
	burin_trace_close(trace);
	return 0;
}
