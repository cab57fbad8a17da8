/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments by debug information; see auto_arguments.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/sources/auto_arguments.h"
#include "cmd/record/sources/loaded_files.h"
#include "file/program_path.h"
#include "image/elf/debugfile.h"
#include "image/names/parameters.h"
#include "image/symbolize/symbolize.h"
#include "image/symbolize/texts.h"
#include "session/calls/call_arguments.h"
#include "wire/wire_terms.h"

static_assert((int)PARAMETERS_MAX == (int)CALL_ARGUMENTS_MAX &&
		      (int)PARAMETERS_NAME_MAX + 1 == (int)CALL_ARGUMENT_NAME_MAX,
	      "the bounds of a SPEC");

enum {
	NO_PARAMETERS = UINT32_MAX, /* the number of a SPEC that a function does not need */
	NOBODY = 65534,		    /* a user without rights of its own */
};

struct described {
	uint64_t offset;
	uint32_t image;	       /* from 1 */
	uint32_t text, source; /* numbers of its SPEC and source file; 0: unknown */
};

/* The program and its libraries. */
struct file {
	char *path;
	int descriptor;
	struct stat status;
};

struct search {
	struct described *all;
	size_t count, room, max;
	struct texts texts;
	uint64_t left;
	struct file files[WIRE_CALL_DESCRIBED_MAX];
	uint32_t file_count;
	const char *option; /* that needs it */
	bool quiet, libcalls;
};

/* ---- what its reader reports */

/* The reader may have been taken over by the file. */
static bool auto_arguments_is_valid(const char *spec)
{
	struct call_arguments arguments;
	char format[WIRE_FORMAT_MAX + 1];
	const char *why;

	return *spec && call_arguments_parse(&arguments, spec, &why) == 0 &&
	       call_arguments_format(&arguments, format) != 0;
}

static void auto_arguments_on_parameters(void *data, uint32_t image, uint64_t offset, const char *spec,
					 const char *file)
{
	struct search *search = data;
	struct described one = { .offset = offset, .image = image };
	bool fresh;

	if (!array_reserve_max(search->all, search->room, search->count + 1, search->max)) {
		search->left++;
		return;
	}
	if (!spec)
		one.text = NO_PARAMETERS;
	else if (auto_arguments_is_valid(spec))
		one.text = texts_number(&search->texts, spec, strlen(spec), &fresh);
	if (*file)
		one.source = texts_number(&search->texts, file, strlen(file), &fresh);
	search->all[search->count++] = one;
}

static int auto_arguments_on_entry(void *data, const void *bytes, size_t count)
{
	(void)data;
	(void)bytes;
	(void)count;
	return 0;
}

/* Libraries without debug information are usual. */
static void auto_arguments_on_image(void *data, uint32_t number, enum wire_symbols_state state,
				    const char *hint)
{
	const struct search *search = data;

	if (number == 1 && *hint && !search->quiet)
		cmd_note("burin: %s: %s: %s; missing: %s\n", search->option, search->files[0].path,
			 wire_symbols_terms[state].text, hint);
}

static void auto_arguments_read_files(struct search *search, uint64_t deadline_ns)
{
	static const uint64_t any = 0;
	struct symbolize_image images[WIRE_CALL_DESCRIBED_MAX];
	const struct symbolize_options options = { .deadline_ms = (deadline_ns + 999999) / 1000000,
						   .data = search,
						   .entry = auto_arguments_on_entry,
						   .image = auto_arguments_on_image,
						   .parameters = auto_arguments_on_parameters };
	struct symbolize_counts counts;
	int error;

	for (uint32_t n = 0; n < search->file_count; n++)
		images[n] = (struct symbolize_image){ .kind = WIRE_IMAGE_FILE,
						      .number = n + 1,
						      .path = search->files[n].path,
						      .file = search->files[n].descriptor,
						      .offsets = &any,
						      .count = 1 };
	error = symbolize(images, search->file_count, &options, &counts);
	if (!error && counts.late)
		cmd_note("burin: %s: %s: it was not read before the deadline; little is known of its "
			 "functions\n",
			 search->option, search->files[0].path);
	if (error)
		cmd_note("burin: %s: %s: %s\n", search->option, search->files[0].path, strerror(-error));
}

