/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments by debug information; see auto_arguments.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/auto_arguments.h"
#include "image/elf/debugfile.h"
#include "image/names/parameters.h"
#include "image/symbolize/symbolize.h"
#include "image/symbolize/texts.h"
#include "session/call_arguments.h"
#include "wire/wire_terms.h"

static_assert((int)PARAMETERS_MAX == (int)CALL_ARGUMENTS_MAX &&
		      (int)PARAMETERS_NAME_MAX + 1 == (int)CALL_ARGUMENT_NAME_MAX,
	      "the bounds of a SPEC");

struct described {
	uint64_t offset;
	uint32_t text; /* number of its SPEC; 0: unknown */
};

struct search {
	struct described *all;
	size_t count, room, max;
	struct texts texts;
	uint64_t left;
	const char *path;
	bool quiet, late;
};

/* ---- the file */

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The file that execvp(3) executes. Return: false: there is none. */
static bool find_program(char path[PATH_MAX], const char *command)
{
	const char *directories = getenv("PATH") ?: "/bin:/usr/bin";
	char tried[PATH_MAX];

	if (strchr(command, '/'))
		return is_program(command) && realpath(command, path);
	for (;;) {
		const size_t bytes = strcspn(directories, ":");

		if ((size_t)snprintf(tried, sizeof(tried), "%.*s/%s", bytes ? (int)bytes : 1,
				     bytes ? directories : ".", command) < sizeof(tried) &&
		    is_program(tried))
			return realpath(tried, path);
		if (!directories[bytes])
			return false;
		directories += bytes + 1;
	}
}

/* ---- what its reader reports */

/* The reader may have been taken over by the file. */
static bool is_valid(const char *spec)
{
	struct call_arguments arguments;
	char format[WIRE_FORMAT_MAX + 1];
	const char *why;

	return *spec && call_arguments_parse(&arguments, spec, &why) == 0 &&
	       call_arguments_format(&arguments, format) != 0;
}

static void on_parameters(void *data, uint64_t offset, const char *spec)
{
	struct search *search = data;
	bool fresh;

	if (!array_reserve_max(search->all, search->room, search->count + 1, search->max)) {
		search->left++;
		return;
	}
	search->all[search->count++] = (struct described){
		offset, is_valid(spec) ? texts_number(&search->texts, spec, strlen(spec), &fresh) : 0
	};
}

static int on_entry(void *data, const void *bytes, size_t count)
{
	(void)data;
	(void)bytes;
	(void)count;
	return 0;
}

static void on_image(void *data, uint32_t number, enum wire_symbols_state state, const char *hint)
{
	const struct search *search = data;

	(void)number;
	if (*hint && !search->quiet)
		cmd_note("burin: --auto-args: %s: %s; missing: %s\n", search->path,
			 wire_symbols_terms[state].text, hint);
}

static void read_program(struct search *search, int file, uint64_t deadline_ns)
{
	static const uint64_t any = 0;
	const struct symbolize_image image = { .kind = WIRE_IMAGE_FILE,
					       .number = 1,
					       .path = search->path,
					       .file = file,
					       .offsets = &any,
					       .count = 1 };
	const struct symbolize_options options = { .children = 1,
						   .deadline_ms = (deadline_ns + 999999) / 1000000,
						   .data = search,
						   .entry = on_entry,
						   .image = on_image,
						   .parameters = on_parameters };
	struct symbolize_counts counts;
	const int error = symbolize(&image, 1, &options, &counts);

	if (error)
		cmd_note("burin: --auto-args: %s: %s\n", search->path, strerror(-error));
}

/* ---- the session */

/* Unknown ones come first: if a function is reported twice, it is not known. */
static int compare(const void *one, const void *other)
{
	const struct described *a = one, *b = other;

	return a->offset != b->offset ? number_order(a->offset, b->offset) : number_order(a->text, b->text);
}

static bool have(struct session *session, const void *begin, size_t bytes)
{
	return session_have_memory(session, (uint64_t)((const char *)begin - session->base), bytes);
}

/* Copy a SPEC that is not in the session yet. @places: by the number of the text, plus 1. Return: false: no room. */
static bool store_text(struct session *session, const struct texts *texts, uint32_t number, uint32_t *places,
		       uint32_t *used)
{
	const struct texts_entry *text = &texts->all[number - 1];
	const uint64_t room = (uint64_t)session->geometry.functions_max * WIRE_CALL_SPEC_TEXT;

	if (places[number])
		return true;
	if (text->bytes + 1 > room - *used ||
	    !have(session, session->calls.spec_text + *used, text->bytes + 1))
		return false;
	memcpy(session->calls.spec_text + *used, text->text, text->bytes + 1);
	places[number] = *used + 1;
	*used += text->bytes + 1;
	return true;
}

static void store(struct auto_arguments *found, struct session *session, const struct search *search,
		  uint32_t *places)
{
	struct wire_calls *calls = session->calls.header;
	uint32_t used = 0;

	for (size_t n = 0; n < search->count; n++) {
		const struct described *one = &search->all[n];
		struct wire_call_spec *spec = &session->calls.specs[calls->specs];

		if (n && one->offset == search->all[n - 1].offset)
			continue;
		found->unknown += !one->text;
		if (!one->text)
			continue;
		if (!have(session, spec, sizeof(*spec)) ||
		    !store_text(session, &search->texts, one->text, places, &used)) {
			found->left++;
			continue;
		}
		*spec = (struct wire_call_spec){ .offset = one->offset, .text = places[one->text] - 1 };
		calls->specs++;
		found->known++;
	}
}

void auto_arguments_find(struct auto_arguments *found, const char *command, struct session *session,
			 uint64_t deadline_ns, bool quiet)
{
	struct search search = { .path = found->path,
				 .max = session->geometry.functions_max - 1,
				 .quiet = quiet };
	struct stat status;
	uint32_t *places;
	int file;

	*found = (struct auto_arguments){ 0 };
	if (!find_program(found->path, command)) {
		*found->path = 0; /* exec will report why */
		return;
	}
	file = debugfile_descriptor(found->path, "");
	if (file < 0 || fstat(file, &status) != 0) {
		if (!quiet)
			cmd_note("burin: --auto-args: %s: %s\n", found->path,
				 strerror(file < 0 ? -file : errno));
		return;
	}
	read_program(&search, file, deadline_ns);
	close(file);
	if (search.count)
		qsort(search.all, search.count, sizeof(*search.all), compare);
	places = calloc((size_t)search.texts.count + 1, sizeof(*places));
	found->left = search.left;
	session->calls.header->spec_device = status.st_dev;
	session->calls.header->spec_inode = status.st_ino;
	if (places)
		store(found, session, &search, places);
	free(places);
	texts_free(&search.texts);
	free(search.all);
}

void auto_arguments_summary(const struct auto_arguments *found)
{
	char known[TEXT_SHORT], unknown[TEXT_SHORT], left[TEXT_SHORT];

	if (!*found->path || !(found->known + found->unknown + found->left))
		return;
	cmd_note("burin: --auto-args: the arguments of %s function%s of %s are known, of %s not%s%s\n",
		 text_count(known, found->known), found->known == 1 ? "" : "s", found->path,
		 text_count(unknown, found->unknown), found->left ? "; no room for " : "",
		 found->left ? text_count(left, found->left) : "");
}
