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

#include "base/containers/array.h"
#include "base/number.h"
#include "base/pid.h"
#include "base/text.h"
#include "control/remains.h"
#include "control/target.h"
#include "control/session_users.h"
#include "file/foreign_file.h"
#include "session/places/directory.h"
#include "session/kernel_device.h"
#include "session/layout.h"

/* The state of a session that no process uses. */
static enum target_state unused_state(const struct target *target, const struct wire_session *header)
{
	return target->owner_lives || !session_was_killed(header) ? TARGET_ENDED : TARGET_DIED;
}

static void find_processes(struct target *target, const struct wire_session *header, int fd,
			   const struct stat *status, struct users *users)
{
	const uint64_t unasked = users->unasked;
	uint64_t start;

	if (!session_is_here(&header->geometry)) {
		const bool left = namespaces_file_is_unused(fd) &&
				  namespaces_is_gone(&users->namespaces, header->geometry.pid_namespace);

		target->state = left ? unused_state(target, header) : TARGET_ELSEWHERE;
		return;
	}
	start = session_start_time(header->geometry.owner);
	target->owner_lives = pid_lives(header->geometry.owner) &&
			      (start == header->geometry.owner_start || start == SESSION_START_UNKNOWN);
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t pid = session_process(header, n);

		if (!pid_lives(pid) || !users_map(users, pid, status))
			continue;
		if (target->processes < TARGET_PIDS_MAX)
			target->pids[target->processes] = pid;
		target->processes++;
	}
	target->unasked = (unsigned)(users->unasked - unasked);
	if (target->owner_lives && (target->processes || header->geometry.owner_kind == WIRE_OWNER_RECORDER))
		target->state = TARGET_RUNS;
	else if (target->processes)
		target->state = TARGET_LEFT;
	else
		target->state = unused_state(target, header);
}

bool target_may_have(const struct target *target, uint32_t pid)
{
	struct foreign_process process;

	return target->user == 0 || foreign_process_read(&process, pid) != 0 ||
	       process.user.user == target->user;
}

/* Whether a process that uses the session is the one that it is named after. A recorder names it after its command. */
static bool is_named_after(const struct target *target, uint32_t pid)
{
	char name[FOREIGN_NAME_MAX];

	if (!target_may_have(target, pid))
		return false;
	if (target->geometry.owner_kind == WIRE_OWNER_PROGRAM)
		return pid == target->geometry.owner;
	return foreign_name(pid, pid, name) && strcmp(name, target->geometry.program) == 0;
}

/* Decide which process is shown: not another user's, whose pid the session's user may have written into the list. */
static void choose_shown(struct target *target)
{
	const unsigned known = target->processes < TARGET_PIDS_MAX ? target->processes : TARGET_PIDS_MAX;
	char name[FOREIGN_NAME_MAX];
	unsigned shown = 0;

	target->pid = target->geometry.owner;
	memcpy(target->program, target->geometry.program, sizeof(target->program));
	if (target->owner_lives &&
	    (target->geometry.owner_kind == WIRE_OWNER_PROGRAM || target->processes > TARGET_PIDS_MAX))
		return;
	for (unsigned n = 0; n < known; n++)
		if (is_named_after(target, target->pids[n]))
			return;
	while (shown < known && !target_may_have(target, target->pids[shown]))
		shown++;
	if (shown == known || !foreign_name(target->pids[shown], target->pids[shown], name))
		return;
	name[WIRE_PROGRAM_MAX - 1] = 0;
	memcpy(target->program, text_mask(name), sizeof(target->program));
	if (target->geometry.owner_kind == WIRE_OWNER_PROGRAM)
		target->pid = target->pids[shown];
}

/* Fill in a target. Return: 0; -errno and *@why: it is not a usable session, or cannot be read (is_unread()). */
static int read_target(struct target *target, int directory, const char *name, struct users *users,
		       const char **why)
{
	int fd = session_file(directory, name, false, why), error = 0;
	struct wire_session header;
	struct stat status;
	ssize_t got;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) != 0) {
		*why = "it cannot be read";
		error = -errno;
	} else if (!S_ISREG(status.st_mode) || (status.st_mode & 077) != 0 || status.st_nlink > 1 ||
		   (geteuid() != 0 && status.st_uid != geteuid())) {
		*why = "it is not a private file of this user";
		error = -EPERM;
	} else if ((got = pread(fd, &header, sizeof(header), 0)) < 0) {
		*why = "it cannot be read";
		error = -errno;
	} else if (got != (ssize_t)sizeof(header)) {
		error = status.st_size < (off_t)sizeof(header) ? -EINVAL : -EIO;
		*why = error == -EIO ? "it cannot be read" : "it is not a session file";
	} else {
		*why = layout_check(&header.geometry, (uint64_t)status.st_size);
		error = *why ? -EINVAL : 0;
	}
	if (error) {
		close(fd);
		return error;
	}
	target->device = status.st_dev;
	target->inode = status.st_ino;
	target->user = status.st_uid;
	target->memory = (uint64_t)status.st_blocks * 512;
	target->geometry = header.geometry;
	target->over = header.over != 0;
	target->paused = header.paused != 0;
	find_processes(target, &header, fd, &status, users);
	close(fd);
	choose_shown(target);
	return 0;
}

