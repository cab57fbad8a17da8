/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opening files that other processes or users name; see foreign.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "file/foreign.h"

enum {
	TRIES = 8,	/* if a directory is renamed during the resolution of `..` */
	LINKS_MAX = 40, /* the kernel's limit */
	DEPTH_MAX = 128,
};

/* ---- rights */

/* The rights that a thread drops for a moment. */
struct rights {
	bool dropped;
	uid_t user;
	gid_t group;
	int count; /* of groups, up to 65536 */
	gid_t *groups;
};

/* Here and below: system calls instead of the C library's functions, which would change all threads. */
static void restore_rights(const struct rights *rights)
{
	if (!rights->dropped)
		return;
	setfsuid(rights->user);
	setfsgid(rights->group);
	syscall(SYS_setgroups, rights->count, rights->groups);
	free(rights->groups);
}

/* Read the groups, which must be restored later. Return: 0, -ENOMEM or -errno. */
static int read_groups(struct rights *rights)
{
	rights->groups = NULL;
	rights->count = (int)syscall(SYS_getgroups, 0, NULL);
	if (rights->count > 0) {
		rights->groups = calloc((size_t)rights->count, sizeof(*rights->groups));
		if (!rights->groups)
			return -ENOMEM;
		rights->count = (int)syscall(SYS_getgroups, rights->count, rights->groups);
	}
	return rights->count < 0 ? -errno : 0;
}

/*
 * Continue with the rights of a user. If a thread's file system user is no longer root, the kernel removes its
 * capabilities that override file modes. Only root drops rights: an ordinary user may record all that it may read.
 */
static int drop_rights(struct rights *rights, const struct foreign_user *reader)
{
	int error;

	rights->dropped = false;
	if (!reader || geteuid() != 0)
		return 0;
	rights->user = (uid_t)setfsuid((uid_t)-1);
	rights->group = (gid_t)setfsgid((gid_t)-1);
	if (rights->user == reader->user)
		return 0;
	error = read_groups(rights);
	if (!error && syscall(SYS_setgroups, 0, NULL) != 0)
		error = -errno;
	if (error) {
		free(rights->groups);
		return error;
	}
	rights->dropped = true;
	setfsgid(reader->group);
	setfsuid(reader->user);
	if ((uid_t)setfsuid((uid_t)-1) == reader->user && (gid_t)setfsgid((gid_t)-1) == reader->group)
		return 0;
	restore_rights(rights);
	return -EPERM;
}

/* ---- from a path to a handle */

/* A resolution name by name, for kernels and system call filters without openat2(2). */
struct walk {
	int stack[DEPTH_MAX]; /* handles, from the root to the last name */
	unsigned depth;
	unsigned links;
	char rest[PATH_MAX];
};

static void foreign_leave(struct walk *walk, unsigned depth)
{
	while (walk->depth > depth)
		close(walk->stack[--walk->depth]);
}

/* Replace a link's name by its target. */
static int foreign_follow(struct walk *walk, int link, const char *behind, bool no_links)
{
	char rest[PATH_MAX], target[PATH_MAX];
	struct statfs file_system;
	ssize_t bytes;

	if (no_links || ++walk->links > LINKS_MAX || fstatfs(link, &file_system) != 0 ||
	    file_system.f_type == PROC_SUPER_MAGIC)
		return -ELOOP;
	bytes = readlinkat(link, "", target, sizeof(target) - 1);
	if (bytes < 0)
		return -errno;
	target[bytes] = 0;
	if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", target, behind) >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, sizeof(rest));
	if (target[0] == '/')
		foreign_leave(walk, 1);
	return 0;
}

static int foreign_step(struct walk *walk, const char *name, const char *behind, bool no_links)
{
	struct stat status;
	int next, error = 0;

	if (strcmp(name, "..") == 0) {
		foreign_leave(walk, walk->depth > 1 ? walk->depth - 1 : 1);
	} else if (strcmp(name, ".") != 0) {
		next = openat(walk->stack[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		if (fstat(next, &status) != 0)
			error = -errno;
		else if (S_ISLNK(status.st_mode))
			error = foreign_follow(walk, next, behind, no_links);
		else if (walk->depth == DEPTH_MAX)
			error = -ENAMETOOLONG;
		if (!error && !S_ISLNK(status.st_mode))
			walk->stack[walk->depth++] = next;
		else
			close(next);
		if (error || S_ISLNK(status.st_mode))
			return error;
	}
	memmove(walk->rest, behind, strlen(behind) + 1);
	return 0;
}

static __attribute__((noinline)) int foreign_walk_to(int root, const char *path, bool no_links)
{
	struct walk walk = { .stack = { fcntl(root, F_DUPFD_CLOEXEC, 0) }, .depth = 1 };
	char name[NAME_MAX + 1];
	int error = walk.stack[0] < 0 ? -errno : 0, handle = -1;

	if ((size_t)snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= sizeof(walk.rest))
		error = -ENAMETOOLONG;
	while (!error) {
		const char *at = walk.rest + strspn(walk.rest, "/");
		const size_t bytes = strcspn(at, "/");

		if (bytes == 0)
			break;
		if (bytes > NAME_MAX) {
			error = -ENAMETOOLONG;
			break;
		}
		memcpy(name, at, bytes);
		name[bytes] = 0;
		error = foreign_step(&walk, name, at + bytes, no_links);
	}
	if (!error)
		handle = walk.stack[--walk.depth];
	if (walk.stack[0] < 0)
		return error;
	foreign_leave(&walk, 0);
	return error ? error : handle;
}

static int foreign_resolve(int root, const char *path, bool no_links)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (no_links ? RESOLVE_NO_SYMLINKS : 0),
	};
	int handle = -1;

	for (unsigned n = 0; handle < 0 && n < TRIES && (n == 0 || errno == EAGAIN); n++)
		handle = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (handle < 0 && (errno == ENOSYS || errno == EPERM))
		return foreign_walk_to(root, path, no_links);
	return handle < 0 ? -errno : handle;
}

