/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads and processes; see tasks.h.
 *
 * They follow the kernel's records in order of time, so they are the threads of the moment whose samples are
 * attributed, not those of now. Only the sampler's thread uses them.
 *
 *	task		a generation of a thread id, from FORK or the first sight of it until after EXIT
 *	process		an address space: mappings, program, code made at run time. Tasks share it by ->uses;
 *			->live counts those that have not ended
 *
 *	FORK		of a thread: one more use; of a process: a copy, which shares the mappings
 *	COMM		a name; of an exec also a new, empty address space
 *	MMAP2		a mapping more
 *	EXIT		the task goes to the list of ended ones, the youngest last. It is freed after
 *			TASKS_KEPT_NS: a thread that executes takes its leader's id after the leader's EXIT
 *
 * An id that is used again makes a new task and forgets the former one. A task has a number in the table once
 * a sample needs it (tasks_number()); a new name, program or chunk sets it back to 0, so the next sample gets
 * a new entry.
 *
 * Memory that is missing costs the records of one task, and is counted in ->failed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/perf/tasks/deep_stack.h"
#include "source/perf/tasks/tasks.h"

enum {
	TASKS_BUCKETS = 4096,
};

int tasks_init(struct tasks *tasks, struct images *images, struct table_writer *table)
{
	*tasks = (struct tasks){ .images = images, .table = table };
	tasks->buckets = calloc(TASKS_BUCKETS, sizeof(*tasks->buckets));
	return tasks->buckets ? 0 : -ENOMEM;
}

static void drop_process(struct sample_process *process)
{
	if (--process->uses)
		return;
	mappings_clear(&process->mappings);
	jit_clear(&process->jit);
	images_set(&process->program, NULL);
	free(process);
}

static struct sample_process *make_process(struct tasks *tasks, uint32_t pid)
{
	struct sample_process *process = calloc(1, sizeof(*process));

	if (process) {
		process->pid = pid;
		process->uses = 1;
		process->jit = (struct jit){ .pid = pid, .process = ++tasks->processes };
	}
	return process;
}

/* A copy of an address space. */
static struct sample_process *copy_process(struct tasks *tasks, const struct sample_process *from,
					   uint32_t pid)
{
	struct sample_process *process = make_process(tasks, pid);

	if (!process)
		return NULL;
	images_set(&process->program, from->program);
	process->exec = from->exec;
	mappings_copy(&process->mappings, &from->mappings);
	jit_copy(&process->jit, &from->jit);
	return process;
}

static struct sample_task **bucket_of(const struct tasks *tasks, uint32_t tid)
{
	return &tasks->buckets[tid % TASKS_BUCKETS];
}

struct sample_task *tasks_find(const struct tasks *tasks, uint32_t tid)
{
	struct sample_task *task = *bucket_of(tasks, tid);

	while (task && task->tid != tid)
		task = task->next;
	return task;
}

/* The thread has ended: append it to the list of those. */
static void end_task(struct tasks *tasks, struct sample_task *task, uint64_t time)
{
	task->ended = true;
	task->process->live--;
	task->ended_time = time;
	task->earlier = tasks->youngest;
	task->later = NULL;
	*(task->earlier ? &task->earlier->later : &tasks->oldest) = task;
	tasks->youngest = task;
}

/* Take a task out of that list, if it is there. */
static void unend_task(struct tasks *tasks, struct sample_task *task)
{
	if (!task->ended)
		return;
	*(task->earlier ? &task->earlier->later : &tasks->oldest) = task->later;
	*(task->later ? &task->later->earlier : &tasks->youngest) = task->earlier;
	task->ended = false;
	task->process->live++;
}

static void tasks_forget(struct tasks *tasks, struct sample_task **link)
{
	struct sample_task *task = *link;

	*link = task->next;
	unend_task(tasks, task);
	task->process->live--;
	drop_process(task->process);
	deep_stack_drop(&task->deep);
	free(task);
}

