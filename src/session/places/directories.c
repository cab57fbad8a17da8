/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* All directories with sessions. For the command; a traced program uses only its own directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "session/places/directory.h"

enum {
	VISITED_MAX = 4, /* directories of one user that may have two names */
};

struct visitor {
	bool all_users;
	void (*visit)(void *data, int fd, const char *path, uint32_t user);
	void *data;
	struct stat visited[VISITED_MAX];
	unsigned count;
};

static bool was_visited(const struct visitor *visitor, const struct stat *status)
{
	for (unsigned n = 0; n < visitor->count; n++)
		if (visitor->visited[n].st_dev == status->st_dev &&
		    visitor->visited[n].st_ino == status->st_ino)
			return true;
	return false;
}

/* Report a directory that cannot be read, unless it is missing or another user's. */
static void directories_report(const struct visitor *visitor, const char *path, uint32_t user)
{
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EACCES && errno != EPERM)
		visitor->visit(visitor->data, -errno, path, user);
}

/* Other users can make anything under such a name, so only a private directory of that user is visited. */
static void directories_look_at(struct visitor *visitor, const char *path, uint32_t user)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0) {
		directories_report(visitor, path, user);
	} else if ((status.st_mode & 077) == 0 && status.st_uid == user && !was_visited(visitor, &status)) {
		if (user == nolibc_user() && visitor->count < VISITED_MAX)
			visitor->visited[visitor->count++] = status;
		visitor->visit(visitor->data, fd, path, user);
	}
	if (fd >= 0)
		close(fd);
}

/* A dot and hexadecimal digits. */
static bool is_random(const char *end)
{
	return *end == '.' && end[1] && !end[1 + strspn(end + 1, "0123456789abcdef")];
}

/* @entry: the user's number, then, if @secluded, an optional random number. */
static void directories_consider(struct visitor *visitor, const char *entry, bool secluded, const char *path)
{
	const char *end;
	const uint64_t user = nolibc_number(entry, 10, &end);

	if (end == entry || user > UINT32_MAX || (*end && !(secluded && is_random(end))))
		return;
	if (visitor->all_users || user == nolibc_user())
		directories_look_at(visitor, path, (uint32_t)user);
}

static void each_entry(struct visitor *visitor, const char *folder, const char *prefix, const char *suffix)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	char path[SESSION_PATH_MAX];

	if (!directory)
		directories_report(visitor, folder, nolibc_user());
	while (directory && (errno = 0, entry = readdir(directory))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s%s", folder, entry->d_name, suffix) >=
			    sizeof(path))
			continue;
		directories_consider(visitor, entry->d_name + strlen(prefix), !*suffix, path);
	}
	if (directory && errno)
		directories_report(visitor, folder, nolibc_user());
	if (directory)
		closedir(directory);
}

void directory_each(bool all_users, void (*visit)(void *data, int fd, const char *path, uint32_t user),
		    void *data)
{
	struct visitor visitor = { .all_users = all_users, .visit = visit, .data = data };
	const char *runtime = nolibc_environment("XDG_RUNTIME_DIR");
	char path[SESSION_PATH_MAX];

	if (runtime && runtime[0] == '/' && directory_is_own(runtime) &&
	    (size_t)snprintf(path, sizeof(path), "%s/burin", runtime) < sizeof(path))
		directories_look_at(&visitor, path, nolibc_user());
	each_entry(&visitor, "/run/user", "", "/burin");
	each_entry(&visitor, "/dev/shm", "burin-", "");
}

bool directory_is_taken(char *usual, size_t bytes, char *directory, size_t directory_bytes)
{
	struct stat status;
	const char *why;

	snprintf(usual, bytes, "/dev/shm/burin-%u", nolibc_user());
	return lstat(usual, &status) == 0 &&
	       directory_of_sessions(directory, directory_bytes, DIRECTORY_USUAL, true, &why) == 0 &&
	       strcmp(usual, directory) != 0;
}
