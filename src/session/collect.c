/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Removing sessions that nobody needs any more.
 *
 * There is no daemon: programs do it for each other when they begin, and `burin gc` does it at will. What is
 * looked at belongs to this user but may be damaged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pid.h"
#include "base/plain.h"
#include "session/directory.h"
#include "session/layout.h"

enum {
	COLLECT_MAX = 512,	/* dead sessions that are weighed against each other at a time */
	COLLECT_ENTRIES = 2048, /* bytes of the directory at a time */
};

/* A session of processes that were killed, and which has something to tell. */
struct remains {
	char name[48];
	struct timespec time;
	uint64_t bytes;
};

bool directory_maps(uint32_t pid, const struct stat *file)
{
	char path[32], line[512];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno != ENOENT && errno != ESRCH;
	while (!found && fgets(line, sizeof(line), maps)) {
		unsigned long long inode;

		/* Device numbers differ between views of a file system; the inode and the name will do. */
		found = sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == file->st_ino &&
			strstr(line, "/burin") != NULL;
	}
	fclose(maps);
	return found;
}

static bool used_by_others(const struct wire_session *header, const struct stat *status)
{
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t pid = session_process(header, n);

		if (pid_lives(pid) && directory_maps(pid, status))
			return true;
	}
	return false;
}

/* Whether anything was ever recorded. */
static bool has_records(int fd, const struct wire_geometry *geometry)
{
	struct wire_ring ring;

	for (uint32_t n = 0; n < geometry->cpus + geometry->locked; n++)
		if (pread(fd, &ring, sizeof(ring), (off_t)(geometry->controls_offset + n * sizeof(ring))) ==
			    (ssize_t)sizeof(ring) &&
		    ring.tail != 0)
			return true;
	return false;
}

enum fate {
	FATE_STAYS,
	FATE_GOES,
	FATE_REMAINS
};

/* What a look through the directory needs, and has come to. In a mapping of its own, for as long as it takes: what a
 * program's stack or heap has once taken, it keeps. */
struct collection {
	int directory;
	unsigned count, removed;
	struct wire_session header; /* of the file that is looked at */
	_Alignas(struct dirent64) char entries[COLLECT_ENTRIES];
	struct remains remains[COLLECT_MAX];
};

/* What is to become of a session file whose owner is gone. What cannot be understood may be of another version. */
static enum fate judge(struct collection *all, const char *name, struct stat *status)
{
	int fd = openat(all->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct wire_session *header = &all->header;
	enum fate fate = FATE_REMAINS;

	if (fd < 0)
		return FATE_STAYS;
	if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode) || status->st_uid != plain_user())
		fate = FATE_STAYS;
	else if (pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
		 !layout_check(&header->geometry, (uint64_t)status->st_size) &&
		 header->geometry.owner_kind == WIRE_OWNER_PROGRAM)
		fate = used_by_others(header, status)					    ? FATE_STAYS
		       : !session_was_killed(header) || !has_records(fd, &header->geometry) ? FATE_GOES
											    : FATE_REMAINS;
	close(fd);
	/* Nothing becomes of samples without their recorder. */
	return fate == FATE_REMAINS && directory_is_of_samples(name) ? FATE_GOES : fate;
}

/*
 * Whether it is a session's name, "PID.START" or "PID-RANDOM", and its owner is gone. @thorough: a pid that is
 * used again is told from the owner's, which costs a look into /proc for each that lives.
 */
static bool owner_is_gone(const char *name, bool thorough)
{
	const char *end;
	uint64_t pid;

	if (directory_is_of_samples(name))
		name += sizeof(DIRECTORY_SAMPLES) - 1;
	pid = plain_number(name, 10, &end);
	if (*name == '0' || pid == 0 || pid > INT32_MAX || (*end != '.' && *end != '-'))
		return false;
	return !pid_lives((uint32_t)pid) ||
	       (thorough && *end == '.' &&
		plain_number(end + 1, 16, NULL) != session_start_time((uint32_t)pid));
}

static int older_first(const void *a, const void *b)
{
	const struct remains *one = a, *other = b;

	if (one->time.tv_sec != other->time.tv_sec)
		return one->time.tv_sec < other->time.tv_sec ? -1 : 1;
	return one->time.tv_nsec < other->time.tv_nsec ? -1 : one->time.tv_nsec > other->time.tv_nsec;
}

static bool is_too_much(unsigned count, uint64_t bytes, const struct session_limits *limits)
{
	return count > limits->count || bytes > limits->bytes;
}

/* Sorting brings pages of the C library, too: only if something has to go. */
static unsigned keep_within(int directory, struct remains *remains, unsigned count,
			    const struct session_limits *limits)
{
	unsigned removed = 0;
	uint64_t bytes = 0;

	for (unsigned n = 0; n < count; n++)
		bytes += remains[n].bytes;
	if (!is_too_much(count, bytes, limits))
		return 0;
	qsort(remains, count, sizeof(*remains), older_first);
	for (unsigned n = 0; n < count && is_too_much(count - n, bytes, limits); n++) {
		removed += unlinkat(directory, remains[n].name, 0) == 0;
		bytes -= remains[n].bytes;
	}
	return removed;
}

static void consider(struct collection *all, const char *name)
{
	struct remains *one;
	struct stat status;
	enum fate fate;

	if (strlen(name) >= sizeof(one->name))
		return;
	fate = judge(all, name, &status);
	if (fate == FATE_GOES)
		all->removed += unlinkat(all->directory, name, 0) == 0;
	if (fate != FATE_REMAINS || all->count == COLLECT_MAX)
		return;
	one = &all->remains[all->count++];
	*one = (struct remains){ .time = status.st_mtim, .bytes = (uint64_t)status.st_blocks * 512 };
	memcpy(one->name, name, strlen(name) + 1);
}

/* Not by readdir(): its buffer would be memory of every program that begins. */
static void look_through(struct collection *all, bool thorough)
{
	long bytes;

	while ((bytes = syscall(SYS_getdents64, all->directory, all->entries, sizeof(all->entries))) > 0) {
		for (long at = 0; at < bytes;) {
			const struct dirent64 *entry = (const struct dirent64 *)(all->entries + at);

			if (owner_is_gone(entry->d_name, thorough))
				consider(all, entry->d_name);
			at += entry->d_reclen;
		}
	}
}

unsigned directory_collect(const struct session_limits *limits, bool thorough)
{
	char path[SESSION_PATH_MAX];
	struct collection *all;
	const char *why;
	unsigned removed;

	if (directory_of_sessions(path, sizeof(path), &why) != 0)
		return 0;
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 0;
	all->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all->directory >= 0) {
		look_through(all, thorough);
		if (all->count)
			all->removed += keep_within(all->directory, all->remains, all->count, limits);
		close(all->directory);
	}
	removed = all->removed;
	munmap(all, sizeof(*all));
	return removed;
}
