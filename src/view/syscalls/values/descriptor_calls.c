/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls that change descriptors; see descriptor_calls.h. */
#include "view/syscalls/values/descriptor_calls.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/ioctls.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>

#include "view/syscalls/values/word_text.h"

enum {
	CALL_FIELDS = 3,
	PATH_BYTES = 2048,
	CLOSE_ON_EXEC = 02000000, /* of all these calls, on each machine */
	TEMPORARY = 020000000,	  /* of O_TMPFILE: the path is that of the directory */
};

struct descriptor_call;

/* Reads what a call does. Return: false: its arguments cannot be read. */
typedef bool read_call(const struct descriptor_place *place, const struct descriptor_call *call,
		       const struct burin_record *record, struct descriptor_change *change);

/* A call by the name of its manual page, and the arguments that count. */
struct call_row {
	const char *call;
	read_call *read;
	const char *fields[CALL_FIELDS];
	const char *text; /* of a new descriptor */
};

struct descriptor_call {
	const struct call_row *row;
	int fields[CALL_FIELDS]; /* -1: it has none */
	uint32_t object;	 /* of ->row->text; 0: none */
};

/* ---- arguments */

/* A number of 32 bits, whose sign does not count. */
static bool descriptor_calls_get(const struct burin_record *record, int field, uint32_t *value)
{
	uint64_t number;
	int64_t is_signed;

	if (field < 0)
		return false;
	if (burin_record_u64(record, (unsigned)field, &number) == 0) {
		*value = (uint32_t)number;
		return true;
	}
	if (burin_record_i64(record, (unsigned)field, &is_signed) != 0)
		return false;
	*value = (uint32_t)is_signed;
	return true;
}

/*
 * A path as it was given; one that begins at a known directory, behind that one's. The working directory is not known, so one that
 * begins there stays as it is. It is left 0 if it is not known.
 */
static void descriptor_calls_find_path(const struct descriptor_place *place, uint32_t directory,
				       const struct burin_record *record, int field,
				       struct descriptor_change *change)
{
	const char *base = "", *text;
	char path[PATH_BYTES];
	int bytes;

	if (field < 0 || burin_record_string(record, (unsigned)field, &text, NULL) != 0 || !*text ||
	    !word_text_is_whole(text))
		return;
	change->under = *text != '/' && (int32_t)directory != AT_FDCWD;
	change->first = directory;
	if (change->under)
		base = descriptor_path(place, directory);
	if (!base)
		return;
	bytes = snprintf(path, sizeof(path), "%s%s%s", base,
			 *base && base[strlen(base) - 1] != '/' ? "/" : "", text);
	if (bytes < PATH_BYTES)
		change->object = view_string(&place->calls->paths, path);
}

/* ---- calls */

static bool read_open(const struct descriptor_place *place, const struct descriptor_call *call,
		      const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t directory = (uint32_t)AT_FDCWD, flags = 0;

	change->action = DESCRIPTOR_OPEN;
	if ((call->fields[0] >= 0 && !descriptor_calls_get(record, call->fields[0], &directory)) ||
	    (call->fields[2] >= 0 && !descriptor_calls_get(record, call->fields[2], &flags)) ||
	    flags & TEMPORARY)
		return true;
	change->close_on_exec = flags & CLOSE_ON_EXEC;
	descriptor_calls_find_path(place, directory, record, call->fields[1], change);
	return true;
}

/* One that is no file of a path. */
static bool read_make(const struct descriptor_place *place, const struct descriptor_call *call,
		      const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t flags = 0, other = UINT32_MAX;

	(void)place;
	change->action = DESCRIPTOR_OPEN;
	if ((call->fields[0] >= 0 && !descriptor_calls_get(record, call->fields[0], &flags)) ||
	    (call->fields[1] >= 0 && !descriptor_calls_get(record, call->fields[1], &other)))
		return true;
	if (other != UINT32_MAX) /* signalfd() changes this one */
		change->action = DESCRIPTOR_NOTHING;
	change->close_on_exec = flags & CLOSE_ON_EXEC;
	change->object = call->object;
	return true;
}

