/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The cache of debug files; see debuginfod_cache.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "image/debuginfod/debuginfod_cache.h"
#include "image/symbolize/confine.h"

enum {
	WALK_FILES = 8, /* descriptors for a walk */
	OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* Files of the cache with a number of seconds, as in libdebuginfod, and its defaults. */
struct setting {
	const char *name;
	unsigned seconds;
};

static const struct setting missing = { "cache_miss_s", 600 }, /* a missing file is not requested again */
	clean_interval = { "cache_clean_interval_s", 86400 }, unused_max = { "max_unused_age_s", 604800 };

static const char file_name[] = "debuginfo", source_name[] = "source", draft_begin[] = "burin-";

/* ---- the directory */

/* As in libdebuginfod. Return: false: no variable names it. */
static bool debuginfod_cache_find_path(char path[PATH_MAX])
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"),
		   *xdg = getenv("XDG_CACHE_HOME");
	int length = -1;

	if (own && *own)
		return snprintf(path, PATH_MAX, "%s", own) < PATH_MAX;
	if (home && *home) {
		length = snprintf(path, PATH_MAX, "%s/.debuginfod_client_cache", home); /* the old place */
		if (length < PATH_MAX && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	if (xdg && *xdg)
		length = snprintf(path, PATH_MAX, "%s/debuginfod_client", xdg);
	else if (home && *home)
		length = snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client", home);
	return length >= 0 && length < PATH_MAX;
}

/* Creates a directory and those above it. */
static void make_directories(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(part, 0700);
		*slash = '/';
	}
	mkdir(part, 0700);
}

/* Return: 0; -EPERM: another user could change what lies in it; another negative errno. */
static int debuginfod_cache_check_directory(int directory)
{
	struct stat status;

	if (fstat(directory, &status) != 0)
		return -errno;
	return status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

/* ---- old files */

/* @changed: receives when the setting was written; 0: it was not */
static long long read_setting(int directory, const struct setting *setting, time_t *changed)
{
	const int file = openat(directory, setting->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[24] = "";
	struct stat status;
	long long seconds;
	char *end;

	*changed = 0;
	if (file < 0)
		return setting->seconds;
	if (fstat(file, &status) == 0)
		*changed = status.st_mtime;
	if (read(file, text, sizeof(text) - 1) < 0)
		*text = '\0';
	close(file);
	seconds = strtoll(text, &end, 10);
	return end > text ? seconds : setting->seconds;
}

/* The time of this setting is that of the last cleaning. Return: false: it is not due, or another process does it. */
static bool begin_cleaning(int directory)
{
	const time_t now = time(NULL);
	time_t last;
	const long long interval = read_setting(directory, &clean_interval, &last);
	char text[24];
	int file, bytes;

	if (last)
		return now - last >= interval &&
		       utimensat(directory, clean_interval.name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
	file = openat(directory, clean_interval.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	bytes = snprintf(text, sizeof(text), "%u", clean_interval.seconds);
	if (file >= 0 && write(file, text, (size_t)bytes) != bytes)
		unlinkat(directory, clean_interval.name, 0);
	if (file >= 0)
		close(file);
	return false; /* the cache is new */
}

/* Removes the files of one build id. Return: whether there is one left, or one that is not a file of the cache. */
static bool remove_old_files_of(int of, long long most)
{
	const int again = openat(of, ".", OPEN_DIRECTORY);
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	struct stat status;
	bool left = !entries;

	while (entries && (entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		left |= (strcmp(name, file_name) != 0 &&
			 strncmp(name, source_name, strlen(source_name)) != 0) ||
			fstatat(of, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
			time(NULL) - status.st_atime <= most || unlinkat(of, name, 0) != 0;
	}
	if (entries)
		closedir(entries);
	else if (again >= 0)
		close(again);
	return left;
}

static void remove_old_files(int directory)
{
	time_t changed;
	const long long most = read_setting(directory, &unused_max, &changed);
	const int again = openat(directory, ".", OPEN_DIRECTORY);
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const bool is_id = entry->d_name[strspn(entry->d_name, "0123456789abcdef")] == '\0';
		const int of = is_id ? openat(directory, entry->d_name, OPEN_DIRECTORY) : -1;

		if (of < 0)
			continue;
		if (!remove_old_files_of(of, most))
			unlinkat(directory, entry->d_name, AT_REMOVEDIR);
		close(of);
	}
	if (entries)
		closedir(entries);
	else if (again >= 0)
		close(again);
}

/* ---- the draft: where the downloading process writes */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path) != 0 && errno != ENOENT;
}

/* Only when the process that wrote there has ended: it could exchange directories during the walk. */
static void remove_draft(int directory, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", directory, name);
	nftw(path, remove_entry, WALK_FILES, FTW_DEPTH | FTW_PHYS);
}

/* Removes drafts of killed commands. A draft in use is locked. */
static void remove_old_drafts(int directory)
{
	const int again = openat(directory, ".", OPEN_DIRECTORY);
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const int draft = strncmp(entry->d_name, draft_begin, strlen(draft_begin)) != 0
					  ? -1
					  : openat(directory, entry->d_name, OPEN_DIRECTORY);

		if (draft >= 0 && flock(draft, LOCK_EX | LOCK_NB) == 0)
			remove_draft(directory, entry->d_name);
		if (draft >= 0)
			close(draft);
	}
	if (entries)
		closedir(entries);
	else if (again >= 0)
		close(again);
}

/* Two directories: other processes of the download's user cannot enter the inner one. */
static int make_draft(struct debuginfod_cache *cache)
{
	char path[64];
	const char *name;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%sXXXXXX", cache->directory, draft_begin);
	if (!mkdtemp(path))
		return -errno;
	name = strrchr(path, '/') + 1;
	snprintf(cache->draft_name, sizeof(cache->draft_name), "%s", name);
	cache->draft = openat(cache->directory, name, OPEN_DIRECTORY);
	if (cache->draft < 0 || flock(cache->draft, LOCK_EX | LOCK_NB) != 0 ||
	    mkdirat(cache->draft, "work", 0700) != 0)
		return -errno;
	cache->work = openat(cache->draft, "work", OPEN_DIRECTORY);
	if (cache->work < 0)
		return -errno;
	if (geteuid() == 0 && fchown(cache->work, CONFINE_USER, CONFINE_USER) != 0 && errno != EINVAL)
		return -errno; /* EINVAL: a user namespace without that user; the download then stays this one */
	return 0;
}

int debuginfod_cache_open(struct debuginfod_cache *cache)
{
	int error;

	*cache = (struct debuginfod_cache){ .directory = -1, .draft = -1, .work = -1 };
	if (!debuginfod_cache_find_path(cache->path))
		return -ENOENT;
	make_directories(cache->path);
	cache->directory = open(cache->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cache->directory < 0)
		return -errno;
	error = debuginfod_cache_check_directory(cache->directory);
	if (error)
		return error;
	remove_old_drafts(cache->directory);
	if (begin_cleaning(cache->directory))
		remove_old_files(cache->directory);
	return make_draft(cache);
}

void debuginfod_cache_close(struct debuginfod_cache *cache)
{
	if (*cache->draft_name)
		remove_draft(cache->directory, cache->draft_name);
	if (cache->work >= 0)
		close(cache->work);
	if (cache->draft >= 0)
		close(cache->draft);
	if (cache->directory >= 0)
		close(cache->directory);
}

/* ---- its files */

int debuginfod_cache_file(const char *source, char file[NAME_MAX + 1])
{
	if (*source != '/' || strchr(source, '#')) /* two paths would have one name */
		return -EINVAL;
	if (snprintf(file, NAME_MAX + 1, "%s%s", source_name, source) > NAME_MAX)
		return -ENAMETOOLONG;
	for (char *slash = file; (slash = strchr(slash, '/'));)
		*slash = '#';
	return 0;
}

int debuginfod_cache_find(const struct debuginfod_cache *cache, const char *name, const char *of)
{
	const int directory = openat(cache->directory, name, OPEN_DIRECTORY);
	const char *entry = of ? of : file_name;
	struct stat status;
	time_t changed;
	int file = -ENOENT;

	if (directory < 0)
		return -errno;
	if (debuginfod_cache_check_directory(directory) ||
	    fstatat(directory, entry, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid()) {
		file = -ENOENT;
	} else if (!status.st_size) {
		file = time(NULL) - status.st_mtime < read_setting(cache->directory, &missing, &changed)
			       ? -ENODATA
			       : -ENOENT;
	} else {
		file = openat(directory, entry, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (file < 0)
			file = -errno;
	}
	close(directory);
	return file;
}

/* Opens a file that the downloading process made: not through a link, not a device, and not a second name of another. */
static int open_work(const struct debuginfod_cache *cache, const char *name, const char *entry)
{
	const int directory = openat(cache->work, name, OPEN_DIRECTORY);
	struct stat status;
	int file;

	if (directory < 0)
		return -errno;
	file = openat(directory, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		file = -errno;
	else if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) {
		close(file);
		file = -EBADMSG;
	}
	close(directory);
	return file;
}

/* Return: the directory of a build id in the cache, without its file; a negative errno. */
static int empty_place(const struct debuginfod_cache *cache, const char *name, const char *entry)
{
	int directory, error;

	mkdirat(cache->directory, name, 0700);
	directory = openat(cache->directory, name, OPEN_DIRECTORY);
	if (directory < 0)
		return -errno;
	error = debuginfod_cache_check_directory(directory);
	if (!error && unlinkat(directory, entry, 0) != 0 && errno != ENOENT)
		error = -errno;
	if (!error)
		return directory;
	close(directory);
	return error;
}

/* Gives the open file its name in the cache. By its descriptor: its name in the work directory is the other process's. */
static int link_file(const struct debuginfod_cache *cache, const char *name, const char *entry, int file)
{
	const int directory = empty_place(cache, name, entry);
	char self[32];
	int error = directory < 0 ? directory : 0;

	if (error)
		return error;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", file);
	if (fchown(file, geteuid(), getegid()) != 0 || fchmod(file, 0400) != 0 ||
	    linkat(AT_FDCWD, self, directory, entry, AT_SYMLINK_FOLLOW) != 0)
		error = -errno;
	close(directory);
	return error;
}

int debuginfod_cache_take(const struct debuginfod_cache *cache, const char *name, const unsigned char *id,
			  size_t bytes, struct image *image)
{
	const int file = open_work(cache, name, file_name);
	int error = file < 0 ? file : image_open(image, file);

	if (error)
		return error == -ENOEXEC ? -EBADMSG : error;
	if (image->build_id_bytes != bytes || memcmp(image->build_id, id, bytes) != 0)
		error = -EBADMSG;
	else
		error = link_file(cache, name, file_name, image->fd);
	if (error)
		image_close(image);
	return error;
}

int debuginfod_cache_take_source(const struct debuginfod_cache *cache, const char *name, const char *entry)
{
	const int file = open_work(cache, name, source_name);
	const int error = file < 0 ? file : link_file(cache, name, entry, file);

	if (!error)
		return file;
	if (file >= 0)
		close(file);
	return error;
}

void debuginfod_cache_note_missing(const struct debuginfod_cache *cache, const char *name, const char *of)
{
	const char *entry = of ? of : file_name;
	const int directory = empty_place(cache, name, entry),
		  file = directory < 0 ? -1
				       : openat(directory, entry,
						O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);

	if (file >= 0)
		close(file);
	if (directory >= 0)
		close(directory);
}
