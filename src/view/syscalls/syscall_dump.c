/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls, line by line; see syscall_dump.h. */
#include "view/syscalls/syscall_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "view/kernel/kernel_view.h"
#include "view/syscalls/syscall_pairs.h"
#include "view/syscalls/syscall_text.h"
#include "view/syscalls/syscall_where.h"

enum {
	WRITE_BYTES = 1 << 18,
};

/* The call that a thread is in: its line so far. */
struct pending {
	struct syscall_arguments arguments;
	bool selected;
	bool chosen; /* selected but for the conditions */
	bool needs;  /* its end has conditions */
	uint32_t label_bytes;
	char label[VIEW_LABEL_BYTES];
};

struct dumper {
	const struct burin_trace *trace;
	const struct view_dump *dump;
	struct view_lines lines;
	struct view_line_formatter formatter;
	struct view_strings strings;
	struct kernel_view view;
	struct syscall_pairs pairs;
	struct view_where *where; /* by id of an event; NULL: there are no conditions */
	struct descriptor_calls descriptors;
	struct pending *pending; /* by index of the pairs' threads */
	size_t pending_room;
	struct syscall_style *styles; /* by event id */
	const struct syscall_style **by_call;
	size_t by_call_room;
	struct view_buffer out;
	uint64_t printed;
};

/* An end of a call, and what is known of it. */
struct line {
	uint32_t call;
	uint64_t begin, end; /* 0: not in the trace */
	bool returns;	     /* false: a call that never ends */
	int64_t result;
	const char *path; /* of the result, a descriptor; NULL: unknown */
};

/* ---- lines */

static const char *call_text(const struct dumper *dumper, uint32_t call)
{
	return dumper->strings.texts[call];
}

static void syscall_dump_put_text(struct dumper *dumper, struct pending *pending, const struct line *line)
{
	struct view_buffer *out = &dumper->out;
	char prefix[VIEW_TIME];
	uint64_t ns;

	view_buffer_put(out, prefix,
			(size_t)(view_line_formatter_time(&dumper->formatter,
							  line->begin ? line->begin : line->end, prefix) -
				 prefix));
	view_buffer_put(out, pending->label, pending->label_bytes);
	if (line->begin) {
		view_buffer_print(out, "%s(", call_text(dumper, line->call));
		view_buffer_add(out, syscall_arguments_text(&pending->arguments));
	} else {
		view_buffer_print(out, "<... %s resumed>", call_text(dumper, line->call));
	}
	if (!line->returns) {
		view_buffer_print(out, ") = ?\n");
		return;
	}
	if (!line->end) {
		view_buffer_print(out, " <unfinished ...>\n");
		return;
	}
	view_buffer_print(out, ") = ");
	syscall_text_result(line->call < dumper->by_call_room ? dumper->by_call[line->call] : NULL,
			    line->result, out);
	descriptor_text(line->path, out);
	if (pending->arguments.returned.used) {
		view_buffer_print(out, " (");
		view_buffer_add(out, &pending->arguments.returned);
		view_buffer_print(out, ")");
	}
	if (line->begin) {
		ns = (uint64_t)(burin_trace_ns(dumper->trace, line->end) -
				burin_trace_ns(dumper->trace, line->begin));
		view_buffer_print(out, " <%" PRIu64 ".%09" PRIu64 ">", ns / 1000000000, ns % 1000000000);
	}
	view_buffer_print(out, "\n");
}

static void put_json(struct dumper *dumper, struct pending *pending, const struct line *line)
{
	const int64_t begin = burin_trace_ns(dumper->trace, line->begin),
		      end = burin_trace_ns(dumper->trace, line->end);
	const struct view_buffer *arguments = syscall_arguments_text(&pending->arguments),
				 *returned = &pending->arguments.returned;
	const bool ended = line->end && line->returns;
	struct json json;
	char text[TEXT_SHORT];

	json_begin_object(&json, &dumper->out, 0);
	json_i64(&json, "time_ns", line->begin ? begin : end);
	json_copy(&json, pending->label + 1, pending->label_bytes - 1);
	json_text(&json, "syscall", call_text(dumper, line->call));
	if (line->begin)
		json_bytes(&json, "arguments", arguments->used ? arguments->bytes : "", arguments->used);
	else
		json_null(&json, "arguments");
	if (ended)
		json_i64(&json, "result", line->result);
	else
		json_null(&json, "result");
	if (line->path)
		json_text(&json, "path", line->path);
	else
		json_null(&json, "path");
	if (returned->used)
		json_bytes(&json, "returned", returned->bytes, returned->used);
	else
		json_null(&json, "returned");
	if (ended && kernel_is_error(line->result))
		json_text(&json, "errno", kernel_errno_name((int)-line->result, text));
	else
		json_null(&json, "errno");
	if (ended && line->begin)
		json_u64(&json, "duration_ns", (uint64_t)(end - begin));
	else
		json_null(&json, "duration_ns");
	json_end(&json);
}

