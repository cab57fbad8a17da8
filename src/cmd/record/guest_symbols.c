/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files with the functions of guests; see guest_symbols.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/guest_symbols.h"
#include "image/names/guest_names.h"
#include "wire/wire_call.h"

static const char kernel_key[] = "vmlinux=", program_key[] = "prog=";
static bool *used; /* of each word: the trace has an image for it; NULL: not counted */

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
	free(used);
	used = files->count ? calloc(files->count, sizeof(*used)) : NULL;
	return 0;
}

/* The address space of an image of a guest's processes, as text; NULL: it is another image. */
static const char *space_of(const char *image)
{
	const size_t bytes = sizeof(WIRE_GUEST_USER) - 1;

	return strncmp(image, WIRE_GUEST_USER, bytes) == 0 ? image + bytes : NULL;
}

/* The address space at the end of a word, behind an @; NULL: it has none. A path may have an @, too. */
static const char *given_space(const char *word)
{
	const char *at = strrchr(word, '@');

	if (!at)
		return NULL;
	at += strncmp(at + 1, "0x", 2) == 0 ? 3 : 1;
	return *at && strspn(at, "0123456789abcdefABCDEF") == strlen(at) ? at : NULL;
}

/* Whether a word is for an image. @exactly: by its address space */
static bool is_for(const char *word, const char *image, bool exactly)
{
	const bool is_kernel = strcmp(image, WIRE_GUEST_KERNEL) == 0;
	const char *space = is_kernel ? NULL : space_of(image), *given = given_space(word);

	if (is_kernel)
		return exactly && has_key(word, kernel_key);
	if (!space || !has_key(word, program_key) || exactly != (given != NULL))
		return false;
	return !given ||
	       (strncasecmp(given, space, strlen(given)) == 0 && strcmp(space + strlen(given), "]") == 0);
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

/* A file's functions and where they were moved to. Return: 0 or a negative errno. @path: its end may be cut off */
static int read_path(char *path, const struct symbolize_image *image, struct guest_names *names,
		     struct guest_shifts *shifts)
{
	const bool given = take_shift(path, '+', &shifts->all[0]);
	const bool first = !given && take_shift(path, GUEST_SYMBOLS_FIRST, &shifts->all[0]);
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int error;

	if (file < 0)
		return -errno;
	error = guest_names_read(names, file);
	close(file);
	shifts->count = given || first;
	if (!error && !given)
		error = guest_names_shifts(names, image->offsets, image->count, shifts);
	return error;
}

/* Return: whether the file's names hold where those that are known contradict them. */
static bool is_better(const char *path, const struct symbolize_image *image,
		      const struct guest_agreement *agreement)
{
	const bool better = agreement->begun >= agreement->known;

	if (!agreement->contradicted)
		return true;
	cmd_note("burin symbols: --guest: %s: contradicts names of %s for %zu of %zu functions, the first is "
		 "%s, and was %s; %s; --force forgets what was given before\n",
		 path, image->path, agreement->contradicted, agreement->known, agreement->first,
		 agreement->was,
		 better ? "it replaces these" : "those stay, since more functions begin by them");
	return better;
}

static const struct guest_shifts unmoved = { .count = 1 };

/* The map of a file's functions and of those that are known. Return: a descriptor, or a negative errno. */
static int map_of(char *path, const struct symbolize_image *image, const struct guest_names *known)
{
	struct guest_names names = { 0 };
	struct guest_shifts shifts = { 0 };
	int result = read_path(path, image, &names, &shifts);

	if (!result) {
		const struct guest_agreement agreement =
			guest_names_agree(&names, &shifts, known, image->offsets, image->count);

		result = is_better(path, image, &agreement)
				 ? guest_names_map(&names, &shifts, known, image->offsets, image->count)
				 : guest_names_map(known, &unmoved, known, image->offsets, image->count);
	}
	guest_names_free(&names);
	return result;
}

/* The word for an image; NULL: there is none. One for its address space precedes one for all. */
static const char *find_word(const struct view_globs *files, const struct symbolize_image *image)
{
	for (size_t n = 0; n < 2 * files->count; n++) {
		const size_t word = n % files->count;

		if (!is_for(files->globs[word], image->path, n < files->count))
			continue;
		if (used)
			used[word] = true;
		return files->globs[word];
	}
	return NULL;
}

int guest_symbols_open(const struct view_globs *files, const struct guest_known *known,
		       const struct symbolize_image *image, bool *failed)
{
	const char *word = find_word(files, image);
	struct guest_names names;
	int map = guest_known_names(known, image->number, &names);
	char *path = word ? path_of(word) : NULL;

	if (!map && word)
		map = path ? map_of(path, image, &names) : -ENOMEM;
	else if (!map)
		map = names.count ? guest_names_map(&names, &unmoved, &names, NULL, 0) : -1;
	if (map < 0 && (word || names.count)) {
		*failed = true;
		cmd_failed("--guest: %s: %s", path ? path : image->path,
			   map == -ENOEXEC	 ? "it has no functions; give an ELF file with symbols, or a "
						   "text such as /proc/kallsyms of the guest"
			   : map == -EMEDIUMTYPE ? GUEST_NAMES_PACKED
						 : strerror(-map));
	}
	guest_names_free(&names);
	free(path);
	return map < 0 ? -1 : map;
}

int guest_symbols_finish(const struct view_globs *files)
{
	int result = 0;

	for (size_t n = 0; n < files->count && used; n++)
		if (!used[n])
			result = cmd_failed("--guest: '%s': the trace has no such code; see: burin report "
					    "--calls --by image",
					    files->globs[n]);
	free(used);
	used = NULL;
	return result;
}
