/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's events of a trace; see kernel_view.h.
 *
 * An event is recognized by its name once, when the view is made, and from then on by its id. A name is not enough: a
 * trace is a foreign file, and the fields of a tracepoint differ between kernels. So an event needs all fields of its
 * kind (known[]), else it is KERNEL_FOREIGN and no view looks at its records. Fields that only some recorders write
 * (`prev_syscall`, `interrupt`) may be missing; then their value is unknown. Types are checked at each record: the
 * functions below return false for a value that is no number or no thread id.
 *
 * KERNEL_FOREIGN is the safe default also for another reason. A record of KERNEL_OTHER shows that its thread runs,
 * and is recorded. That would be wrong for sched_wakeup: it can be in the trace since the thread that it names is
 * recorded, while the current one is not.
 *
 * System calls have two names: the event has that of the kernel's function, users read that of the manual page
 * (manual_name()). Numbers without a name in this trace become `syscall_N`.
 */
#include "view/kernel/kernel_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "kernel.", enter[] = "kernel.syscalls:sys_enter_", unnamed[] = "unnamed",
		  compat[] = "compat", leave[] = "kernel.syscalls:sys_exit_",
		  late[] = "kernel.syscalls:sys_late_";

enum {
	LATE_ERROR = 100, /* ns: of rounded times; the shortest call that two programs record takes longer */
};

/* An event, and the fields without which it is of no use. */
static const struct known_event {
	const char *name;
	enum kernel_kind kind;
	const char *fields[5];
} known[] = {
	{ "kernel.sched:sched_switch", KERNEL_SWITCH, { "prev_pid", "prev_state", "next_pid" } },
	{ "kernel.sched:sched_waking", KERNEL_WAKING, { "pid" } },
	{ "kernel.task:task_newtask", KERNEL_NEWTASK, { "pid" } },
	{ "kernel.sched:sched_process_exit", KERNEL_EXIT, { NULL } },
	{ "kernel.sched:sched_migrate_task", KERNEL_MIGRATE, { "pid" } },
	{ "kernel.task:task_asleep", KERNEL_ASLEEP, { "asleep_ns", "pid", "state", "syscall", "stack" } },
	/* They are about another thread than the current one, which need not be recorded. */
	{ "kernel.sched:sched_wakeup", KERNEL_FOREIGN, { NULL } },
	{ "kernel.sched:sched_wakeup_new", KERNEL_FOREIGN, { NULL } },
};

/* The name of a system call's manual page. The kernel's function has another one where an older call had that first. */
static const char *manual_name(const char *name)
{
	static const char *const names[][2] = {
		{ "newstat", "stat" },		 { "newfstat", "fstat" },
		{ "newlstat", "lstat" },	 { "newuname", "uname" },
		{ "sendfile64", "sendfile" },	 { "umount", "umount2" },
		{ "fadvise64_64", "fadvise64" }, { "arm64_personality", "personality" }
	};

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(name, names[n][0]) == 0)
			return names[n][1];
	return name;
}

static bool starts_with(const char *text, const char *start, size_t bytes)
{
	return strncmp(text, start, bytes) == 0;
}

int kernel_number_field(const struct burin_event *event, const char *call)
{
	return strcmp(call, unnamed) == 0 || strcmp(call, compat) == 0 ? burin_event_find(event, "number")
								       : -1;
}

static void kernel_view_know_call(struct kernel_view *view, struct kernel_event *out,
				  const struct burin_event *event)
{
	static const struct {
		const char *start, *field; /* NULL: it needs none */
		size_t bytes;
		enum kernel_kind kind;
	} kinds[] = { { enter, NULL, sizeof(enter) - 1, KERNEL_ENTER },
		      { leave, "ret", sizeof(leave) - 1, KERNEL_LEAVE },
		      { late, "after_ns", sizeof(late) - 1, KERNEL_LATE } };

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		if (!starts_with(event->name, kinds[n].start, kinds[n].bytes) || !event->name[kinds[n].bytes])
			continue;
		out->fields[0] = kinds[n].field ? burin_event_find(event, kinds[n].field) : -1;
		if (kinds[n].field && out->fields[0] != 0)
			return;
		out->kind = kinds[n].kind;
		out->call = view_string(view->strings, manual_name(event->name + kinds[n].bytes));
		out->compat = strcmp(event->name + kinds[n].bytes, compat) == 0;
		out->fields[1] = kernel_number_field(event, event->name + kinds[n].bytes);
	}
}

