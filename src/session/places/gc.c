/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Remove sessions that are not needed any more.
 *
 * There is no daemon: each traced program does this when it starts, and `burin gc` at any time. The files belong to this
 * user but may be damaged.
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

#include "base/number.h"
#include "base/pid.h"
#include "base/nolibc.h"
#include "session/places/directory.h"
#include "session/layout.h"
#include "session/places/namespaces.h"

enum {
	COLLECT_MAX = 512,	 /* sessions of killed programs that are compared at a time */
	COLLECT_ENTRIES = 2048,	 /* bytes of the directory at a time */
	COLLECT_LINES = 1 << 18, /* lines of /proc/PID/maps that are read in all */
	COLLECT_ASKING = 64,	 /* the cost of opening one such file, in lines */
	COLLECT_LIVING =
		64, /* sessions that are opened though the owner's pid lives, since it may be another namespace's */
	COLLECT_UNFINISHED_S = 60, /* a file without a header that is older is not a session being made */
};

/* A session of killed processes that has records. */
struct remains {
	char name[48];
	struct timespec time;
	uint64_t bytes;
	uint64_t namespace; /* 0: this one; another, of which it is not known whether it is gone */
};

/* The state of one run. It has a temporary mapping of its own, because a program's stack and heap would keep the
 * memory. */
struct collection {
	const struct directory_gc *how;
	int directory;
	unsigned count, removed,
		elsewhere; /* of `remains`; removed sessions; of `remains`, with another namespace */
	struct namespaces namespaces;
	uint64_t namespace; /* of the current file, as of `remains` */
	bool owner_lives;   /* of the current file, or another process with that pid in this namespace */
	unsigned living;    /* how many of these were opened */
	uint64_t lines;	    /* of /proc/PID/maps that may still be read */
	struct wire_session header; /* of the current file */
	_Alignas(struct dirent64) char entries[COLLECT_ENTRIES];
	struct remains remains[COLLECT_MAX];
};

static bool gc_spend(uint64_t *lines, uint64_t cost)
{
	const bool enough = *lines >= cost;

	*lines = enough ? *lines - cost : 0;
	return enough;
}

int (*directory_open_maps)(uint32_t pid);

/* Return: 0 and *maps, NULL if the process has ended; or -errno. */
static int gc_open_maps(uint32_t pid, FILE **maps)
{
	char path[32];
	int file;

	*maps = NULL;
	if (directory_open_maps) {
		file = directory_open_maps(pid);
	} else {
		snprintf(path, sizeof(path), "/proc/%u/maps", pid);
		file = open(path, O_RDONLY | O_CLOEXEC);
		file = file < 0 ? -errno : file;
	}
	if (file < 0)
		return file == -ENOENT || file == -ESRCH ? 0 : file;
	*maps = fdopen(file, "r");
	if (*maps)
		return 0;
	close(file);
	return -ENOMEM;
}

int directory_mapped(uint32_t pid, uint64_t *lines, void (*visit)(void *data, uint64_t inode), void *data)
{
	char line[512];
	bool whole;
	FILE *maps;
	int error;

	if (!gc_spend(lines, COLLECT_ASKING))
		return -E2BIG;
	error = gc_open_maps(pid, &maps);
	if (!maps)
		return error;
	while ((whole = gc_spend(lines, 1)) && fgets(line, sizeof(line), maps)) {
		unsigned long long inode;

		/* Device numbers differ between views of a file system, so compare only inode and name. */
		if (sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && strstr(line, "/burin") != NULL)
			visit(data, inode);
	}
	whole = whole && (!ferror(maps) || errno == ESRCH);
	fclose(maps);
	return whole ? 0 : -EIO;
}

struct search {
	uint64_t inode;
	bool found;
};

static void gc_compare(void *data, uint64_t inode)
{
	struct search *search = data;

	search->found |= inode == search->inode;
}

bool directory_maps(uint32_t pid, const struct stat *file, uint64_t *lines)
{
	struct search search = { .inode = file->st_ino };

	return directory_mapped(pid, lines, gc_compare, &search) != 0 || search.found;
}

