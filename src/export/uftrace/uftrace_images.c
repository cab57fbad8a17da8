/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Addresses of functions, the map and the symbols; see uftrace_images.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "base/number.h"
#include "base/text.h"
#include "export/uftrace/uftrace_images.h"
#include "wire/wire_uftrace.h"

static const uint64_t first_base = UINT64_C(1) << 32, page = 1 << 12, gap = 1 << 21,
		      span_max = UINT64_C(1) << 32, /* of an image whose offsets are kept */
	bases_max = UINT64_C(1) << 46;

enum {
	RANK_BYTES = 16,      /* between functions whose offsets are not kept */
	NAME_BYTES_MAX = 240, /* of a file, without what is put behind it */
};

/* A function, to be sorted by image and offset. */
struct entry {
	uint32_t image, function;
	uint64_t offset, address; /* address: in the image */
};

struct names {
	struct hash_table table; /* of base names */
	char **list;
	size_t count, room;
};

struct work {
	struct uftrace_images *images;
	const struct burin_calls *calls;
	struct uftrace_directory *directory;
	struct entry *entries;
	size_t count;
	struct names names;
	struct view_buffer map;
	uint64_t base; /* of the next image */
};

static int uftrace_images_compare(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	return number_order(a->image, b->image)	      ?:
	       number_order(a->offset, b->offset) ?:
						    number_order(a->function, b->function);
}

static int uftrace_images_collect(struct work *work)
{
	const uint32_t functions = burin_calls_functions(work->calls);

	work->entries = calloc((size_t)functions + 1, sizeof(*work->entries));
	work->images->addresses = calloc((size_t)functions + 1, sizeof(*work->images->addresses));
	work->images->count = functions;
	if (!work->entries || !work->images->addresses)
		return -ENOMEM;
	for (uint32_t n = 1; n <= functions; n++) {
		struct burin_function function;

		if (!burin_calls_function(work->calls, n, &function))
			work->entries[work->count++] = (struct entry){ .image = function.image,
								       .function = n,
								       .offset = function.offset };
	}
	if (work->count)
		qsort(work->entries, work->count, sizeof(*work->entries), uftrace_images_compare);
	return 0;
}

/* Whether a name was taken before; if not, it is now. 1, 0 or -ENOMEM. */
static int uftrace_images_taken(struct names *names, const char *name)
{
	const uint64_t hash = hash_text(name);
	uint32_t number;
	char *copy;

	for (size_t at = 0; (number = hash_table_next(&names->table, hash, &at));)
		if (!strcmp(names->list[number - 1], name))
			return 1;
	if (!array_reserve(names->list, names->room, names->count + 1) || !hash_table_reserve(&names->table))
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names->list[names->count++] = copy;
	hash_table_add(&names->table, hash, (uint32_t)names->count);
	return 0;
}

static const char *uftrace_images_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The path of an image. uftrace finds the symbols by the last part of the path; so the second image with the same one
 * gets a number.
 */
static int uftrace_images_choose_path(struct work *work, const struct burin_image *image,
				      struct view_buffer *path)
{
	const bool file = image && *image->path == '/';
	const char *base;

	if (file)
		uftrace_put_path(path, image->path);
	else
		uftrace_put_path(path,
				 image && *image->path && *image->path != '[' ? image->path : "anonymous");
	if (path->used && path->bytes[path->used - 1] == '/')
		view_buffer_put(path, "_", 1);
	view_buffer_put(path, "", 1);
	if (path->failed)
		return -ENOMEM;
	base = uftrace_images_last_part(path->bytes);
	if (strlen(base) > NAME_BYTES_MAX)
		path->used = (size_t)(base - path->bytes) + NAME_BYTES_MAX + 1;
	path->bytes[path->used - 1] = '\0';
	for (size_t number = 2, length = path->used - 1;; number++) {
		const int known = uftrace_images_taken(&work->names, uftrace_images_last_part(path->bytes));

		if (known <= 0)
			return known;
		path->used = length;
		view_buffer_print(path, "~%zu", number);
		view_buffer_put(path, "", 1);
		if (path->failed)
			return -ENOMEM;
	}
}

static void put_build_id(struct view_buffer *text, const char *before, const struct burin_image *image)
{
	char hex[2 * WIRE_UFTRACE_BUILD_ID];

	if (!image || image->build_id_bytes != WIRE_UFTRACE_BUILD_ID)
		return;
	view_buffer_put(text, before, strlen(before));
	view_buffer_put(text, hex, text_hex(hex, image->build_id, image->build_id_bytes));
}