/* Print a line. Return: 0; 1: enough lines; a negative errno. */
static int syscall_dump_put_line(struct dumper *dumper, struct pending *pending, const struct line *line)
{
	int error = 0;

	if (!pending->selected)
		return 0;
	if (dumper->dump->style.json)
		put_json(dumper, pending, line);
	else
		syscall_dump_put_text(dumper, pending, line);
	if (dumper->out.failed || pending->arguments.failed)
		return -ENOMEM;
	if (dumper->out.used >= WRITE_BYTES)
		error = view_buffer_write(&dumper->out, dumper->dump->file);
	return error ? error : ++dumper->printed == dumper->dump->limit;
}

/* ---- records */

static bool syscall_dump_is_selected(struct dumper *dumper, uint32_t call, const struct burin_record *record,
				     const struct view_thread_label *label)
{
	const struct view_dump *dump = dumper->dump;

	return record->time >= dump->from && view_set_has(&dump->tids, record->tid) &&
	       view_set_has(&dump->cpus, record->cpu) &&
	       view_globs_match(&dump->events, call_text(dumper, call)) &&
	       (!dump->pids.count || (label->has_pid && view_set_has(&dump->pids, label->pid)));
}

/* Begin the line of a call. */
static void begin_line(struct dumper *dumper, struct pending *pending, uint32_t call,
		       const struct burin_record *record)
{
	const struct view_thread_label *label = view_line_formatter_label(&dumper->formatter, record);

	pending->chosen = syscall_dump_is_selected(dumper, call, record, label);
	pending->selected = pending->chosen && view_where_end_holds(dumper->where, record->event->id, record);
	pending->needs = view_where_needs(dumper->where, record->event->id);
	pending->label_bytes = label->bytes;
	memcpy(pending->label, label->text, label->bytes);
	syscall_arguments_empty(&pending->arguments);
}

static bool syscall_dump_is(const struct dumper *dumper, uint32_t call, const char *name)
{
	return strcmp(call_text(dumper, call), name) == 0;
}

/* Whether a call never returns: then its line is printed at once. */
static bool never_returns(const struct dumper *dumper, uint32_t call)
{
	return syscall_dump_is(dumper, call, "exit") || syscall_dump_is(dumper, call, "exit_group") ||
	       syscall_dump_is(dumper, call, "rt_sigreturn");
}

/* The line of a call whose end is missing. */
static int put_unended(struct dumper *dumper, struct pending *pending, uint32_t call, uint64_t begin)
{
	const struct line line = { .call = call, .begin = begin, .returns = true };

	return call && !pending->needs && !never_returns(dumper, call)
		       ? syscall_dump_put_line(dumper, pending, &line)
		       : 0;
}

static size_t thread_number(const struct dumper *dumper, const struct syscall_thread *thread)
{
	return (size_t)(thread - dumper->pairs.threads);
}

/* The arguments of the call that a thread has begun. A descriptor that it closes has its path still. Return: false: no memory. */
static bool take_arguments(struct dumper *dumper, const struct syscall_thread *thread,
			   struct pending *pending, const struct burin_record *record)
{
	const struct descriptor_place place = { .calls = &dumper->descriptors,
						.thread = thread_number(dumper, thread),
						.before = thread->begin };

	if (pending->selected)
		syscall_text_arguments(&dumper->styles[record->event->id], &place, record,
				       &pending->arguments);
	return descriptor_calls_begin(&dumper->descriptors, place.thread, record, thread->begin);
}

