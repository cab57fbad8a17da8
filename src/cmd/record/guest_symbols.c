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
	return 0;
}

/* The address space of an image of a guest's processes, as text; NULL: it is another image. */
static const char *space_of(const char *image)
{
	const size_t bytes = sizeof(WIRE_GUEST_USER) - 1;

	return strncmp(image, WIRE_GUEST_USER, bytes) == 0 ? image + bytes : NULL;
}

/* The path of the file for an image, which the caller frees; NULL: this is not its file. */
static char *path_for(const char *word, const char *image)
{
	const bool is_kernel = strcmp(image, WIRE_GUEST_KERNEL) == 0;
	const char *space = is_kernel ? NULL : space_of(image), *at;

	if (is_kernel)
		return has_key(word, kernel_key) ? strdup(word + sizeof(kernel_key) - 1) : NULL;
	if (!space || !has_key(word, program_key))
		return NULL;
	word += sizeof(program_key) - 1;
	at = strrchr(word, '@');
	if (!at)
		return strdup(word);
	at++;
	if (strncmp(at, "0x", 2) == 0)
		at += 2;
	return strncmp(at, space, strlen(at)) == 0 && strcmp(space + strlen(at), "]") == 0
		       ? strndup(word, (size_t)(strrchr(word, '@') - word))
		       : NULL;
}

/* Cut "+0xOFFSET" off a path. Return: false: it has none. */
static bool take_shift(char *path, uint64_t *shift)
{
	char *at = strrchr(path, '+'), *end;

	if (!at || strncmp(at, "+0x", 3) != 0 || !isxdigit((unsigned char)at[3]))
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
	uint64_t shift = 0;
	const bool given = take_shift(path, &shift);
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct guest_names names;
	int result;

	if (file < 0)
		return -errno;
	result = guest_names_read(&names, file);
	close(file);
	if (result)
		return result;
	if (!given)
		result = guest_names_shift(&names, image->offsets, image->count, &shift);
	if (!result)
		result = guest_names_map(&names, shift);
	guest_names_free(&names);
	return result;
}

int guest_symbols_open(const struct view_globs *files, const struct symbolize_image *image, bool *failed)
{
	int map = -1;

	for (size_t n = 0; n < files->count && map < 0; n++) {
		char *path = path_for(files->globs[n], image->path);

		if (!path)
			continue;
		map = map_of(path, image);
		if (map < 0) {
			*failed = true;
			cmd_failed("--guest: %s: %s", path,
				   map == -ENOEXEC
					   ? "it has no functions; give an ELF file with symbols, or a "
					     "text such as /proc/kallsyms of the guest"
					   : strerror(-map));
		}
		free(path);
	}
	return map < 0 ? -1 : map;
}