static void put_symbol(struct view_buffer *text, const struct work *work, const struct entry *entry)
{
	struct burin_function function = { 0 };

	burin_calls_function(work->calls, entry->function, &function);
	view_buffer_print(text, "%016" PRIx64 " T ", entry->address);
	if (function.name && *function.name)
		uftrace_put_name(text, function.name);
	else
		view_buffer_print(text, "sub_%" PRIx64, entry->offset);
	view_buffer_put(text, "\n", 1);
}

/* The bytes that the last function of an image has; the others end at the next one. */
static uint64_t last_size(const struct work *work, const struct entry *entry)
{
	struct burin_function function = { 0 };

	burin_calls_function(work->calls, entry->function, &function);
	return function.size && function.size < gap ? function.size : RANK_BYTES;
}

static int write_symbols(struct work *work, const struct burin_image *image, const struct entry *entries,
			 size_t count, const char *path)
{
	struct view_buffer text = { .used = 0 };
	const struct entry *last = &entries[count - 1];
	size_t symbols = 0;
	char name[NAME_BYTES_MAX + 32];

	for (size_t n = 0; n < count; n++)
		symbols += !n || entries[n].address != entries[n - 1].address;
	view_buffer_print(&text, "# symbols: %zu\n# path name: ", symbols + 1);
	view_buffer_put(&text, path, strlen(path));
	put_build_id(&text, "\n# build-id: ", image);
	view_buffer_put(&text, "\n", 1);
	for (size_t n = 0; n < count; n++)
		if (!n || entries[n].address != entries[n - 1].address)
			put_symbol(&text, work, &entries[n]);
	view_buffer_print(&text, "%016" PRIx64 " ? __sym_end\n", last->address + last_size(work, last));
	snprintf(name, sizeof(name), "%s.sym", uftrace_images_last_part(path));
	return uftrace_directory_write(work->directory, name, &text);
}

/* The addresses of one image. Offsets are kept where they fit; otherwise the functions are numbered. */
static uint64_t uftrace_images_assign(struct work *work, struct entry *entries, size_t count)
{
	const uint64_t end = entries[count - 1].offset, span = end < span_max ? end : count * RANK_BYTES;
	const bool kept = end < span_max && work->base < bases_max;
	uint64_t rank = 0;

	for (size_t n = 0; n < count; n++) {
		rank += n && entries[n].offset != entries[n - 1].offset;
		entries[n].address = kept ? entries[n].offset : rank * RANK_BYTES;
		work->images->addresses[entries[n].function] = work->base + entries[n].address;
	}
	return ((kept ? span : rank * RANK_BYTES) + gap + page) & ~(page - 1);
}

static int write_image(struct work *work, struct entry *entries, size_t count)
{
	const struct burin_image *image =
		burin_profile_image(burin_calls_profile(work->calls), entries->image);
	const uint64_t span = uftrace_images_assign(work, entries, count);
	struct view_buffer path = { .used = 0 };
	int error = uftrace_images_choose_path(work, image, &path);

	if (!error)
		error = write_symbols(work, image, entries, count, path.bytes);
	if (!error) {
		view_buffer_print(&work->map, "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:00 0 %*s", work->base,
				  work->base + span, 24, "");
		view_buffer_put(&work->map, path.bytes, strlen(path.bytes));
		put_build_id(&work->map, " build-id:", image);
		view_buffer_put(&work->map, "\n", 1);
	}
	work->base += (span + gap) & ~(gap - 1);
	view_buffer_free(&path);
	return error;
}

static int uftrace_images_write_all(struct work *work)
{
	size_t next;
	int error = uftrace_images_collect(work);

	for (size_t n = 0; !error && n < work->count; n = next) {
		next = n + 1;
		while (next < work->count && work->entries[next].image == work->entries[n].image)
			next++;
		error = write_image(work, &work->entries[n], next - n);
	}
	if (error)
		return error;
	/* From this line uftrace concludes where the kernel begins. */
	view_buffer_print(&work->map, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 %*s[stack]\n", 24, "");
	return uftrace_directory_write(work->directory, "sid-" UFTRACE_SESSION ".map", &work->map);
}

int uftrace_images_write(struct uftrace_images *images, const struct burin_calls *calls,
			 struct uftrace_directory *directory)
{
	struct work work = { .images = images, .calls = calls, .directory = directory, .base = first_base };
	const int error = uftrace_images_write_all(&work);

	for (size_t n = 0; n < work.names.count; n++)
		free(work.names.list[n]);
	free(work.names.list);
	hash_table_free(&work.names.table);
	free(work.entries);
	view_buffer_free(&work.map);
	return error;
}

void uftrace_images_free(struct uftrace_images *images)
{
	free(images->addresses);
}
