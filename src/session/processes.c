/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The list of processes that use a session.
 *
 * The session has a list of pids. A process enters its pid when it joins and after a fork, and removes it at exit. The
 * list has no lock and is only a hint: a killed process stays in it, and the kernel may reuse its pid. It has the pids
 * about which to ask the kernel. When all have gone, it shows whether one of them was killed; of a daemon that is not
 * the owner, which has left long ago.
 *
 * A program may have given up its system calls when it forks or exits, so entering and leaving are only stores. Hence
 * the session is not removed at exit; the next program that starts removes it (gc.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pid.h"
#include "base/nolibc.h"
#include "session/session.h"

union session_identity session_identity;

static bool is_cleared; /* session_identity, by every kind of fork */

uint32_t session_self(void)
{
	/* A child that has not been entered keeps the 0, so that it is found (session_is_forked). */
	return __atomic_load_n(&session_identity.pid, __ATOMIC_RELAXED) ?: nolibc_pid();
}

bool session_is_forked(void)
{
	return is_cleared && !__atomic_load_n(&session_identity.pid, __ATOMIC_RELAXED);
}

static void remember_self(uint32_t pid)
{
	if (!is_cleared)
		is_cleared = madvise(&session_identity, sizeof(session_identity), MADV_WIPEONFORK) ==
			     0; /* Linux 4.14 */
	if (is_cleared)
		__atomic_store_n(&session_identity.pid, pid, __ATOMIC_RELAXED);
}

/* The entry of the calling process; NULL: it is not listed. */
static uint32_t *find_own(struct session *session)
{
	const uint32_t self = session_self();

	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (session_process(session->shared, n) == self)
			return &session->shared->processes[n];
	return NULL;
}

/* Take the first free entry, or else one of a dead process; NULL: there is neither. */
static uint32_t *processes_take_entry(struct session *session, uint32_t value)
{
	uint32_t *processes = session->shared->processes;

	for (unsigned round = 0; round < (ring_silent ? 1 : 2); round++) {
		for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
			uint32_t seen = __atomic_load_n(&processes[n], __ATOMIC_RELAXED);

			if (seen != 0 && (round == 0 || pid_lives(seen & ~WIRE_PROCESS_RECORDED)))
				continue;
			if (__atomic_compare_exchange_n(&processes[n], &seen, value, false, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
				return &processes[n];
		}
	}
	return NULL;
}

void session_enter(struct session *session)
{
	session_enter_expected(session, NULL, nolibc_pid());
}

uint32_t *session_expect(struct session *session)
{
	uint32_t *processes = session->shared->processes;

	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t seen = 0;

		if (__atomic_load_n(&processes[n], __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&processes[n], &seen, WIRE_PROCESS_EXPECTED, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &processes[n];
	}
	return NULL;
}

void session_enter_expected(struct session *session, uint32_t *entry, uint32_t pid)
{
	uint32_t seen = WIRE_PROCESS_EXPECTED, *own;

	remember_self(pid);
	own = find_own(session); /* it has recorded before its handler of pthread_atfork() was called */
	if (!entry || !__atomic_compare_exchange_n(entry, &seen, own ? 0 : pid, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		if (!own)
			processes_take_entry(session, pid);
}

void session_has_recorded(struct session *session)
{
	uint32_t *entry = find_own(session);

	if (entry)
		__atomic_store_n(entry, session_self() | WIRE_PROCESS_RECORDED, __ATOMIC_RELAXED);
}

void session_exit(struct session *session)
{
	uint32_t *entry = find_own(session);

	/* Before it leaves the list: a process that finds the list empty must already see `ended`. */
	if (session->geometry.owner_kind == WIRE_OWNER_PROGRAM && session->geometry.owner == session_self())
		__atomic_store_n(&session->shared->ended, 1, __ATOMIC_RELEASE);
	if (entry)
		__atomic_store_n(entry, 0, __ATOMIC_RELEASE);
}

bool session_expects(const struct wire_session *header)
{
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (header->processes[n] == WIRE_PROCESS_EXPECTED)
			return true;
	return false;
}

bool session_was_killed(const struct wire_session *header)
{
	if (header->geometry.owner_kind == WIRE_OWNER_PROGRAM && !header->ended)
		return true;
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (header->processes[n] & WIRE_PROCESS_RECORDED)
			return true;
	return false;
}

uint64_t session_start_time(uint32_t pid)
{
	char path[32], text[512], *at;
	struct nolibc_string name = { path, sizeof(path), 0, false };
	ssize_t got;
	int fd;

	nolibc_text(&name, "/proc/");
	if (pid)
		nolibc_decimal(&name, pid);
	else
		nolibc_text(&name, "self"); /* works with the /proc of any namespace */
	nolibc_text(&name, "/stat");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return errno == ENOENT || errno == ESRCH || !pid ? 0 : SESSION_START_UNKNOWN;
	text[got] = 0;
	at = strrchr(text, ')'); /* the second field, the name, may contain any bytes */
	if (at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X'))
		return 0;
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? nolibc_number(at + 1, 10, NULL) : 0;
}