static void know_event(struct kernel_view *view, struct kernel_event *out, const struct burin_event *event)
{
	out->kind = starts_with(event->name, prefix, sizeof(prefix) - 1) ? KERNEL_OTHER : KERNEL_FOREIGN;
	kernel_view_know_call(view, out, event);
	for (unsigned n = 0; n < sizeof(known) / sizeof(known[0]); n++) {
		bool whole = strcmp(known[n].name, event->name) == 0;

		if (!whole)
			continue;
		for (unsigned field = 0; field < 5; field++) {
			const char *name = known[n].fields[field];

			out->fields[field] = name ? burin_event_find(event, name) : -1;
			whole &= !name || out->fields[field] >= 0;
		}
		out->kind = whole ? known[n].kind : KERNEL_FOREIGN;
	}
	if (out->kind == KERNEL_SWITCH) {
		out->fields[3] = burin_event_find(event, "prev_syscall");
		view->call_field = burin_event_field(event, (unsigned)out->fields[3]);
	}
	if (out->kind == KERNEL_WAKING)
		out->fields[1] = burin_event_find(event, "interrupt");
	view->has[out->kind] = true;
}

int kernel_view_make(struct kernel_view *view, const struct burin_trace *trace, struct view_strings *strings)
{
	*view = (struct kernel_view){ .trace = trace,
				      .count = burin_trace_events(trace),
				      .strings = strings };
	view->events = calloc((size_t)view->count + 1, sizeof(*view->events));
	view->calls = calloc(KERNEL_CALLS, sizeof(*view->calls));
	if (!view->events || !view->calls) {
		kernel_view_free(view);
		return -ENOMEM;
	}
	view_string(strings, "");
	view->events[0].kind = KERNEL_FOREIGN;
	for (unsigned id = 1; id <= view->count; id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		view->events[id].kind = KERNEL_FOREIGN;
		if (event)
			know_event(view, &view->events[id], event);
	}
	return strings->failed ? -ENOMEM : 0;
}

void kernel_view_free(struct kernel_view *view)
{
	free(view->events);
	free(view->calls);
	view->events = NULL;
	view->calls = NULL;
}

/*
 * A thread id of a record. The range is that of pid_t, whatever the type of the field is: so ids of a forged trace
 * are bounded before they become keys.
 */
static bool get_id(const struct burin_record *record, int field, uint32_t *id)
{
	int64_t value;

	if (burin_record_i64(record, (unsigned)field, &value) || value < 0 || value > INT32_MAX)
		return false;
	*id = (uint32_t)value;
	return true;
}

static uint32_t call_name(struct kernel_view *view, int64_t number)
{
	const char *label;
	char text[TEXT_SHORT];

	if (number < 0 || number >= KERNEL_CALLS)
		return 0;
	if (!view->calls[number]) {
		label = view->call_field ? burin_field_label(view->call_field, number) : NULL;
		if (!label)
			snprintf(text, sizeof(text), "syscall_%d", (int)number);
		view->calls[number] = view_string(view->strings, label ? manual_name(label) : text);
	}
	return view->calls[number];
}

bool kernel_view_switch(struct kernel_view *view, const struct kernel_event *event,
			const struct burin_record *record, struct kernel_switch *out)
{
	int64_t number = KERNEL_CALL_UNKNOWN;

	if (!get_id(record, event->fields[0], &out->prev) || !get_id(record, event->fields[2], &out->next) ||
	    burin_record_i64(record, (unsigned)event->fields[1], &out->state))
		return false;
	if (event->fields[3] >= 0 && burin_record_i64(record, (unsigned)event->fields[3], &number))
		return false;
	out->call = call_name(view, number);
	return true;
}

bool kernel_view_asleep(struct kernel_view *view, const struct kernel_event *event,
			const struct burin_record *record, struct kernel_asleep *out)
{
	int64_t number;
	uint64_t state;

	if (burin_record_u64(record, (unsigned)event->fields[0], &out->ns) ||
	    !get_id(record, event->fields[1], &out->tid) ||
	    burin_record_u64(record, (unsigned)event->fields[2], &state) ||
	    burin_record_i64(record, (unsigned)event->fields[3], &number) ||
	    burin_record_string(record, (unsigned)event->fields[4], &out->stack, NULL))
		return false;
	out->state = (int64_t)state;
	out->call = call_name(view, number);
	return true;
}

