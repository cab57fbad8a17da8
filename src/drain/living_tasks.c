/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of living tasks; see living_tasks.h.
 *
 * Programs announce their threads before their first record. The kernel's module does not: it announces a
 * task only when it ends or is renamed. A task that lives on has no name in the rings. So the recorder reads
 * /proc once for each trace or chunk, at its end, and adds the announcements as a statedump.
 *
 * At the end, not at the begin: tasks that begin during the recording are found, too. A task that ends while
 * /proc is read may be missed here, and then has the kernel's announcement.
 *
 * /proc shows a begin in hundredths of a second (sysconf(_SC_CLK_TCK)) since the boot. It becomes ticks by
 * the age of the task, so it is as exact as these. Names and command lines are foreign texts of any bytes.
 * Reading a command line may wait for a lock of that process's memory, so read_command() has a deadline
 * (file/foreign_file.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drain/living_tasks.h"
#include "drain/statedump.h"
#include "file/foreign_file.h"
#include "ring/ring_deps.h"
#include "session/clock.h"
#include "wire/wire_head.h"
#include "wire/wire_name_record.h"

enum {
	TASKS_STAT = 512, /* bytes of /proc/TID/stat up to the start time */
	TASKS_NAME = 64,
};

struct tasks {
	struct statedump dump;
	uint64_t hz, time;
	uint64_t boot_ns; /* CLOCK_BOOTTIME at `time` */
};

struct task {
	uint32_t pid, tid, parent;
	char name[TASKS_NAME];
	uint64_t since; /* ticks */
};

/* Add a record of the names stream, in extended form. @buffer: its content, behind the room for the header */
static int living_tasks_announce(struct tasks *tasks, char *buffer, uint32_t length, enum wire_name_id id,
				 const struct task *task)
{
	const struct wire_head head = { .id = id, .tid = task->tid, .time = tasks->time, .extended = true };
	struct wire_extended header = wire_head_extend(&head);

	header.length = (uint16_t)length;
	memcpy(buffer, &header, sizeof(header));
	return statedump_add(&tasks->dump, buffer, &(struct validated){ .begin = 0, .content = length }, 0);
}

static int living_tasks_announce_thread(struct tasks *tasks, const struct task *task)
{
	_Alignas(8) char buffer[WIRE_NAME_ROOM(WIRE_NAME_TEXT_MAX)];

	return living_tasks_announce(
		tasks, buffer,
		wire_name_thread(buffer, WIRE_NAME_TEXT_MAX, task->pid, task->name, task->since),
		WIRE_NAME_THREAD, task);
}

static int living_tasks_announce_process(struct tasks *tasks, const struct task *task, const char *exe,
					 const char *line)
{
	_Alignas(8) char buffer[WIRE_NAME_ROOM(WIRE_NAME_TEXT_MAX)];

	return living_tasks_announce(tasks, buffer,
				     wire_name_process(buffer, WIRE_NAME_TEXT_MAX, task->pid, task->parent,
						       exe, line, task->since),
				     WIRE_NAME_PROCESS, task);
}

/* Read the beginning of a file. Return: its bytes; 0: there is none. */
static size_t living_tasks_read_file(int directory, const char *path, char *text, size_t room)
{
	const int file = openat(directory, path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = file < 0 ? 0 : read(file, text, room - 1);

	if (file >= 0)
		close(file);
	text[got > 0 ? got : 0] = 0;
	return got > 0 ? (size_t)got : 0;
}

/* Read the beginning of a command line. In the place of one that its user keeps from being read, the trace says so. */
static size_t read_command(uint32_t pid, char *line, size_t room)
{
	const int file = foreign_contents(pid, "cmdline", room - 1);
	ssize_t got;

	if (file == -ETIMEDOUT)
		return (size_t)snprintf(line, room, "[not read: the lock of its memory is held]");
	got = file < 0 ? 0 : read(file, line, room - 1);
	if (file >= 0)
		close(file);
	line[got > 0 ? got : 0] = 0;
	return got > 0 ? (size_t)got : 0;
}

static uint64_t living_tasks_ticks_of(const struct tasks *tasks, uint64_t begin)
{
	const uint64_t ns = begin * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	const uint64_t age = tasks->boot_ns > ns ? tasks->boot_ns - ns : 0;
	const unsigned __int128 ticks = (unsigned __int128)age * tasks->hz / 1000000000;

	return ticks < tasks->time ? tasks->time - (uint64_t)ticks : 1;
}

/* Fill in parent, name and begin from "tid (name) state parent ...", whose field 22 is the begin. The name may have any bytes. */
static bool parse_stat(const struct tasks *tasks, struct task *task, char *text)
{
	const char *begin = strchr(text, '(');
	char *end = strrchr(text, ')');
	unsigned long long start;

	/* The name may have parentheses: the first one and the last one are those of the kernel. */
	if (!begin || !end || end < begin)
		return false;
	*end = 0;
	snprintf(task->name, sizeof(task->name), "%s", begin + 1);
	if (sscanf(end + 1,
		   " %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
		   &task->parent, &start) != 2)
		return false;
	task->since = living_tasks_ticks_of(tasks, start);
	return true;
}

static bool read_task(const struct tasks *tasks, int directory, struct task *task)
{
	char path[64], text[TASKS_STAT];

	snprintf(path, sizeof(path), "%u/task/%u/stat", task->pid, task->tid);
	return living_tasks_read_file(directory, path, text, sizeof(text)) && parse_stat(tasks, task, text);
}

/* A process of the kernel has neither a program nor a command line: its name stands for the program. */
static int living_tasks_add_process(struct tasks *tasks, int directory, const struct task *task)
{
	char path[64], exe[WIRE_NAME_TEXT_MAX + 1], line[WIRE_NAME_TEXT_MAX + 1];
	ssize_t got;
	size_t bytes;

	snprintf(path, sizeof(path), "%u/exe", task->pid);
	got = readlinkat(directory, path, exe, sizeof(exe) - 1);
	exe[got > 0 ? got : 0] = 0;
	bytes = read_command(task->pid, line, sizeof(line));
	while (bytes && !line[bytes - 1])
		bytes--;
	for (size_t n = 0; n < bytes; n++)
		line[n] = line[n] ? line[n] : ' ';
	return living_tasks_announce_process(tasks, task, *exe ? exe : task->name, line);
}

static DIR *living_tasks_open_list(int directory, const char *path)
{
	const int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

/* The next entry that is a number; 0: there is none. */
static uint32_t next_number(DIR *list)
{
	const struct dirent *entry;

	while ((entry = readdir(list)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			return (uint32_t)strtoul(entry->d_name, NULL, 10);
	return 0;
}

/* A task that ends meanwhile is announced by the kernel. */
static int living_tasks_add_tasks(struct tasks *tasks, int directory, uint32_t pid)
{
	struct task task = { .pid = pid };
	char path[64];
	DIR *list;
	int error = 0;

	snprintf(path, sizeof(path), "%u/task", pid);
	list = living_tasks_open_list(directory, path);
	while (list && !error && (task.tid = next_number(list))) {
		if (!read_task(tasks, directory, &task))
			continue;
		error = living_tasks_announce_thread(tasks, &task);
		if (!error && task.tid == pid)
			error = living_tasks_add_process(tasks, directory, &task);
	}
	if (list)
		closedir(list);
	return error;
}

/* The CPUs' own tasks, which have no entry in /proc. */
static int add_idle(struct tasks *tasks)
{
	const struct task idle = { .name = "swapper", .since = 1 };
	const int error = living_tasks_announce_thread(tasks, &idle);

	return error ? error : living_tasks_announce_process(tasks, &idle, idle.name, "");
}

/* Announce all tasks in packets. */
static int living_tasks_write_tasks(struct tasks *tasks, uint32_t packet_bytes, struct statedump_packets *out)
{
	DIR *list = opendir("/proc");
	int error = list ? add_idle(tasks) : -errno;
	uint32_t pid;

	while (!error && (pid = next_number(list)))
		error = living_tasks_add_tasks(tasks, dirfd(list), pid);
	if (!error)
		error = statedump_write(&tasks->dump, packet_bytes, 0, out);
	statedump_free(&tasks->dump);
	if (list)
		closedir(list);
	return error;
}

int living_tasks_add(struct output *output, unsigned names, const struct ring_reader *reader)
{
	const struct output_stream *out = &output->streams[names];
	const uint64_t now = ring_clock();
	struct tasks tasks = { .hz = output->recording.clock.hz,
			       .time = now > reader->time ? now : reader->time,
			       .boot_ns = clock_ns(CLOCK_BOOTTIME) };
	struct statedump_packets packets = { 0 };
	int error = living_tasks_write_tasks(&tasks, (uint32_t)out->ring->packet_words * 8, &packets);

	if (!error)
		statedump_put(output, names, &packets, out->begun ? out->sequence + 1 : 0, reader->ledger);
	statedump_packets_free(&packets);
	return error;
}
