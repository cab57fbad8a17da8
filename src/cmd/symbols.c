/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin symbols: name the code of a profile once more, from the images as they are now: because debug packages were
 * installed since, or because the recorder could not.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/symbols.h"
#include "cmd/tables.h"
#include "image/symbolise.h"

const char cmd_symbols_help[] =
	"Usage: burin symbols [options] DIR\n"
	"\n"
	"Find the names, lines and inlined functions of the profile in DIR once more, and put\n"
	"them into DIR. Programs and libraries are taken from where they lay when they were\n"
	"recorded, if they still have the same build id; debug information also from debug\n"
	"files below /usr/lib/debug. What is missing is listed, with what would supply it.\n"
	"\n"
	"  -r, --root DIR   look for all files below DIR, the tree of another system\n"
	"  -f, --force      write what was found even if less is known than before\n"
	"  -q, --quiet      no summary\n"
	"  -h, --help       this text\n"
	"\n"
	"Exit code: 0; 1 if it failed, or less was found than is there; 2 if there is no\n"
	"profile.\n";

static const char *name = "symbols"; /* of the command that we are */

struct image {
	enum wire_image kind;
	char *path;
	unsigned char *build_id;
	size_t build_id_bytes;
	unsigned state_before; /* what the trace knew so far */
	size_t first, count;   /* of its places */
};

struct place {
	uint64_t image, offset;
};

struct profile {
	struct image *images; /* entry n is images[n - 1] */
	size_t image_count, image_room;
	struct place *places;
	size_t place_count, place_room;
	uint64_t *offsets; /* of the places */
	struct table_writer writer;
	size_t worse; /* images of which less is known now */
	const struct cmd_symbols_options *options;
	bool terminal;
};

/* ---- what is there */

static bool grow(void **array, size_t *room, size_t needed, size_t size)
{
	const size_t larger = *room ? *room * 2 : 64;
	void *moved = needed > *room ? reallocarray(*array, larger, size) : *array;

	if (moved && needed > *room)
		*room = larger;
	if (moved)
		*array = moved;
	return moved;
}

static int take_image(void *data, struct table_entry *entry)
{
	struct profile *profile = data;
	struct image image = { .kind = (enum wire_image)table_number(entry) };
	const unsigned char *id, *path;
	size_t id_bytes, path_bytes;

	table_number(entry); /* the size of the file: its build id says more */
	id = table_text(entry, &id_bytes);
	path = table_text(entry, &path_bytes);
	if (entry->wrong)
		return 0;
	if (!grow((void **)&profile->images, &profile->image_room, profile->image_count + 1, sizeof(image)))
		return -ENOMEM;
	image.path = strndup((const char *)path, path_bytes);
	image.build_id = (unsigned char *)strndup("", 0);
	if (id_bytes)
		image.build_id = realloc(image.build_id, id_bytes);
	if (!image.path || !image.build_id)
		return -ENOMEM;
	memcpy(image.build_id, id, id_bytes);
	image.build_id_bytes = id_bytes;
	profile->images[profile->image_count++] = image;
	return 0;
}

static int take_stack(void *data, struct table_entry *entry)
{
	struct profile *profile = data;
	struct place place;

	table_number(entry);
	place.image = table_number(entry);
	place.offset = table_number(entry);
	if (!place.image || place.image > profile->image_count)
		return 0;
	if (!grow((void **)&profile->places, &profile->place_room, profile->place_count + 1, sizeof(place)))
		return -ENOMEM;
	profile->places[profile->place_count++] = place;
	return 0;
}