static bool is_among(const struct search *search, const struct stat *status)
{
	for (uint32_t n = 0; n < search->file_count; n++)
		if (search->files[n].status.st_dev == status->st_dev &&
		    search->files[n].status.st_ino == status->st_ino)
			return true;
	return false;
}

/* @hooked: only if it has hooks. Return: 0 or a negative errno. */
static int auto_arguments_add_file(struct search *search, const char *path, bool hooked)
{
	struct file *file = &search->files[search->file_count];
	int error = 0;

	if (search->file_count == WIRE_CALL_DESCRIBED_MAX)
		return -ENOSPC;
	file->descriptor = debugfile_descriptor(path, "");
	if (file->descriptor < 0)
		return file->descriptor;
	if (fstat(file->descriptor, &file->status) != 0)
		error = -errno;
	else if (is_among(search, &file->status) || (hooked && !loaded_file_has_hooks(file->descriptor)))
		error = -ENOENT;
	else if (!(file->path = strdup(path)))
		error = -ENOMEM;
	if (error)
		close(file->descriptor);
	else
		search->file_count++;
	return error;
}

static void on_library(void *data, const char *path)
{
	struct search *search = data;

	auto_arguments_add_file(search, path, !search->libcalls);
}

/* ---- the session */

/* Unknown ones come first: if a function is reported twice, it is not known. */
static int auto_arguments_compare(const void *one, const void *other)
{
	const struct described *a = one, *b = other;

	if (a->image != b->image)
		return number_order(a->image, b->image);
	return a->offset != b->offset ? number_order(a->offset, b->offset) : number_order(a->text, b->text);
}

static bool auto_arguments_have(struct session *session, const void *begin, size_t bytes)
{
	return session_have_memory(session, (uint64_t)((const char *)begin - session->base), bytes);
}

/*
 * Copy a text that is not in the session yet. @number: 0: none; @places: by the number of the text. Return: its offset; 0: there
 * is no room.
 */
static uint32_t store_text(struct session *session, const struct texts *texts, uint32_t number,
			   uint32_t *places, uint32_t *used)
{
	const struct texts_entry *text = &texts->all[number - 1];
	const uint64_t room = (uint64_t)session->geometry.functions_max * WIRE_CALL_SPEC_TEXT;

	if (places[number])
		return places[number];
	if (text->bytes >= WIRE_CALL_KNOWN_MAX || text->bytes + 1 > room - *used ||
	    !auto_arguments_have(session, session->calls.spec_text + *used, text->bytes + 1))
		return 0;
	memcpy(session->calls.spec_text + *used, text->text, text->bytes + 1);
	places[number] = *used;
	*used += text->bytes + 1;
	return places[number];
}

static void auto_arguments_count(struct auto_arguments *found, uint32_t text, bool stored)
{
	if (!text)
		found->unknown++;
	else if (!stored)
		found->left++;
	else if (text != NO_PARAMETERS)
		found->known++;
}

/* Behind the files that are there already. The program may run by now. */
static void auto_arguments_store(struct auto_arguments *found, struct session *session,
				 const struct search *search, uint32_t *places)
{
	struct wire_calls *calls = session->calls.header;
	struct wire_call_described *files = calls->described_files + found->files;

	for (uint32_t n = 0; n < search->file_count; n++)
		files[n] = (struct wire_call_described){ .device = search->files[n].status.st_dev,
							 .inode = search->files[n].status.st_ino,
							 .first = found->specs };
	for (size_t n = 0; n < search->count; n++) {
		const struct described *one = &search->all[n];
		struct wire_call_described *file = &files[one->image - 1];
		struct wire_call_spec spec = { .offset = one->offset };
		bool stored = found->specs < session->geometry.functions_max - 1 &&
			      auto_arguments_have(session, &session->calls.specs[found->specs], sizeof(spec));

		if (n && one->offset == one[-1].offset && one->image == one[-1].image)
			continue;
		if (stored && one->text && one->text != NO_PARAMETERS) {
			spec.text = store_text(session, &search->texts, one->text, places, &found->used);
			stored = spec.text;
		}
		auto_arguments_count(found, one->text, stored);
		if (stored && one->source)
			spec.source = store_text(session, &search->texts, one->source, places, &found->used);
		if (!spec.text && !spec.source)
			continue;
		if (!file->count)
			file->first = found->specs;
		session->calls.specs[found->specs++] = spec;
		file->count++;
	}
	found->files += search->file_count;
	/* Release: a process that sees the count sees the files. Pairs with the acquire in call_known.c. */
	__atomic_store_n(&calls->described, found->files, __ATOMIC_RELEASE);
}