/* Fill in the target of the kernel's session. Return: as read_target(). */
static int target_read_kernel(struct target *target, const char **why)
{
	const int file = kernel_device_file(false, why);
	struct wire_session header;
	struct stat status;
	int error = file < 0 ? file : kernel_device_header(file, &header, why);

	if (!error && fstat(file, &status) != 0) {
		*why = "it cannot be read";
		error = -errno;
	}
	if (file >= 0)
		close(file);
	if (error)
		return error;
	*target = (struct target){ .path = WIRE_DEVICE_PATH,
				   .kernel = true,
				   .device = status.st_dev,
				   .inode = status.st_ino,
				   .user = status.st_uid,
				   .state = TARGET_RUNS,
				   .owner_lives = true,
				   .paused = header.paused != 0,
				   .geometry = header.geometry };
	choose_shown(target);
	return 0;
}

static bool is_kernel(const char *word)
{
	return strcmp(word, TARGET_KERNEL) == 0 || strcmp(word, WIRE_DEVICE_PATH) == 0;
}

static struct target *target_add(struct target_list *list)
{
	if (!array_reserve(list->targets, list->room, list->count + 1))
		return NULL;
	list->targets[list->count] = (struct target){ 0 };
	return &list->targets[list->count];
}

/* Whether a session is left by a program that has exited: the next program removes it. */
static bool target_is_over(const struct target *target)
{
	return target->state == TARGET_ENDED && !target->owner_lives && !target_is_left(target);
}

/* Whether there may be a session that cannot be read. The other errors mean that it is gone or another kind of file. */
static bool is_unread(int error)
{
	return error && error != -ENOENT && error != -ELOOP && error != -ENXIO && error != -EPERM &&
	       error != -EINVAL;
}

/* Count an unreadable session or directory, and keep the first one for a message. */
static void target_count_unread(struct target_list *list, const char *path, int error)
{
	if (list->unread++)
		return;
	list->unread_error = error;
	snprintf(list->unread_path, sizeof(list->unread_path), "%s", path);
}

/* The search of all directories of sessions. */
struct scan {
	struct target_list *list;
	struct users users;
	int error;
};

/* Add a file to the list if it is a session. */
static void scan_entry(struct scan *scan, int directory, const char *path, const char *name, uint32_t user)
{
	struct target *target = target_add(scan->list);
	const char *why;
	int error;

	if (!target) {
		scan->error = -ENOMEM;
		return;
	}
	if ((size_t)snprintf(target->path, sizeof(target->path), "%s/%s", path, name) >= sizeof(target->path))
		return;
	error = read_target(target, directory, name, &scan->users, &why);
	if (is_unread(error)) {
		target_count_unread(scan->list, target->path, error);
	} else if (!error && target->user == user && !target_is_over(target)) {
		target->listed = true;
		scan->list->count++;
	}
}

static void target_scan(void *data, int fd, const char *path, uint32_t user)
{
	struct scan *scan = data;
	const int copy = fd < 0 ? -1 : dup(fd);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!directory) {
		target_count_unread(scan->list, path, fd < 0 ? fd : -errno);
		if (copy >= 0)
			close(copy);
		return;
	}
	while (errno = 0, !scan->error && (entry = readdir(directory)))
		if (directory_has_form(entry->d_name))
			scan_entry(scan, fd, path, entry->d_name, user);
	if (!scan->error && errno)
		target_count_unread(scan->list, path, -errno);
	closedir(directory);
}

static int by_age(const void *a, const void *b)
{
	const struct target *one = a, *other = b;

	return number_order(one->geometry.created_ns, other->geometry.created_ns)
		       ?: strcmp(one->path, other->path);
}

/* Without the module, or the right to read it, there is no session of the kernel. */
static int scan_kernel(struct target_list *list)
{
	struct target *target;
	const char *why;
	int error;

	if (geteuid() != 0 || !kernel_device_is_there())
		return 0;
	target = target_add(list);
	if (!target)
		return -ENOMEM;
	error = target_read_kernel(target, &why);
	if (!error)
		list->count++;
	else if (error != -ENOENT && error != -ENXIO && error != -ENODEV)
		target_count_unread(list, WIRE_DEVICE_PATH, error);
	return 0;
}