/* A damaged list may name every process, in each session again: beyond the limit of lines, sessions count as used. */
static bool used_by_others(struct collection *all, const struct stat *status)
{
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t pid = session_process(&all->header, n);

		if (pid_lives(pid) && directory_maps(pid, status, &all->lines))
			return true;
	}
	return false;
}

/* Whether any record was written; true if that cannot be read. */
static bool gc_has_records(int fd, const struct wire_geometry *geometry)
{
	struct wire_ring ring;

	for (uint32_t n = 0; n < geometry->cpus + geometry->locked; n++)
		if (pread(fd, &ring, sizeof(ring), (off_t)(geometry->controls_offset + n * sizeof(ring))) !=
			    (ssize_t)sizeof(ring) ||
		    ring.tail != 0)
			return true;
	return false;
}

enum fate {
	FATE_STAYS,
	FATE_GOES,
	FATE_REMAINS
};

/* Judge a file without a valid header: it may be a session that another process is making. */
static enum fate judge_unknown(const struct stat *status)
{
	struct timespec now;

	return syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0 &&
			       now.tv_sec - status->st_mtim.tv_sec > COLLECT_UNFINISHED_S
		       ? FATE_REMAINS
		       : FATE_STAYS;
}

/*
 * Whether a session of another PID namespace may be used. All processes are asked only if there are too many such sessions, since this
 * takes longer than the start of a program (keep_within).
 */
static bool is_used_elsewhere(struct collection *all, int fd)
{
	const uint64_t namespace = all->header.geometry.pid_namespace;

	if (!namespace || !namespaces_file_is_unused(fd))
		return true;
	if (all->how->thorough)
		return !namespaces_is_gone(&all->namespaces, namespace);
	all->namespace = namespace;
	return false;
}

static enum fate judge_open(struct collection *all, int fd, const struct stat *status)
{
	struct wire_session *header = &all->header;
	bool here;
	ssize_t got;

	if (!S_ISREG(status->st_mode) || status->st_uid != nolibc_user())
		return FATE_STAYS;
	got = pread(fd, header, sizeof(*header), 0);
	if (got < 0 || (got != (ssize_t)sizeof(*header) && status->st_size >= (off_t)sizeof(*header)))
		return FATE_STAYS;
	if (got != (ssize_t)sizeof(*header) || !layout_has_magic(&header->geometry))
		return all->owner_lives ? FATE_STAYS : judge_unknown(status);
	here = session_is_here(&header->geometry);
	if (here ? all->owner_lives : is_used_elsewhere(all, fd))
		return FATE_STAYS;
	if (layout_check(&header->geometry, (uint64_t)status->st_size) ||
	    header->geometry.owner_kind != WIRE_OWNER_PROGRAM)
		return FATE_REMAINS;
	if (here && used_by_others(all, status))
		return FATE_STAYS;
	/* A child may enter, or its fork has failed; a process may execute another program. */
	if (session_expects(header) || all->namespace)
		return FATE_REMAINS;
	return !session_was_killed(header) || !gc_has_records(fd, &header->geometry) ? FATE_GOES
										     : FATE_REMAINS;
}

/*
 * Decide about a session file whose owner is gone, or may be of another namespace. A file that is not understood may be of another
 * version: it stays.
 */
