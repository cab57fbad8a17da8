/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which processes use a session.
 *
 * A list of pids in the session: entered at joining and after a fork, left at exit. It is a hint, and free of
 * locks: who is killed stays in it, and a pid may be used again. It tells whom to ask about; and when all have
 * gone, whether one of them was killed, which for a daemon is not the owner, since that has left long ago.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pid.h"
#include "base/plain.h"
#include "session/session.h"

/* The place of the calling process; NULL: it is not listed. */
static uint32_t *find_own(struct session *session)
{
	const uint32_t self = plain_pid();

	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (session_process(session->shared, n) == self)
			return &session->shared->processes[n];
	return NULL;
}

void session_enter(struct session *session)
{
	uint32_t *processes = session->shared->processes, self = plain_pid();

	if (find_own(session))
		return;
	/* The first free place; if there is none, one of somebody who has died. With neither, it is not listed. */
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
			uint32_t seen = __atomic_load_n(&processes[n], __ATOMIC_RELAXED);

			if (seen != 0 && (round == 0 || pid_lives(seen & ~WIRE_PROCESS_RECORDED)))
				continue;
			if (__atomic_compare_exchange_n(&processes[n], &seen, self, false, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
				return;
		}
	}
}

void session_has_recorded(struct session *session)
{
	uint32_t *place = find_own(session);

	if (place)
		__atomic_store_n(place, plain_pid() | WIRE_PROCESS_RECORDED, __ATOMIC_RELAXED);
}

bool session_exit(struct session *session)
{
	uint32_t *place = find_own(session);

	if (place)
		__atomic_store_n(place, 0, __ATOMIC_RELAXED);
	/* Of two that leave at once, one at least finds the other gone. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t seen = session_process(session->shared, n);

		if (pid_lives(seen))
			return true;
	}
	return false;
}

bool session_was_killed(const struct wire_session *header)
{
	if (!header->ended)
		return true;
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (header->processes[n] & WIRE_PROCESS_RECORDED)
			return true;
	return false;
}

uint64_t session_start_time(uint32_t pid)
{
	char path[32], text[512], *at;
	struct plain name = { path, sizeof(path), 0, false };
	ssize_t got;
	int fd;

	plain_text(&name, "/proc/");
	plain_decimal(&name, pid);
	plain_text(&name, "/stat");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return 0;
	text[got] = 0;
	at = strrchr(text, ')'); /* the second field, the name, may hold anything */
	if (at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X'))
		return 0;
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? plain_number(at + 1, 10, NULL) : 0;
}