static int list_programs(struct target_list *list)
{
	struct scan all = { .list = list };
	const unsigned before = list->count;

	directory_each(geteuid() == 0, target_scan, &all);
	users_free(&all.users);
	if (list->count > before)
		qsort(list->targets + before, list->count - before, sizeof(*list->targets), by_age);
	return all.error;
}

int target_list_all(struct target_list *list)
{
	int error;

	*list = (struct target_list){ 0 };
	error = scan_kernel(list);
	return error ? error : list_programs(list);
}

/* The kernel keeps 15 bytes of a program's name, so a longer word matches by these. */
static bool target_is_called(const char *program, const char *word)
{
	return strncmp(program, word, strlen(program) == 15 ? 15 : WIRE_PROGRAM_MAX) == 0;
}

static bool target_matches(const struct target *target, const char *word)
{
	char *end;
	unsigned long pid = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end)
		return target_is_called(target->geometry.program, word) ||
		       target_is_called(target->program, word);
	if (pid == target->geometry.owner && target_may_have(target, (uint32_t)pid))
		return true;
	for (unsigned n = 0; n < target->processes && n < TARGET_PIDS_MAX; n++)
		if (target->pids[n] == pid)
			return true;
	return false;
}

int target_list_matching(struct target_list *list, const char *word, const char **why)
{
	struct users users = { 0 };
	unsigned kept = 0;
	int error;

	*list = (struct target_list){ 0 };
	if (is_kernel(word)) {
		struct target *target = target_add(list);

		error = target ? target_read_kernel(target, why) : -ENOMEM;
		list->count = !error;
		return error;
	}
	if (strchr(word, '/')) {
		struct target *target = target_add(list);

		if (!target)
			return -ENOMEM;
		*why = "its name is too long";
		if ((size_t)snprintf(target->path, sizeof(target->path), "%s", word) >= sizeof(target->path))
			return -ENAMETOOLONG;
		error = read_target(target, AT_FDCWD, word, &users, why);
		users_free(&users);
		list->count = !error;
		return error;
	}
	error = list_programs(list);
	for (unsigned n = 0; n < list->count; n++)
		if (target_matches(&list->targets[n], word))
			list->targets[kept++] = list->targets[n];
	list->count = kept;
	return error;
}

/* Open the directory first and check it then, since its user may replace it by a link at any time. */
static int target_reopen(const struct target *target, bool write, const char **why)
{
	const char *base;
	int directory, fd;

	if (!target->listed)
		return session_file(AT_FDCWD, target->path, write, why);
	directory = remains_directory(target->path, target->user, &base);
	if (directory < 0) {
		*why = "its directory belongs to another user, or others can write to it";
		return directory;
	}
	fd = session_file(directory, base, write, why);
	close(directory);
	return fd;
}

int target_file(const struct target *target, bool write, const char **why)
{
	const int fd = target->kernel ? kernel_device_file(write, why) : target_reopen(target, write, why);
	struct stat status;
	int error = -ESTALE;

	if (fd < 0)
		return fd;
	*why = "it was replaced by another file";
	if (fstat(fd, &status) != 0) {
		error = -errno;
		*why = "it cannot be read";
	} else if (status.st_dev == target->device && status.st_ino == target->inode &&
		   status.st_uid == target->user) {
		return fd;
	}
	close(fd);
	return error;
}

int target_open(const struct target *target, bool write, struct session *session, const char **why)
{
	int file, error;

	if (target->kernel)
		return kernel_device_open(session, write, why);
	file = target_file(target, write, why);
	if (file < 0)
		return file;
	error = (write ? session_open : session_look)(session, file, why);
	close(file);
	return error;
}

void target_list_free(struct target_list *list)
{
	free(list->targets);
	*list = (struct target_list){ 0 };
}

bool target_is_left(const struct target *target)
{
	return target->geometry.owner_kind == WIRE_OWNER_RECORDER && !target->owner_lives &&
	       target->state != TARGET_ELSEWHERE;
}

const char *target_describe(const struct target *target, bool any_on)
{
	if (target->state == TARGET_DIED)
		return "killed";
	if (target->state == TARGET_ENDED)
		return "ended";
	if (target->state == TARGET_ELSEWHERE)
		return "elsewhere";
	if (target_is_left(target))
		return "orphaned";
	if (target->paused)
		return "paused";
	if (target->geometry.owner_kind == WIRE_OWNER_RECORDER)
		return "recording";
	if (!any_on)
		return "idle";
	return target->geometry.mode == WIRE_MODE_STREAM ? "stream" : "flight";
}
