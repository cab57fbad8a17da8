/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The private directory of a user's sessions: /dev/shm/burin-UID, or, if another user has taken that name,
 * $XDG_RUNTIME_DIR/burin or /dev/shm/burin-UID.RANDOM. Without that variable it is /run/user/UID/burin. It serves, too, while
 * /dev/shm is full, which any user can bring about.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "base/text.h"
#include "session/places/directory.h"

enum {
	DIRECTORY_ENTRIES = 2048, /* bytes of a directory at a time */
	DIRECTORY_NAME_MAX = 64,
	DIRECTORY_PID_DIGITS = 10,
	DIRECTORY_RANDOM_BYTES = 4,
};

static const char shm[] = "/dev/shm";
static const char run_user[] = "/run/user/";

/* Whether a directory belongs to this user and no other user can read it. */
static bool directory_is_private(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == nolibc_user() &&
	       (status.st_mode & 077) == 0;
}

bool directory_is_own(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == nolibc_user() &&
	       (status.st_mode & 022) == 0;
}

/* Make a directory if it is missing and @make. Return: 0: it exists and is private to this user; -errno. */
static int make_private(const char *path, bool make)
{
	if (make && mkdir(path, 0700) == 0)
		chmod(path, 0700); /* whatever the umask */
	else if (make && errno != EEXIST)
		return errno == EDQUOT ? -ENOSPC : -errno;
	return directory_is_private(path) ? 0 : -EPERM;
}

/* "/dev/shm/burin-UID" */
static struct nolibc_string shared_name(char *path, size_t path_bytes)
{
	struct nolibc_string name = { path, path_bytes, 0, false };

	nolibc_text(&name, shm);
	nolibc_text(&name, "/burin-");
	nolibc_decimal(&name, nolibc_user());
	return name;
}

static int in_shared(char *path, size_t path_bytes, bool make)
{
	const struct nolibc_string name = shared_name(path, path_bytes);

	return name.truncated ? -ENAMETOOLONG : make_private(path, make);
}

static int in_runtime(char *path, size_t path_bytes, bool make)
{
	const char *runtime = nolibc_environment("XDG_RUNTIME_DIR");
	struct nolibc_string name = { path, path_bytes, 0, false };

	nolibc_text(&name, runtime && *runtime ? runtime : run_user);
	if (!runtime || !*runtime)
		nolibc_decimal(&name, nolibc_user());
	if (*path != '/' || name.truncated || !directory_is_own(path))
		return -ENOENT;
	nolibc_text(&name, "/burin");
	return name.truncated ? -ENAMETOOLONG : make_private(path, make);
}

/* The first by name of this user's directories "/dev/shm/burin-UID.RANDOM", so that all programs find the same one. */
static bool find_secluded(char *path, size_t path_bytes)
{
	_Alignas(struct dirent64) char entries[DIRECTORY_ENTRIES];
	char found[DIRECTORY_NAME_MAX] = "";
	struct nolibc_string name = shared_name(path, path_bytes);
	const size_t folder = sizeof(shm), bytes = name.used - folder;
	int fd = open(shm, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long got;

	while (fd >= 0 && (got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < got; at += ((const struct dirent64 *)(entries + at))->d_reclen) {
			const char *entry = ((const struct dirent64 *)(entries + at))->d_name;
			const size_t length = strlen(entry);

			if (length >= sizeof(found) || length <= bytes || entry[bytes] != '.' ||
			    memcmp(entry, path + folder, bytes) != 0 || (*found && strcmp(entry, found) > 0))
				continue;
			name.used = folder;
			nolibc_text(&name, entry);
			if (!name.truncated && directory_is_private(path))
				memcpy(found, entry, length + 1);
		}
	}
	if (fd >= 0)
		close(fd);
	name.used = folder;
	nolibc_text(&name, found);
	return *found != 0;
}

/* A directory with a random name, which no other user can have taken beforehand. */
static int in_seclusion(char *path, size_t path_bytes, bool make)
{
	struct nolibc_string name;
	uint64_t random;

	if (find_secluded(path, path_bytes))
		return 0;
	if (!make)
		return -ENOENT;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	name = shared_name(path, path_bytes);
	nolibc_text(&name, ".");
	nolibc_hex(&name, random);
	return name.truncated ? -ENAMETOOLONG : make_private(path, make);
}

int directory_of_sessions(char *path, size_t path_bytes, enum directory_place place, bool make,
			  const char **why)
{
	const bool shared = place == DIRECTORY_USUAL && access(shm, W_OK | X_OK) == 0;
	int error = shared ? in_shared(path, path_bytes, make) : -ENOENT;

	if (error && error != -ENOSPC)
		error = in_runtime(path, path_bytes, make);
	if (error && error != -ENOSPC && shared)
		error = in_seclusion(path, path_bytes, make);
	if (error == -ENOENT)
		*why = "neither /dev/shm nor XDG_RUNTIME_DIR can be written to";
	else if (error == -EPERM)
		*why = "the directory for sessions is not private to this user";
	else if (error == -ENOSPC)
		*why = DIRECTORY_FULL;
	else
		*why = "the directory for sessions cannot be made";
	return error;
}

static bool is_hex(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
}

bool directory_is_spare(const char *path)
{
	char usual[SESSION_PATH_MAX];
	const char *why;

	return directory_of_sessions(usual, sizeof(usual), DIRECTORY_USUAL, false, &why) != 0 ||
	       strncmp(path, usual, strlen(usual)) != 0;
}

bool directory_has_form(const char *name)
{
	size_t pid = 0, rest = 0;
	bool random;

	while (name[pid] >= '0' && name[pid] <= '9')
		pid++;
	if (!pid || pid > DIRECTORY_PID_DIGITS || name[0] == '0' || (name[pid] != '.' && name[pid] != '-'))
		return false;
	random = name[pid] == '-';
	name += pid + 1;
	while (is_hex(name[rest]))
		rest++;
	return !name[rest] && (random ? rest == 2 * DIRECTORY_RANDOM_BYTES : rest && rest <= NUMBER_HEX_MAX);
}

int directory_file(char *path, size_t path_bytes, enum directory_place place, bool make,
		   const struct wire_geometry *geometry, const char **why)
{
	int error = directory_of_sessions(path, path_bytes, place, make, why);
	struct nolibc_string name = { path, path_bytes, error ? 0 : strlen(path), false };
	char random[2 * DIRECTORY_RANDOM_BYTES];

	if (error)
		return error;
	nolibc_text(&name, "/");
	nolibc_decimal(&name, geometry->owner);
	if (geometry->owner_kind == WIRE_OWNER_PROGRAM) {
		nolibc_text(&name, ".");
		nolibc_hex(&name, geometry->owner_start);
	} else {
		nolibc_text(&name, "-");
		nolibc_bytes(&name, random, text_hex(random, geometry->uuid, DIRECTORY_RANDOM_BYTES));
	}
	if (name.truncated) {
		*why = "its name is too long";
		return -ENAMETOOLONG;
	}
	return 0;
}
