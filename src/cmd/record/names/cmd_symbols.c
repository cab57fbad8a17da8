/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin symbols: symbolize a profile again, from the images as they are now: debug packages may have been installed
 * since, or the recorder could not symbolize it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "burin/calls.h"
#include "cmd/cmd.h"
#include "cmd/control/listing_names.h"
#include "cmd/progress.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/record/names/guest_symbols.h"
#include "writer/chunks.h"
#include "writer/symbols_writer.h"
#include "file/create.h"
#include "image/debuginfod/debuginfod.h"
#include "image/elf/debugfile.h"
#include "image/symbolize/symbolize.h"
#include "wire/wire_terms.h"

/* The states of names have the same values on disk and in the library's API. */
static_assert((int)BURIN_NAMES_LINES == (int)WIRE_SYMBOLS_LINES, "states of names");
static_assert((int)BURIN_NAMES_UNKNOWN == (int)WIRE_SYMBOLS_STATES, "states of names");

/* The table that is made, and its name until it is complete. */
struct naming_files {
	const char *table, *draft;
};

static const struct naming_files sample_files = { ".burin/symbols", ".burin/symbols.new" },
				 call_files = { ".burin/calls.symbols", ".burin/calls.symbols.new" };

enum {
	NOBODY = 65534, /* a user without rights of its own */
};

struct naming {
	const struct cmd_symbols_options *options;
	const struct naming_files *files_of;
	const struct burin_profile *profile;
	const struct cmd_faults *faults; /* of the trace, as far as it was read */
	uint64_t *offsets;		 /* of all locations, image by image, sorted within each */
	struct symbolize_image *images;
	struct symbols_writer table;
	struct guest_spaces spaces; /* of guests */
	size_t worse;		    /* images with fewer names than before */
	bool had;		    /* there was a table, perhaps of images that cannot be read now */
	size_t files, files_done;   /* images with locations; those that are symbolized */
	struct progress progress;
	struct debuginfod servers;
	const char *fetched; /* the path of the image whose debug file is downloaded */
};

static int cmd_symbols_compare_offsets(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return number_order(a, b);
}

/* Whether a location lies in a known image; it may also be a mark, or have an image that is missing from the profile. */
static bool cmd_symbols_find_location(const struct naming *naming, uint32_t number,
				      struct burin_location *location)
{
	return !burin_profile_location(naming->profile, number, location) && location->image &&
	       burin_profile_image(naming->profile, location->image);
}

/*
 * Functions of a session of root's have names from files that it names. One of its processes may have dropped privileges since, and name
 * what it must not read. So these names are for root alone.
 */
static void keep_private(const struct naming *naming, int directory)
{
	bool hidden = false;
	struct stat status;

	for (uint32_t n = 0; n < burin_profile_images(naming->profile) && !hidden; n++) {
		const struct symbolize_image *image = &naming->images[n];
		const char *root = naming->options->root ? naming->options->root : "";
		int file = -1;

		if (image->kind == WIRE_IMAGE_FILE && image->file < 0 && image->count) {
			file = debugfile_named(image->path, root, NOBODY);
			hidden = file == -EACCES;
		}
		if (file >= 0)
			close(file);
	}
	if (hidden && fstat(directory, &status) == 0)
		fchmod(directory, status.st_mode & S_IRWXU);
}

