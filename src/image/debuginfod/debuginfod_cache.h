/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The cache of debug files: libdebuginfod's own, so that debuggers share it. A file is CACHE/BUILD-ID/debuginfo, a source file
 * CACHE/BUILD-ID/source with its path, '/' written '#'; an empty one means that no server had it. Files that were not read for a week are removed, with libdebuginfod's settings in the cache.
 *
 * The directory must belong to this user, and no other user may write to it. Below it everything is opened relative to
 * descriptors, and links are not followed. libdebuginfod itself never sees the cache, but a new directory in it, which root
 * gives to the user of the confined download.
 */
#ifndef BURIN_IMAGE_DEBUGINFOD_DEBUGINFOD_CACHE_H
#define BURIN_IMAGE_DEBUGINFOD_DEBUGINFOD_CACHE_H

#include <limits.h>
#include <stddef.h>

#include "image/elf/image.h"

enum {
	DEBUGINFOD_NAME_MAX = 2 * IMAGE_BUILD_ID_MAX + 1,
};

struct debuginfod_cache {
	int directory, draft,
		work; /* draft: a private directory; work: in it, that of the downloading process */
	char draft_name[32];
	char path[PATH_MAX]; /* of the directory, for messages */
};

/* debuginfod_cache_open - create what is missing. Return: 0; -EPERM: of another user, or open to others; -errno. */
int debuginfod_cache_open(struct debuginfod_cache *cache);

/* debuginfod_cache_close - remove the files that are not taken over. */
void debuginfod_cache_close(struct debuginfod_cache *cache);

/*
 * debuginfod_cache_file - the name of a source file in the cache.
 * @source: its path
 * Return: 0; -ENAMETOOLONG, -EINVAL: it has none.
 */
int debuginfod_cache_file(const char *source, char file[NAME_MAX + 1]);

/*
 * debuginfod_cache_find - open a file of the cache.
 * @name: the build id, in hexadecimal
 * @file: its name there; NULL: that of a debug file. The same below
 * Return: a descriptor; -ENODATA: lately no server had it; -ENOENT: it must be requested; another negative errno.
 */
int debuginfod_cache_find(const struct debuginfod_cache *cache, const char *name, const char *file);

/*
 * debuginfod_cache_take - take over the downloaded file, if it has the build id.
 * @image: receives the open file; the caller closes it
 * Return: 0; -EBADMSG: it is not that file; another negative errno.
 */
int debuginfod_cache_take(const struct debuginfod_cache *cache, const char *name, const unsigned char *id,
			  size_t bytes, struct image *image);

/* debuginfod_cache_take_source - take over the downloaded source file. Return: a descriptor, at the file's start; -errno. */
int debuginfod_cache_take_source(const struct debuginfod_cache *cache, const char *name, const char *file);

/* debuginfod_cache_note_missing - remember that no server has the file. */
void debuginfod_cache_note_missing(const struct debuginfod_cache *cache, const char *name, const char *file);

#endif
