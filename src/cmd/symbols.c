/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin symbols: name the code of a profile once more, from the images as they are now: because debug packages were
 * installed since, or because the recorder could not.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "burin/profile.h"
#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "cmd/symbols.h"
#include "drain/interned.h"
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
	"Exit code: 0; 1 if it failed, the trace has faults, or less was found than is there;\n"
	"2 if there is no profile.\n";

/* The states of names are the same on disk and for readers. */
static_assert((int)BURIN_NAMES_LINES == (int)WIRE_SYMBOLS_LINES, "states of names");
static_assert((int)BURIN_NAMES_UNTOLD == (int)WIRE_SYMBOLS_STATES, "states of names");

static const char table_name[] = ".burin/symbols", draft_name[] = ".burin/symbols.new";

struct naming {
	const char *name; /* of the command that we are */
	const struct cmd_symbols_options *options;
	const struct burin_profile *profile;
	uint64_t *offsets; /* of all places, sorted, image by image */
	struct symbolise_image *images;
	struct interned table;
	size_t worse;		  /* images of which less is known now */
	size_t files, files_done; /* images that have places; of which all is known that can be */
	struct progress progress;
};

static int compare_offsets(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* Whether a place is one in an image; it may be a mark, or name an image that nobody knows. */
static bool find_place(const struct naming *naming, uint32_t number, struct burin_place *place)
{
	return !burin_profile_place(naming->profile, number, place) && place->image &&
	       burin_profile_image(naming->profile, place->image);
}

/* The places of each image. Return: 0 or -ENOMEM. */
static int gather(struct naming *naming)
{
	const uint32_t places = burin_profile_places(naming->profile),
		       images = burin_profile_images(naming->profile);
	size_t *begin =
		calloc((size_t)images + 2, sizeof(*begin)); /* [n + 1]: where the next of image n goes */
	struct burin_place place;

	naming->offsets = calloc((size_t)places + 1, sizeof(*naming->offsets));
	naming->images = calloc((size_t)images + 1, sizeof(*naming->images));
	if (!begin || !naming->offsets || !naming->images) {
		free(begin);
		return -ENOMEM;
	}
	for (uint32_t n = 1; n <= places; n++)
		if (find_place(naming, n, &place))
			naming->images[place.image - 1].count++;
	for (uint32_t n = 1; n <= images; n++)
		begin[n + 1] = begin[n] + naming->images[n - 1].count;
	for (uint32_t n = 1; n <= places; n++)
		if (find_place(naming, n, &place))
			naming->offsets[begin[place.image]++] = place.offset;
	for (uint32_t n = 0; n < images; n++) {
		struct symbolise_image *image = &naming->images[n];

		image->offsets = naming->offsets + begin[n + 1] - image->count;
		qsort(naming->offsets + begin[n + 1] - image->count, image->count, sizeof(*naming->offsets),
		      compare_offsets);
	}
	free(begin);
	return 0;
}

static void describe(struct naming *naming)
{
	const struct cmd_symbols_options *options = naming->options;

	for (uint32_t n = 1; n <= burin_profile_images(naming->profile); n++) {
		const struct burin_image *known = burin_profile_image(naming->profile, n);
		struct symbolise_image *image = &naming->images[n - 1];

		naming->files += image->count != 0;
		image->number = n;
		image->file = -1;
		if (!known)
			continue;
		image->kind = (enum wire_image)known->kind;
		image->path = known->path;
		image->build_id = known->build_id;
		image->build_id_bytes = known->build_id_bytes;
		if (options->file)
			image->file = options->file(options->data, n);
	}
}

static int on_entry(void *data, const void *bytes, size_t count)
{
	struct naming *naming = data;

	return interned_entry(&naming->table, bytes, count) ? 0 : naming->table.error;
}

static void on_image(void *data, uint32_t number, enum wire_symbols_state state, const char *remedy)
{
	static const char *const known[] = { "no names", "exported names only", "no lines", "" };
	struct naming *naming = data;
	const struct burin_image *image = burin_profile_image(naming->profile, number);
	char path[512], text[2048];

	naming->files_done++;
	naming->worse += image->names != BURIN_NAMES_UNTOLD && state < image->names;
	if (naming->options->quiet || !*remedy)
		return;
	progress_clear(&naming->progress);
	fprintf(stderr, "burin: %s: %s; missing: %s\n",
		text_escape_line(path, sizeof(path), *image->path ? image->path : burin_image_name(image)),
		known[state], text_escape_line(text, sizeof(text), remedy));
}

static bool on_progress(void *data, uint64_t done, uint64_t total)
{
	struct naming *naming = data;
	char places[TEXT_SHORT], of[TEXT_SHORT];

	if (progress_due(&naming->progress))
		progress_show(&naming->progress, "naming code: %zu of %zu files, %s of %s places",
			      naming->files_done, naming->files, text_count(places, done),
			      text_count(of, total));
	return true;
}

/* Write the table under another name, and put it in its place if it is to be kept. Return: 0 or a negative errno. */
static int write_table(struct naming *naming, int directory, struct symbolise_counts *counts, bool *kept)
{
	const struct symbolise_options options = { .root = naming->options->root,
						   .data = naming,
						   .entry = on_entry,
						   .image = on_image,
						   .progress = on_progress };
	int error;

	unlinkat(directory, draft_name, 0); /* of one that was killed */
	error = interned_begin(&naming->table, directory, draft_name, WIRE_TABLE_SYMBOLS);
	if (!error)
		error = symbolise(naming->images, burin_profile_images(naming->profile), &options, counts);
	progress_clear(&naming->progress);
	if (!error)
		error = interned_flush(&naming->table);
	interned_close(&naming->table);
	*kept = !error && (naming->options->force || !naming->worse);
	if (*kept && renameat(directory, draft_name, directory, table_name) != 0)
		error = -errno;
	if (!*kept || error)
		unlinkat(directory, draft_name, 0);
	return error;
}

/* Return: 0 or the exit code. */
static int find_names(struct naming *naming, const char *path)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = directory < 0 ? -errno : 0;
	struct symbolise_counts counts;
	bool kept = false;

	if (!error)
		error = gather(naming);
	if (!error) {
		describe(naming);
		error = write_table(naming, directory, &counts, &kept);
	}
	if (directory >= 0)
		close(directory);
	free(naming->images);
	free(naming->offsets);
	if (error)
		return cmd_failed(naming->name, "%s/%s: %s", path, table_name, strerror(-error));
	if (!kept)
		return cmd_failed(
			naming->name,
			"%s: less is known now of %zu image%s than before; it stays as it is (--force)", path,
			naming->worse, naming->worse == 1 ? "" : "s");
	if (!naming->options->quiet)
		fprintf(stderr,
			"burin: %" PRIu64 " places, %" PRIu64 " with a name, %" PRIu64 " with a line\n",
			counts.places, counts.named, counts.lined);
	return 0;
}

