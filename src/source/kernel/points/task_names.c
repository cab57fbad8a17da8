/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of threads; see task_names.h.
 *
 * known[] has the process of each thread id, and 1; 0 is unknown. An id becomes known at its first record: by /proc,
 * or by a program's note if the thread has ended (`met`). The record of its making comes before any of its own, and
 * has its name without a question. A new thread with an old id has such a record, too, so the former name does not
 * stay.
 *
 * If the names ring has no room, the id becomes unknown again: the next record of it asks again. Nothing waits for
 * room; names of threads that are gone by then are missing.
 *
 * Names are foreign texts. They are copied as bytes, up to their size, and never taken for anything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "bpf/bpf_program.h"
#include "source/kernel/points/kernel_follow.h"
#include "source/kernel/points/task_names.h"
#include "wire/wire_format.h"

int task_names_begin(struct task_names *names, struct session *session, int met)
{
	names->session = session;
	names->self = nolibc_tid();
	names->met = met < 0 ? -1 : fcntl(met, F_DUPFD_CLOEXEC, 0);
	names->known = calloc(TASK_NAMES_MAX, sizeof(*names->known));
	return names->known ? 0 : -ENOMEM;
}

/* Whether a process has Burin's library and has announced itself, with its program and command line. */
static bool is_traced(const struct session *session, uint32_t pid)
{
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++)
		if (__atomic_load_n(&session->shared->processes[n], __ATOMIC_RELAXED) ==
		    (pid | WIRE_PROCESS_RECORDED))
			return true;
	return false;
}

/* Announce a thread, and its process if it is the first thread. Without room in the names ring, do it at a later record. */
static void task_names_announce(struct task_names *names, uint32_t tid, uint32_t pid, const char *name,
				uint64_t time)
{
	if (tid >= TASK_NAMES_MAX)
		return;
	names->known[tid] = pid + 1;
	if (tid == pid && !is_traced(names->session, pid) &&
	    session_announce_guest(names->session, pid, name, tid, time) != RING_DONE)
		names->known[tid] = 0;
	if (session_announce_thread(names->session, pid, names->self, tid, name, time) != RING_DONE)
		names->known[tid] = 0;
}

/* Ask /proc about a thread, and about the first one of its process, which may sleep all the time and has the program's name. One that has
 * ended stays without a name. */
static void task_names_ask(struct task_names *names, uint32_t tid, uint64_t time)
{
	char path[32], text[512], name[64] = "";
	struct kernel_met met;
	const char *group;
	uint32_t pid = tid;
	ssize_t got;
	int file;

	if (!tid) { /* a CPU's own task */
		task_names_announce(names, 0, 0, "swapper", time);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	got = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[got > 0 ? got : 0] = 0;
	group = strstr(text, "\nTgid:");
	if (group && sscanf(text, "Name:\t%63[^\n]", name) == 1) {
		pid = (uint32_t)strtoul(group + 6, NULL, 10);
	} else if (names->met >= 0 && bpf_map_get(names->met, &tid, &met) == 0) {
		pid = met.process;
		snprintf(name, sizeof(name), "%.*s", (int)sizeof(met.name), met.name);
	}
	if (*name)
		task_names_announce(names, tid, pid, name, time);
	else
		names->known[tid] = pid + 1;
	if (pid != tid && pid < TASK_NAMES_MAX && !names->known[pid])
		task_names_ask(names, pid, time);
}

/* The place of a field in a payload; NULL: it is not there. */
static const char *task_names_find_field(const struct tracepoint *point, const char *name,
					 const char *payload, uint32_t bytes)
{
	uint64_t types = point->types;
	struct format_type type;

	for (unsigned n = 0; n < point->count; n++) {
		uint32_t size;

		if (!point->fields[n].recorded)
			continue;
		if (!format_type_next(&types, &type))
			return NULL;
		size = format_argument_bytes(type, payload, bytes);
		if (!size)
			return NULL;
		if (strcmp(point->fields[n].name, name) == 0)
			return payload;
		payload += size;
		bytes -= size;
	}
	return NULL;
}

static void take_made(struct task_names *names, uint32_t tid, uint64_t time, const char *payload,
		      uint32_t bytes)
{
	const char *task = task_names_find_field(&names->made, "pid", payload, bytes),
		   *name = task_names_find_field(&names->made, "comm", payload, bytes),
		   *flags = task_names_find_field(&names->made, "clone_flags", payload, bytes);
	uint32_t child, pid;
	uint64_t value;

	if (!task || !name || !flags)
		return;
	memcpy(&child, task, sizeof(child));
	memcpy(&value, flags, sizeof(value));
	pid = !(value & CLONE_THREAD)			  ? child
	      : tid < TASK_NAMES_MAX && names->known[tid] ? names->known[tid] - 1
							  : UINT32_MAX;
	if (pid != UINT32_MAX)
		task_names_announce(names, child, pid, name, time);
	else if (child < TASK_NAMES_MAX)
		names->known[child] = 0; /* its maker could not be announced: ask for it when it records */
}

/* A thread renames itself, or another one of its process, and newer kernels do not report which. */
static void take_renamed(struct task_names *names, uint32_t tid, uint64_t time, const char *payload,
			 uint32_t bytes)
{
	const char *task = task_names_find_field(&names->renamed, "pid", payload, bytes),
		   *name = task_names_find_field(&names->renamed, "newcomm", payload, bytes);

	if (task)
		memcpy(&tid, task, sizeof(tid));
	if (name && tid < TASK_NAMES_MAX && names->known[tid])
		task_names_announce(names, tid, names->known[tid] - 1, name, time);
}

void task_names_record(struct task_names *names, uint32_t id, uint32_t tid, uint64_t time,
		       const char *payload, uint32_t bytes)
{
	if (tid < TASK_NAMES_MAX && !names->known[tid])
		task_names_ask(names, tid, time);
	if (id == names->made_id)
		take_made(names, tid, time, payload, bytes);
	else if (id == names->renamed_id)
		take_renamed(names, tid, time, payload, bytes);
}

void task_names_free(struct task_names *names)
{
	if (names->known && names->met >= 0)
		close(names->met);
	free(names->known);
	names->known = NULL;
}