static void forget_tid(struct tasks *tasks, uint32_t tid)
{
	for (struct sample_task **link = bucket_of(tasks, tid); *link;) {
		if ((*link)->tid == tid)
			tasks_forget(tasks, link);
		else
			link = &(*link)->next;
	}
}

/* Add a generation of a thread. @process: the caller's use passes to the task; NULL: no memory */
static struct sample_task *make_task(struct tasks *tasks, uint32_t tid, struct sample_process *process,
				     const char *name, uint64_t since)
{
	struct sample_task *task = process ? calloc(1, sizeof(*task)) : NULL;

	if (!task) {
		tasks->failed++;
		if (process)
			drop_process(process);
		return NULL;
	}
	task->tid = tid;
	task->since = since;
	task->process = process;
	process->live++;
	snprintf(task->name, sizeof(task->name), "%s", name);
	task->next = *bucket_of(tasks, tid);
	*bucket_of(tasks, tid) = task;
	return task;
}

struct sample_task *tasks_add(struct tasks *tasks, uint32_t pid, uint32_t tid, const char *name)
{
	struct sample_task *task = tasks_find(tasks, tid), *leader = tasks_find(tasks, pid);
	struct sample_process *process;

	if (task)
		return task;
	process = leader && leader->process->pid == pid ? leader->process : NULL;
	if (process)
		process->uses++;
	else
		process = make_process(tasks, pid);
	return make_task(tasks, tid, process, name, 0);
}

/* FORK of a thread, or of a process, whose address space is copied. The child of an unknown parent gets an empty one. */
static void fork_task(struct tasks *tasks, const struct record *record, uint64_t ticks)
{
	const struct sample_task *parent = tasks_find(tasks, record->parent_tid);
	struct sample_process *process;
	char name[TASKS_NAME_MAX] = "";

	if (!parent)
		parent = tasks_find(tasks, record->parent_pid);
	if (parent)
		memcpy(name, parent->name, sizeof(name));
	if (parent && record->pid == record->parent_pid && parent->process->pid == record->pid) {
		process = parent->process;
		process->uses++;
	} else if (parent) {
		process = copy_process(tasks, parent->process, record->pid);
	} else {
		process = make_process(tasks, record->pid);
	}
	forget_tid(tasks, record->tid); /* the id is reused */
	make_task(tasks, record->tid, process, name, ticks);
}

/* A thread that calls execve takes the id of its leader, whose EXIT came before. */
static void tasks_revive(struct tasks *tasks, struct sample_task *task)
{
	unend_task(tasks, task);
	task->wait = (struct sample_wait){ .state = SAMPLE_WAIT_NONE };
}

/* COMM: a new name; if it is from an exec, also a new address space. */
static void name_task(struct tasks *tasks, const struct record *record, uint64_t ticks)
{
	struct sample_task *task = tasks_add(tasks, record->pid, record->tid, record->name);
	struct sample_process *process;

	if (!task)
		return; /* which make_task() has counted */
	if (record->exec) {
		tasks_revive(tasks, task);
		deep_stack_drop(&task->deep);
		process = make_process(tasks, record->pid);
		if (process) {
			process->exec = process->starting = true;
			process->live = 1;
			task->process->live--;
			drop_process(task->process);
			task->process = process;
		} else {
			tasks->failed++;
		}
	}
	snprintf(task->name, sizeof(task->name), "%s", record->name);
	task->since = ticks;
	task->number = 0;
}

struct mapping tasks_mapping(struct sample_process *process, struct sample_image *image,
			     const struct record_map *map)
{
	struct mapping mapping = {
		.begin = map->begin, .end = map->begin + map->bytes, .offset = map->offset, .image = image
	};

	if (image->kind == WIRE_IMAGE_JITDUMP)
		images_set(&process->jit.dump, image);
	else if (image->kind == WIRE_IMAGE_VDSO)
		mapping.offset = 0;
	else if (image->kind != WIRE_IMAGE_FILE)
		mapping.offset = mapping.begin;
	return mapping;
}

