/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Output to a path that the user has given; see named.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "file/named.h"

enum {
	LINKS_MAX = 40, /* the kernel's limit */
};

/* The resolution of a path. */
struct walk {
	int at; /* the current directory, O_PATH */
	struct stat directory;
	char base[NAME_MAX + 1]; /* the current component in it */
	char rest[2 * PATH_MAX]; /* of the path, behind the base */
	unsigned links;
	bool by_kernel; /* the base is a link of procfs, whose target may have no path */
	char *why;
};

/* Whether other users may have put files into a directory that we also write to. */
static bool is_shared(const struct stat *directory)
{
	const mode_t group = S_IWGRP | S_ISVTX;

	return (directory->st_mode & S_IWOTH) || (directory->st_mode & group) == group ||
	       (directory->st_uid != geteuid() && directory->st_uid != 0);
}

static int named_refuse(const struct walk *walk, const char *what, uid_t owner)
{
	snprintf(walk->why, NAMED_WHY,
		 "%s is %s of user %u, in a directory that others can write to; choose another place",
		 walk->base, what, (unsigned)owner);
	return -EPERM;
}

/* Continue in another directory; the walk closes its descriptor. Return: 0 or -errno. */
static int named_move(struct walk *walk, int directory)
{
	if (directory < 0)
		return -errno;
	if (walk->at >= 0)
		close(walk->at);
	walk->at = directory;
	return fstat(directory, &walk->directory) == 0 ? 0 : -errno;
}

static int named_enter(struct walk *walk, const char *name, int flags)
{
	return named_move(walk, openat(walk->at, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags));
}

