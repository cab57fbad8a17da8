/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The recorded tasks; see kernel_follow.h.
 *
 * The byte of a thread id changes so:
 *
 *	NOT -> WAITS		the recorder, for the command that it has forked, which stands still
 *	any -> RECORDED		the recorder, for each thread of a process that runs already
 *	WAITS -> RECORDED	the kernel's program at an exec of this task
 *	any -> as its maker	the program at a fork, before the child runs; but WAITS makes NOT
 *
 * Each store is of one byte, so plain stores suffice: a program that looks at it sees the state before a step or
 * behind it, and both are true at that moment.
 *
 * Bytes of ended tasks stay. They do no harm: a fork stores that of an id that is used again. But
 * kernel_follow_list() may have them.
 *
 * By an exec, a thread that was not the first one takes the first one's id. The kernel's record has both; the former
 * becomes NOT.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/kernel/in_kernel/kernel_follow.bpf.h"
#include "source/kernel/points/kernel_follow.h"
#include "source/kernel/points/tracefs.h"

enum {
	FOLLOW_FORK,
	FOLLOW_EXEC,
};

static const char *const points[KERNEL_FOLLOW_PROGRAMS + 1] = {
	[FOLLOW_FORK] = "task:task_newtask",
	[FOLLOW_EXEC] = "sched:sched_process_exec",
};

/* The tracepoints, as they are read. */
struct found {
	struct kernel_follow *follow;
	unsigned which, count;
};

/* Watch a tracepoint. */
static int kernel_follow_take(void *context, const struct tracepoint *point)
{
	struct found *found = context;
	struct kernel_follow *follow = found->follow;
	const unsigned which = found->which;
	const struct tracepoint_field *task = tracepoint_field(point, "pid"),
				      *before = tracepoint_field(point, "old_pid");
	const struct bpf_symbol symbols[] = { { "members", BPF_SYMBOL_VALUE, (uint64_t)follow->members },
					      { "task", BPF_SYMBOL_NUMBER, task ? task->offset : 0 },
					      { "before", BPF_SYMBOL_NUMBER, before ? before->offset : 0 },
					      { 0 } };

	if (!task || task->size != 4 || (which == FOLLOW_EXEC && (!before || before->size != 4)))
		return -ENOTSUP;
	follow->programs[which] =
		bpf_load_code(BPF_PROG_TYPE_TRACEPOINT,
			      which == FOLLOW_FORK ? &kernel_follow_fork : &kernel_follow_exec, symbols);
	if (follow->programs[which] < 0)
		return follow->programs[which];
	follow->watches[which] = bpf_attach_tracepoint(point->id, follow->programs[which]);
	found->count++;
	return follow->watches[which] < 0 ? follow->watches[which] : 0;
}

int kernel_follow_open(struct kernel_follow *follow, int events)
{
	static const struct bpf_map members = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), KERNEL_FOLLOW_TASKS, 1,
						BPF_F_MMAPABLE };
	static const struct bpf_map met = { BPF_MAP_TYPE_LRU_HASH, sizeof(uint32_t),
					    sizeof(struct kernel_met), KERNEL_FOLLOW_MET, 0 };
	struct found found = { .follow = follow };
	void *memory;
	int error = 0;

	*follow = (struct kernel_follow){ .met = bpf_map_make(&met), .members = bpf_map_make(&members) };
	for (unsigned n = 0; n < KERNEL_FOLLOW_PROGRAMS; n++)
		follow->watches[n] = follow->programs[n] = -1;
	if (follow->members < 0 || follow->met < 0) {
		error = follow->members < 0 ? follow->members : follow->met;
		kernel_follow_close(follow);
		return error;
	}
	memory = mmap(NULL, KERNEL_FOLLOW_TASKS, PROT_READ | PROT_WRITE, MAP_SHARED, follow->members, 0);
	if (memory == MAP_FAILED)
		error = -errno;
	else
		follow->tasks = memory;
	for (; found.which < KERNEL_FOLLOW_PROGRAMS && !error; found.which++) {
		const char *const globs[] = { points[found.which], NULL };

		error = tracefs_each(events, globs, kernel_follow_take, &found);
		if (!error && found.count != found.which + 1)
			error = -ENOTSUP;
	}
	if (error)
		kernel_follow_close(follow);
	return error;
}

void kernel_follow_command(const struct kernel_follow *follow, pid_t child)
{
	follow->tasks[child & (KERNEL_FOLLOW_TASKS - 1)] = KERNEL_FOLLOW_WAITS;
}

int kernel_follow_threads(pid_t process, int (*each)(void *context, pid_t thread), void *context)
{
	const struct dirent *entry;
	char path[32];
	DIR *tasks;
	int error = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (errno = 0, !error && (entry = readdir(tasks))) {
		const pid_t thread = (pid_t)strtoul(entry->d_name, NULL, 10);

		if (thread)
			error = each(context, thread);
	}
	if (!error)
		error = -errno;
	closedir(tasks);
	return error;
}

static int record_thread(void *context, pid_t thread)
{
	const struct kernel_follow *follow = context;

	follow->tasks[thread & (KERNEL_FOLLOW_TASKS - 1)] = KERNEL_FOLLOW_RECORDED;
	return 0;
}

int kernel_follow_process(struct kernel_follow *follow, pid_t process)
{
	return kernel_follow_threads(process, record_thread, follow);
}

bool kernel_follow_list(const struct kernel_follow *follow, char *out, size_t size)
{
	const uint8_t *at = follow->tasks, *const end = at + KERNEL_FOLLOW_TASKS;
	size_t used = 0;

	out[0] = 0;
	while (at && at < end && (at = memchr(at, KERNEL_FOLLOW_RECORDED, (size_t)(end - at)))) {
		const int first = (int)(at - follow->tasks);

		while (at < end && *at == KERNEL_FOLLOW_RECORDED)
			at++;
		used += (size_t)snprintf(out + used, size - used, "%s%d", used ? " " : "", first);
		if (used < size && at - follow->tasks - 1 > first)
			used += (size_t)snprintf(out + used, size - used, "-%d",
						 (int)(at - follow->tasks) - 1);
		if (used >= size)
			return false;
	}
	return follow->tasks;
}

void kernel_follow_close(struct kernel_follow *follow)
{
	for (unsigned n = 0; n < KERNEL_FOLLOW_PROGRAMS; n++) {
		if (follow->watches[n] >= 0)
			close(follow->watches[n]);
		if (follow->programs[n] >= 0)
			close(follow->programs[n]);
	}
	if (follow->members >= 0)
		close(follow->members);
	if (follow->met >= 0)
		close(follow->met);
	if (follow->tasks)
		munmap(follow->tasks, KERNEL_FOLLOW_TASKS);
	follow->members = follow->met = -1;
	follow->tasks = NULL;
}
