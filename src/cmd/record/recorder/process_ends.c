/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How processes end; see process_ends.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "cmd/record/recorder/process_ends.h"
#include "session/clock.h"
#include "session/places/directory.h"

enum {
	/* Lines of mappings that one search reads; beyond that, a process counts as a user. */
	SEARCH_LINES = 1 << 20,
};

/* How long a process is waited for that may join: the child of a running fork, or a program that starts. Others may never join. */
static const uint64_t coming_ns = 2000000000;

struct process_end {
	uint32_t pid;
	int file;    /* a pidfd */
	bool unused; /* the last search found that it does not use the session */
};

/* One that was killed does not leave the session's list: its entry lasts until another process needs it. */
struct buried_process {
	uint32_t pid;
	bool listed; /* this search has found its entry */
};

int process_ends_begin(struct process_ends *processes)
{
	*processes = (struct process_ends){ .ends = epoll_create1(EPOLL_CLOEXEC) };
	return processes->ends < 0 ? -errno : 0;
}

void process_ends_end(struct process_ends *processes)
{
	while (processes->count)
		close(processes->all[--processes->count].file);
	free(processes->all);
	free(processes->dead);
	free(processes->buried);
	if (processes->ends >= 0)
		close(processes->ends);
	*processes = (struct process_ends){ .ends = -1 };
}

static struct process_end *process_ends_find(const struct process_ends *processes, uint32_t pid)
{
	for (unsigned n = 0; n < processes->count; n++)
		if (processes->all[n].pid == pid)
			return &processes->all[n];
	return NULL;
}

static struct buried_process *find_buried(const struct process_ends *processes, uint32_t pid)
{
	for (unsigned n = 0; n < processes->buried_count; n++)
		if (processes->buried[n].pid == pid)
			return &processes->buried[n];
	return NULL;
}

/* A process was killed. */
static void process_ends_bury(struct process_ends *processes, uint32_t pid)
{
	if (array_reserve(processes->buried, processes->buried_room, processes->buried_count + 1))
		processes->buried[processes->buried_count++] = (struct buried_process){ pid, true };
	if (!processes->begun)
		return;
	processes->any = processes->killed = true;
	if (array_reserve(processes->dead, processes->dead_room, processes->dead_count + 1))
		processes->dead[processes->dead_count++] = pid;
}

/* Closing it is not enough: a child that this process has forked may have the descriptor as well. */
static void process_ends_drop(struct process_ends *processes, struct process_end *process)
{
	epoll_ctl(processes->ends, EPOLL_CTL_DEL, process->file, NULL);
	close(process->file);
	*process = processes->all[--processes->count];
}

/* Without a descriptor or memory for it a process is not watched: then its end shows in the list only when all have ended. */
static void process_ends_add(struct process_ends *processes, uint32_t pid)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = pid };
	const int file = (int)syscall(SYS_pidfd_open, pid, 0);
	struct buried_process *buried = find_buried(processes, pid);

	if (buried) /* another process has its pid */
		*buried = processes->buried[--processes->buried_count];
	if (file < 0)
		return;
	if (!array_reserve(processes->all, processes->room, processes->count + 1) ||
	    epoll_ctl(processes->ends, EPOLL_CTL_ADD, file, &event) != 0) {
		close(file);
		return;
	}
	processes->all[processes->count++] = (struct process_end){ .pid = pid, .file = file };
}

/*
 * A watched process that maps the session no more is about to end, or has executed another program. The next search finds out: until then
 * one that ends has ended.
 */
static void process_ends_suspect(struct process_ends *processes, struct process_end *process)
{
	if (process->unused) {
		processes->any = true;
		processes->killed = false;
		process_ends_drop(processes, process);
		return;
	}
	process->unused = true;
}

/* Whether the process of an entry has ended without leaving, after it recorded. */
static bool is_killed(const struct wire_session *header, unsigned index)
{
	return header->processes[index] & WIRE_PROCESS_RECORDED &&
	       session_start_time(session_process(header, index)) == 0;
}

static void look_at_dead(struct process_ends *processes, const struct wire_session *header, unsigned index)
{
	const uint32_t pid = session_process(header, index);
	struct buried_process *buried = find_buried(processes, pid);

	if (buried)
		buried->listed = true;
	else if (is_killed(header, index)) /* between two searches */
		process_ends_bury(processes, pid);
}

static void forget_unlisted(struct process_ends *processes)
{
	unsigned kept = 0;

	for (unsigned n = 0; n < processes->buried_count; n++)
		if (processes->buried[n].listed)
			processes->buried[kept++] =
				(struct buried_process){ processes->buried[n].pid, false };
	processes->buried_count = kept;
}

/*
 * Whether an unused entry may be used soon: by a child that has not stored its pid yet, or by a process that executes another program. One
 * that is watched and has just ended is looked at once more.
 */
static bool is_coming(const struct process_ends *processes, uint32_t pid)
{
	return pid == WIRE_PROCESS_EXPECTED ||
	       (pid && (process_ends_find(processes, pid) || session_start_time(pid) != 0));
}

bool process_ends_search(struct process_ends *processes, const struct wire_session *header,
			 const struct stat *identity)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t lines = SEARCH_LINES;
	bool used = false, coming = false;

	process_ends_look(processes, header);
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		/* A pid does not prove it: zombies keep theirs, and so do processes that execute another program. A user maps the file. */
		const uint32_t pid = session_process(header, n);
		const bool uses = pid && directory_maps(pid, identity, &lines);
		struct process_end *known = pid ? process_ends_find(processes, pid) : NULL;

		used |= uses;
		coming |= !uses && is_coming(processes, pid);
		if (uses && !known)
			process_ends_add(processes, pid);
		else if (uses)
			known->unused = false;
		else if (known)
			process_ends_suspect(processes, known);
		else if (pid)
			look_at_dead(processes, header, n);
	}
	forget_unlisted(processes);
	if (used || !processes->begun)
		processes->used = now;
	processes->begun = true;
	return used || (coming && now - processes->used < coming_ns);
}

/* Whether a process that has ended did not leave the session. The owner notes that it leaves; of others, those that recorded count. */
static bool was_killed(const struct wire_session *header, uint32_t pid)
{
	if (header->geometry.owner_kind == WIRE_OWNER_PROGRAM && header->geometry.owner == pid)
		return !header->ended;
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (header->processes[n] == (pid | WIRE_PROCESS_RECORDED))
			return true;
	return false;
}

void process_ends_look(struct process_ends *processes, const struct wire_session *header)
{
	struct epoll_event event;

	while (epoll_wait(processes->ends, &event, 1, 0) == 1) {
		const uint32_t pid = event.data.u32;
		struct process_end *process = process_ends_find(processes, pid);

		if (!process)
			break;
		process_ends_drop(processes, process);
		processes->any = true;
		processes->killed = was_killed(header, pid);
		if (processes->killed)
			process_ends_bury(processes, pid);
	}
}

uint32_t process_ends_any(const struct process_ends *processes)
{
	return processes->all[0].pid;
}
