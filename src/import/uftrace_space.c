/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sessions, maps and symbols; see uftrace_space.h.
 *
 * An address becomes a function in three steps, each of which is remembered: the mapping of the space
 * (index_mappings()), the symbol of the image, and a number in the trace, which is made when the first call
 * needs it. So a trace has the functions that were called, and not all symbols.
 *
 * A space is indexed once, when all its mappings are known. Bounds of mappings cut the addresses into pieces,
 * and each piece belongs to the mapping that came last. They are assigned from the last mapping back, and
 * next_free() jumps over what is assigned (a union-find with path halving), so the cost is nearly linear also
 * if thousands of mappings overlap.
 *
 * Symbols are relative to the image (->relative, of newer recordings) or absolute. An image whose symbols
 * cannot be read has functions without names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "import/uftrace_space.h"
#include "import/uftrace_text.h"

enum {
	MAP_MAX = 64 << 20,
	SYMBOLS_MAX = 512 << 20,
	SPACES_MAX = 1 << 16,
	PATH_BYTES = 4200,
};

static const char *uftrace_space_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- Symbols */

/* Whether a file of symbols is that of an image; uftrace writes a second image with the same name to another file. */
static bool is_of(const struct uftrace_text *text, const char *path)
{
	static const char key[] = "# path name: ";
	const char *at = strstr(text->bytes, key);
	const size_t bytes = strlen(path);

	return !at || (!strncmp(at + sizeof(key) - 1, path, bytes) &&
		       (at[sizeof(key) - 1 + bytes] == '\n' || !at[sizeof(key) - 1 + bytes]));
}

static int load_text(const struct uftrace_spaces *spaces, const struct uftrace_image *image,
		     struct uftrace_text *text)
{
	char name[PATH_BYTES];
	uint16_t sum = 0; /* of the path's bytes: uftrace names the file by it */
	int error;

	snprintf(name, sizeof(name), "%s.sym", uftrace_space_last_part(image->path));
	error = uftrace_text_load(text, spaces->directory, name, SYMBOLS_MAX);
	if (!error && is_of(text, image->path))
		return 0;
	uftrace_text_free(text);
	for (const char *at = image->path; *at; at++)
		sum = (uint16_t)(sum + (unsigned char)*at);
	if (*image->build_id)
		snprintf(name, sizeof(name), "%s-%.4s.sym", uftrace_space_last_part(image->path),
			 image->build_id);
	else
		snprintf(name, sizeof(name), "%s-%04x.sym", uftrace_space_last_part(image->path), sum);
	return uftrace_text_load(text, spaces->directory, name, SYMBOLS_MAX);
}

/* "address type name", or since 0.14 "address size type name". */
static int uftrace_space_take_symbol(struct uftrace_spaces *spaces, struct uftrace_image *image, char *line)
{
	struct uftrace_symbol *symbol;
	char *at;
	const uint64_t begin = strtoull(line, &at, 16);

	if (*line == '#' || at == line || *at != ' ')
		return 0;
	if (at[1] && at[2] != ' ') {
		strtoull(at + 1, &at, 16);
		if (*at != ' ')
			return 0;
	}
	if (!at[1] || at[2] != ' ' || !at[3])
		return 0;
	if (image->count && image->symbols[image->count - 1].begin == begin)
		return 0; /* another name of the same function */
	if (!array_reserve(image->symbols, image->room, image->count + 1))
		return -ENOMEM;
	symbol = &image->symbols[image->count++];
	*symbol = (struct uftrace_symbol){ .begin = begin };
	if (at[1] == '?')
		return 0; /* the end of the functions before it */
	symbol->name = arena_keep(&spaces->strings, at + 3, strlen(at + 3));
	return symbol->name ? 0 : -ENOMEM;
}

static int compare_symbols(const void *one, const void *other)
{
	const struct uftrace_symbol *a = one, *b = other;

	return number_order(a->begin, b->begin);
}