static void read_and_store(struct auto_arguments *found, struct session *session, struct search *search)
{
	uint32_t *places;

	auto_arguments_read_files(search, found->options.deadline_ns);
	if (search->count)
		qsort(search->all, search->count, sizeof(*search->all), auto_arguments_compare);
	places = calloc((size_t)search->texts.count + 1, sizeof(*places));
	found->left += search->left;
	if (places && auto_arguments_have(session, session->calls.spec_text, 1))
		auto_arguments_store(found, session, search, places);
	free(places);
	texts_free(&search->texts);
	free(search->all);
	for (uint32_t n = 0; n < search->file_count; n++) {
		close(search->files[n].descriptor);
		free(search->files[n].path);
	}
}

static struct search search_for(const struct session *session, const struct auto_arguments_options *options)
{
	return (struct search){ .max = session->geometry.functions_max - 1,
				.option = options->option,
				.quiet = options->quiet,
				.libcalls = options->libcalls };
}

void auto_arguments_find(struct auto_arguments *found, const char *command, struct session *session,
			 const struct auto_arguments_options *options)
{
	struct search search = search_for(session, options);
	int error;

	*found = (struct auto_arguments){ .options = *options, .used = 1 };
	if (!program_path(found->path, command)) {
		*found->path = 0; /* exec will report why */
		return;
	}
	error = auto_arguments_add_file(&search, found->path, false);
	if (error) {
		if (!options->quiet)
			cmd_note("burin: %s: %s: %s\n", options->option, found->path, strerror(-error));
		return;
	}
	loaded_files_find(found->path, search.files[0].descriptor, on_library, &search);
	found->libraries = search.file_count - 1;
	read_and_store(found, session, &search);
}

/* As root: a process that has given up its rights could name what it must not read, and the session is open to it. */
static int open_later(const char *path)
{
	return geteuid() == 0 ? debugfile_named(path, "", NOBODY) : debugfile_descriptor(path, "");
}

/* Whether the file that was opened is to be read. */
static bool is_wanted_later(struct search *search, const struct wire_call_image *image)
{
	struct file *file = &search->files[0];

	return fstat(file->descriptor, &file->status) == 0 && file->status.st_dev == image->device &&
	       file->status.st_ino == image->inode &&
	       (search->libcalls || loaded_file_has_hooks(file->descriptor));
}

void auto_arguments_later(struct auto_arguments *found, const char *path, const struct wire_call_image *image,
			  struct session *session)
{
	struct search search = search_for(session, &found->options);
	struct file *file = &search.files[0];

	search.quiet = true;
	file->descriptor = found->files < WIRE_CALL_DESCRIBED_MAX ? open_later(path) : -ENOSPC;
	if (file->descriptor < 0) {
		if (file->descriptor != -ENOENT && !found->options.quiet)
			cmd_note("burin: %s: %s: %s; nothing is known of its functions\n", search.option,
				 path,
				 file->descriptor == -EACCES && geteuid() == 0
					 ? "loaded later, and not readable by other users"
					 : strerror(-file->descriptor));
		return;
	}
	file->path = is_wanted_later(&search, image) ? strdup(path) : NULL;
	if (!file->path) {
		close(file->descriptor);
		return;
	}
	search.file_count = 1;
	found->later++;
	read_and_store(found, session, &search);
}

/* " and 2 libraries" */
static void note_files(uint64_t count, const char *one, const char *several)
{
	char text[TEXT_SHORT];

	if (count)
		cmd_note(" and %s %s", text_count(text, count), count == 1 ? one : several);
}

void auto_arguments_summary(const struct auto_arguments *found)
{
	char known[TEXT_SHORT], unknown[TEXT_SHORT], left[TEXT_SHORT];

	if (!*found->path || !(found->known + found->unknown + found->left))
		return;
	cmd_note("burin: --auto-args: the arguments of %s function%s of %s", text_count(known, found->known),
		 text_plural(found->known), found->path);
	note_files(found->libraries, "library", "libraries");
	note_files(found->later, "file loaded later", "files loaded later");
	cmd_note(" are known, of %s not%s%s\n", text_count(unknown, found->unknown),
		 found->left ? "; no room for " : "", found->left ? text_count(left, found->left) : "");
}
