/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names that an earlier look-up has found, in a directory of the user: $XDG_CACHE_HOME/burin/names or ~/.cache/burin/names.
 *
 * The debug information of the C library costs 30 ms for a single address. A short recording has a dozen addresses, of the
 * files that the one before had. So the answers for images with few locations are kept, one file an image.
 *
 * The directory must be the user's own, and so that no other user can exchange it or what is in it. An answer is that of
 * the same file only: the same device, inode, size and times, also of the files with its debug information. The build id
 * alone proves nothing, since another user may have made a file with that of the C library. For that reason files that others
 * can write, and those of file systems without a device, whose server may invent all of that, are not kept.
 *
 * Each failure means that there is no cache.
 */
#ifndef BURIN_IMAGE_SYMBOLIZE_NAMES_CACHE_H
#define BURIN_IMAGE_SYMBOLIZE_NAMES_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "image/elf/image.h"
#include "image/elf/packages.h"
#include "image/names/lines.h"
#include "image/symbolize/symbolize_types.h"

enum {
	NAMES_CACHE_HINT = 1024, /* bytes of a hint, with its NUL */
};

/* A file, as far as it must be the same. All 0: there is none. */
struct names_cache_file {
	uint64_t device, inode, bytes;
	int64_t modified[2], changed[2]; /* seconds, nanoseconds */
};

struct names_cache_key {
	uint64_t format, kind;
	struct names_cache_file image, debug, alternate;
	unsigned char build_id[IMAGE_BUILD_ID_MAX];
};

/* A text of the cache or of the caller; bytes 0: none. */
struct names_cache_text {
	const char *text;
	size_t bytes;
};

/* The names of the offsets from `from` to before `to`. */
struct names_cache_answer {
	uint64_t from, to;
	uint64_t begin, size; /* of the function; 0, 0: unknown */
	unsigned count;	      /* 0: the look-up found nothing */
	struct {
		struct names_cache_text name, file;
		uint32_t line;
	} frames[LINES_FRAMES_MAX];
};

struct names_cache_entry {
	uint64_t from, to;
	const unsigned char *rest;
};

/* The names of one image; {0}: none can be kept. */
struct names_cache {
	bool usable;
	struct names_cache_key key;
	unsigned char *stored; /* the file */
	size_t stored_bytes;
	struct names_cache_entry *entries; /* by `from` */
	size_t count, entry_room;
	/* The state of the image's names, if there are entries. */
	enum wire_symbols_state state;
	bool missing; /* the debug information is missing; `hint` is its file */
	char hint[NAMES_CACHE_HINT], package[PACKAGES_NAME_MAX];
	unsigned char *fresh; /* new entries, as in the file */
	size_t fresh_bytes, fresh_room;
	bool full; /* not all new entries have room */
};

/* names_cache_directory - open the directory, which is made if it is missing, unless BURIN_KEEP_NAMES is "no". Return: a descriptor; a negative errno. */
int names_cache_directory(void);

/*
 * names_cache_load - read the names of an image, if they can be kept (`usable`).
 * @image: with a file, unless it is the kernel; only our own code reads it
 */
void names_cache_load(struct names_cache *cache, int directory, const struct symbolize_image *image);

/* names_cache_parse - make entries from `stored`. Return: whether there are any, and all of them are valid. */
bool names_cache_parse(struct names_cache *cache);

/* names_cache_find - the answer for an offset. Its texts are valid until names_cache_free(). Return: false: there is none. */
bool names_cache_find(const struct names_cache *cache, uint64_t offset, struct names_cache_answer *answer);

/* names_cache_add - keep an answer; names_cache_save() writes it. */
void names_cache_add(struct names_cache *cache, const struct names_cache_answer *answer);

/* names_cache_save - write the new answers, unless the image's files have changed meanwhile. */
void names_cache_save(const struct names_cache *cache, int directory, const struct symbolize_image *image);

void names_cache_free(struct names_cache *cache);

#endif