static int load_symbols(struct uftrace_spaces *spaces, struct uftrace_image *image)
{
	struct uftrace_text text;
	int error = load_text(spaces, image, &text);
	char *line;

	if (error)
		return error == -ENOMEM ? error : 0; /* functions without names */
	while (!error && (line = uftrace_text_line(&text)))
		error = uftrace_space_take_symbol(spaces, image, line);
	if (image->count)
		qsort(image->symbols, image->count, sizeof(*image->symbols), compare_symbols);
	uftrace_text_free(&text);
	return error;
}

/* ---- Images and maps */

static size_t parse_build_id(const char *hex, unsigned char id[WIRE_UFTRACE_BUILD_ID])
{
	size_t bytes = 0;
	unsigned value;

	while (bytes < WIRE_UFTRACE_BUILD_ID && hex[0] && hex[1] && sscanf(hex, "%2x", &value) == 1) {
		id[bytes++] = (unsigned char)value;
		hex += 2;
	}
	return bytes;
}

/* Return: the index of an image; -ENOMEM. */
static int uftrace_space_find_image(struct uftrace_spaces *spaces, const char *path, const char *build_id)
{
	const uint64_t hash = hash_pair(hash_text(path), hash_text(build_id));
	unsigned char id[WIRE_UFTRACE_BUILD_ID];
	struct uftrace_image *image;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&spaces->image_numbers, hash, &at));)
		if (!strcmp(spaces->images[number - 1].path, path) &&
		    !strcmp(spaces->images[number - 1].build_id, build_id))
			return (int)number - 1;
	if (!array_reserve(spaces->images, spaces->image_room, spaces->image_count + 1) ||
	    !hash_table_reserve(&spaces->image_numbers))
		return -ENOMEM;
	image = &spaces->images[spaces->image_count];
	*image = (struct uftrace_image){ .path = arena_keep(&spaces->strings, path, strlen(path)) };
	if (!image->path)
		return -ENOMEM;
	hash_table_add(&spaces->image_numbers, hash, (uint32_t)++spaces->image_count);
	snprintf(image->build_id, sizeof(image->build_id), "%s", build_id);
	image->number = calls_trace_image(spaces->trace, path, id, parse_build_id(build_id, id));
	return load_symbols(spaces, image) ? -ENOMEM : (int)spaces->image_count - 1;
}

static int uftrace_space_add_mapping(struct uftrace_space *space, uint64_t begin, uint64_t end, int image)
{
	if (image < 0)
		return image;
	/* Only the first mapping of a file counts: symbols are relative to it. */
	if (space->count && space->mappings[space->count - 1].image == (uint32_t)image) {
		if (end > space->mappings[space->count - 1].end)
			space->mappings[space->count - 1].end = end;
		return 0;
	}
	if (!array_reserve(space->mappings, space->room, space->count + 1))
		return -ENOMEM;
	space->mappings[space->count++] = (struct uftrace_mapping){ begin, end, (uint32_t)image };
	return 0;
}

static int take_mapping(struct uftrace_spaces *spaces, struct uftrace_space *space, const char *line)
{
	static const char mark[] = " build-id:"; /* behind the path, which may have blanks */
	char path[PATH_BYTES], build_id[128] = "";
	uint64_t begin, end;
	char *behind = NULL;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %*x:%*x %*d %4199[^\n]", &begin, &end, path) < 3 ||
	    *path == '[' || end <= begin)
		return 0;
	for (char *at = path; (at = strstr(at, mark)); at++)
		behind = at;
	if (behind) {
		sscanf(behind + sizeof(mark) - 1, "%40[0-9a-f]", build_id);
		*behind = 0;
	}
	return uftrace_space_add_mapping(space, begin, end, uftrace_space_find_image(spaces, path, build_id));
}

static int find_space(const struct uftrace_spaces *spaces, const char *session)
{
	const uint64_t hash = hash_text(session);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&spaces->numbers, hash, &at));)
		if (!strcmp(spaces->list[number - 1].session, session))
			return (int)number - 1;
	return -ENOENT;
}