/* Move the next component from the rest to the base. Return: whether it is the last; -errno. */
static int named_next(struct walk *walk)
{
	const char *begin = walk->rest + strspn(walk->rest, "/");
	const size_t bytes = strcspn(begin, "/");
	const char *end = begin + bytes;

	if (bytes > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(walk->base, bytes ? begin : ".", bytes ? bytes : 1);
	walk->base[bytes ? bytes : 1] = 0;
	memmove(walk->rest, end, strlen(end) + 1);
	return walk->rest[strspn(walk->rest, "/")] == 0;
}

/* Replace a link by its target. Return: 0 or -errno. */
static int named_follow(struct walk *walk, const struct stat *link)
{
	char text[PATH_MAX], rest[sizeof(walk->rest)];
	ssize_t bytes;

	if (is_shared(&walk->directory) && link->st_uid != geteuid() && link->st_uid != 0)
		return named_refuse(walk, "a link", link->st_uid);
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	bytes = readlinkat(walk->at, walk->base, text, sizeof(text) - 1);
	if (bytes < 0)
		return -errno;
	text[bytes] = 0;
	if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", text, walk->rest) >= sizeof(rest))
		return -ENAMETOOLONG;
	/* No slash behind the last component, since it may be a file. */
	if (walk->rest[strspn(walk->rest, "/")] == 0)
		rest[bytes] = 0;
	memcpy(walk->rest, rest, strlen(rest) + 1);
	return *text == '/' ? named_move(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

static bool is_procfs(const struct walk *walk)
{
	struct statfs status;

	return fstatfs(walk->at, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

/* Resolve one component. Return: 1: it was the last, and is the base now; 0; -errno. */
static int named_step(struct walk *walk, bool follow_last)
{
	const int last = named_next(walk);
	struct stat status;

	if (last < 0)
		return last;
	if (fstatat(walk->at, walk->base, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return last && errno == ENOENT ? 1 : -errno;
	if (!S_ISLNK(status.st_mode))
		return last ? 1 : named_enter(walk, walk->base, O_NOFOLLOW);
	if (last && !follow_last)
		return 1;
	if (!is_procfs(walk)) /* no user can plant links in procfs */
		return named_follow(walk, &status);
	walk->by_kernel = last;
	return last ? 1 : named_enter(walk, walk->base, 0);
}

/* Resolve a path up to the directory of its last component. @follow_last: if that is a link, follow it too. */
static int named_walk_to(struct walk *walk, const char *path, bool follow_last, char *why)
{
	int result;

	*walk = (struct walk){ .at = -1, .why = why };
	*why = 0;
	if (!*path)
		return -ENOENT;
	if ((size_t)snprintf(walk->rest, sizeof(walk->rest), "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	result = named_move(walk, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (!result)
		result = named_step(walk, follow_last);
	return result < 0 ? result : 0;
}

static void walk_end(struct walk *walk)
{
	if (walk->at >= 0)
		close(walk->at);
}

/* Whether new files get this owner: some file systems give all files the same one. */
static bool is_owner_of_new(int directory, uid_t owner)
{
	static const char name[] = ".burin-owner";
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat status;
	bool is_owner;

	if (fd < 0)
		return false;
	is_owner = fstat(fd, &status) == 0 && status.st_uid == owner;
	close(fd);
	unlinkat(directory, name, 0);
	return is_owner;
}

/* Open the directory that we have made, and check that no other user has replaced it. */
static int enter_made(const struct walk *walk)
{
	int fd = openat(walk->at, walk->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		unlinkat(walk->at, walk->base, AT_REMOVEDIR);
		return error;
	}
	if (status.st_uid == geteuid() || is_owner_of_new(fd, status.st_uid))
		return fd;
	error = named_refuse(walk, "a directory", status.st_uid);
	close(fd);
	return error;
}

int named_directory(const char *path, bool private, char why[NAMED_WHY])
{
	struct walk walk;
	int result = named_walk_to(&walk, path, false, why);

	if (!result && mkdirat(walk.at, walk.base, private ? 0700 : 0777) != 0)
		result = -errno;
	if (!result)
		result = enter_made(&walk);
	walk_end(&walk);
	return result;
}

/* Refuse a file that another user may want us to write to. */
static int named_check(const struct walk *walk, const struct stat *file)
{
	const bool ours = file->st_uid == geteuid();

	if (!is_shared(&walk->directory))
		return 0;
	if (!ours && !(S_ISREG(file->st_mode) && file->st_uid == walk->directory.st_uid))
		return named_refuse(walk, S_ISFIFO(file->st_mode) ? "a pipe" : "a file", file->st_uid);
	return file->st_nlink > 1 ? named_refuse(walk, "another name of a file", file->st_uid) : 0;
}

static int named_open_existing(const struct walk *walk)
{
	struct stat before, now;
	int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC, fd, error;

	if (walk->by_kernel) {
		fd = openat(walk->at, walk->base, flags | O_TRUNC);
		return fd < 0 ? -errno : fd;
	}
	if (fstatat(walk->at, walk->base, &before, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	error = named_check(walk, &before);
	if (error)
		return error;
	/* Wait for a reader only if it was a pipe before. */
	fd = openat(walk->at, walk->base, flags | O_NOFOLLOW | (S_ISREG(before.st_mode) ? O_NONBLOCK : 0));
	if (fd < 0)
		return -errno;
	error = fstat(fd, &now) == 0 ? named_check(walk, &now) : -errno;
	if (!error && S_ISREG(now.st_mode) && ftruncate(fd, 0) != 0)
		error = -errno;
	if (error)
		close(fd);
	return error ? error : fd;
}

int named_file(const char *path, bool private, char why[NAMED_WHY])
{
	struct walk walk;
	int result = named_walk_to(&walk, path, true, why);

	if (!result && path[strlen(path) - 1] == '/')
		result = -EISDIR;
	if (!result) {
		result = openat(walk.at, walk.base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				private ? 0600 : 0666);
		if (result < 0)
			result = errno == EEXIST ? named_open_existing(&walk) : -errno;
	}
	walk_end(&walk);
	return result;
}

int named_remove(const char *path, const struct stat *made)
{
	char why[NAMED_WHY];
	struct stat now;
	struct walk walk;
	int result = named_walk_to(&walk, path, false, why);

	if (!result && fstatat(walk.at, walk.base, &now, AT_SYMLINK_NOFOLLOW) != 0)
		result = -errno;
	if (!result && (!S_ISREG(now.st_mode) || now.st_dev != made->st_dev || now.st_ino != made->st_ino))
		result = -ESTALE;
	if (!result && unlinkat(walk.at, walk.base, 0) != 0)
		result = -errno;
	walk_end(&walk);
	return result;
}

int named_own(const char *path, uid_t *owner)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
	struct stat status;

	if (fd < 0)
		return -errno;
	error = fstat(fd, &status) == 0 ? 0 : -errno;
	if (!error && status.st_uid == geteuid())
		return fd;
	*owner = status.st_uid;
	close(fd);
	return error ? error : -EPERM;
}