/* Two ends. */
static bool read_pair(const struct descriptor_place *place, const struct descriptor_call *call,
		      const struct burin_record *record, struct descriptor_change *change)
{
	read_make(place, call, record, change);
	change->action = DESCRIPTOR_PAIR;
	return true;
}

static bool read_copy(const struct descriptor_place *place, const struct descriptor_call *call,
		      const struct burin_record *record, struct descriptor_change *change)
{
	(void)place;
	change->action = DESCRIPTOR_COPY;
	return descriptor_calls_get(record, call->fields[0], &change->first);
}

static bool read_replace(const struct descriptor_place *place, const struct descriptor_call *call,
			 const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t flags = 0;

	(void)place;
	if (!descriptor_calls_get(record, call->fields[0], &change->first) ||
	    !descriptor_calls_get(record, call->fields[1], &change->last) ||
	    (call->fields[2] >= 0 && !descriptor_calls_get(record, call->fields[2], &flags)))
		return false;
	change->action = change->first == change->last ? DESCRIPTOR_NOTHING : DESCRIPTOR_REPLACE;
	change->close_on_exec = flags & CLOSE_ON_EXEC;
	return true;
}

static bool read_close(const struct descriptor_place *place, const struct descriptor_call *call,
		       const struct burin_record *record, struct descriptor_change *change)
{
	(void)place;
	change->action = DESCRIPTOR_CLOSE;
	if (!descriptor_calls_get(record, call->fields[0], &change->first))
		return false;
	change->last = change->first;
	return true;
}

static bool read_close_range(const struct descriptor_place *place, const struct descriptor_call *call,
			     const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t flags;

	(void)place;
	if (!descriptor_calls_get(record, call->fields[0], &change->first) ||
	    !descriptor_calls_get(record, call->fields[1], &change->last) ||
	    !descriptor_calls_get(record, call->fields[2], &flags))
		return false;
	change->close_on_exec = flags & CLOSE_RANGE_CLOEXEC;
	change->action = flags & CLOSE_RANGE_UNSHARE   ? DESCRIPTOR_SEPARATE
			 : flags & CLOSE_RANGE_CLOEXEC ? DESCRIPTOR_INHERIT
						       : DESCRIPTOR_CLOSE;
	return true;
}

static bool read_fcntl(const struct descriptor_place *place, const struct descriptor_call *call,
		       const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t command, argument;

	if (!descriptor_calls_get(record, call->fields[1], &command) ||
	    !descriptor_calls_get(record, call->fields[2], &argument))
		return false;
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
		change->close_on_exec = command == F_DUPFD_CLOEXEC;
		return read_copy(place, call, record, change);
	}
	if (command != F_SETFD)
		return true;
	if (!read_close(place, call, record, change))
		return false;
	change->action = DESCRIPTOR_INHERIT;
	change->close_on_exec = argument & FD_CLOEXEC;
	return true;
}

/* Those of autofs and of Android's binder may close others. */
static bool read_ioctl(const struct descriptor_place *place, const struct descriptor_call *call,
		       const struct burin_record *record, struct descriptor_change *change)
{
	enum {
		AUTOFS = 0x93,
		BINDER = 'b',
	};
	uint32_t command, type;

	if (!descriptor_calls_get(record, call->fields[1], &command))
		return false;
	type = command >> 8 & 0xff;
	if (type == AUTOFS || type == BINDER)
		return false;
	if (command != FIOCLEX && command != FIONCLEX)
		return true;
	if (!read_close(place, call, record, change))
		return false;
	change->action = DESCRIPTOR_INHERIT;
	change->close_on_exec = command == FIOCLEX;
	return true;
}

static bool read_unshare(const struct descriptor_place *place, const struct descriptor_call *call,
			 const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t flags;

	(void)place;
	if (!descriptor_calls_get(record, call->fields[0], &flags))
		return false;
	change->action = flags & CLONE_FILES ? DESCRIPTOR_SEPARATE : DESCRIPTOR_NOTHING;
	return true;
}