int uftrace_space_add(struct uftrace_spaces *spaces, const char *session)
{
	int known = find_space(spaces, session), error;
	struct uftrace_space *space;
	struct uftrace_text text;
	char name[64], *line;

	if (known >= 0)
		return known;
	if (spaces->count >= SPACES_MAX)
		return -E2BIG;
	snprintf(name, sizeof(name), "sid-%.*s.map", WIRE_UFTRACE_SESSION, session);
	error = uftrace_text_load(&text, spaces->directory, name, MAP_MAX);
	if (error)
		return error;
	if (!array_reserve(spaces->list, spaces->room, spaces->count + 1) ||
	    !hash_table_reserve(&spaces->numbers))
		error = -ENOMEM;
	if (!error) {
		space = &spaces->list[spaces->count++];
		*space = (struct uftrace_space){ .count = 0 };
		snprintf(space->session, sizeof(space->session), "%s", session);
		hash_table_add(&spaces->numbers, hash_text(space->session), (uint32_t)spaces->count);
		while (!error && (line = uftrace_text_line(&text)))
			error = take_mapping(spaces, space, line);
	}
	uftrace_text_free(&text);
	return error ? error : (int)spaces->count - 1;
}

int uftrace_space_library(struct uftrace_spaces *spaces, const char *session, uint64_t base, const char *path)
{
	const int space = find_space(spaces, session), image = uftrace_space_find_image(spaces, path, "");
	const struct uftrace_image *of;
	uint64_t end = base + 1;

	if (space < 0 || image < 0)
		return image < 0 ? image : 0;
	of = &spaces->images[image];
	if (of->count && of->symbols[of->count - 1].begin < UINT64_MAX / 2 - base / 2)
		/*
		 * DLOP has no end. As a guess, code reaches a page beyond the begin of the last symbol.
		 */
		end = base + of->symbols[of->count - 1].begin + 4096;
	return uftrace_space_add_mapping(&spaces->list[space], base, end > base ? end : base + 1, image);
}

/* ---- Addresses */

static int compare_bounds(const void *one, const void *other)
{
	return number_order(*(const uint64_t *)one, *(const uint64_t *)other);
}

