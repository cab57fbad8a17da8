/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The process and its session; see process.h.
 *
 * A program that exits marks its own session as ended. Unless forked children still use it, the next program that starts
 * removes it. A killed program leaves its session behind, so that its last records can be read.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/c_library.h"
#include "base/pid.h"
#include "base/nolibc.h"
#include "base/print.h"
#include "ring/section_rseq.h"
#include "session/places/directory.h"
#include "source/tracepoint/event_filter.h"
#include "source/tracepoint/process.h"
#include "source/tracepoint/settings.h"
#include "source/tracepoint/fields/serialize.h"
#include "source/tracepoint/thread.h"

enum {
	CALLS_BUFFER = 16 << 20, /* of each CPU, as `burin record` has it */
	CALLS_BUFFER_MAX = 64 << 20,
};

static void leave(void);

uint32_t tracepoint_calls_max;

static bool begun;
static bool populates; /* the setting `populate` */
static char session_path[SESSION_PATH_MAX];

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...)
{
	va_list arguments;
	char line[1024];

	/* Escaped: parts come from the environment and the settings. */
	va_start(arguments, format);
	print_arguments(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

void process_report_untraced(const char *what, const char *why, int error)
{
	report("burin: %.250s: %s (%s); this program runs untraced\n", what, why, strerror(-error));
}

void process_report_refused(const char *name, const char *file, uint32_t line, const char *why,
			    unsigned count)
{
	char more[48] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " (and %u more; burin events lists them)", count - 1);
	report("burin: the event \"%.80s\" at %.120s:%u is not recorded: %.120s%s\n", name, file, line, why,
	       more);
}

void process_report_clock(bool recorded)
{
	static bool reported;
	const bool asked = recorded || (tracepoint_session.base &&
					tracepoint_session.geometry.owner_kind == WIRE_OWNER_RECORDER);

	if (asked && !__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		report("burin: a thread gives up the clock (strict seccomp, or PR_SET_TSC): "
		       "from now on its records count as lost\n");
}

void process_report_shared(void)
{
	static bool reported;

	if (tracepoint_session.calls.header && !__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		report("burin: clone() made a process that shares a thread's memory while both run: "
		       "from now on calls of that thread count as lost\n");
}

/* Without rseq the program may run under valgrind or an emulator, which checks every load. */
static bool have_rseq_at_all(void)
{
#if RING_HAVE_RSEQ
	return __rseq_size != 0;
#else
	return false;
#endif
}

static void apply_rules(const struct settings *settings)
{
	int error = session_change_begin(&tracepoint_session);

	if (error)
		return;
	for (unsigned n = 0; !error && n < settings->rule_count; n++) {
		error = session_change_rule(&tracepoint_session, settings->rules[n].glob,
					    &settings->rules[n].rule);
		if (error)
			report("burin: settings: there is no room for '%.40s' and the globs behind it; use "
			       "wider "
			       "globs\n",
			       settings->rules[n].glob);
	}
	session_change_commit(&tracepoint_session);
}

/* Remove old sessions from the directory of this session. */
static void collect(const struct settings *settings)
{
	char folder[SESSION_PATH_MAX];
	struct nolibc_string name = { folder, sizeof(folder), 0, false };

	nolibc_bytes(&name, session_path, (size_t)(strrchr(session_path, '/') - session_path));
	directory_gc(folder, &(struct directory_gc){ .limits = settings->limits });
}

/* Calls come faster than other events. */
static void add_calls(struct settings *settings)
{
	settings->on = true;
	settings->session.functions_max = tracepoint_calls_max;
	if (settings->session.buffer_bytes < CALLS_BUFFER)
		settings->session.buffer_bytes = CALLS_BUFFER;
	if (settings->session.buffer_max < CALLS_BUFFER_MAX)
		settings->session.buffer_max = CALLS_BUFFER_MAX;
}

/* Make the program's own session, by the settings. Return: whether there is one. */
static bool begin_own(struct settings *settings)
{
	const char *why = "";
	int error;

	settings_read(settings);
	if (settings->fault[0])
		report("burin: settings: %s; the other settings hold\n", settings->fault);
	if (tracepoint_calls_max)
		add_calls(settings);
	if (!settings->on)
		return false;
	error = session_open_per_process(&tracepoint_session, &settings->session, session_path, &why);
	if (error && settings->rule_count)
		process_report_untraced("no session", why, error);
	if (error)
		return false;
	populates = settings->populate;
	collect(settings);
	if (session_event_count(&tracepoint_session) != 0) /* made before an exec */
		return true;
	if (settings->rule_count && directory_is_spare(session_path))
		report("burin: /dev/shm is full; the session of this program is %.250s\n", session_path);
	apply_rules(settings);
	return true;
}

/* The settings are not on the stack, which would keep the memory. Return: whether there is a session. */
static bool begin_by_settings(void)
{
	struct settings *settings;
	bool begins;

	/* A program with more rights than its user must not be readable by that user. */
	if (getauxval(AT_SECURE))
		return false;
	settings = mmap(NULL, sizeof(*settings), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (settings == MAP_FAILED)
		return false;
	begins = begin_own(settings);
	munmap(settings, sizeof(*settings));
	return begins;
}

/* The variable, or else the setting, which is read only for a program's own session. */
static bool is_to_populate(void)
{
	const char *value = nolibc_environment("BURIN_POPULATE");

	if (!value || !*value)
		return populates;
	if ((*value == '0' || *value == '1') && !value[1])
		return *value == '1';
	report("burin: BURIN_POPULATE: '%.40s' is neither 0 nor 1; it is ignored\n", value);
	return populates;
}

static void populate(void)
{
	int error;

	if (!is_to_populate())
		return;
	error = session_populate(&tracepoint_session);
	if (error)
		report("burin: populate: there is too little memory for all buffers (%s); records without "
		       "memory "
		       "will be lost\n",
		       strerror(-error));
}

void process_begin(void)
{
	const char *path, *why = "";
	int error;

	if (begun)
		return;
	begun = true;
	c_library_bind(); /* objects may be initialized before this library */
	path = nolibc_environment("BURIN_SESSION");
	/* Filled in directly, since its rings point into it. No thread uses it before a site has its id. */
	if (path && *path) {
		error = session_join(&tracepoint_session, path, &why);
		if (error)
			process_report_untraced(path, why, error);
		if (error)
			return;
		nolibc_text(&(struct nolibc_string){ session_path, sizeof(session_path), 0, false }, path);
	} else if (!begin_by_settings()) {
		return;
	}
	populate();
	session_identity.rings = tracepoint_session.rings;
	session_identity.cpus = tracepoint_session.geometry.cpus;
	burin_string_max = tracepoint_session.geometry.string_max;
	if (!event_filter_begin(&tracepoint_session)) {
		process_report_untraced("session", "there is no memory for filters", -ENOMEM);
		leave();
		session_identity.cpus = 0;
		session_leave(&tracepoint_session);
		return;
	}
	if (!have_rseq_at_all())
		serialize_careful();
}

const char *process_session_path(void)
{
	return session_path;
}

int burin_active(void)
{
	return tracepoint_session.base != NULL;
}

/* The entry in the list of processes for the child that the calling thread is about to fork. */
static __thread uint32_t *expected;

/* A fork that fails does not report it here, and leaves its entry to the next one. Of two children that have one entry, the second takes another. */
static void expect_child(void)
{
	if (!tracepoint_session.base)
		expected = NULL;
	else if (!expected || __atomic_load_n(expected, __ATOMIC_RELAXED) != WIRE_PROCESS_EXPECTED)
		expected = session_expect(&tracepoint_session);
}

/* The child has one thread, so its pid is that thread's id, which the C library knows without a system call. */
static void enter_after_fork(void)
{
	tracepoint_become_child(expected, pid_of_thread(pthread_self()));
}

/*
 * Only stores: the program may not be allowed to make system calls any more. The session stays mapped, since later
 * destructors may still record events.
 */
static void leave(void)
{
	if (tracepoint_session.base)
		session_exit(&tracepoint_session);
}

/* quick_exit calls functions in reverse order of registration, so this one comes last. The _exit behind it is not ours. */
static void leave_quickly(void)
{
	if (!tracepoint_thread.in_vfork)
		leave();
}

static __attribute__((constructor(101))) void watch_fork(void)
{
	pthread_atfork(expect_child, NULL, enter_after_fork);
	at_quick_exit(leave_quickly);
}

static __attribute__((destructor(101))) void leave_at_exit(void)
{
	leave();
}

/* _exit runs no destructors: without this the session would look like that of a killed program. */
static _Noreturn void leave_at_once(int status)
{
	if (!tracepoint_thread.in_vfork)
		leave();
	for (;;)
		syscall(SYS_exit_group, status);
}

_Noreturn __attribute__((visibility("default"))) void _exit(int status)
{
	leave_at_once(status);
}

_Noreturn __attribute__((visibility("default"))) void _Exit(int status)
{
	leave_at_once(status);
}
