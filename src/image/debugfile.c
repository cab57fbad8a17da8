/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finding debug files; see debugfile.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "image/debugfile.h"

static const char debug_root[] = "/usr/lib/debug";

int debugfile_descriptor(const char *path, const char *root)
{
	char full[PATH_MAX];
	struct stat status;
	int file;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full))
		return -ENAMETOOLONG;
	file = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return -errno;
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(file);
		return -ENOENT;
	}
	return file;
}

int debugfile_open(struct image *out, const char *path, const char *root)
{
	const int file = debugfile_descriptor(path, root);

	return file < 0 ? file : image_open(out, file);
}

/* Opens a file and closes it again unless it has the build id. */
static int open_with_id(struct image *out, const char *path, const char *root, const unsigned char *id,
			size_t bytes)
{
	int error = debugfile_open(out, path, root);

	if (!error && (out->build_id_bytes != bytes || memcmp(out->build_id, id, bytes) != 0)) {
		image_close(out);
		error = -ENOENT;
	}
	return error;
}

bool debugfile_path(char out[PATH_MAX], const unsigned char *id, size_t bytes)
{
	int at = snprintf(out, PATH_MAX, "%s/.build-id/", debug_root);

	if (bytes < 2 || bytes > IMAGE_BUILD_ID_MAX) {
		*out = '\0';
		return false;
	}
	for (size_t n = 0; n < bytes; n++)
		at += snprintf(out + at, PATH_MAX - (size_t)at, n == 1 ? "/%02x" : "%02x", id[n]);
	snprintf(out + at, PATH_MAX - (size_t)at, ".debug");
	return true;
}

static int find_id(struct image *out, char found[PATH_MAX], const unsigned char *id, size_t bytes,
		   const char *root)
{
	return debugfile_path(found, id, bytes) ? open_with_id(out, found, root, id, bytes) : -ENOENT;
}

/* The CRC of .gnu_debuglink: that of zlib, over the whole file. */
static uint32_t checksum(int file)
{
	unsigned char bytes[65536];
	uint32_t table[256], sum = UINT32_MAX;
	off_t at = 0;
	ssize_t got;

	for (uint32_t n = 0; n < 256; n++) {
		table[n] = n;
		for (unsigned bit = 0; bit < 8; bit++)
			table[n] = table[n] >> 1 ^ (table[n] & 1 ? 0xedb88320 : 0);
	}
	for (; (got = pread(file, bytes, sizeof(bytes), at)) > 0; at += got) {
		for (ssize_t n = 0; n < got; n++)
			sum = table[(sum ^ bytes[n]) & 255] ^ sum >> 8;
	}
	return ~sum;
}

static int open_linked(struct image *out, const char *path, const char *root, const struct image *image,
		       uint32_t sum)
{
	int error;

	if (image->build_id_bytes)
		return open_with_id(out, path, root, image->build_id, image->build_id_bytes);
	error = debugfile_open(out, path, root);
	if (!error && checksum(out->fd) != sum) {
		image_close(out);
		error = -ENOENT;
	}
	return error;
}

/* In the image's directory, below it in .debug, and in the same place below /usr/lib/debug. */
static int find_linked(struct image *out, char found[PATH_MAX], const struct image *image, const char *path,
		       const char *root)
{
	static const char *const places[][2] = { { "", "" }, { "", ".debug/" }, { debug_root, "" } };
	const char *slash = strrchr(path, '/');
	GElf_Word sum;
	const char *name = dwelf_elf_gnu_debuglink(image->elf, &sum);

	if (!name || !slash || strchr(name, '/'))
		return -ENOENT;
	for (unsigned n = 0; n < sizeof(places) / sizeof(places[0]); n++) {
		int bytes = snprintf(found, PATH_MAX, "%s%.*s/%s%s", places[n][0], (int)(slash - path), path,
				     places[n][1], name);

		if (bytes < PATH_MAX && strcmp(found, path) != 0 &&
		    !open_linked(out, found, root, image, sum))
			return 0;
	}
	return -ENOENT;
}

int debugfile_find(struct image *out, char found[PATH_MAX], const struct image *image, const char *path,
		   const char *root)
{
	if (!find_id(out, found, image->build_id, image->build_id_bytes, root))
		return 0;
	return find_linked(out, found, image, path, root);
}

bool debugfile_alternate(struct image *out, Dwarf **alternate, Dwarf *dwarf, const char *path,
			 const char *root)
{
	const char *name, *slash = strrchr(path, '/');
	const void *id;
	const ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	char full[PATH_MAX];
	int error;

	if (bytes <= 0)
		return false;
	error = find_id(out, full, id, (size_t)bytes, root);
	if (error && *name == '/')
		error = open_with_id(out, name, root, id, (size_t)bytes);
	else if (error && slash &&
		 (size_t)snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - path), path, name) <
			 sizeof(full))
		error = open_with_id(out, full, root, id, (size_t)bytes);
	if (error)
		return false;
	*alternate = dwarf_begin_elf(out->elf, DWARF_C_READ, NULL);
	if (!*alternate) {
		image_close(out);
		return false;
	}
	dwarf_setalt(dwarf, *alternate);
	return true;
}