static bool read_exec(const struct descriptor_place *place, const struct descriptor_call *call,
		      const struct burin_record *record, struct descriptor_change *change)
{
	(void)place;
	(void)call;
	(void)record;
	change->action = DESCRIPTOR_EXEC;
	return true;
}

/* A call that closes descriptors unseen, or may do so. */
static bool read_unseen(const struct descriptor_place *place, const struct descriptor_call *call,
			const struct burin_record *record, struct descriptor_change *change)
{
	(void)place;
	(void)call;
	(void)record;
	(void)change;
	return false;
}

/* A supervisor may replace descriptors of the process, and of the programs that it executes. */
static bool read_seccomp(const struct descriptor_place *place, const struct descriptor_call *call,
			 const struct burin_record *record, struct descriptor_change *change)
{
	uint32_t operation, flags;

	(void)place;
	if (descriptor_calls_get(record, call->fields[0], &operation) &&
	    descriptor_calls_get(record, call->fields[1], &flags) &&
	    (operation != SECCOMP_SET_MODE_FILTER || !(flags & SECCOMP_FILTER_FLAG_NEW_LISTENER)))
		return true;
	change->action = DESCRIPTOR_HIDE_ALL;
	return true;
}

static const struct call_row rows[] = {
	{ "open", read_open, { NULL, "filename", "flags" }, NULL },
	{ "openat", read_open, { "dfd", "filename", "flags" }, NULL },
	{ "creat", read_open, { NULL, "pathname", NULL }, NULL },
	{ "dup", read_copy, { "fildes" }, NULL },
	{ "dup2", read_replace, { "oldfd", "newfd" }, NULL },
	{ "dup3", read_replace, { "oldfd", "newfd", "flags" }, NULL },
	{ "fcntl", read_fcntl, { "fd", "cmd", "arg" }, NULL },
	{ "ioctl", read_ioctl, { "fd", "cmd" }, NULL },
	{ "close", read_close, { "fd" }, NULL },
	{ "close_range", read_close_range, { "fd", "max_fd", "flags" }, NULL },
	{ "unshare", read_unshare, { "unshare_flags" }, NULL },
	{ "execve", read_exec, { NULL }, NULL },
	{ "execveat", read_exec, { NULL }, NULL },
	{ "seccomp", read_seccomp, { "op", "flags" }, NULL },
	{ "io_uring_setup", read_unseen, { NULL }, NULL },
	{ "io_uring_enter", read_unseen, { NULL }, NULL },
	{ "io_uring_register", read_unseen, { NULL }, NULL },
	{ "unnamed", read_unseen, { NULL }, NULL },
	{ "compat", read_unseen, { NULL }, NULL },
	{ "pipe", read_pair, { NULL }, "pipe:" },
	{ "pipe2", read_pair, { "flags" }, "pipe:" },
	{ "socketpair", read_pair, { "type" }, "socket:" },
	{ "socket", read_make, { "type" }, "socket:" },
	{ "accept", read_make, { NULL }, "socket:" },
	{ "accept4", read_make, { "flags" }, "socket:" },
	{ "epoll_create", read_make, { NULL }, "anon_inode:[eventpoll]" },
	{ "epoll_create1", read_make, { "flags" }, "anon_inode:[eventpoll]" },
	{ "eventfd", read_make, { NULL }, "anon_inode:[eventfd]" },
	{ "eventfd2", read_make, { "flags" }, "anon_inode:[eventfd]" },
	{ "timerfd_create", read_make, { "flags" }, "anon_inode:[timerfd]" },
	{ "signalfd", read_make, { NULL, "ufd" }, "anon_inode:[signalfd]" },
	{ "signalfd4", read_make, { "flags", "ufd" }, "anon_inode:[signalfd]" },
	{ "inotify_init", read_make, { NULL }, "anon_inode:inotify" },
	{ "inotify_init1", read_make, { "flags" }, "anon_inode:inotify" },
};

