/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files of other processes; see foreign_file.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file/foreign_file.h"
#include "file/timed_open.h"

enum {
	USERS_MAX = 64,
	SILENT_MAX = 64,
	SILENT_US = 5000000, /* so long a process is not asked again */
	PAID_SHARE = 64,     /* of the time that passes */
};

/* The time that we have waited for a user's processes. */
struct waits {
	uid_t user;
	uint64_t us, since; /* at that time */
};

/* A process that did not answer. */
struct silent {
	uint32_t pid;
	uint64_t until;
};

static struct {
	struct waits users[USERS_MAX];
	unsigned user_count;
	struct silent silent[SILENT_MAX];
	unsigned next;
} waits;

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- patience */

static uint64_t waits_now(const struct waits *user, uint64_t now)
{
	const uint64_t paid = (now - user->since) / PAID_SHARE;

	return user->us > paid ? user->us - paid : 0;
}

/* A user's entry; without one, a new one, or the one that is owed least. */
static struct waits *foreign_file_find_user(uid_t uid, uint64_t now)
{
	struct waits *least = waits.users;

	for (unsigned n = 0; n < waits.user_count; n++) {
		if (waits.users[n].user == uid)
			return &waits.users[n];
		if (waits_now(&waits.users[n], now) < waits_now(least, now))
			least = &waits.users[n];
	}
	if (waits.user_count < USERS_MAX)
		least = &waits.users[waits.user_count++];
	*least = (struct waits){ .user = uid, .since = now };
	return least;
}

static bool is_silent(uint32_t pid, uint64_t now)
{
	for (unsigned n = 0; n < SILENT_MAX; n++)
		if (waits.silent[n].pid == pid && now < waits.silent[n].until)
			return true;
	return false;
}

/* Nothing is looked up as long as no process had us wait. A path needs no lock: it may be asked for at once. */
static bool may_ask(uint32_t pid, enum timed_kind kind)
{
	const uint64_t now = waits.user_count ? now_us() : 0;
	struct foreign_user own;

	if (!waits.user_count)
		return true;
	if (kind != TIMED_PATH && is_silent(pid, now))
		return false;
	return waits_now(foreign_file_find_user(foreign_user_of(pid, &own), now), now) < FOREIGN_PATIENCE_US;
}

static void foreign_file_charge(uint32_t pid, uint64_t us, bool silent)
{
	const uint64_t now = now_us();
	struct foreign_user own;
	struct waits *user = foreign_file_find_user(foreign_user_of(pid, &own), now);

	user->us = waits_now(user, now) + us;
	user->since = now;
	if (!silent)
		return;
	waits.silent[waits.next++ % SILENT_MAX] = (struct silent){ .pid = pid, .until = now + SILENT_US };
}

/* ---- requests */

/* Whether all user ids of a process are ours; true if it has ended. By status: its directory in /proc may have another owner. */
static bool foreign_file_is_ours(uint32_t pid)
{
	unsigned ids[4];
	char path[32], text[1024];
	const char *line = NULL;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	if (got <= 0)
		return true;
	text[got] = 0;
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	for (unsigned n = 0; n < 4; n++)
		if (ids[n] != geteuid())
			return false;
	return true;
}

/* Where no helper can be started, files are opened as if the process were ours. */
static int open_request(uint32_t pid, const struct timed_request *request)
{
	uint64_t blocked_us;
	int file;

	if (foreign_file_is_ours(pid))
		return timed_open_directly(request);
	if (!may_ask(pid, request->kind))
		return -ETIMEDOUT;
	file = timed_open(request, &blocked_us);
	if (blocked_us || file == -ETIMEDOUT)
		foreign_file_charge(pid, blocked_us, file == -ETIMEDOUT && request->kind != TIMED_PATH);
	return file == -ECHILD ? timed_open_directly(request) : file == -EBUSY ? -ETIMEDOUT : file;
}

static char foreign_file_state(uint32_t pid, uint32_t tid)
{
	char path[64], text[512], *end;
	ssize_t got = -1;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		got = read(file, text, sizeof(text) - 1);
		close(file);
	}
	text[got > 0 ? got : 0] = 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 'X';
}

/* A main thread that has ended has no memory any more: the others still do. Return: a thread that has, or the process. */
static uint32_t foreign_file_living(uint32_t pid)
{
	const struct dirent *entry;
	uint32_t found = pid;
	char path[32];
	DIR *directory;

	if (foreign_file_state(pid, pid) != 'Z')
		return pid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	directory = opendir(path);
	while (directory && found == pid && (entry = readdir(directory))) {
		const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid && tid != pid && !strchr("ZX", foreign_file_state(pid, tid)))
			found = tid;
	}
	if (directory)
		closedir(directory);
	return found;
}

int foreign_contents(uint32_t pid, const char *name, size_t bytes)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open_request(pid, &(struct timed_request){ .kind = TIMED_COPY, .path = path, .bytes = bytes });
}

ssize_t foreign_memory(uint32_t pid, uint64_t address, void *out, size_t bytes)
{
	char path[32];
	ssize_t got = 0;
	size_t done = 0;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/mem", foreign_file_living(pid));
	file = open_request(pid,
			    &(struct timed_request){
				    .kind = TIMED_COPY, .path = path, .bytes = bytes, .begin = address });
	if (file < 0)
		return file;
	while (done < bytes && (got = read(file, (char *)out + done, bytes - done)) > 0)
		done += (size_t)got;
	got = got < 0 && !done ? -errno : (ssize_t)done;
	close(file);
	return got;
}

int foreign_maps(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", foreign_file_living(pid));
	return open_request(pid, &(struct timed_request){ .kind = TIMED_COPY, .path = path });
}

int foreign_mapped(const struct foreign *how, uint32_t pid, uint64_t begin, uint64_t end)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", foreign_file_living(pid),
		 (unsigned long long)begin, (unsigned long long)end);
	return open_request(pid, &(struct timed_request){ .kind = TIMED_LINK, .how = how, .path = path });
}

int foreign_named(const struct foreign *how, uint32_t pid, bool own_root, const char *path)
{
	char root[64] = "/";

	if (own_root)
		snprintf(root, sizeof(root), "/proc/%u/root", foreign_file_living(pid));
	return open_request(
		pid, &(struct timed_request){ .kind = TIMED_PATH, .how = how, .root = root, .path = path });
}

bool foreign_name(uint32_t pid, uint32_t tid, char *name)
{
	char path[64];
	ssize_t bytes = -1;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		bytes = read(file, name, FOREIGN_NAME_MAX);
		close(file);
	}
	name[bytes > 0 ? bytes - 1 : 0] = 0;
	return *name;
}
