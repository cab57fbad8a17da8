/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finding sessions; see target.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pid.h"
#include "control/target.h"
#include "session/directory.h"
#include "session/layout.h"

static void find_processes(struct target *target, const struct stat *status)
{
	const struct wire_session *header = &target->header;

	target->owner_lives = pid_lives(header->geometry.owner) &&
			      session_start_time(header->geometry.owner) == header->geometry.owner_start;
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t pid = session_process(header, n);

		if (!pid_lives(pid) || !directory_maps(pid, status))
			continue;
		if (target->processes < TARGET_PIDS_MAX)
			target->pids[target->processes] = pid;
		target->processes++;
	}
	if (target->owner_lives && (target->processes || header->geometry.owner_kind == WIRE_OWNER_RECORDER))
		target->state = TARGET_RUNS;
	else if (target->processes)
		target->state = TARGET_LEFT;
	else
		target->state =
			target->owner_lives || !session_was_killed(header) ? TARGET_ENDED : TARGET_DIED;
}

/* Return: 0, or why it is no session that can be shown. */
static int look_at(struct target *target, int directory, const char *name, const char **why)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	int error = 0;

	if (fd < 0) {
		*why = errno == ELOOP ? "it is a link" : "it cannot be opened";
		return -errno;
	}
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || (status.st_mode & 077) != 0 ||
	    status.st_nlink > 1 || (geteuid() != 0 && status.st_uid != geteuid())) {
		*why = "it is not a private file of this user";
		error = -EPERM;
	} else if (pread(fd, &target->header, sizeof(target->header), 0) != (ssize_t)sizeof(target->header)) {
		*why = "it is not a session file";
		error = -EINVAL;
	} else {
		*why = layout_check(&target->header.geometry, (uint64_t)status.st_size);
		error = *why ? -EINVAL : 0;
	}
	close(fd);
	if (error)
		return error;
	target->user = status.st_uid;
	target->memory = (uint64_t)status.st_blocks * 512;
	find_processes(target, &status);
	return 0;
}

static struct target *add(struct target_list *list)
{
	struct target *targets = realloc(list->targets, (list->count + 1) * sizeof(*targets));

	if (!targets)
		return NULL;
	list->targets = targets;
	targets[list->count] = (struct target){ 0 };
	return &targets[list->count];
}

static int scan(struct target_list *list, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = 0;
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat status;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	/* What others can write to, or have planted, is nobody's directory of sessions. */
	if (fstat(fd, &status) == 0 && (status.st_mode & 077) == 0 &&
	    (status.st_uid == geteuid() || geteuid() == 0)) {
		while (!error && (entry = readdir(directory))) {
			const char *why;
			struct target *target;

			if (*entry->d_name < '1' || *entry->d_name > '9')
				continue;
			target = add(list);
			if (!target)
				error = -ENOMEM;
			else if ((size_t)snprintf(target->path, sizeof(target->path), "%s/%s", path,
						  entry->d_name) < sizeof(target->path) &&
				 look_at(target, fd, entry->d_name, &why) == 0 &&
				 target->user == status.st_uid)
				list->count++;
		}
	}
	closedir(directory);
	return error;
}

/* Root sees the directories of all users. */
static int scan_everybody(struct target_list *list)
{
	DIR *shm = opendir("/dev/shm");
	struct dirent *entry;
	char path[SESSION_PATH_MAX];
	int error = 0;

	while (!error && shm && (entry = readdir(shm)))
		if (strncmp(entry->d_name, "burin-", 6) == 0 &&
		    (size_t)snprintf(path, sizeof(path), "/dev/shm/%s", entry->d_name) < sizeof(path))
			error = scan(list, path);
	if (shm)
		closedir(shm);
	return error;
}

static int by_age(const void *a, const void *b)
{
	const struct target *one = a, *other = b;

	if (one->header.geometry.created_ns != other->header.geometry.created_ns)
		return one->header.geometry.created_ns < other->header.geometry.created_ns ? -1 : 1;
	return strcmp(one->path, other->path);
}

int target_list_all(struct target_list *list)
{
	char path[SESSION_PATH_MAX];
	const char *why;
	int error = 0;

	*list = (struct target_list){ 0 };
	if (geteuid() == 0)
		error = scan_everybody(list);
	else if (directory_of_sessions(path, sizeof(path), &why) == 0)
		error = scan(list, path);
	if (list->count)
		qsort(list->targets, list->count, sizeof(*list->targets), by_age);
	return error;
}

/* The kernel keeps 15 bytes of a program's name; a longer word means it as well. */
static bool is_called(const char *program, const char *word)
{
	return strncmp(program, word, strlen(program) == 15 ? 15 : WIRE_PROGRAM_MAX) == 0;
}

static bool is_meant(const struct target *target, const char *word)
{
	char *end;
	unsigned long pid = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end)
		return is_called(target->header.geometry.program, word);
	if (pid == target->header.geometry.owner)
		return true;
	for (unsigned n = 0; n < target->processes && n < TARGET_PIDS_MAX; n++)
		if (target->pids[n] == pid)
			return true;
	return false;
}

int target_list_matching(struct target_list *list, const char *word, const char **why)
{
	unsigned kept = 0;
	int error;

	*list = (struct target_list){ 0 };
	if (strchr(word, '/')) {
		struct target *target = add(list);

		if (!target)
			return -ENOMEM;
		*why = "its name is too long";
		if ((size_t)snprintf(target->path, sizeof(target->path), "%s", word) >= sizeof(target->path))
			return -ENAMETOOLONG;
		error = look_at(target, AT_FDCWD, word, why);
		list->count = !error;
		return error;
	}
	error = target_list_all(list);
	for (unsigned n = 0; n < list->count; n++)
		if (is_meant(&list->targets[n], word))
			list->targets[kept++] = list->targets[n];
	list->count = kept;
	return error;
}

void target_list_free(struct target_list *list)
{
	free(list->targets);
	*list = (struct target_list){ 0 };
}

const char *target_describe(const struct target *target, bool any_on)
{
	if (target->state == TARGET_DIED)
		return "killed";
	if (target->state == TARGET_ENDED)
		return "ended";
	if (target->header.geometry.owner_kind == WIRE_OWNER_RECORDER)
		return target->header.stopped ? "stopped" : "recording";
	return target->header.stopped ? "stopped" : any_on ? "flight" : "idle";
}
