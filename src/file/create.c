/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writing below an open directory; see create.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/create.h"

/* The directory of a name's last component. */
struct parent {
	int directory, opened; /* `opened`: to be closed; -1: none */
	const char *base;
};

/* Return: @result; if it is negative, -errno from before the call. */
static int create_leave(const struct parent *parent, int result)
{
	const int error = errno;

	if (parent->opened >= 0)
		close(parent->opened);
	return result < 0 ? -error : result;
}

static int create_find(struct parent *parent, int directory, const char *name)
{
	const char *slash = strchr(name, '/');
	char first[NAME_MAX + 1];

	*parent = (struct parent){ .directory = directory, .opened = -1, .base = name };
	if (!slash)
		return 0;
	if ((size_t)(slash - name) >= sizeof(first) || strchr(slash + 1, '/'))
		return -EINVAL;
	memcpy(first, name, (size_t)(slash - name));
	first[slash - name] = 0;
	parent->base = slash + 1;
	parent->directory = parent->opened = create_enter(directory, first);
	return parent->opened < 0 ? parent->opened : 0;
}

/* As create_find(); a name in the directory of @from, whose parent is @beside, uses that one. */
static int find_beside(struct parent *parent, const struct parent *beside, int directory, const char *from,
		       const char *name)
{
	const char *slash = strchr(name, '/');

	if (!slash || strncmp(from, name, (size_t)(slash - name) + 1) != 0)
		return create_find(parent, directory, name);
	*parent = (struct parent){ .directory = beside->directory, .opened = -1, .base = slash + 1 };
	return strchr(slash + 1, '/') ? -EINVAL : 0;
}

static bool same_owner(int directory, const struct stat *status)
{
	struct stat above;

	return fstat(directory, &above) == 0 && above.st_uid == status->st_uid;
}

/* Set the directory's mode, independent of the umask. A failure is ignored: some file systems have no modes. */
static void inherit_mode(int directory, int made, mode_t mask)
{
	struct stat above;

	if (fstat(directory, &above) == 0)
		fchmod(made, above.st_mode & mask);
}

int create_enter(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && same_owner(directory, &status))
		return fd;
	close(fd);
	return -EPERM;
}

int create_directory(int directory, const char *name)
{
	int fd;

	if (mkdirat(directory, name, 0700) != 0)
		return -errno;
	fd = create_enter(directory, name);
	if (fd >= 0)
		inherit_mode(directory, fd, 0777);
	else
		unlinkat(directory, name, AT_REMOVEDIR);
	return fd;
}

int create_file(int directory, const char *name)
{
	struct parent parent;
	int error = create_find(&parent, directory, name), fd;

	if (error)
		return error;
	fd = openat(parent.directory, parent.base, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	fd = create_leave(&parent, fd);
	if (fd >= 0)
		inherit_mode(directory, fd, 0666);
	return fd;
}

int create_draft(int directory)
{
	int fd = create_file(directory, CREATE_DRAFT);

	if (fd != -EEXIST)
		return fd;
	create_remove(directory, CREATE_DRAFT); /* left by a killed writer */
	return create_file(directory, CREATE_DRAFT);
}

/* Check that we may have made a file. Only a file opened for reading may have several names. Return: 0 or -errno. */
static int create_check(int directory, const struct stat *status, int access)
{
	if (S_ISLNK(status->st_mode))
		return -ELOOP;
	if (!S_ISREG(status->st_mode) || !same_owner(directory, status))
		return -EPERM;
	return access != O_RDONLY && status->st_nlink > 1 ? -EMLINK : 0;
}

static int create_open_existing(int directory, const char *name, int access)
{
	struct stat status;
	struct parent parent;
	int error = create_find(&parent, directory, name), fd;

	if (error)
		return error;
	/* Check before opening, since opening a device can have effects; then check again what was opened. */
	if (fstatat(parent.directory, parent.base, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return create_leave(&parent, -1);
	error = create_check(directory, &status, access);
	if (error) {
		create_leave(&parent, 0);
		return error;
	}
	fd = openat(parent.directory, parent.base, access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	fd = create_leave(&parent, fd);
	if (fd < 0)
		return fd;
	error = fstat(fd, &status) == 0 ? create_check(directory, &status, access) : -errno;
	if (error)
		close(fd);
	return error ? error : fd;
}

int create_reopen(int directory, const char *name)
{
	return create_open_existing(directory, name, O_RDWR);
}

int create_read(int directory, const char *name)
{
	return create_open_existing(directory, name, O_RDONLY);
}

int create_rename(int directory, const char *from, const char *to)
{
	struct parent source, target;
	int error = create_find(&source, directory, from);

	if (error)
		return error;
	error = find_beside(&target, &source, directory, from, to);
	if (!error) {
		error = renameat(source.directory, source.base, target.directory, target.base);
		error = create_leave(&target, error);
	}
	create_leave(&source, 0);
	return error;
}

int create_remove(int directory, const char *name)
{
	struct parent parent;
	int error = create_find(&parent, directory, name);

	return error ? error : create_leave(&parent, unlinkat(parent.directory, parent.base, 0));
}

/* Get the last component of a path, without trailing slashes. */
static bool last_name(const char *path, char name[NAME_MAX + 1])
{
	size_t end = strlen(path), begin;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/'; begin--)
		;
	if (end == begin || end - begin > NAME_MAX)
		return false;
	memcpy(name, path + begin, end - begin);
	name[end - begin] = 0;
	return true;
}

int create_remove_directory(int directory, const char *path)
{
	int above = openat(directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC), error = 0;
	struct stat opened, named;
	char name[NAME_MAX + 1];

	if (above < 0)
		return -errno;
	if (!last_name(path, name))
		error = -EINVAL;
	else if (fstat(directory, &opened) != 0 || fstatat(above, name, &named, AT_SYMLINK_NOFOLLOW) != 0)
		error = -errno;
	else if (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino)
		error = -ENOENT;
	else if (unlinkat(above, name, AT_REMOVEDIR) != 0)
		error = -errno;
	close(above);
	return error;
}