int cmd_symbols_find(const char *command, const char *path, const struct cmd_symbols_options *options)
{
	struct naming naming = { .name = command, .options = options };
	struct cmd_faults faults = { .name = command, .show_max = options->quiet ? 0 : 10 };
	struct burin_profile *profile = NULL;
	struct burin_trace *trace = NULL;
	int result = cmd_open(&trace, path, &faults);

	progress_begin(&naming.progress, options->progress, false);
	if (!result) {
		int error = burin_profile_open(&profile, trace);

		naming.profile = profile;
		if (error == -ENODATA)
			result = cmd_usage(command, "%s: there is no profile in it", path);
		else if (error)
			result = cmd_failed(command, "%s: %s", path, strerror(-error));
	}
	if (!result)
		result = find_names(&naming, path);
	cmd_faults_foot(&faults, path);
	burin_profile_close(profile);
	burin_trace_close(trace);
	return !result && faults.count ? CMD_FAULTS : result;
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
			return cmd_usage("symbols", "wrong option");
		if (option == 'r')
			options.root = optarg;
		else if (option == 'f')
			options.force = true;
		else
			options.quiet = true;
	}
	if (optind + 1 != argc)
		return cmd_usage("symbols", "give one directory with a profile");
	options.progress = !options.quiet;
	return cmd_symbols_find("symbols", argv[optind], &options);
}