/* Collect the locations of each image. Return: 0 or -ENOMEM. */
static int cmd_symbols_gather(struct naming *naming)
{
	const uint32_t locations = burin_profile_locations(naming->profile),
		       images = burin_profile_images(naming->profile);
	/* [n + 1]: where the next location of image n goes */
	size_t *begin = calloc((size_t)images + 2, sizeof(*begin));
	struct burin_location location;

	naming->offsets = calloc((size_t)locations + 1, sizeof(*naming->offsets));
	naming->images = calloc((size_t)images + 1, sizeof(*naming->images));
	if (!begin || !naming->offsets || !naming->images) {
		free(begin);
		return -ENOMEM;
	}
	for (uint32_t n = 1; n <= locations; n++)
		if (cmd_symbols_find_location(naming, n, &location))
			naming->images[location.image - 1].count++;
	for (uint32_t n = 1; n <= images; n++)
		begin[n + 1] = begin[n] + naming->images[n - 1].count;
	for (uint32_t n = 1; n <= locations; n++)
		if (cmd_symbols_find_location(naming, n, &location))
			naming->offsets[begin[location.image]++] = location.offset;
	for (uint32_t n = 0; n < images; n++) {
		struct symbolize_image *image = &naming->images[n];

		image->offsets = naming->offsets + begin[n + 1] - image->count;
		qsort(naming->offsets + begin[n + 1] - image->count, image->count, sizeof(*naming->offsets),
		      cmd_symbols_compare_offsets);
	}
	free(begin);
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int cmd_symbols_describe(struct naming *naming)
{
	const struct cmd_symbols_options *options = naming->options;
	struct guest_known known = { 0 };
	const int error = options->force ? 0 : guest_known_read(&known, naming->profile);

	for (uint32_t n = 1; n <= burin_profile_images(naming->profile); n++) {
		const struct burin_image *recorded = burin_profile_image(naming->profile, n);
		struct symbolize_image *image = &naming->images[n - 1];

		naming->files += image->count != 0;
		image->number = n;
		image->file = -1;
		if (!recorded)
			continue;
		image->kind = (enum wire_image)recorded->kind;
		image->path = recorded->path;
		image->build_id = recorded->build_id;
		image->build_id_bytes = recorded->build_id_bytes;
		if (options->file)
			image->file = options->file(options->data, n);
		else
			image->file = guest_symbols_open(&options->guests, &known, image, &naming->spaces);
		/* A map or jitdump that the recorder did not open may be another user's: do not trust its path. */
		if (options->file && image->file < 0 &&
		    (image->kind == WIRE_IMAGE_JIT || image->kind == WIRE_IMAGE_JITDUMP))
			image->path = "";
	}
	if (options->target)
		listing_names_open(options->target, naming->images, burin_profile_images(naming->profile));
	guest_known_free(&known);
	if (options->progress) /* not with --quiet */
		guest_symbols_note(&naming->spaces);
	return error;
}

/* Only files that cmd_symbols_describe() has opened are ours. */
static void close_files(const struct naming *naming)
{
	for (uint32_t n = 0; !naming->options->file && n < burin_profile_images(naming->profile); n++)
		if (naming->images && naming->images[n].file >= 0)
			close(naming->images[n].file);
}

static int cmd_symbols_on_entry(void *data, const void *bytes, size_t count)
{
	struct naming *naming = data;

	return symbols_writer_entry(&naming->table, bytes, count);
}

static void cmd_symbols_on_image(void *data, uint32_t number, enum wire_symbols_state state, const char *hint)
{
	struct naming *naming = data;
	const struct burin_image *image = burin_profile_image(naming->profile, number);

	naming->files_done++;
	naming->worse += image->names != BURIN_NAMES_UNKNOWN && state < image->names;
	if (naming->options->quiet || !*hint)
		return;
	progress_clear(&naming->progress);
	cmd_note("burin: %s: %s; missing: %s\n", *image->path ? image->path : burin_image_name(image),
		 wire_symbols_terms[state].text, hint);
}

static bool cmd_symbols_on_progress(void *data, uint64_t done, uint64_t total)
{
	struct naming *naming = data;
	char found[TEXT_SHORT], all[TEXT_SHORT];

	if (progress_due(&naming->progress))
		progress_show(&naming->progress, "symbolizing: %zu of %zu files, %s of %s locations",
			      naming->files_done, naming->files, text_count(found, done),
			      text_count(all, total));
	return true;
}

static void on_download(void *data, uint64_t bytes, uint64_t total)
{
	struct naming *naming = data;
	const char *slash = strrchr(naming->fetched, '/'), *name = slash ? slash + 1 : naming->fetched;
	char got[TEXT_SHORT], all[TEXT_SHORT];

	if (!progress_due(&naming->progress))
		return;
	if (total)
		progress_show(&naming->progress,
			      "downloading names of %.60s: %s of %s; Ctrl-C skips downloads", name,
			      text_size(got, bytes), text_size(all, total));
	else
		progress_show(&naming->progress, "downloading names of %.60s; Ctrl-C skips downloads", name);
}

static void on_fetch(void *data, const struct symbolize_image *image, uint64_t until_ms, int files[2])
{
	struct naming *naming = data;

	naming->fetched = image->path;
	debuginfod_find(&naming->servers, image->build_id, image->build_id_bytes, until_ms, files);
}

/* Whether the new table has at least the names of the old one. */
static bool is_as_good(const struct naming *naming, const struct symbolize_counts *counts)
{
	return !naming->worse && !(naming->had && (naming->faults->count || counts->damaged));
}

/* Write the table under another name, and rename it if it is good enough. Return: 0 or a negative errno. */
static int write_table(struct naming *naming, int directory, struct symbolize_counts *counts, bool *kept)
{
	const struct symbolize_options options = {
		.root = naming->options->root,
		.cached = naming->options->cached,
		.deadline_ms = (naming->options->deadline_ns + 999999) / 1000000,
		.data = naming,
		.entry = cmd_symbols_on_entry,
		.image = cmd_symbols_on_image,
		.fetch = naming->options->servers && debuginfod_is_wanted() ? on_fetch : NULL,
		.progress = cmd_symbols_on_progress
	};
	char served[DEBUGINFOD_TEXT_MAX];
	int error;

	naming->servers = (struct debuginfod){ .data = naming, .progress = on_download };

	naming->had = faccessat(directory, naming->files_of->table, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		      errno != ENOENT;
	create_remove(directory, naming->files_of->draft); /* of a killed command */
	error = symbols_writer_begin(&naming->table, directory, naming->files_of->draft);
	if (!error)
		error = symbolize(naming->images, burin_profile_images(naming->profile), &options, counts);
	progress_clear(&naming->progress);
	debuginfod_close(&naming->servers, served, sizeof(served));
	if (*served && (!naming->options->quiet || naming->servers.found < naming->servers.asked ||
			naming->servers.stopped))
		cmd_note("burin: DEBUGINFOD_URLS: %s\n", served);
	if (!error)
		error = symbols_writer_flush(&naming->table);
	symbols_writer_close(&naming->table);
	*kept = !error && (naming->options->force || is_as_good(naming, counts));
	if (*kept)
		error = create_rename(directory, naming->files_of->draft, naming->files_of->table);
	if (!*kept || error)
		create_remove(directory, naming->files_of->draft);
	return error;
}

/* Report the losses by the deadline and by failed children, and to root a missing seccomp. Also with --quiet. */
static void cmd_symbols_warn(const char *path, const struct symbolize_counts *counts)
{
	static bool warned;

	if (counts->late)
		cmd_note("burin: names of %" PRIu64 " image%s were not found before the deadline; burin "
			 "symbols --deadline TIME %s finds them\n",
			 counts->late, text_plural(counts->late), path);
	if (counts->damaged)
		cmd_note("burin: %" PRIu64 " file%s could not be read completely, so names are missing; "
			 "burin symbols %s tries again "
			 "and lists them\n",
			 counts->damaged, text_plural(counts->damaged), path);
	if (counts->unconfined && geteuid() == 0 && !warned)
		cmd_note("burin: files of other users are read without seccomp: %s; do not record as root\n",
			 strerror(-counts->unconfined));
	warned |= counts->unconfined != 0;
}

/* Return: 0 or the exit code. */
static int cmd_symbols_find_names(struct naming *naming, int directory, const char *path)
{
	struct symbolize_counts counts;
	int error = cmd_symbols_gather(naming);
	bool kept = false;

	if (!error)
		error = cmd_symbols_describe(naming);
	if (!error) {
		if (naming->options->calls && geteuid() == 0)
			keep_private(naming, directory);
		error = naming->spaces.failed ? 0 : write_table(naming, directory, &counts, &kept);
	}
	close_files(naming);
	free(naming->images);
	free(naming->offsets);
	if (error)
		return cmd_failed("%s/%s: %s", path, naming->files_of->table, strerror(-error));
	if (naming->spaces.failed)
		return CMD_FAULTS;
	cmd_symbols_warn(path, &counts);
	if (!kept && !naming->worse)
		return cmd_failed("%s: the profile could not be read completely; its names are unchanged "
				  "(use --force to replace them)",
				  path);
	if (!kept)
		return cmd_failed("%s: fewer names than before for %zu image%s; names are unchanged "
				  "(use --force to replace them)",
				  path, naming->worse, text_plural(naming->worse));
	if (!naming->options->quiet)
		cmd_note("burin: %" PRIu64 " locations, %" PRIu64 " with a name, %" PRIu64 " with a line\n",
			 counts.locations, counts.named, counts.lined);
	return counts.damaged ? CMD_FAULTS : 0;
}

int cmd_symbols_find(int directory, const char *path, const struct cmd_symbols_options *options)
{
	struct cmd_faults faults = { .show_max = options->quiet ? 0 : 10 };
	struct naming naming = { .options = options,
				 .faults = &faults,
				 .files_of = options->calls ? &call_files : &sample_files };
	struct burin_profile *profile = NULL;
	struct burin_calls *calls = NULL;
	struct burin_trace *trace = NULL;
	int result = cmd_open_at(&trace, directory, path, &faults);

	progress_begin(&naming.progress, options->progress, false);
	if (!result) {
		int error = options->calls ? burin_calls_open(&calls, trace)
					   : burin_profile_open(&profile, trace);

		naming.profile = calls ? burin_calls_profile(calls) : profile;
		if (error == -ENODATA)
			result = cmd_usage("%s: the trace has no profile", path);
		else if (error)
			result = cmd_failed("%s: %s", path, strerror(-error));
	}
	if (!result)
		result = cmd_symbols_find_names(&naming, directory, path);
	cmd_faults_foot(&faults, path);
	burin_profile_close(profile);
	burin_calls_close(calls);
	burin_trace_close(trace);
	return !result && faults.count ? CMD_FAULTS : result;
}

void cmd_symbols_calls(int directory, const char *path, const struct cmd_symbols_options *options)
{
	struct cmd_symbols_options all = *options;

	if (faccessat(directory, ".burin/calls.functions", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	all.quiet = all.calls = all.servers = true;
	cmd_symbols_find(directory, path, &all);
}

static struct cmd_symbols_options options = { .servers = true, .deadline_ns = CMD_SYMBOLS_DEADLINE_NS };

static const struct cmd_option table[] = {
	OPTION_TEXT("-r, --root DIR", &options.root,
		    "look for all files below DIR, the tree of another system"),
	OPTION_LIST("--guest FILE", &options.guests,
		    "functions of a guest: vmlinux=FILE of its kernel, or of a program without one; "
		    "prog=FILE@SPACE of the programs in an address space, without @SPACE of those it fits. "
		    "FILE is an ELF file, the kernel's vmlinuz, or the text of the guest's /proc/kallsyms. "
		    "FILE+0xOFFSET: its code was moved by OFFSET; without, that is found. May be repeated; "
		    "adds to the names that the trace has"),
	OPTION_FLAG("-f, --force", &options.force,
		    "write the result even if fewer names were found than before; forget earlier files of "
		    "--guest"),
	OPTION_DURATION(
		"--deadline TIME", &options.deadline_ns, 0,
		"stop the look-up after TIME, such as 10m; 0s: no limit (default: " CMD_SYMBOLS_DEADLINE_TEXT
		")"),
	OPTION_FLAG("-q, --quiet", &options.quiet, "no summary"),
	CMD_MEMORY,
	{ 0 },
};

/* Symbolize samples and calls. @found: set if there are any */
static int find_both(int directory, const char *path, bool *found)
{
	static const char *const tables[] = { ".burin/stacks", ".burin/calls.functions" };
	int result = 0;

	for (unsigned n = 0; n < 2; n++) {
		int one;

		if (faccessat(directory, tables[n], F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		*found = true;
		options.calls = n == 1;
		one = cmd_symbols_find(directory, path, &options);
		result = one > result ? one : result;
	}
	return result;
}

/* A chunk of a split recording. @found: set if it has samples or calls */
static int find_in_chunk(int directory, const char *path, unsigned number, bool *found)
{
	char chunk_name[CHUNKS_NAME], chunk_path[CHUNKS_PATH];
	int chunk, result;

	chunks_name(number, chunk_name);
	chunks_path(path, number, chunk_path);
	chunk = create_enter(directory, chunk_name);
	if (chunk < 0)
		return cmd_failed("%s: %s", chunk_path, strerror(-chunk));
	result = find_both(chunk, chunk_path, found);
	close(chunk);
	return result;
}

/* @chunks: set to the numbers of the chunks, which the caller frees; NULL: the trace is not split. Return: how many, or -1. */
static int cmd_symbols_list_chunks(int directory, const char *path, unsigned **chunks)
{
	struct cmd_faults faults = { 0 };
	struct burin_trace *trace;
	unsigned count;

	*chunks = NULL;
	if (cmd_open_at(&trace, directory, path, &faults))
		return -1;
	count = burin_trace_chunks(trace);
	if (count)
		*chunks = calloc(count, sizeof(**chunks));
	for (unsigned n = 0; *chunks && n < count; n++)
		(*chunks)[n] = burin_trace_chunk(trace, n);
	burin_trace_close(trace);
	return count && !*chunks ? -1 : (int)count;
}

static int find_in(int directory, const char *path)
{
	unsigned *chunks;
	int count = cmd_symbols_list_chunks(directory, path, &chunks), result = 0;
	bool found = false;

	if (count < 0)
		return CMD_USAGE;
	if (count == 0)
		result = find_both(directory, path, &found);
	if (count == 0 && !found)
		return cmd_symbols_find(directory, path, &options); /* which reports what is wrong */
	while (count-- > 0) {
		const int one = find_in_chunk(directory, path, chunks[count], &found);

		result = one > result ? one : result;
	}
	free(chunks);
	return found ? result : cmd_usage("%s: the trace has no profile", path);
}

static int cmd_symbols_run(char **operands)
{
	int directory, result = guest_symbols_check(&options.guests);

	if (result)
		return result;
	directory = cmd_open_own(operands[0]);
	if (directory < 0)
		return CMD_USAGE;
	options.progress = !options.quiet;
	result = find_in(directory, operands[0]);
	close(directory);
	return guest_symbols_finish(&options.guests) ?: result;
}

const struct cmd cmd_symbols = {
	.name = "symbols",
	.line = "look up function names and source lines again, as with new debug packages",
	.usage = "Usage: burin symbols [options] DIR\n"
		 "\n"
		 "Look up the functions, lines and inlined functions of the profile in DIR again, and\n"
		 "store them in DIR. Programs and libraries are opened at their recorded paths, and used\n"
		 "if they still have the same build id; debug information also comes from debug files\n"
		 "below /usr/lib/debug. Missing files are listed, with the packages that supply them.\n"
		 "If DEBUGINFOD_URLS names debuginfod servers, debug files of images without names are\n"
		 "downloaded from them; DEBUGINFOD_URLS= downloads nothing.\n"
		 "Of a split recording, all chunks get the names.\n"
		 "DIR must be your own; for another user's, root runs this command as that user by sudo.\n",
	.notes = "Exit code: 0; 1 if it failed, the trace has faults, or fewer names were found than\n"
		 "before; 2 if there is no profile.\n",
	.options = table,
	.operands = { 1, 1, "give one directory of a trace with samples", { CMD_IS_TRACE } },
	.main = cmd_symbols_run,
};