static int take_enter(struct dumper *dumper, struct syscall_thread *thread, struct pending *pending,
		      uint32_t call, const struct burin_record *record)
{
	const struct line line = { .call = call, .begin = record->time };
	const uint64_t begin = thread->begin;
	const uint32_t unended = syscall_enter(thread, call, record->time);
	const int result = put_unended(dumper, pending, unended, begin);

	if (result)
		return result;
	begin_line(dumper, pending, call, record);
	if (!take_arguments(dumper, thread, pending, record))
		return -ENOMEM;
	if (!never_returns(dumper, call))
		return 0;
	if (!syscall_dump_is(dumper, call, "rt_sigreturn"))
		descriptor_calls_exit(&dumper->descriptors, thread_number(dumper, thread), record->time);
	return pending->needs ? 0 : syscall_dump_put_line(dumper, pending, &line);
}

/* The line of a call whose end this record is. */
static int put_returned(struct dumper *dumper, struct pending *pending, const struct line *line,
			const struct burin_record *record)
{
	/* Those that the call has made are there since this record. */
	const struct descriptor_place place = { .calls = &dumper->descriptors,
						.thread = (size_t)(pending - dumper->pending),
						.before = record->time + 1 };

	pending->selected &= view_where_end_holds(dumper->where, record->event->id, record);
	if (pending->selected)
		syscall_text_returned(&dumper->styles[record->event->id], &place, record, line->result,
				      &pending->arguments);
	return syscall_dump_put_line(dumper, pending, line);
}

static int take_leave(struct dumper *dumper, struct syscall_thread *thread, struct pending *pending,
		      uint32_t call, const struct burin_record *record)
{
	struct line line = { .end = record->time, .returns = true };
	uint32_t unended;
	uint64_t begin;
	bool begun;
	int result;

	if (!kernel_view_result(&dumper->view.events[record->event->id], record, &line.result))
		return 0;
	call = line.call = kernel_view_ended(&dumper->view, call, line.result, thread->call);
	begun = syscall_leave(thread, call, &begin, &unended);
	if (!descriptor_calls_end(&dumper->descriptors, thread_number(dumper, thread), record,
				  begun ? begin : 0, line.result, &line.path))
		return -ENOMEM;
	if (begun) {
		line.begin = begin;
		return put_returned(dumper, pending, &line, record);
	}
	result = put_unended(dumper, pending, unended, begin);
	/* A child returns from its parent's call. */
	if (result || (line.result == 0 &&
		       (strncmp(call_text(dumper, call), "clone", 5) == 0 ||
			syscall_dump_is(dumper, call, "fork") || syscall_dump_is(dumper, call, "vfork"))))
		return result;
	begin_line(dumper, pending, call, record);
	pending->selected &= !pending->needs; /* by its begin */
	return put_returned(dumper, pending, &line, record);
}

/* The arguments again, with what was not in memory before. Without the begin, a filter has waited for them. */
static int take_late(struct dumper *dumper, struct syscall_thread *thread, struct pending *pending,
		     uint32_t call, const struct burin_record *record)
{
	const uint64_t open = thread->call == call ? thread->begin : 0;
	struct burin_record begun = *record;

	begun.time = kernel_view_begin(&dumper->view, record, open);
	if (begun.time != open)
		return take_enter(dumper, thread, pending, call, &begun);
	pending->selected = pending->chosen && view_where_end_holds(dumper->where, record->event->id, record);
	return take_arguments(dumper, thread, pending, record) ? 0 : -ENOMEM;
}

/* A thread was made. */
static int take_newtask(struct dumper *dumper, const struct kernel_event *event,
			const struct burin_record *record)
{
	size_t number, child;
	uint32_t tid;

	if (dumper->descriptors.off || !kernel_view_thread(event, record, &tid))
		return 0;
	number = syscall_pairs_find(&dumper->pairs, record->tid);
	child = syscall_pairs_find(&dumper->pairs, tid);
	if (number == SIZE_MAX || child == SIZE_MAX ||
	    !descriptor_calls_fork(&dumper->descriptors, number, child, record,
				   dumper->pairs.threads[number].call ? dumper->pairs.threads[number].begin
								      : 0))
		return -ENOMEM;
	return 0;
}