/* Of a table of symbols: what an image's entry says; false: it is of another kind. */
static bool take_state(struct table_entry *entry, uint64_t *image, uint64_t *state,
		       const unsigned char **remedy, size_t *bytes)
{
	const uint64_t what = table_number(entry);
	uint64_t frames;

	if (what == WIRE_SYMBOLS_IMAGE) {
		*image = table_number(entry);
		*state = table_number(entry);
		*remedy = table_text(entry, bytes);
		return !entry->wrong;
	}
	if (what == WIRE_SYMBOLS_TEXT) {
		table_text(entry, bytes);
		return false;
	}
	for (unsigned n = 0; n < 4; n++)
		table_number(entry);
	frames = table_number(entry);
	for (uint64_t n = 0; n < frames && !entry->wrong; n++) {
		for (unsigned field = 0; field < 3; field++)
			table_number(entry);
	}
	return false;
}

static int take_before(void *data, struct table_entry *entry)
{
	struct profile *profile = data;
	const unsigned char *remedy;
	uint64_t image, state;
	size_t bytes;

	if (take_state(entry, &image, &state, &remedy, &bytes) && image && image <= profile->image_count &&
	    state < WIRE_SYMBOLS_STATES)
		profile->images[image - 1].state_before = (unsigned)state;
	return 0;
}

