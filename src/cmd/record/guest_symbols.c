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

/* Return: a descriptor of the map, or a negative errno. @path: its end may be cut off */
static int map_of(char *path, const struct symbolize_image *image)
{
	struct guest_shifts shifts = { 0 };
	const bool given = take_shift(path, '+', &shifts.all[0]);
	const bool first = !given && take_shift(path, GUEST_SYMBOLS_FIRST, &shifts.all[0]);
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct guest_names names;
	int result;

	if (file < 0)
		return -errno;
	result = guest_names_read(&names, file);
	close(file);
	if (result)
		return result;
	shifts.count = given || first;
	if (!given)
		result = guest_names_shifts(&names, image->offsets, image->count, &shifts);
	if (!result)
		result = guest_names_map(&names, &shifts, image->offsets, image->count);
	guest_names_free(&names);
	return result;
}

/* Return: a descriptor of the map that a word gives, or -1 after a message. */
static int open_word(const char *word, const struct symbolize_image *image)
{
	char *path = path_of(word);
	const int map = path ? map_of(path, image) : -ENOMEM;

	if (map < 0)
		cmd_failed("--guest: %s: %s", path ? path : word,
			   map == -ENOEXEC ? "it has no functions; give an ELF file with symbols, or a "
					     "text such as /proc/kallsyms of the guest"
					   : strerror(-map));
	free(path);
	return map < 0 ? -1 : map;
}

int guest_symbols_open(const struct view_globs *files, const struct symbolize_image *image, bool *failed)
{
	int map = -1;

	for (size_t n = 0; n < 2 * files->count && map < 0; n++) { /* first those for this address space */
		const size_t word = n % files->count;

		if (!is_for(files->globs[word], image->path, n < files->count))
			continue;
		if (used)
			used[word] = true;
		map = open_word(files->globs[word], image);
		if (map < 0)
			*failed = true;
	}
	return map;
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
