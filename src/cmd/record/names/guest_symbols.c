/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files with the functions of guests; see guest_symbols.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/names/guest_symbols.h"
#include "image/elf/kernel_file.h"
#include "image/names/kernel/guest_names.h"
#include "wire/wire_call.h"

static const char kernel_key[] = "vmlinux=", program_key[] = "prog=";

enum {
	FITS_MOVED = 4, /* called functions that show a distance, at least */
};

/* What became of a word. */
enum guest_use {
	GUEST_UNUSED, /* the trace has no image for it */
	GUEST_CONSIDERED,
	GUEST_CHOSEN,
};

static enum guest_use *uses; /* of each word; NULL: not counted */

static bool has_key(const char *word, const char *key)
{
	return strncmp(word, key, strlen(key)) == 0 && word[strlen(key)];
}

int guest_symbols_check(const struct view_globs *files)
{
	for (size_t n = 0; n < files->count; n++)
		if (!has_key(files->globs[n], kernel_key) && !has_key(files->globs[n], program_key))
			return cmd_usage("--guest: '%s': give vmlinux=FILE or prog=FILE@SPACE",
					 files->globs[n]);
	free(uses);
	uses = files->count ? calloc(files->count, sizeof(*uses)) : NULL;
	return 0;
}

/* The address space of an image of a guest's processes, as text, before its end or the name of its program; NULL: it is another image. */
static const char *space_of(const char *image)
{
	const size_t bytes = sizeof(WIRE_GUEST_USER) - 1;

	return strcmp(image, WIRE_GUEST_KERNEL) != 0 && strncmp(image, WIRE_GUEST_USER, bytes) == 0
		       ? image + bytes
		       : NULL;
}

/* The address space at the end of a word, behind an @, and perhaps the name of a program; NULL: it has none. A path may have an @, too. */
static const char *given_space(const char *word)
{
	const char *at = strrchr(word, '@');
	size_t digits;

	if (!at)
		return NULL;
	at += strncmp(at + 1, "0x", 2) == 0 ? 3 : 1;
	digits = strspn(at, "0123456789abcdefABCDEF");
	return digits && (!at[digits] || at[digits] == ' ') ? at : NULL;
}

/* Cut "+0xOFFSET" or, with another sign, the like off a path. Return: false: it has none. */
static bool take_shift(char *path, char sign, uint64_t *shift)
{
	char *at = strrchr(path, sign), *end;

	if (!at || strncmp(at + 1, "0x", 2) != 0 || !isxdigit((unsigned char)at[3]))
		return false;
	*shift = strtoull(at + 1, &end, 16);
	if (*end)
		return false;
	*at = 0;
	return true;
}

bool guest_symbols_is_path(const char *path)
{
	char copy[PATH_MAX];
	uint64_t shift;

	snprintf(copy, sizeof(copy), "%s", path);
	return !given_space(path) && !take_shift(copy, '+', &shift) &&
	       !take_shift(copy, GUEST_SYMBOLS_FIRST, &shift);
}

/* Whether a word is for an image. @exactly: for this one alone; an address space may have had several programs */
static bool guest_symbols_is_for(const char *word, const char *image, bool exactly)
{
	const bool is_kernel = strcmp(image, WIRE_GUEST_KERNEL) == 0;
	const char *space = space_of(image), *given = given_space(word);

	if (is_kernel)
		return exactly && has_key(word, kernel_key);
	if (!space || !has_key(word, program_key))
		return false;
	if (!given)
		return !exactly;
	return strncasecmp(given, space, strlen(given)) == 0 &&
	       strncmp(space + strlen(given), exactly ? "]" : " ", 1) == 0;
}

/* The path of the file that a word has, which the caller frees. */
static char *path_of(const char *word)
{
	const bool is_kernel = has_key(word, kernel_key);

	if (is_kernel)
		return strdup(word + sizeof(kernel_key) - 1);
	word += sizeof(program_key) - 1;
	return given_space(word) ? strndup(word, (size_t)(strrchr(word, '@') - word)) : strdup(word);
}

/* A file with functions that may be those of an image. */
struct guest_file {
	const char *word;
	char *path;
	struct guest_names names;
	struct guest_shifts shifts;
	bool placed; /* it is known where its functions lie */
	struct guest_agreement agreement;
};

static void free_file(struct guest_file *file)
{
	guest_names_free(&file->names);
	free(file->path);
	*file = (struct guest_file){ 0 };
}

/* Read the functions and where they were moved to. Return: 0 or a negative errno. */
static int read_path(struct guest_file *file, const struct symbolize_image *image)
{
	const bool given = take_shift(file->path, '+', &file->shifts.all[0]);
	const bool first = !given && take_shift(file->path, GUEST_SYMBOLS_FIRST, &file->shifts.all[0]);
	const int descriptor = kernel_file_open(file->path);
	int error;

	if (descriptor < 0)
		return descriptor;
	error = guest_names_read(&file->names, descriptor);
	close(descriptor);
	file->placed = given || (space_of(image->path) && file->names.fixed);
	file->shifts.count = file->placed || first;
	file->shifts.mixed = space_of(image->path) && !strchr(space_of(image->path), ' ');
	if (!error && !file->placed)
		error = guest_names_shifts(&file->names, image->offsets, image->count, &file->shifts);
	return error;
}

/* Read the file of a word. Return: 0 or a negative errno; the file is to be freed in any case. */
static int read_word(struct guest_file *file, const char *word, const struct symbolize_image *image,
		     const struct guest_names *known)
{
	int error;

	*file = (struct guest_file){ .word = word, .path = path_of(word) };
	error = file->path ? read_path(file, image) : -ENOMEM;
	if (!error)
		file->agreement =
			guest_names_agree(&file->names, &file->shifts, known, image->offsets, image->count);
	return error;
}