static int compare_places(const void *one, const void *other)
{
	const struct place *a = one, *b = other;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Each place once, by image and offset. */
static int sort_places(struct profile *profile)
{
	size_t kept = 0;

	if (profile->place_count)
		qsort(profile->places, profile->place_count, sizeof(*profile->places), compare_places);
	profile->offsets = calloc(profile->place_count + 1, sizeof(*profile->offsets));
	if (!profile->offsets)
		return -ENOMEM;
	for (size_t n = 0; n < profile->place_count; n++) {
		const struct place *place = &profile->places[n];
		struct image *image = &profile->images[place->image - 1];

		if (n && !compare_places(place, place - 1))
			continue;
		if (!image->count)
			image->first = kept;
		image->count++;
		profile->offsets[kept++] = place->offset;
	}
	profile->place_count = kept;
	return 0;
}

static int read_one(struct profile *profile, const char *path, const char *file, uint32_t magic,
		    int (*take)(void *data, struct table_entry *entry))
{
	char full[4096];

	snprintf(full, sizeof(full), "%s/.burin/%s", path, file);
	return table_read(full, magic, take, profile);
}

/* Return: 0 or an exit code. */
static int read_profile(struct profile *profile, const char *path)
{
	int error = read_one(profile, path, "images", WIRE_TABLE_IMAGES, take_image);

	if (!error)
		error = read_one(profile, path, "stacks", WIRE_TABLE_STACKS, take_stack);
	if (error == -ENOENT || error == -ENOTDIR)
		return cmd_usage(name, "%s: there is no profile in it", path);
	/* What was known before matters only for comparison: a table that cannot be read is no reason to stop. */
	read_one(profile, path, "symbols", WIRE_TABLE_SYMBOLS, take_before);
	if (!error)
		error = sort_places(profile);
	return error ? cmd_failed(name, "%s: %s", path,
				  error == -EBADMSG ? "the tables of the profile are damaged"
						    : strerror(-error))
		     : 0;
}

/* ---- what is found */

static void tell_image(const struct profile *profile, const struct image *image, uint64_t state,
		       const char *remedy)
{
	static const char *const known[] = { "no names", "exported names only", "no lines", "" };
	char path[512], text[2048];

	if (profile->options->quiet || !*remedy || !image->count)
		return;
	fprintf(stderr, "burin: %s: %s; missing: %s\n", text_escape_line(path, sizeof(path), image->path),
		known[state], text_escape_line(text, sizeof(text), remedy));
}

static int on_entry(void *data, const void *bytes, size_t count)
{
	struct profile *profile = data;
	struct table_entry entry = { bytes, (const unsigned char *)bytes + count, false };
	const unsigned char *remedy;
	uint64_t image, state;
	char text[2048];
	size_t remedy_bytes;

	if (take_state(&entry, &image, &state, &remedy, &remedy_bytes)) {
		snprintf(text, sizeof(text), "%.*s", (int)remedy_bytes, (const char *)remedy);
		profile->worse += state < profile->images[image - 1].state_before;
		tell_image(profile, &profile->images[image - 1], state, text);
	}
	return table_add(&profile->writer, bytes, count);
}

static bool on_progress(void *data, uint64_t done, uint64_t total)
{
	const struct profile *profile = data;

	if (profile->terminal && total)
		fprintf(stderr, done < total ? "\rburin: naming code: %3u%%" : "\r%*s\r",
			done < total ? (unsigned)(done * 100 / total) : 40, "");
	return true;
}

static int find(struct profile *profile, const struct symbolise_options *options,
		struct symbolise_counts *counts)
{
	const struct cmd_symbols_options *of = profile->options;
	struct symbolise_image *images = calloc(profile->image_count + 1, sizeof(*images));
	int error = -ENOMEM;

	for (size_t n = 0; n < profile->image_count && images; n++) {
		const struct image *image = &profile->images[n];

		images[n] = (struct symbolise_image){
			.kind = image->kind,
			.number = (uint32_t)n + 1,
			.path = image->path,
			.build_id = image->build_id,
			.build_id_bytes = image->build_id_bytes,
			.file = of->file ? of->file(of->data, (uint32_t)n + 1) : -1,
			.offsets = profile->offsets + image->first,
			.count = image->count,
		};
	}
	if (images)
		error = symbolise(images, profile->image_count, options, counts);
	free(images);
	return error;
}

static int write_symbols(struct profile *profile, const char *path)
{
	const struct symbolise_options options = {
		.root = profile->options->root, .data = profile, .entry = on_entry, .progress = on_progress
	};
	struct symbolise_counts counts;
	char full[4096];
	bool keep;
	int error;

	snprintf(full, sizeof(full), "%s/.burin/symbols", path);
	error = table_create(&profile->writer, full, WIRE_TABLE_SYMBOLS);
	if (error)
		return cmd_failed(name, "%s: %s", full, strerror(-error));
	error = find(profile, &options, &counts);
	keep = !error && (profile->options->force || !profile->worse);
	error = table_finish(&profile->writer, keep) ?: error;
	if (error)
		return cmd_failed(name, "%s: %s", full, strerror(-error));
	if (!keep)
		return cmd_failed(
			name, "%s: less is known now of %zu image%s than before; it stays as it is (--force)",
			path, profile->worse, profile->worse == 1 ? "" : "s");
	if (!profile->options->quiet)
		fprintf(stderr,
			"burin: %" PRIu64 " places, %" PRIu64 " with a name, %" PRIu64 " with a line\n",
			counts.places, counts.named, counts.lined);
	return 0;
}

static void free_profile(struct profile *profile)
{
	for (size_t n = 0; n < profile->image_count; n++) {
		free(profile->images[n].path);
		free(profile->images[n].build_id);
	}
	free(profile->images);
	free(profile->places);
	free(profile->offsets);
}

int cmd_symbols_find(const char *command, const char *path, const struct cmd_symbols_options *options)
{
	struct profile profile = { .options = options,
				   .terminal = options->progress && isatty(STDERR_FILENO) };
	int result;

	name = command;
	result = read_profile(&profile, path);
	if (!result)
		result = write_symbols(&profile, path);
	free_profile(&profile);
	return result;
}

int cmd_symbols(int argc, char **argv)
{
	static const struct option longs[] = { { "root", required_argument, NULL, 'r' },
					       { "force", no_argument, NULL, 'f' },
					       { "quiet", no_argument, NULL, 'q' },
					       { 0 } };
	struct cmd_symbols_options options = { .progress = true };
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "r:fq", longs, NULL)) != -1) {
		if (option == '?')
			return cmd_usage(name, "wrong option");
		if (option == 'r')
			options.root = optarg;
		else if (option == 'f')
			options.force = true;
		else
			options.quiet = true;
	}
	if (optind + 1 != argc)
		return cmd_usage(name, "give one directory with a profile");
	options.progress = !options.quiet;
	return cmd_symbols_find(name, argv[optind], &options);
}