/* The number of bounds that are less than an address; @equal: or equal to it. */
static size_t uftrace_space_position(const struct uftrace_space *space, uint64_t address, bool equal)
{
	size_t low = 0, high = 2 * space->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (space->bounds[middle] < address || (equal && space->bounds[middle] == address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first piece from @at on that has no mapping yet. @next: of each piece, one that is not behind it */
static uint32_t next_free(uint32_t *next, uint32_t at)
{
	while (next[at] != at) {
		next[at] = next[next[at]];
		at = next[at];
	}
	return at;
}

/* The last mapping counts: libraries that were loaded later. */
static bool index_mappings(struct uftrace_space *space)
{
	const size_t count = 2 * space->count;
	uint32_t *next = calloc(count + 1, sizeof(*next));

	space->bounds = calloc(count + 1, sizeof(*space->bounds));
	space->pieces = calloc(count + 1, sizeof(*space->pieces));
	if (!next || !space->bounds || !space->pieces) { /* uftrace_spaces_free() frees the others */
		free(next);
		return false;
	}
	for (size_t n = 0; n < space->count; n++) {
		space->bounds[2 * n] = space->mappings[n].begin;
		space->bounds[2 * n + 1] = space->mappings[n].end;
	}
	qsort(space->bounds, count, sizeof(*space->bounds), compare_bounds);
	for (size_t n = 0; n <= count; n++)
		next[n] = (uint32_t)n;
	for (size_t n = space->count; n--;) {
		const size_t end = uftrace_space_position(space, space->mappings[n].end, false);
		uint32_t at = next_free(
			next, (uint32_t)uftrace_space_position(space, space->mappings[n].begin, false));

		for (; at < end; at = next_free(next, at)) {
			space->pieces[at] = (uint32_t)n + 1;
			next[at] = at + 1;
		}
	}
	free(next);
	return true;
}

int uftrace_spaces_index(struct uftrace_spaces *spaces)
{
	for (size_t n = 0; n < spaces->count; n++)
		if (!index_mappings(&spaces->list[n]))
			return -ENOMEM;
	return 0;
}

static const struct uftrace_mapping *uftrace_space_find_mapping(const struct uftrace_spaces *spaces,
								uint32_t number, uint64_t address)
{
	const struct uftrace_space *space = number < spaces->count ? &spaces->list[number] : NULL;
	size_t at;

	if (!space)
		return NULL;
	at = uftrace_space_position(space, address, true);
	return at && space->pieces[at - 1] ? &space->mappings[space->pieces[at - 1] - 1] : NULL;
}

bool uftrace_space_maps(const struct uftrace_spaces *spaces, uint32_t space, uint64_t address)
{
	return uftrace_space_find_mapping(spaces, space, address) != NULL;
}

/* The symbol that an offset is in; NULL: none. */
static struct uftrace_symbol *find_symbol(const struct uftrace_image *image, uint64_t offset)
{
	size_t low = 0, high = image->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (image->symbols[middle].begin <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && image->symbols[low - 1].name ? &image->symbols[low - 1] : NULL;
}

static uint32_t make_function(struct uftrace_spaces *spaces, uint32_t space, uint64_t address)
{
	const struct uftrace_mapping *mapping = uftrace_space_find_mapping(spaces, space, address);
	struct uftrace_symbol *symbol;
	struct uftrace_image *image;
	uint64_t offset, shift;

	if (!mapping) {
		if (!spaces->elsewhere)
			spaces->elsewhere = calls_trace_image(spaces->trace, "", "", 0);
		return calls_trace_function(spaces->trace, spaces->elsewhere, address, 0, NULL);
	}
	image = &spaces->images[mapping->image];
	shift = spaces->relative ? 0 : mapping->begin;
	offset = address - mapping->begin;
	symbol = find_symbol(image, offset + shift);
	if (!symbol)
		return calls_trace_function(spaces->trace, image->number, offset, 0, NULL);
	if (!symbol->function) {
		const bool last = symbol + 1 == image->symbols + image->count;

		symbol->function =
			calls_trace_function(spaces->trace, image->number, symbol->begin - shift,
					     last ? 0 : symbol[1].begin - symbol->begin, symbol->name);
	}
	return symbol->function;
}

uint32_t uftrace_space_function(struct uftrace_spaces *spaces, uint32_t space, uint64_t address)
{
	const uint64_t hash = hash_pair(address, space);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&spaces->table, hash, &at));)
		if (spaces->known[number - 1].address == address && spaces->known[number - 1].space == space)
			return spaces->known[number - 1].function;
	if (!array_reserve(spaces->known, spaces->known_room, spaces->known_count + 1) ||
	    !hash_table_reserve(&spaces->table))
		return 0;
	number = make_function(spaces, space, address);
	spaces->known[spaces->known_count++] = (struct uftrace_known){ space, number, address };
	hash_table_add(&spaces->table, hash, (uint32_t)spaces->known_count);
	return number;
}

void uftrace_spaces_free(struct uftrace_spaces *spaces)
{
	for (size_t n = 0; n < spaces->image_count; n++)
		free(spaces->images[n].symbols);
	for (size_t n = 0; n < spaces->count; n++) {
		free(spaces->list[n].mappings);
		free(spaces->list[n].bounds);
		free(spaces->list[n].pieces);
	}
	free(spaces->images);
	free(spaces->list);
	free(spaces->known);
	hash_table_free(&spaces->table);
	hash_table_free(&spaces->image_numbers);
	hash_table_free(&spaces->numbers);
	arena_free(&spaces->strings);
}