/*
 * Whether functions of a file are called in an address space. The stubs by which a program reaches its libraries lie between its functions, and are
 * none of them. Where another program lies at the same place, about each tenth of its functions begins where one of the file's does; and
 * some distance always explains one or two calls. @chosen: the user has said that they are
 */
static bool guest_symbols_fits(const struct guest_file *file, bool chosen)
{
	const struct guest_agreement *agreement = &file->agreement;

	return agreement->begun && (chosen || (4 * agreement->begun >= agreement->inside &&
					       agreement->begun >= (file->placed ? 1 : FITS_MOVED)));
}

/* Return: whether the file's names hold where those that are known contradict them. */
static bool is_better(const struct guest_file *file, const struct symbolize_image *image)
{
	const struct guest_agreement *agreement = &file->agreement;
	const bool better = agreement->begun >= agreement->known;

	if (!agreement->contradicted)
		return true;
	cmd_note("burin symbols: --guest: %s: contradicts names of %s for %zu of %zu functions, the first is "
		 "%s, and was %s; %s; --force forgets what was given before\n",
		 file->path, image->path, agreement->contradicted, agreement->known, agreement->first,
		 agreement->was,
		 better ? "it replaces these" : "those stay, since more functions begin by them");
	return better;
}

static const struct guest_shifts unmoved = { .count = 1 };

/* The map of a file's functions, if there is one, and of those that are known. Return: a descriptor; -1: no names; a negative errno. */
static int map_of(const struct guest_file *file, const struct symbolize_image *image,
		  const struct guest_names *known)
{
	if (file->word && is_better(file, image))
		return guest_names_map(&file->names, &file->shifts, known, image->offsets, image->count);
	return known->count ? guest_names_map(known, &unmoved, known, NULL, 0) : -1;
}

static void set_use(size_t word, enum guest_use use)
{
	if (uses && uses[word] < use)
		uses[word] = use;
}

/*
 * The file by which most of the called functions begin, among those that are given for the image's address space, or else for all. Of the
 * latter it must fit. Return: how many were considered; a negative errno, of the file *best. @best: to be freed in any case; without a word if
 * none fits
 */
static int find_best(const struct view_globs *files, const struct symbolize_image *image,
		     const struct guest_names *known, struct guest_file *best)
{
	size_t chosen = 0;
	int count = 0;

	*best = (struct guest_file){ 0 };
	for (size_t n = 0; n < 2 * files->count && !(n == files->count && count); n++) {
		const size_t word = n % files->count;
		const bool exactly = n < files->count;
		struct guest_file file;
		int error;

		if (!guest_symbols_is_for(files->globs[word], image->path, exactly))
			continue;
		count++;
		set_use(word, GUEST_CONSIDERED);
		error = read_word(&file, files->globs[word], image, known);
		if (error || (guest_symbols_fits(&file, exactly) &&
			      (!best->word || file.agreement.begun > best->agreement.begun))) {
			free_file(best);
			*best = file;
			chosen = word;
		} else {
			free_file(&file);
		}
		if (error) { /* the message about it is enough */
			set_use(word, GUEST_CHOSEN);
			return error;
		}
	}
	if (best->word)
		set_use(chosen, GUEST_CHOSEN);
	return count;
}

/* An address space for which files were considered. */
static void count_space(struct guest_spaces *spaces, const struct symbolize_image *image, bool is_named)
{
	if (!image->count || !space_of(image->path))
		return;
	spaces->count++;
	if (!is_named && !spaces->unnamed++)
		spaces->first = image->path;
}

int guest_symbols_open(const struct view_globs *files, const struct guest_known *known,
		       const struct symbolize_image *image, struct guest_spaces *spaces)
{
	struct guest_file best = { 0 };
	struct guest_names names;
	int map = guest_known_names(known, image->number, &names), considered = 0;

	if (!map)
		map = considered = find_best(files, image, &names, &best);
	if (map >= 0)
		map = map_of(&best, image, &names);
	if (considered > 0)
		count_space(spaces, image, map >= 0);
	if (map < 0 && (best.word || map != -1)) {
		spaces->failed = true;
		cmd_failed("--guest: %s: %s", best.path ? best.path : image->path,
			   map == -ENOEXEC ? "it has no functions; give an ELF file with symbols, or a "
					     "text such as /proc/kallsyms of the guest"
					   : kernel_file_problem(map));
	}
	guest_names_free(&names);
	free_file(&best);
	return map < 0 ? -1 : map;
}

void guest_symbols_note(const struct guest_spaces *spaces)
{
	if (spaces->unnamed)
		cmd_note("burin: no file with functions of programs fits %zu of %zu address spaces of the "
			 "guest, the first is %s; their functions have no names; burin symbols --guest "
			 "prog=FILE@SPACE names those of one\n",
			 spaces->unnamed, spaces->count, spaces->first);
}

int guest_symbols_finish(const struct view_globs *files)
{
	int result = 0;

	for (size_t n = 0; n < files->count && uses; n++) {
		if (uses[n] == GUEST_CONSIDERED)
			cmd_note("burin symbols: --guest: '%s': it names nothing: too few called functions "
				 "begin by it, or more by another file\n",
				 files->globs[n]);
		if (uses[n] == GUEST_UNUSED)
			result = cmd_failed("--guest: '%s': the trace has no such code; see: burin report "
					    "--calls --by image",
					    files->globs[n]);
	}
	free(uses);
	uses = NULL;
	return result;
}
