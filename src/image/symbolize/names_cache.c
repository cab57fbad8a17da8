/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of earlier look-ups; see names_cache.h.
 *
 * A file has the key, then numbers and texts as in a table: the state of the names, whether the debug information is missing,
 * hint and package; then entries: the first offset, for how many it holds, begin and size of the function, the number of
 * frames, and of each name, file and line.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "base/number.h"
#include "file/write.h"
#include "image/elf/debugfile.h"
#include "image/names/kernel/kernel_names.h"
#include "image/symbolize/names_cache.h"

enum {
	FORMAT = 1,
	LOCATIONS_MAX =
		512, /* of an image; with more, its debug information is not the larger part of the work */
	FILE_BYTES = 64 << 10, /* of a file; with more, only the newest answers are kept */
	FILES_MAX = 512,       /* in the directory; then the oldest are removed */
	NAME_BYTES = 17,       /* of a file's name, and its NUL */
	SETTLED_S = 2,	       /* a file that was changed later may be changed again without another time */
	TEXT_MAX = WIRE_TEXT_MAX,
};

/* ---- the directory */

/* Whether no other user can exchange what lies in it. In a directory with the sticky bit entries of ours are safe. */
static bool is_safe(int directory)
{
	struct stat status;

	return fstat(directory, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
	       (!(status.st_mode & (S_IWGRP | S_IWOTH)) || (status.st_mode & S_ISVTX));
}

/* Enter a directory, whose descriptor is closed. Return: the new one, or -errno; -EPERM: others could exchange it. */
static int names_cache_enter(int directory, const char *name, bool make)
{
	int next = -1;

	if (make && mkdirat(directory, name, 0700) != 0 && errno != EEXIST)
		next = -errno;
	else if ((next = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		next = -errno;
	close(directory);
	if (next >= 0 && !is_safe(next)) {
		close(next);
		return -EPERM;
	}
	return next;
}

/* Enter a path without links, from the root on: each directory of it must be safe. */
static int enter_path(char *path)
{
	int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *rest = NULL;

	if (directory < 0)
		return -errno;
	for (char *name = strtok_r(path, "/", &rest); name && directory >= 0;
	     name = strtok_r(NULL, "/", &rest))
		directory = names_cache_enter(directory, name, false);
	return directory;
}

int names_cache_directory(void)
{
	const char *keep = getenv("BURIN_KEEP_NAMES");
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *base = xdg && *xdg ? xdg : home;
	char path[PATH_MAX];
	struct stat status;
	int directory;

	if ((keep && !strcmp(keep, "no")) || !base || *base != '/' || !realpath(base, path))
		return -ENOENT;
	directory = enter_path(path);
	if (directory >= 0 && base == home)
		directory = names_cache_enter(directory, ".cache", true);
	if (directory >= 0)
		directory = names_cache_enter(directory, "burin", true);
	if (directory >= 0)
		directory = names_cache_enter(directory, "names", true);
	if (directory >= 0 && (fstat(directory, &status) != 0 || status.st_uid != geteuid())) {
		close(directory);
		return -EPERM;
	}
	return directory;
}

/* ---- the key */

/* Return: whether the file can be recognized again: one that only we and root change, and has not been changed just now. */
static bool names_cache_identify(int file, struct names_cache_file *out)
{
	struct stat status;

	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !major(status.st_dev) ||
	    (status.st_uid != 0 && status.st_uid != geteuid()) || (status.st_mode & (S_IWGRP | S_IWOTH)) ||
	    status.st_ctim.tv_sec + SETTLED_S > time(NULL))
		return false;
	*out = (struct names_cache_file){
		.device = status.st_dev,
		.inode = status.st_ino,
		.bytes = (uint64_t)status.st_size,
		.modified = { status.st_mtim.tv_sec, status.st_mtim.tv_nsec },
		.changed = { status.st_ctim.tv_sec, status.st_ctim.tv_nsec },
	};
	return true;
}

static bool identify_all(const struct image *image, const char *path, struct names_cache_key *key)
{
	static const int fetched[2] = { -1, -1 };
	struct debugfiles files;
	bool known;

	debugfiles_open(&files, image, path, "", true, fetched);
	known = names_cache_identify(image->fd, &key->image) &&
		(!files.has_debug || names_cache_identify(files.debug.fd, &key->debug)) &&
		(!files.has_alternate || names_cache_identify(files.alternate.fd, &key->alternate));
	debugfiles_close(&files);
	return known;
}

static bool make_key(const struct symbolize_image *of, struct names_cache_key *key)
{
	struct image image;
	bool known;

	memset(key, 0, sizeof(*key)); /* it is compared as bytes */
	key->format = FORMAT;
	key->kind = of->kind;
	if (!of->count || of->count > LOCATIONS_MAX || !of->build_id_bytes ||
	    of->build_id_bytes > IMAGE_BUILD_ID_MAX)
		return false;
	memcpy(key->build_id, of->build_id, of->build_id_bytes);
	if (of->kind == WIRE_IMAGE_KERNEL) {
		unsigned char id[IMAGE_BUILD_ID_MAX];

		return kernel_build_id("", id, sizeof(id)) == of->build_id_bytes &&
		       !memcmp(id, of->build_id, of->build_id_bytes);
	}
	if (of->kind != WIRE_IMAGE_FILE || of->file < 0 || image_open(&image, dup(of->file)) != 0)
		return false;
	known = image.build_id_bytes == of->build_id_bytes &&
		!memcmp(image.build_id, of->build_id, of->build_id_bytes) &&
		identify_all(&image, of->path, key);
	image_close(&image);
	return known;
}

static void name_file(const struct names_cache_key *key, char name[NAME_BYTES])
{
	const unsigned char *byte = (const unsigned char *)key;
	uint64_t hash =
		UINT64_C(0xcbf29ce484222325); /* a collision costs a look-up, since the file has the key */

	for (size_t n = 0; n < sizeof(*key); n++)
		hash = (hash ^ byte[n]) * UINT64_C(0x100000001b3);
	snprintf(name, NAME_BYTES, "%016" PRIx64, hash);
}

/* ---- reading */

/* The rest of the stored bytes; `at` NULL: they are damaged. */
struct reading {
	const unsigned char *at, *end;
};

static uint64_t names_cache_take(struct reading *from, uint64_t most)
{
	uint64_t value = 0;

	if (from->at)
		from->at = leb128_get(from->at, from->end, &value);
	if (value > most)
		from->at = NULL;
	return from->at ? value : 0;
}

static struct names_cache_text names_cache_take_text(struct reading *from)
{
	struct names_cache_text text = { .bytes = names_cache_take(from, TEXT_MAX) };

	text.text = (const char *)from->at;
	if (from->at && text.bytes > (size_t)(from->end - from->at))
		from->at = NULL;
	if (!from->at)
		return (struct names_cache_text){ 0 };
	from->at += text.bytes;
	return text;
}

static void names_cache_take_answer(struct reading *from, struct names_cache_answer *answer)
{
	answer->begin = names_cache_take(from, UINT64_MAX);
	answer->size = names_cache_take(from, UINT64_MAX);
	answer->count = (unsigned)names_cache_take(from, LINES_FRAMES_MAX);
	for (unsigned n = 0; n < answer->count && from->at; n++) {
		answer->frames[n].name = names_cache_take_text(from);
		answer->frames[n].file = names_cache_take_text(from);
		answer->frames[n].line = (uint32_t)names_cache_take(from, UINT32_MAX);
	}
}

static bool take_string(struct reading *from, char *out, size_t room)
{
	const struct names_cache_text text = names_cache_take_text(from);

	if (!from->at || text.bytes >= room)
		return false;
	memcpy(out, text.text, text.bytes);
	out[text.bytes] = 0;
	return true;
}

static bool names_cache_take_entry(struct names_cache *cache, struct reading *from)
{
	struct names_cache_entry *entry;
	struct names_cache_answer skipped;
	uint64_t bytes;

	if (!array_reserve(cache->entries, cache->entry_room, cache->count + 1))
		return false;
	entry = &cache->entries[cache->count];
	entry->from = names_cache_take(from, UINT64_MAX);
	bytes = names_cache_take(from, UINT64_MAX - entry->from);
	entry->to = entry->from + bytes;
	entry->rest = from->at;
	names_cache_take_answer(from, &skipped);
	if (!from->at)
		return false;
	cache->count++;
	return true;
}

static int compare_entries(const void *one, const void *other)
{
	const struct names_cache_entry *a = one, *b = other;

	return number_order(a->from, b->from);
}

bool names_cache_parse(struct names_cache *cache)
{
	struct reading from = { cache->stored + sizeof(cache->key), cache->stored + cache->stored_bytes };

	if (cache->stored_bytes <= sizeof(cache->key))
		return false;
	cache->state = (enum wire_symbols_state)names_cache_take(&from, WIRE_SYMBOLS_STATES - 1);
	cache->missing = names_cache_take(&from, 1);
	if (!take_string(&from, cache->hint, sizeof(cache->hint)) ||
	    !take_string(&from, cache->package, sizeof(cache->package)))
		return false;
	while (from.at < from.end)
		if (!names_cache_take_entry(cache, &from))
			return false;
	if (!cache->count)
		return false;
	qsort(cache->entries, cache->count, sizeof(*cache->entries), compare_entries);
	return true;
}

/* Return: whether the file was read, and is that of the key. */
static bool read_stored(struct names_cache *cache, int directory)
{
	char name[NAME_BYTES];
	struct stat status;
	ssize_t got = -1;
	int file;

	name_file(&cache->key, name);
	file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return false;
	cache->stored = malloc(FILE_BYTES);
	if (cache->stored && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == geteuid())
		got = read(file, cache->stored, FILE_BYTES);
	close(file);
	cache->stored_bytes = got > 0 ? (size_t)got : 0;
	return cache->stored_bytes >= sizeof(cache->key) &&
	       !memcmp(cache->stored, &cache->key, sizeof(cache->key));
}

static void forget_stored(struct names_cache *cache)
{
	free(cache->stored);
	free(cache->entries);
	cache->stored = NULL;
	cache->entries = NULL;
	cache->stored_bytes = cache->count = cache->entry_room = 0;
}

void names_cache_load(struct names_cache *cache, int directory, const struct symbolize_image *image)
{
	*cache = (struct names_cache){ .usable = false };
	cache->usable = make_key(image, &cache->key);
	if (cache->usable && !(read_stored(cache, directory) && names_cache_parse(cache)))
		forget_stored(cache);
}

bool names_cache_find(const struct names_cache *cache, uint64_t offset, struct names_cache_answer *answer)
{
	struct reading from = { NULL, cache->stored + cache->stored_bytes };
	size_t low = 0, high = cache->count; /* the entries before low begin at or before the offset */

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (cache->entries[middle].from <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || cache->entries[low - 1].to <= offset)
		return false;
	answer->from = cache->entries[low - 1].from;
	answer->to = cache->entries[low - 1].to;
	from.at = cache->entries[low - 1].rest;
	names_cache_take_answer(&from, answer);
	return true;
}

/* ---- writing */

static unsigned char *names_cache_put_text(unsigned char *at, struct names_cache_text text)
{
	at = leb128_put(at, text.bytes);
	if (text.bytes)
		memcpy(at, text.text, text.bytes);
	return at + text.bytes;
}

static size_t bytes_max(const struct names_cache_answer *answer)
{
	size_t bytes = 5 * LEB128_MAX;

	for (unsigned n = 0; n < answer->count; n++)
		bytes += 3 * LEB128_MAX + answer->frames[n].name.bytes + answer->frames[n].file.bytes;
	return bytes;
}

void names_cache_add(struct names_cache *cache, const struct names_cache_answer *answer)
{
	unsigned char *at;

	if (!cache->usable || cache->full)
		return;
	if (!array_reserve_max(cache->fresh, cache->fresh_room, cache->fresh_bytes + bytes_max(answer),
			       FILE_BYTES / 2)) {
		cache->full = true;
		return;
	}
	at = leb128_put(cache->fresh + cache->fresh_bytes, answer->from);
	at = leb128_put(at, answer->to - answer->from);
	at = leb128_put(leb128_put(at, answer->begin), answer->size);
	at = leb128_put(at, answer->count);
	for (unsigned n = 0; n < answer->count; n++) {
		at = names_cache_put_text(names_cache_put_text(at, answer->frames[n].name),
					  answer->frames[n].file);
		at = leb128_put(at, answer->frames[n].line);
	}
	cache->fresh_bytes = (size_t)(at - cache->fresh);
}

/* A file, or the draft of one. */
static bool names_cache_is_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == NAME_BYTES - 1;
}

/* Remove the file that was written least recently, if there are too many. A new file calls this, so they stay so many. */
static void remove_oldest(int directory)
{
	const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	char oldest[NAME_MAX + 1] = "";
	const struct dirent *entry;
	time_t time = 0;
	unsigned count = 0;

	while (entries && (entry = readdir(entries))) {
		struct stat status;

		if (!names_cache_is_name(entry->d_name) ||
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		count++;
		if (!*oldest || status.st_mtime < time) {
			snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
			time = status.st_mtime;
		}
	}
	if (entries)
		closedir(entries);
	else if (again >= 0)
		close(again);
	if (count >= FILES_MAX)
		unlinkat(directory, oldest, 0);
}

static void write_file(int directory, const char *name, const unsigned char *bytes, size_t count)
{
	char draft[NAME_BYTES + 16];
	int file, error;

	snprintf(draft, sizeof(draft), "%s.%d", name, (int)getpid());
	unlinkat(directory, draft, 0); /* of a killed command with this pid */
	file = openat(directory, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	error = write_fully(file, bytes, count, 0);
	if (close(file) != 0 || error || renameat(directory, draft, directory, name) != 0)
		unlinkat(directory, draft, 0);
}

/*
 * Add to the file that was read. To replace it would free blocks, for which a file system may wait for the disk. A reader that
 * comes in between finds the file damaged, and replaces it.
 */
static void names_cache_append(const struct names_cache *cache, int directory, const char *name)
{
	const int file = openat(directory, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (file < 0)
		return;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    (uint64_t)status.st_size == cache->stored_bytes &&
	    write(file, cache->fresh, cache->fresh_bytes) != (ssize_t)cache->fresh_bytes &&
	    ftruncate(file, status.st_size) != 0)
		unlinkat(directory, name, 0);
	close(file);
}

/* A new file, in place of a damaged or full one. */
static void write_new(const struct names_cache *cache, int directory, const char *name)
{
	const struct names_cache_text hint = { cache->hint, strlen(cache->hint) },
				      package = { cache->package, strlen(cache->package) };
	unsigned char *bytes = malloc(FILE_BYTES), *at = bytes;

	if (!bytes)
		return;
	at = (unsigned char *)memcpy(at, &cache->key, sizeof(cache->key)) + sizeof(cache->key);
	at = leb128_put(leb128_put(at, cache->state), cache->missing);
	at = names_cache_put_text(names_cache_put_text(at, hint), package);
	memcpy(at, cache->fresh, cache->fresh_bytes); /* it is at most half of the file */
	at += cache->fresh_bytes;
	remove_oldest(directory);
	write_file(directory, name, bytes, (size_t)(at - bytes));
	free(bytes);
}

void names_cache_save(const struct names_cache *cache, int directory, const struct symbolize_image *image)
{
	struct names_cache_key now;
	char name[NAME_BYTES];

	if (!cache->usable || !cache->fresh_bytes || !make_key(image, &now) ||
	    memcmp(&now, &cache->key, sizeof(now)) != 0)
		return;
	name_file(&cache->key, name);
	if (cache->count && cache->stored_bytes + cache->fresh_bytes <= FILE_BYTES)
		names_cache_append(cache, directory, name);
	else
		write_new(cache, directory, name);
}

void names_cache_free(struct names_cache *cache)
{
	forget_stored(cache);
	free(cache->fresh);
	cache->fresh = NULL;
}
