/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The process and its session; see process.h.
 *
 * A program that leaves by exit takes its own session along, unless children that it forked still use it. One
 * that is killed leaves the session behind, for whoever wants to know what happened.
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
#include <sys/wait.h>
#include <unistd.h>

#include "base/plain.h"
#include "ring/section_rseq.h"
#include "session/directory.h"
#include "source/user/check.h"
#include "source/user/process.h"
#include "source/user/settings.h"
#include "source/user/stage.h"
#include "source/user/thread.h"

struct session user_session;
uint32_t burin_string_max = WIRE_STRING_MAX;

static void leave(void);

static bool begun;
static char session_path[SESSION_PATH_MAX];
static bool is_own; /* this program, or the one that it was forked from, made the session */

/* A control character of two bytes in UTF-8; without the first, the second is nothing. */
static bool is_c1(const char *at)
{
	return (unsigned char)at[0] == 0xc2 && ((unsigned char)at[1] & 0xe0) == 0x80;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;
	char line[512];
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	/* Parts are from the environment and the settings: they shall not play with the terminal. */
	for (int n = 0; n < length - 1 && line[n]; n++)
		if ((unsigned char)line[n] < ' ' || line[n] == 127 || is_c1(line + n))
			line[n] = '?';
	if (length > 0 && write(STDERR_FILENO, line, strnlen(line, sizeof(line))) < 0)
		return;
}

void process_complain(const char *what, const char *why, int error)
{
	say("burin: %.250s: %s (%s); this program runs untraced\n", what, why, strerror(-error));
}

/* Where there is none, somebody between us and the kernel may look at every load: valgrind, an emulator. */
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
	int error = session_change_begin(&user_session);

	if (error)
		return;
	for (unsigned n = 0; !error && n < settings->rule_count; n++) {
		error = session_change_rule(&user_session, settings->rules[n].sign, settings->rules[n].level,
					    settings->rules[n].glob);
		if (error)
			say("burin: settings: there is no room for '%.40s' and what follows; use wider "
			    "globs\n",
			    settings->rules[n].glob);
	}
	session_change_commit(&user_session);
}

/* A session as the settings have it. Return: whether there is one. */
static bool begin_own(struct settings *settings)
{
	const char *why = "";
	int error;

	settings_read(settings);
	if (settings->fault[0])
		say("burin: settings: %s; what can be understood holds\n", settings->fault);
	if (settings->off)
		return false;
	error = session_own(&user_session, &settings->session, session_path, &why);
	if (error && settings->rule_count)
		process_complain("no session", why, error);
	if (error)
		return false;
	is_own = true;
	directory_collect(&settings->limits, false);
	if (session_event_count(&user_session) == 0)
		apply_rules(settings);
	return true;
}

/* The settings are not on the stack: what a stack has once taken, it keeps. Return: whether there is a session. */
static bool begin_by_settings(void)
{
	struct settings *settings;
	bool begins;

	/* Who runs with more rights than its user has is not to be looked at by that user. */
	if (getauxval(AT_SECURE))
		return false;
	settings = mmap(NULL, sizeof(*settings), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (settings == MAP_FAILED)
		return false;
	begins = begin_own(settings);
	munmap(settings, sizeof(*settings));
	return begins;
}

void process_begin(void)
{
	const char *path = plain_environment("BURIN_SESSION"), *why = "";
	int error;

	if (begun)
		return;
	begun = true;
	/* In its place at once, since its rings point into it. Nobody uses it before a site has its id. */
	if (path && *path) {
		error = session_join(&user_session, path, &why);
		if (error)
			process_complain(path, why, error);
		if (error)
			return;
		plain_text(&(struct plain){ session_path, sizeof(session_path), 0, false }, path);
	} else if (!begin_by_settings()) {
		return;
	}
	burin_string_max = user_session.geometry.string_max;
	if (!check_begin(&user_session)) {
		process_complain("session", "there is no memory for filters", -ENOMEM);
		leave();
		session_leave(&user_session);
		return;
	}
	if (!have_rseq_at_all())
		stage_careful();
}

const char *process_session_path(void)
{
	return session_path;
}

int burin_active(void)
{
	return user_session.base != NULL;
}

static bool has_forked;

static void note_fork(void)
{
	has_forked = true;
}

static void enter_after_fork(void)
{
	has_forked = false;
	if (user_session.base)
		session_enter(&user_session);
}

/* A child that was forked a moment ago may not have entered yet. */
static bool may_have_heirs(void)
{
	int saved = errno;
	bool children;
	siginfo_t info;

	children = has_forked && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
	errno = saved;
	return children;
}

/* Events may still be recorded by those who come after us; a session without a name serves them as well. */
static void leave(void)
{
	if (!user_session.base)
		return;
	/* Before we leave the list: of those who leave at once, the last one has to know. */
	if (user_session.geometry.owner == plain_pid())
		__atomic_store_n(&user_session.shared->ended, 1, __ATOMIC_RELAXED);
	if (!session_exit(&user_session) && !may_have_heirs() && is_own &&
	    __atomic_load_n(&user_session.shared->ended, __ATOMIC_RELAXED))
		unlink(session_path);
}

/* quick_exit calls what was registered last first: so this comes last. Then it calls an _exit that is not ours. */
static void leave_quickly(void)
{
	if (!user_thread.in_vfork)
		leave();
}

static __attribute__((constructor(101))) void watch_fork(void)
{
	pthread_atfork(NULL, note_fork, enter_after_fork);
	at_quick_exit(leave_quickly);
}

static __attribute__((destructor(101))) void leave_at_exit(void)
{
	leave();
}

/* _exit runs no destructors; to those who look from outside it would be a death like any other. */
static _Noreturn void leave_at_once(int status)
{
	if (!user_thread.in_vfork)
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