bool kernel_view_thread(const struct kernel_event *event, const struct burin_record *record, uint32_t *tid)
{
	return get_id(record, event->fields[0], tid);
}

enum kernel_wake kernel_view_wake(const struct kernel_event *event, const struct burin_record *record)
{
	int64_t value;

	if (event->fields[1] < 0 || burin_record_i64(record, (unsigned)event->fields[1], &value) != 0)
		return KERNEL_WAKE_THREAD;
	return value == KERNEL_WAKE_INTERRUPT || value == KERNEL_WAKE_PACKET ? (enum kernel_wake)value
									     : KERNEL_WAKE_THREAD;
}

/*
 * The late record has a time in ns that was rounded when it was converted, as was that of the entry. So times that
 * differ by LATE_ERROR are of one call. A time before the trace, or no number, is not believed: then the call begins
 * at the record.
 */
bool kernel_view_is_begin(const struct kernel_view *view, uint64_t begin, uint64_t open)
{
	return open &&
	       llabs(burin_trace_ns(view->trace, begin) - burin_trace_ns(view->trace, open)) <= LATE_ERROR;
}

uint64_t kernel_view_begin(const struct kernel_view *view, const struct burin_record *record, uint64_t open)
{
	const int64_t end = burin_trace_ns(view->trace, record->time);
	uint64_t after, begin;

	if (burin_record_u64(record, 0, &after) != 0 || after > INT64_MAX || (int64_t)after > end)
		return record->time;
	begin = burin_trace_ticks(view->trace, end - (int64_t)after);
	return kernel_view_is_begin(view, begin, open) ? open : begin;
}

const char *kernel_view_unnamed(const struct kernel_event *event, const struct burin_record *record,
				char text[TEXT_SHORT])
{
	int64_t number;

	if (event->fields[1] < 0 || burin_record_i64(record, (unsigned)event->fields[1], &number) != 0)
		return NULL;
	snprintf(text, TEXT_SHORT, "%ssyscall_%" PRId64, event->compat ? "compat_" : "", number);
	return text;
}

uint32_t kernel_view_call(struct kernel_view *view, const struct kernel_event *event,
			  const struct burin_record *record)
{
	char text[TEXT_SHORT];
	const char *name = kernel_view_unnamed(event, record, text);

	return name ? view_string(view->strings, name) : event->call;
}

bool kernel_view_result(const struct kernel_event *event, const struct burin_record *record, int64_t *result)
{
	return burin_record_i64(record, (unsigned)event->fields[0], result) == 0;
}

uint32_t kernel_view_ended(const struct kernel_view *view, uint32_t call, int64_t result, uint32_t open)
{
	const char *const *texts = view->strings->texts;

	return open && !result && strcmp(texts[call], "execve") == 0 && strcmp(texts[open], "execveat") == 0
		       ? open
		       : call;
}

bool kernel_never_ends(const char *call)
{
	return strcmp(call, "exit") == 0 || strcmp(call, "exit_group") == 0 ||
	       strcmp(call, "rt_sigreturn") == 0;
}

bool kernel_ends_twice(const char *call)
{
	return strncmp(call, "clone", 5) == 0 || strcmp(call, "fork") == 0 || strcmp(call, "vfork") == 0;
}

const char *kernel_errno_name(int error, char text[TEXT_SHORT])
{
	/* Calls that the kernel will restart or has interrupted; programs never see these. */
	static const struct {
		int error;
		const char *name;
	} own[] = { { 512, "ERESTARTSYS" },
		    { 513, "ERESTARTNOINTR" },
		    { 514, "ERESTARTNOHAND" },
		    { 516, "ERESTART_RESTARTBLOCK" } };
	const char *name = strerrorname_np(error);

	for (unsigned n = 0; !name && n < sizeof(own) / sizeof(own[0]); n++)
		if (own[n].error == error)
			name = own[n].name;
	if (!name)
		snprintf(text, TEXT_SHORT, "%d", error);
	return name ? name : text;
}