static enum fate gc_judge(struct collection *all, const char *name, struct stat *status)
{
	int fd = openat(all->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum fate fate;

	if (fd < 0)
		return FATE_STAYS;
	fate = fstat(fd, status) == 0 ? judge_open(all, fd, status) : FATE_STAYS;
	close(fd);
	/* Samples are useless without their recorder. */
	return fate == FATE_REMAINS && directory_is_of_samples(name) && !all->namespace ? FATE_GOES : fate;
}

/*
 * Whether it is a session's name, "PID.START" or "PID-RANDOM", and its owner is gone. @thorough: also compare the start
 * time of a living process with that pid, which costs a read of /proc.
 */
static bool owner_is_gone(const char *name, bool thorough)
{
	const char *end;
	uint64_t pid, start;

	if (directory_is_of_samples(name))
		name += sizeof(DIRECTORY_SAMPLES) - 1;
	if (!directory_has_form(name))
		return false;
	pid = nolibc_number(name, 10, &end);
	if (pid > INT32_MAX)
		return false;
	if (!pid_lives((uint32_t)pid))
		return true;
	start = thorough && *end == '.' ? session_start_time((uint32_t)pid) : SESSION_START_UNKNOWN;
	return start != SESSION_START_UNKNOWN && start != nolibc_number(end + 1, 16, NULL);
}

/* Pids of containers are low, and most of these live here. Only root can find out more (namespaces_is_gone). */
static bool is_perhaps_elsewhere(struct collection *all, const char *name)
{
	return nolibc_user() == 0 && directory_has_form(name) &&
	       (all->how->thorough || all->living++ < COLLECT_LIVING);
}

static void remove_one(struct collection *all, const char *name)
{
	if (!all->how->dry_run && unlinkat(all->directory, name, 0) != 0)
		return;
	all->removed++;
	if (all->how->visit)
		all->how->visit(all->how->data, name);
}

static int older_first(const void *a, const void *b)
{
	const struct remains *one = a, *other = b;

	return number_order(one->time.tv_sec, other->time.tv_sec)
		       ?: number_order(one->time.tv_nsec, other->time.tv_nsec);
}

static bool is_too_much(unsigned count, uint64_t bytes, const struct session_limits *limits)
{
	return count > limits->count || bytes > limits->bytes;
}

/* Forget sessions of namespaces that live. */
static void drop_living(struct collection *all)
{
	unsigned kept = 0;

	for (unsigned n = 0; n < all->count; n++)
		if (!all->remains[n].namespace ||
		    namespaces_is_gone(&all->namespaces, all->remains[n].namespace))
			all->remains[kept++] = all->remains[n];
	all->count = kept;
	all->elsewhere = 0;
}

static uint64_t sum_bytes(const struct collection *all)
{
	uint64_t bytes = 0;

	for (unsigned n = 0; n < all->count; n++)
		bytes += all->remains[n].bytes;
	return bytes;
}

/* Sort only if a session has to go: sorting also loads pages of the C library. */
static void keep_within(struct collection *all, const struct session_limits *limits)
{
	uint64_t bytes = sum_bytes(all);

	if (all->elsewhere && is_too_much(all->count, bytes, limits)) {
		drop_living(all);
		bytes = sum_bytes(all);
	}
	if (!is_too_much(all->count, bytes, limits))
		return;
	qsort(all->remains, all->count, sizeof(*all->remains), older_first);
	for (unsigned n = 0; n < all->count && is_too_much(all->count - n, bytes, limits); n++) {
		remove_one(all, all->remains[n].name);
		bytes -= all->remains[n].bytes;
	}
}

static void gc_consider(struct collection *all, const char *name)
{
	struct remains *one;
	struct stat status;
	enum fate fate;

	if (strlen(name) >= sizeof(one->name))
		return;
	all->namespace = 0;
	fate = gc_judge(all, name, &status);
	if (fate == FATE_GOES)
		remove_one(all, name);
	if (fate != FATE_REMAINS || all->count == COLLECT_MAX)
		return;
	one = &all->remains[all->count++];
	*one = (struct remains){ .time = status.st_mtim, .bytes = (uint64_t)status.st_blocks * 512 };
	one->namespace = all->namespace;
	all->elsewhere += one->namespace != 0;
	memcpy(one->name, name, strlen(name) + 1);
}

/* Not with readdir(): its buffer would cost memory in every program that starts. */
static void look_through(struct collection *all)
{
	long bytes;

	while ((bytes = syscall(SYS_getdents64, all->directory, all->entries, sizeof(all->entries))) > 0) {
		for (long at = 0; at < bytes;) {
			const struct dirent64 *entry = (const struct dirent64 *)(all->entries + at);

			all->owner_lives = !owner_is_gone(entry->d_name, all->how->thorough);
			if (!all->owner_lives || is_perhaps_elsewhere(all, entry->d_name))
				gc_consider(all, entry->d_name);
			at += entry->d_reclen;
		}
	}
}

unsigned directory_gc(const char *path, const struct directory_gc *how)
{
	struct collection *all;
	unsigned removed;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 0;
	all->how = how;
	all->lines = COLLECT_LINES;
	all->directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (all->directory >= 0) {
		look_through(all);
		if (all->count)
			keep_within(all, &how->limits);
		close(all->directory);
	}
	removed = all->removed;
	munmap(all, sizeof(*all));
	return removed;
}
