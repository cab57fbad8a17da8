/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that reads a trace: it prints the slowest spans, each with its thread and the fields of its begin.
 *
 *	slowest [-n SPANS] [-e NAME] TRACE
 *
 * An end closes the latest begin of its name in its thread. Spans with an id, and those that are still open when the trace ends,
 * are not shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <burin/read.h>

struct span {
	uint64_t begin, end; /* ticks */
	uint32_t tid, id;    /* of the thread, and of the begin's event */
	char fields[120];
};

struct spans {
	struct span *spans;
	size_t count, room;
};

static struct span *spans_add(struct spans *spans)
{
	if (spans->count == spans->room) {
		spans->room = spans->room ? spans->room * 2 : 64;
		spans->spans = realloc(spans->spans, spans->room * sizeof(*spans->spans));
		if (!spans->spans) {
			fprintf(stderr, "slowest: out of memory\n");
			exit(1);
		}
	}
	return &spans->spans[spans->count++];
}

/* The fields as `name=value`; control characters become `?`, since a terminal would obey them. */
static void describe(const struct burin_record *record, char *text, size_t room)
{
	size_t used = 0;

	text[0] = 0;
	for (unsigned n = 0; n < record->event->fields && used < room; n++) {
		const char *string;
		int64_t number;
		double real;
		char *begin = text + used;

		if (burin_record_string(record, n, &string, NULL) == 0)
			snprintf(begin, room - used, " %s=%s", burin_event_field(record->event, n)->name,
				 string);
		else if (burin_record_i64(record, n, &number) == 0)
			snprintf(begin, room - used, " %s=%" PRId64,
				 burin_event_field(record->event, n)->name, number);
		else if (burin_record_double(record, n, &real) == 0)
			snprintf(begin, room - used, " %s=%g", burin_event_field(record->event, n)->name,
				 real);
		for (char *c = begin; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 127)
				*c = '?';
		used += strlen(begin);
	}
}

/* Whether `end` ends spans that `begin` begins: their names differ only in `.end` and `.begin`. */
static int closes(const struct burin_event *end, const struct burin_event *begin)
{
	size_t length = strlen(end->name) - strlen(".end");

	return strncmp(end->name, begin->name, length) == 0 && strcmp(begin->name + length, ".begin") == 0;
}

static void collect(struct burin_trace *trace, const char *name, struct spans *done)
{
	const struct burin_record *record;
	struct burin_cursor *cursor;
	struct spans open = { 0 };

	if (burin_cursor_open(&cursor, trace, NULL) != 0)
		return;
	while (burin_cursor_next(cursor, &record) > 0) {
		if (record->event->kind == BURIN_KIND_BEGIN && strstr(record->event->name, name)) {
			struct span *span = spans_add(&open);

			*span = (struct span){ .begin = record->time,
					       .tid = record->tid,
					       .id = record->event->id };
			describe(record, span->fields, sizeof(span->fields));
		} else if (record->event->kind == BURIN_KIND_END) {
			for (size_t n = open.count; n-- > 0;) {
				struct span *span = &open.spans[n];

				if (span->tid != record->tid ||
				    !closes(record->event, burin_trace_event(trace, span->id)))
					continue;
				span->end = record->time;
				*spans_add(done) = *span;
				memmove(span, span + 1, (--open.count - n) * sizeof(*span));
				break;
			}
		}
	}
	burin_cursor_close(cursor);
	free(open.spans);
}

static int by_duration(const void *a, const void *b)
{
	const struct span *left = a, *right = b;
	uint64_t l = left->end - left->begin, r = right->end - right->begin;

	return (l < r) - (l > r);
}

static void print(const struct burin_trace *trace, const struct span *span)
{
	const struct burin_thread *thread = burin_trace_thread(trace, span->tid, span->begin);
	const struct burin_event *event = burin_trace_event(trace, span->id);
	int64_t ns = burin_trace_ns(trace, span->end) - burin_trace_ns(trace, span->begin);

	printf("%10.3f ms  %s/%" PRIu32 "  %.*s%s\n", (double)ns / 1e6, thread ? thread->name : "?",
	       span->tid, (int)(strlen(event->name) - strlen(".begin")), event->name, span->fields);
}

int main(int argc, char **argv)
{
	struct burin_diagnosis why;
	struct burin_trace *trace;
	struct spans done = { 0 };
	const char *name = "";
	size_t most = 10;
	int option;

	while ((option = getopt(argc, argv, "n:e:")) != -1) {
		if (option == 'n')
			most = strtoul(optarg, NULL, 10);
		else if (option == 'e')
			name = optarg;
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "Usage: slowest [-n SPANS] [-e NAME] TRACE\n");
		return 2;
	}
	if (burin_trace_open(&trace, argv[optind], NULL, &why) != 0) {
		fprintf(stderr, "slowest: %s: %s\n", argv[optind], why.reason);
		return 1;
	}
	collect(trace, name, &done);
	if (done.count)
		qsort(done.spans, done.count, sizeof(*done.spans), by_duration);
	for (size_t n = 0; n < done.count && n < most; n++)
		print(trace, &done.spans[n]);
	free(done.spans);
	burin_trace_close(trace);
	return 0;
}
