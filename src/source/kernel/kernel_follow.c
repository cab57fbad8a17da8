/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The recorded tasks; see kernel_follow.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/bpf_program.h"
#include "source/kernel/kernel_follow.h"
#include "source/kernel/tracefs.h"

enum {
	FOLLOW_FORK,
	FOLLOW_EXEC,
	FOLLOW_FREE,

	/* Offsets on the stack. */
	STACK_TASK = -4,
	STACK_OTHER = -8,
	STACK_VALUE = -12,
};

static const char *const points[KERNEL_FOLLOW_PROGRAMS + 1] = {
	[FOLLOW_FORK] = "task:task_newtask",
	[FOLLOW_EXEC] = "sched:sched_process_exec",
	[FOLLOW_FREE] = "sched:sched_process_free",
};

/* The tracepoints, as they are read. */
struct found {
	struct kernel_follow *follow;
	unsigned which, count;
};

static void put_find(struct bpf_program *to, int map, int key)
{
	bpf_put_map(to, BPF_REG_1, map);
	bpf_put_address(to, BPF_REG_2, key);
	bpf_put_call(to, BPF_FUNC_map_lookup_elem);
}

static void put_end(struct bpf_program *to)
{
	bpf_put_set(to, BPF_REG_0, 0);
	bpf_put_end(to);
}

/* Copy a number of the record to the stack. */
static void put_task(struct bpf_program *to, const struct tracepoint_field *field, int key)
{
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_6, field->offset);
	bpf_put_store(to, BPF_W, BPF_REG_10, key, BPF_REG_1);
}

/* Add a task. */
static void put_add(struct bpf_program *to, const struct kernel_follow *follow, int key)
{
	unsigned added, none;

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, STACK_VALUE, 1);
	bpf_put_map(to, BPF_REG_1, follow->members);
	bpf_put_address(to, BPF_REG_2, key);
	bpf_put_address(to, BPF_REG_3, STACK_VALUE);
	bpf_put_set(to, BPF_REG_4, BPF_ANY);
	bpf_put_call(to, BPF_FUNC_map_update_elem);
	added = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, STACK_VALUE, 0);
	put_find(to, follow->full, STACK_VALUE);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_set(to, BPF_REG_1, 1);
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD);
	bpf_land(to, none);
	bpf_land(to, added);
}

static void put_remove(struct bpf_program *to, const struct kernel_follow *follow, int key)
{
	bpf_put_map(to, BPF_REG_1, follow->members);
	bpf_put_address(to, BPF_REG_2, key);
	bpf_put_call(to, BPF_FUNC_map_delete_elem);
}

/* A recorded task makes another one, which has not run yet. */
static void put_fork(struct bpf_program *to, const struct kernel_follow *follow,
		     const struct tracepoint_field *child)
{
	unsigned none, waits;

	bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(to, BPF_W, BPF_REG_10, STACK_OTHER, BPF_REG_0);
	put_find(to, follow->members, STACK_OTHER);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_0, 0);
	waits = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	put_task(to, child, STACK_TASK);
	put_add(to, follow, STACK_TASK);
	bpf_land(to, none);
	bpf_land(to, waits);
	put_end(to);
}

/* A task executes a program: one that waited for that is recorded from now on. It may have taken its leader's number. */
static void put_exec(struct bpf_program *to, const struct kernel_follow *follow,
		     const struct tracepoint_field *task, const struct tracepoint_field *before)
{
	unsigned none, same;

	put_task(to, task, STACK_TASK);
	put_task(to, before, STACK_OTHER);
	put_find(to, follow->members, STACK_OTHER);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	put_add(to, follow, STACK_TASK);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, STACK_TASK);
	bpf_put_load(to, BPF_W, BPF_REG_2, BPF_REG_10, STACK_OTHER);
	bpf_put(to, BPF_JMP | BPF_JEQ | BPF_X, BPF_REG_1, BPF_REG_2, 0, 0);
	same = to->count - 1;
	put_remove(to, follow, STACK_OTHER);
	bpf_land(to, same);
	bpf_land(to, none);
	put_end(to);
}

static void put_free(struct bpf_program *to, const struct kernel_follow *follow,
		     const struct tracepoint_field *task)
{
	put_task(to, task, STACK_TASK);
	put_remove(to, follow, STACK_TASK);
	put_end(to);
}

/* Watch a tracepoint. */
static int take(void *context, const struct tracepoint *point)
{
	struct found *found = context;
	struct kernel_follow *follow = found->follow;
	const unsigned which = found->which;
	const struct tracepoint_field *task = tracepoint_field(point, "pid"),
				      *before = tracepoint_field(point, "old_pid");
	struct bpf_program code = { .count = 0 };

	if (!task || task->size != 4 || (which == FOLLOW_EXEC && (!before || before->size != 4)))
		return -ENOTSUP;
	bpf_put_copy(&code, BPF_REG_6, BPF_REG_1);
	if (which == FOLLOW_FORK)
		put_fork(&code, follow, task);
	else if (which == FOLLOW_EXEC)
		put_exec(&code, follow, task, before);
	else
		put_free(&code, follow, task);
	follow->programs[which] = bpf_load(BPF_PROG_TYPE_TRACEPOINT, &code);
	if (follow->programs[which] < 0)
		return follow->programs[which];
	follow->watches[which] = bpf_attach_tracepoint(point->id, follow->programs[which]);
	found->count++;
	return follow->watches[which] < 0 ? follow->watches[which] : 0;
}

int kernel_follow_open(struct kernel_follow *follow, int events)
{
	static const struct bpf_map members = { BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(uint32_t),
						KERNEL_FOLLOW_TASKS, 0 },
				    full = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1, 0 };
	struct found found = { .follow = follow };
	int error = 0;

	*follow = (struct kernel_follow){ .full = -1 };
	for (unsigned n = 0; n < KERNEL_FOLLOW_PROGRAMS; n++)
		follow->watches[n] = follow->programs[n] = -1;
	follow->members = bpf_map_make(&members);
	follow->full = follow->members < 0 ? -1 : bpf_map_make(&full);
	if (follow->members < 0 || follow->full < 0)
		error = follow->members < 0 ? follow->members : follow->full;
	for (; found.which < KERNEL_FOLLOW_PROGRAMS && !error; found.which++) {
		const char *const globs[] = { points[found.which], NULL };

		error = tracefs_each(events, globs, take, &found);
		if (!error && found.count != found.which + 1)
			error = -ENOTSUP;
	}
	if (error)
		kernel_follow_close(follow);
	return error;
}

int kernel_follow_command(const struct kernel_follow *follow, pid_t child)
{
	const uint32_t task = (uint32_t)child, waits = 0;

	return bpf_map_set(follow->members, &task, &waits);
}

int kernel_follow_process(const struct kernel_follow *follow, pid_t process)
{
	const uint32_t member = 1;
	const struct dirent *entry;
	char path[32];
	int error = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!error && (entry = readdir(tasks))) {
		const uint32_t task = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (task)
			error = bpf_map_set(follow->members, &task, &member);
	}
	closedir(tasks);
	return error;
}

uint64_t kernel_follow_missed(const struct kernel_follow *follow)
{
	const uint32_t first = 0;
	uint64_t missed = 0;

	return follow->full >= 0 && bpf_map_get(follow->full, &first, &missed) == 0 ? missed : 0;
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
	if (follow->full >= 0)
		close(follow->full);
	follow->members = follow->full = -1;
}
