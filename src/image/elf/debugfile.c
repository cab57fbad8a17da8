/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finding debug files; see debugfile.h. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "file/foreign.h"
#include "image/elf/debugfile.h"

enum {
	LINK_MAX = PATH_MAX + 64, /* bytes of a section that names another file */
};

static const gid_t NO_GROUP = 65534;		  /* the owner's groups are not known */
static const off_t SUMMED_MAX = INT64_C(4) << 30; /* bytes of a file that are checked */
static const char debug_root[] = "/usr/lib/debug";

static int debugfile_open_below(const struct foreign *how, const char *path, const char *root)
{
	const int top = foreign_root(root), file = top < 0 ? top : foreign_open(how, top, path);

	if (top >= 0)
		close(top);
	return file;
}

/* The recorder wrote the path without links, so a link in it has been put there since. */
int debugfile_map(const char *path, const char *root)
{
	return debugfile_open_below(&(struct foreign){ .bytes_max = FOREIGN_MAP_MAX, .no_links = true }, path,
				    root);
}

int debugfile_descriptor(const char *path, const char *root)
{
	return debugfile_open_below(&(struct foreign){ .bytes_max = FOREIGN_IMAGE_MAX }, path, root);
}

int debugfile_open(struct image *out, const char *path, const char *root)
{
	const int file = debugfile_descriptor(path, root);

	return file < 0 ? file : image_open(out, file);
}

uid_t debugfile_owner(int file)
{
	struct stat status;

	return file >= 0 && fstat(file, &status) == 0 ? status.st_uid : 0;
}

int debugfile_named(const char *path, const char *root, uid_t by)
{
	const struct foreign_user reader = { by, NO_GROUP };

	return debugfile_open_below(
		&(struct foreign){ .bytes_max = FOREIGN_IMAGE_MAX, .reader = by ? &reader : NULL }, path,
		root);
}

static int open_named(struct image *out, const char *path, const char *root, const struct image *by)
{
	const int file = debugfile_named(path, root, debugfile_owner(by->fd));

	return file < 0 ? file : image_open(out, file);
}

/* Opens a file; closes it again unless it has the build id. @by: the image that names it; NULL: none does */
static int open_with_id(struct image *out, const char *path, const char *root, const struct image *by,
			const unsigned char *id, size_t bytes)
{
	int error = by ? open_named(out, path, root, by) : debugfile_open(out, path, root);

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

static int debugfile_find_id(struct image *out, char found[PATH_MAX], const unsigned char *id, size_t bytes,
			     const char *root)
{
	return debugfile_path(found, id, bytes) ? open_with_id(out, found, root, NULL, id, bytes) : -ENOENT;
}

/* The CRC of .gnu_debuglink, which is that of zlib, over the whole file. */
static uint32_t debugfile_checksum(int file)
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
	for (; at < SUMMED_MAX && (got = pread(file, bytes, sizeof(bytes), at)) > 0; at += got)
		for (ssize_t n = 0; n < got; n++)
			sum = table[(sum ^ bytes[n]) & 255] ^ sum >> 8;
	return ~sum;
}

static int open_linked(struct image *out, const char *path, const char *root, const struct image *image,
		       uint32_t sum)
{
	int error;

	if (image->build_id_bytes)
		return open_with_id(out, path, root, image, image->build_id, image->build_id_bytes);
	error = open_named(out, path, root, image);
	if (!error && debugfile_checksum(out->fd) != sum) {
		image_close(out);
		error = -ENOENT;
	}
	return error;
}

/* Reads the section that names another file: the name with its NUL, then an id of it. Return: bytes; 0: none. */
static size_t read_link(const struct image *image, const char *section, unsigned char out[LINK_MAX])
{
	struct image_section link;
	size_t bytes;

	if (image_section(image, section, &link) || link.bytes > LINK_MAX)
		return 0;
	bytes = image_read(image, link.offset, out, link.bytes);
	return bytes && memchr(out, 0, bytes) ? bytes : 0;
}