/* Find the arguments that count. Return: false: one is missing. */
static bool find_fields(struct descriptor_call *call, const struct burin_event *event)
{
	for (unsigned n = 0; n < CALL_FIELDS; n++) {
		call->fields[n] = call->row->fields[n] ? burin_event_find(event, call->row->fields[n]) : -1;
		if (call->row->fields[n] && call->fields[n] < 0)
			return false;
	}
	return true;
}

static bool descriptor_calls_know_call(struct descriptor_calls *calls, struct descriptor_call *call,
				       const struct burin_event *event, const char *name)
{
	static const struct call_row unseen = { .read = read_unseen };

	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		if (strcmp(rows[n].call, name) == 0)
			call->row = &rows[n];
	if (call->row && !find_fields(call, event))
		call->row = &unseen;
	if (call->row && call->row->text)
		call->object = view_string(&calls->paths, call->row->text);
	return !calls->paths.failed;
}

/* Between which times the trace has each call. Return: false: it does not say so. */
static bool read_times(const struct burin_trace *trace, uint64_t *from, uint64_t *to)
{
	const char *text = burin_trace_recording(trace, "kernel_calls");
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	*from = strtoull(text, &end, 10);
	if (*end != ' ' || !isdigit((unsigned char)end[1]))
		return false;
	*to = strtoull(end + 1, &end, 10);
	return !*end;
}

bool descriptor_calls_make(struct descriptor_calls *calls, const struct kernel_view *view, bool off)
{
	*calls = (struct descriptor_calls){ .view = view,
					    .faults = burin_trace_faults(view->trace),
					    .off = off };
	calls->calls = calloc((size_t)view->count + 1, sizeof(*calls->calls));
	if (!calls->calls)
		return false;
	if (!off)
		read_times(view->trace, &calls->from, &calls->to);
	view_string(&calls->paths, "");
	for (unsigned id = 1; id <= view->count; id++) {
		const struct kernel_event *event = &view->events[id];

		if ((event->kind == KERNEL_ENTER || event->kind == KERNEL_LATE) &&
		    !descriptor_calls_know_call(calls, &calls->calls[id], burin_trace_event(view->trace, id),
						view->strings->texts[event->call]))
			return false;
	}
	return !calls->paths.failed;
}

void descriptor_calls_free(struct descriptor_calls *calls)
{
	free(calls->calls);
	descriptors_free(&calls->all);
	view_strings_free(&calls->paths);
}

/* ---- records */

/*
 * Whether a record counts. Some of the rings record already when others do not yet, and at the end. A part of the trace that
 * could not be read may have any call, too.
 */
static bool descriptor_calls_counts(struct descriptor_calls *calls, uint64_t time)
{
	calls->off |= time >= calls->to || burin_trace_faults(calls->view->trace) != calls->faults;
	return !calls->off && time >= calls->from;
}

bool descriptor_calls_begin(struct descriptor_calls *calls, size_t thread, const struct burin_record *record,
			    uint64_t time)
{
	const struct descriptor_call *call = &calls->calls[record->event->id];
	const struct descriptor_place place = { .calls = calls, .thread = thread, .before = time };
	struct descriptor_change change = { .action = DESCRIPTOR_NOTHING };

	if (!descriptor_calls_counts(calls, time))
		return true;
	if (!call->row) {
		descriptors_missed(&calls->all, thread, time);
		return true;
	}
	if (!call->row->read(&place, call, record, &change))
		change = (struct descriptor_change){ .action = DESCRIPTOR_HIDE };
	return descriptors_begin(&calls->all, thread, &change, time) && !calls->paths.failed;
}

/* The two of a pipe. */
static bool end_pair(struct descriptor_calls *calls, size_t thread, const struct burin_record *record)
{
	const int field = burin_event_find(record->event, "memory");
	const void *bytes;
	int32_t pair[2];
	size_t count;

	if (field < 0 || burin_record_array(record, (unsigned)field, &bytes, &count) != 0 ||
	    count != sizeof(pair))
		return true;
	memcpy(pair, bytes, sizeof(pair));
	return descriptors_made(&calls->all, thread, pair[0], record->time) &&
	       descriptors_made(&calls->all, thread, pair[1], record->time);
}