/* ---- from a handle to an open file */

/* File systems of the kernel. Their files appear to be regular, but reading some of them blocks or consumes data. */
static bool is_synthetic(const struct statfs *file_system)
{
	static const long kinds[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC,	      DEBUGFS_MAGIC,
				      TRACEFS_MAGIC,	SECURITYFS_MAGIC,     SELINUX_MAGIC,
				      SMACK_MAGIC,	CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC,
				      BPF_FS_MAGIC,	PSTOREFS_MAGIC,	      EFIVARFS_MAGIC,
				      BINFMTFS_MAGIC,	RDTGROUP_SUPER_MAGIC, NSFS_MAGIC,
				      0x62656570 /* configfs */ };

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		if ((unsigned)file_system->f_type == (unsigned)kinds[n])
			return true;
	return false;
}

static int foreign_check(const struct foreign *how, int handle)
{
	struct stat status;
	struct statfs file_system;

	if (fstat(handle, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOTSUP;
	if (fstatfs(handle, &file_system) != 0)
		return -errno;
	if (is_synthetic(&file_system))
		return -ENOTSUP;
	if (how->owner && status.st_uid != 0 && status.st_uid != how->owner->user)
		return -EPERM;
	return how->bytes_max && (uint64_t)status.st_size > how->bytes_max ? -EFBIG : 0;
}

/* Open a handle's file; closes @handle. O_NONBLOCK: do not wait for another user's lease on the file. */
static int open_handle(const struct foreign *how, int handle)
{
	char path[32];
	int error = foreign_check(how, handle), file = -1;

	if (!error) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
		file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		error = file < 0 ? -errno : 0;
	}
	close(handle);
	return error ? error : file;
}

static int open_at(const struct foreign *how, int root, const char *path)
{
	struct rights rights;
	int top = root, handle, error;

	if (root == FOREIGN_HERE)
		top = foreign_root("/");
	if (top < 0)
		return top;
	error = drop_rights(&rights, how->reader);
	if (!error) {
		handle = foreign_resolve(top, path, how->no_links);
		error = handle < 0 ? handle : open_handle(how, handle);
		restore_rights(&rights);
	}
	if (root == FOREIGN_HERE)
		close(top);
	return error;
}

/* Not inlined, as foreign_walk_to(): arrays that are not used would end the kernel's copy of a recorder's stack. */
static __attribute__((noinline)) int open_relative(const struct foreign *how, const char *path)
{
	char whole[PATH_MAX], here[PATH_MAX];

	if (!getcwd(here, sizeof(here)))
		return -errno;
	if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", here, path) >= sizeof(whole))
		return -ENAMETOOLONG;
	return open_at(how, FOREIGN_HERE, whole);
}

int foreign_open(const struct foreign *how, int root, const char *path)
{
	return root == FOREIGN_HERE && path[0] != '/' ? open_relative(how, path) : open_at(how, root, path);
}

/* Following such a link takes our rights; its target is opened with the reader's rights. */
int foreign_open_link(const struct foreign *how, const char *link)
{
	const int handle = open(link, O_PATH | O_CLOEXEC);
	struct rights rights;
	int error;

	if (handle < 0)
		return -errno;
	error = drop_rights(&rights, how->reader);
	if (error) {
		close(handle);
		return error;
	}
	error = open_handle(how, handle);
	restore_rights(&rights);
	return error;
}

int foreign_root(const char *path)
{
	const int handle = open(*path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return handle < 0 ? -errno : handle;
}

/* Read the last number of a line of /proc/PID/status: the file system user or group, or the innermost pid. */
static bool last_number(const char *line, const char *key, uint32_t *number)
{
	const char *last = strrchr(line, '\t');

	if (!last || strncmp(line, key, strlen(key)) != 0)
		return false;
	*number = (uint32_t)strtoul(last, NULL, 10);
	return true;
}

int foreign_process_read(struct foreign_process *process, uint32_t pid)
{
	char path[64], line[256];
	bool user = false, group = false;
	FILE *file;

	*process = (struct foreign_process){ .inner_pid = pid };
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		user |= last_number(line, "Uid:", &process->user.user);
		group |= last_number(line, "Gid:", &process->user.group);
		if (last_number(line, "NSpid:", &process->inner_pid))
			break; /* the last of the three */
	}
	if (file)
		fclose(file);
	return user && group ? 0 : -ESRCH;
}

/* The creator of a process's outermost user namespace below ours; FOREIGN_NO_USER: the process is in ours. */
static uid_t namespace_maker(uint32_t pid)
{
	uid_t maker = FOREIGN_NO_USER;
	struct stat ours, theirs;
	char path[64];
	int space, above;

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	space = open(path, O_RDONLY | O_CLOEXEC);
	while (space >= 0 && stat("/proc/self/ns/user", &ours) == 0 && fstat(space, &theirs) == 0 &&
	       ours.st_ino != theirs.st_ino && ioctl(space, NS_GET_OWNER_UID, &maker) == 0) {
		above = ioctl(space, NS_GET_PARENT);
		close(space);
		space = above;
	}
	if (space >= 0)
		close(space);
	return maker;
}

uid_t foreign_user_of(uint32_t pid, struct foreign_user *own)
{
	struct foreign_process process;
	uid_t maker;

	if (foreign_process_read(&process, pid) != 0)
		return FOREIGN_NO_USER;
	*own = process.user;
	maker = namespace_maker(pid);
	return maker == FOREIGN_NO_USER || maker == 0 ? process.user.user : maker;
}