/* Tries the image's directory, its .debug below, and the same path below /usr/lib/debug. */
static int find_linked(struct image *out, char found[PATH_MAX], const struct image *image, const char *path,
		       const char *root)
{
	static const char *const directories[][2] = { { "", "" }, { "", ".debug/" }, { debug_root, "" } };
	const char *slash = strrchr(path, '/');
	unsigned char link[LINK_MAX];
	const size_t bytes = read_link(image, ".gnu_debuglink", link);
	const char *name = (const char *)link;
	const size_t sum = bytes ? (strlen(name) + 4) / 4 * 4 : 0;

	if (!bytes || bytes < sum + 4 || !*name || !slash || strchr(name, '/'))
		return -ENOENT;
	for (unsigned n = 0; n < sizeof(directories) / sizeof(directories[0]); n++) {
		int length = snprintf(found, PATH_MAX, "%s%.*s/%s%s", directories[n][0], (int)(slash - path),
				      path, directories[n][1], name);

		if (length < PATH_MAX && strcmp(found, path) != 0 &&
		    !open_linked(out, found, root, image, number_load32(link + sum)))
			return 0;
	}
	return -ENOENT;
}

int debugfile_find(struct image *out, char found[PATH_MAX], const struct image *image, const char *path,
		   const char *root)
{
	if (!debugfile_find_id(out, found, image->build_id, image->build_id_bytes, root))
		return 0;
	return find_linked(out, found, image, path, root);
}

size_t debugfile_alternate_id(const struct image *image, unsigned char id[IMAGE_BUILD_ID_MAX])
{
	unsigned char link[LINK_MAX];
	const size_t bytes = read_link(image, ".gnu_debugaltlink", link);
	const size_t at = bytes ? strlen((const char *)link) + 1 : 0;

	if (bytes <= at || bytes - at > IMAGE_BUILD_ID_MAX)
		return 0;
	memcpy(id, link + at, bytes - at);
	return bytes - at;
}

int debugfile_alternate(struct image *out, const struct image *image, const char *path, const char *root)
{
	const char *slash = strrchr(path, '/');
	unsigned char link[LINK_MAX];
	const size_t bytes = read_link(image, ".gnu_debugaltlink", link);
	const char *name = (const char *)link;
	const size_t at = bytes ? strlen(name) + 1 : 0;
	char full[PATH_MAX];

	if (bytes <= at)
		return -ENOENT;
	if (!debugfile_find_id(out, full, link + at, bytes - at, root))
		return 0;
	if (*name == '/')
		return open_with_id(out, name, root, image, link + at, bytes - at);
	if (!slash ||
	    (size_t)snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - path), path, name) >= sizeof(full))
		return -ENOENT;
	return open_with_id(out, full, root, image, link + at, bytes - at);
}

/* ---- all files of an image */

bool debugfiles_has_lines(const struct image *image)
{
	struct image_section section;

	return !image_section(image, ".debug_info", &section) ||
	       !image_section(image, ".zdebug_info", &section);
}

/* The debug file from a server. Its build id was compared when it was downloaded; it may be damaged nevertheless. */
static bool open_fetched(struct image *out, int file)
{
	const int own = file < 0 ? -1 : dup(file);

	return own >= 0 && image_open(out, own) == 0;
}

void debugfiles_open(struct debugfiles *files, const struct image *image, const char *path, const char *root,
		     bool lines, const int fetched[2])
{
	const struct image *with = image;

	files->has_debug = files->has_alternate = false;
	if (!debugfiles_has_lines(image)) {
		files->has_debug = !debugfile_find(&files->debug, files->debug_path, image, path, root) ||
				   open_fetched(&files->debug, fetched[0]);
		with = files->has_debug ? &files->debug : NULL;
	}
	if (with && lines)
		files->has_alternate = !debugfile_alternate(&files->alternate, with,
							    with == image ? path : files->debug_path, root) ||
				       open_fetched(&files->alternate, fetched[1]);
}

void debugfiles_close(struct debugfiles *files)
{
	if (files->has_alternate)
		image_close(&files->alternate);
	if (files->has_debug)
		image_close(&files->debug);
}