bool descriptor_calls_end(struct descriptor_calls *calls, size_t thread, const struct burin_record *record,
			  uint64_t begin, int64_t result, const char **path)
{
	const char *call = calls->view->strings->texts[calls->view->events[record->event->id].call];
	uint32_t made;

	*path = NULL;
	if (!descriptor_calls_counts(calls, record->time))
		return true;
	if (!begin || begin < calls->from) {
		descriptors_missed(&calls->all, thread, record->time);
		return result || strncmp(call, "execve", strlen("execve")) != 0 ||
		       descriptors_executed(&calls->all, thread);
	}
	if (result == 0 && !end_pair(calls, thread, record))
		return false;
	if (!descriptors_end(&calls->all, thread, result, record->time, &made))
		return false;
	*path = made ? calls->paths.texts[made] : NULL;
	return true;
}

bool descriptor_calls_fork(struct descriptor_calls *calls, size_t thread, size_t child,
			   const struct burin_record *record, uint64_t begin)
{
	const int field = burin_event_find(record->event, "clone_flags");
	uint64_t flags;

	if (!descriptor_calls_counts(calls, record->time))
		return true;
	if (field < 0 || burin_record_u64(record, (unsigned)field, &flags) != 0) {
		calls->off = true;
		return true;
	}
	return descriptors_fork(&calls->all, thread, child, flags & CLONE_FILES, flags & CLONE_THREAD, begin);
}

void descriptor_calls_exit(struct descriptor_calls *calls, size_t thread, uint64_t time)
{
	if (!calls->off)
		descriptors_exit(&calls->all, thread, time);
}

const char *descriptor_calls_lack(const struct burin_trace *trace)
{
	static const char *const counted[] = { "lost_late", "lost_unreported", "clock_steps" };
	const char *state = burin_trace_recording(trace, "state");
	uint64_t from, to;

	if (!state || strcmp(state, "finished") != 0)
		return "the recording has not ended";
	if (!read_times(trace, &from, &to))
		return "not all system calls were recorded; see burin-kernel(7)";
	if (burin_trace_faults(trace))
		return "the trace has faults";
	for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
		if (burin_trace_lost(trace, cause))
			return "records were lost";
	for (size_t n = 0; n < sizeof(counted) / sizeof(counted[0]); n++) {
		const char *count = burin_trace_recording(trace, counted[n]);

		if (count && strcmp(count, "0") != 0)
			return "records were lost, or their times are not in order";
	}
	return NULL;
}

/* ---- text */

const char *descriptor_path(const struct descriptor_place *place, uint64_t descriptor)
{
	const struct descriptor_calls *calls = place->calls;
	const uint32_t object =
		calls->off || place->before >= calls->to
			? 0
			: descriptors_object(&calls->all, place->thread, descriptor, place->before);

	return object ? calls->paths.texts[object] : NULL;
}

void descriptor_text(const char *path, struct view_buffer *out)
{
	char piece[64];

	if (!path)
		return;
	view_buffer_print(out, "<");
	while (*path) {
		size_t bytes = strcspn(path, "<>");

		if (!bytes) {
			view_buffer_print(out, "\\x%02x", (unsigned char)*path++);
			continue;
		}
		if (bytes >= sizeof(piece)) /* at most one character is cut, which then shows as bytes */
			bytes = sizeof(piece) - 1;
		memcpy(piece, path, bytes);
		piece[bytes] = 0;
		view_buffer_escape(out, piece);
		path += bytes;
	}
	view_buffer_print(out, ">");
}

/* The ends of close_range need be none, and that of pidfd_getfd is another process's. */
bool descriptor_is_argument(const char *call, const char *argument)
{
	static const char *const names[] = { "fd",     "fildes", "oldfd", "newfd", "dfd",
					     "olddfd", "newdfd", "epfd",  "fd_in", "fd_out",
					     "in_fd",  "out_fd", "fdin",  "fdout", "ufd" };

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(names[n], argument) == 0)
			return strcmp(call, "close_range") != 0 && strcmp(call, "pidfd_getfd") != 0;
	return false;
}
