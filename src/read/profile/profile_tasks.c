/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tasks: threads, their names and programs; the table `tasks`. */
#include <errno.h>

#include "read/profile/profile_parts.h"

static int profile_tasks_take_task(void *data, struct read_entry *entry)
{
	struct burin_profile *profile = data;
	struct burin_task task;
	size_t bytes;

	task.tid = read_entry_u32(entry, "the thread's number has more than 32 bits");
	task.pid = read_entry_u32(entry, "the process's number has more than 32 bits");
	task.since = read_entry_number(entry, UINT64_MAX, "");
	task.image = read_entry_u32(entry, "the image's number has more than 32 bits");
	task.name = read_entry_keep(entry, &profile->arena, false, &bytes);
	task.path = read_entry_keep(entry, &profile->arena, false, &bytes);
	if (!entry->reason)
		*(struct burin_task *)entry->row = task;
	return task.name && task.path ? 0 : -ENOMEM;
}

int read_tasks_load(struct burin_profile *profile)
{
	const struct read_table table = {
		".burin/tasks",		 WIRE_TABLE_TASKS,   6, sizeof(struct burin_task), 0,
		profile_tasks_take_task, read_profile_memory
	};

	return read_tables_load(profile->trace, &table, profile, (void **)&profile->tasks,
				&profile->task_bases, &profile->task_count);
}

uint32_t burin_profile_tasks(const struct burin_profile *profile)
{
	return profile->task_count;
}

const struct burin_task *burin_profile_task(const struct burin_profile *profile, uint32_t number)
{
	return number - 1 < profile->task_count && profile->tasks[number - 1].name
		       ? &profile->tasks[number - 1]
		       : NULL;
}