static int syscall_dump_take_record(struct dumper *dumper, const struct kernel_event *event,
				    const struct burin_record *record)
{
	const size_t number = syscall_pairs_find(&dumper->pairs, record->tid);

	if (number == SIZE_MAX || !array_reserve_zeroed(dumper->pending, dumper->pending_room, number + 1))
		return -ENOMEM;
	return (event->kind == KERNEL_ENTER ? take_enter
		: event->kind == KERNEL_LATE
			? take_late
			: take_leave)(dumper, &dumper->pairs.threads[number], &dumper->pending[number],
				      kernel_view_call(&dumper->view, event, record), record);
}

static int dump_all(struct dumper *dumper)
{
	const struct burin_cursor_options options = { .size = sizeof(options), .to = dumper->dump->to };
	const struct burin_record *record;
	struct burin_cursor *cursor;
	int result = burin_cursor_open(&cursor, dumper->trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		const struct kernel_event *event = kernel_view_event(&dumper->view, record);

		result = 0;
		if (event->kind == KERNEL_ENTER || event->kind == KERNEL_LEAVE || event->kind == KERNEL_LATE)
			result = syscall_dump_take_record(dumper, event, record);
		else if (event->kind == KERNEL_NEWTASK)
			result = take_newtask(dumper, event, record);
	}
	burin_cursor_close(cursor);
	for (size_t n = 0; n < dumper->pending_room && n < dumper->pairs.count && !result; n++)
		result = put_unended(dumper, &dumper->pending[n], dumper->pairs.threads[n].call,
				     dumper->pairs.threads[n].begin);
	if (result < 0)
		return result;
	return view_buffer_write(&dumper->out, dumper->dump->file);
}

/* ---- the whole */

static int make_styles(struct dumper *dumper)
{
	const struct syscall_machine *machine = syscall_text_machine(dumper->trace);

	dumper->styles = calloc((size_t)dumper->view.count + 1, sizeof(*dumper->styles));
	if (!dumper->styles ||
	    !array_reserve_zeroed(dumper->by_call, dumper->by_call_room, dumper->strings.count))
		return -ENOMEM;
	for (unsigned id = 1; id <= dumper->view.count; id++) {
		const struct kernel_event *event = &dumper->view.events[id];

		if (event->kind != KERNEL_ENTER && event->kind != KERNEL_LEAVE && event->kind != KERNEL_LATE)
			continue;
		if (!syscall_style_make(&dumper->styles[id], machine, burin_trace_event(dumper->trace, id),
					call_text(dumper, event->call)))
			return -ENOMEM;
		dumper->by_call[event->call] = &dumper->styles[id];
	}
	return 0;
}

int view_syscall_dump(const struct burin_trace *trace, const struct view_dump *dump)
{
	struct dumper *dumper = calloc(1, sizeof(*dumper));
	int result;

	if (!dumper)
		return -ENOMEM;
	dumper->trace = trace;
	dumper->dump = dump;
	result = kernel_view_make(&dumper->view, trace, &dumper->strings);
	if (!result && !dumper->view.has[KERNEL_ENTER] && !dumper->view.has[KERNEL_LEAVE])
		result = -ENODATA;
	if (!result)
		result = view_lines_make(&dumper->lines, trace, &dump->style);
	dumper->formatter.lines = &dumper->lines;
	if (!result)
		result = make_styles(dumper);
	if (!result && !descriptor_calls_make(&dumper->descriptors, &dumper->view,
					      dump->without_paths || descriptor_calls_lack(trace)))
		result = -ENOMEM;
	if (!result)
		result = syscall_where_make(&dumper->where, &dumper->view, &dump->where, &dump->events);
	if (!result)
		result = dump_all(dumper);
	for (size_t n = 0; n < dumper->pending_room; n++)
		syscall_arguments_free(&dumper->pending[n].arguments);
	for (unsigned id = 0; dumper->styles && id <= dumper->view.count; id++)
		syscall_style_free(&dumper->styles[id]);
	free(dumper->styles);
	descriptor_calls_free(&dumper->descriptors);
	free(dumper->by_call);
	view_where_free(dumper->where);
	free(dumper->pending);
	view_buffer_free(&dumper->out);
	view_lines_free(&dumper->lines);
	kernel_view_free(&dumper->view);
	syscall_pairs_free(&dumper->pairs);
	view_strings_free(&dumper->strings);
	free(dumper);
	return result;
}