/* MMAP2. The first mapped file after an exec is the program. */
static void tasks_map(struct tasks *tasks, const struct record *record)
{
	struct sample_task *task = tasks_find(tasks, record->tid);
	struct sample_image *image = record->map.image;
	struct mapping mapping;

	if (!image)
		image = images_find(tasks->images, record->pid, &record->map);
	else if (image->other) /* since then */
		image = image->other;
	if (!task)
		task = tasks_find(tasks, record->pid);
	if (!task)
		task = tasks_add(tasks, record->pid, record->tid, "");
	if (!task || !image) {
		tasks->failed += task != NULL; /* otherwise make_task() has counted it */
		return;
	}
	mapping = tasks_mapping(task->process, image, &record->map);
	if (task->process->exec && image->kind == WIRE_IMAGE_FILE) {
		task->process->exec = false;
		images_set(&task->process->program, image);
		task->number = 0;
	}
	if (mappings_add(&task->process->mappings, &mapping) != 0) {
		budget_over(&tasks->images->budget, BUDGET_MAPPINGS, record->pid);
		tasks->failed++;
	}
}

static void exit_task(struct tasks *tasks, const struct record *record)
{
	struct sample_task *task = tasks_find(tasks, record->tid);

	if (!task || task->ended)
		return;
	end_task(tasks, task, record->time);
	/* Many programs write their perf map at exit. Some end thousands of threads before, for which a look would be too much work. */
	if (task->process->jit.unnamed && (!task->process->live || task->tid == task->process->pid))
		jit_update_map(&task->process->jit, tasks->images);
}

/* Free the tasks that ended long before a time. They are found without a look at all others, which may be many. */
static void tasks_forget_ended(struct tasks *tasks, uint64_t time)
{
	while (tasks->oldest && time > tasks->oldest->ended_time &&
	       time - tasks->oldest->ended_time > TASKS_KEPT_NS) {
		struct sample_task **link = bucket_of(tasks, tasks->oldest->tid);

		while (*link != tasks->oldest)
			link = &(*link)->next;
		tasks_forget(tasks, link);
	}
}

void tasks_take(struct tasks *tasks, const struct record *record, uint64_t ticks)
{
	tasks_forget_ended(tasks, record->time);
	switch (record->kind) {
	case RECORD_FORK:
		fork_task(tasks, record, ticks);
		break;
	case RECORD_NAME:
		name_task(tasks, record, ticks);
		break;
	case RECORD_MAP:
		tasks_map(tasks, record);
		break;
	case RECORD_EXIT:
		exit_task(tasks, record);
		break;
	default:
		break;
	}
}

uint32_t tasks_number(struct tasks *tasks, struct sample_task *task)
{
	struct sample_image *program = task->process->program;
	uint32_t image;

	if (task->number)
		return task->number;
	image = program ? images_number(tasks->images, program) : 0;
	table_writer_number(tasks->table, task->tid);
	table_writer_number(tasks->table, task->process->pid);
	table_writer_number(tasks->table, task->since);
	table_writer_number(tasks->table, image);
	table_writer_text(tasks->table, task->name, strlen(task->name));
	table_writer_text(tasks->table, program ? program->path : "", program ? strlen(program->path) : 0);
	task->number = table_writer_end(tasks->table);
	return task->number;
}

void tasks_each(const struct tasks *tasks, void (*call)(void *data, struct sample_task *task), void *data)
{
	for (unsigned n = 0; n < TASKS_BUCKETS; n++)
		for (struct sample_task *task = tasks->buckets[n]; task; task = task->next)
			call(data, task);
}

static void forget_number(void *data, struct sample_task *task)
{
	(void)data;
	task->number = 0;
}

void tasks_renumber(struct tasks *tasks)
{
	tasks_each(tasks, forget_number, NULL);
}

void tasks_free(struct tasks *tasks)
{
	for (unsigned n = 0; tasks->buckets && n < TASKS_BUCKETS; n++)
		while (tasks->buckets[n])
			tasks_forget(tasks, &tasks->buckets[n]);
	free(tasks->buckets);
	*tasks = (struct tasks){ 0 };
}
