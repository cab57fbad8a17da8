/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Images and the files that they are; see images.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/sample/images.h"

enum {
	IMAGES_BUCKETS = 1024,
};

int images_init(struct images *images, struct interned *table)
{
	*images = (struct images){ .table = table };
	images->buckets = calloc(IMAGES_BUCKETS, sizeof(*images->buckets));
	return images->buckets ? 0 : -ENOMEM;
}

static uint32_t hash_of(const char *path)
{
	uint32_t hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return hash % IMAGES_BUCKETS;
}

static bool same(const struct sample_image *one, const struct sample_image *other)
{
	return one->kind == other->kind && one->process == other->process && one->inode == other->inode &&
	       one->generation == other->generation && one->major == other->major &&
	       one->minor == other->minor && one->build_id_bytes == other->build_id_bytes &&
	       memcmp(one->build_id, other->build_id, one->build_id_bytes) == 0 &&
	       strcmp(one->path, other->path) == 0;
}

/* Find an image that is the same, or make it. *made: whether it is new. */
static struct sample_image *find(struct images *images, const struct sample_image *wanted, bool *made)
{
	struct sample_image **bucket = &images->buckets[hash_of(wanted->path)], *image;

	*made = false;
	for (image = *bucket; image; image = image->next)
		if (same(image, wanted))
			return image;
	image = malloc(sizeof(*image));
	if (!image)
		return NULL;
	*image = *wanted;
	image->fd = -1;
	image->in_memory = image->kind == WIRE_IMAGE_FILE && strncmp(wanted->path, "/memfd:", 7) == 0;
	image->path = strdup(wanted->path);
	if (!image->path) {
		free(image);
		return NULL;
	}
	image->next = *bucket;
	*bucket = image;
	images->count++;
	*made = true;
	return image;
}

/* `jit-PID.dump`: the name by which makers of code announce what they tell of it. */
static bool is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	int end = 0;

	return slash && sscanf(slash, "/jit-%*[0-9].dump%n", &end) == 0 && end && !slash[end];
}

/* What kind of memory the kernel's name of a mapping tells. */
static enum wire_image kind_of(const char *path)
{
	if (strcmp(path, "[vdso]") == 0)
		return WIRE_IMAGE_VDSO;
	if (path[0] != '/' || strncmp(path, "//anon", 6) == 0 || strncmp(path, "/dev/zero", 9) == 0 ||
	    strncmp(path, "/anon_hugepage", 14) == 0 || strncmp(path, "/SYSV", 5) == 0)
		return WIRE_IMAGE_ANONYMOUS;
	return is_jitdump(path) ? WIRE_IMAGE_JITDUMP : WIRE_IMAGE_FILE;
}

/* The path without the kernel's remark that the file is gone. */
static void clean_path(const char *path, char *out, size_t bytes)
{
	static const char remark[] = " (deleted)";
	size_t length;

	snprintf(out, bytes, "%s", strncmp(path, "//anon", 6) == 0 ? "" : path);
	length = strlen(out);
	if (length > sizeof(remark) - 1 && strcmp(out + length - (sizeof(remark) - 1), remark) == 0)
		out[length - (sizeof(remark) - 1)] = 0;
}

/* Whether an open file is the one that was mapped. With a build id, the file is looked at as ELF, and kept so. */
static bool is_the_file(struct sample_image *image, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	if (image->build_id_bytes) {
		if (image_open(&image->elf, fd) != 0) {
			image->fd = -1;
			return false;
		}
		image->opened = image->elf.build_id_bytes == image->build_id_bytes &&
				memcmp(image->elf.build_id, image->build_id, image->build_id_bytes) == 0;
		if (!image->opened)
			image_close(&image->elf);
	} else if (status.st_ino ==
		   image->inode) { /* the device that stat(2) tells may be another one (btrfs, overlay) */
		image->fd = fd;
	}
	if (!image->opened && image->fd < 0)
		return false;
	image->bytes = (uint64_t)status.st_size;
	return true;
}

static bool try_path(struct sample_image *image, const char *path)
{
	/* O_NONBLOCK: somebody may have put a pipe there. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool done;

	if (fd < 0)
		return false;
	done = is_the_file(image, fd);
	if (!done && !image->build_id_bytes) /* otherwise image_open() has closed it */
		close(fd);
	return done;
}

/* Open the file while there is somebody who has it: through the mapping itself, through the process' root, or as it is. */
static bool pin(struct sample_image *image, uint32_t pid, const struct record_map *map)
{
	char path[64 + WIRE_TEXT_MAX];

	if (pid) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
			 (unsigned long long)map->begin, (unsigned long long)(map->begin + map->bytes));
		if (try_path(image, path))
			return true;
		snprintf(path, sizeof(path), "/proc/%u/root%s", pid, image->path);
		if (try_path(image, path))
			return true;
	}
	return try_path(image, image->path);
}

const struct image *images_elf(struct sample_image *image)
{
	if (image->kind == WIRE_IMAGE_VDSO && !image->opened && !image->refused) {
		image->opened = image_open_vdso(&image->elf) == 0;
		image->refused = !image->opened;
	}
	if (!image->opened && !image->refused && image->fd >= 0) {
		image->opened = image_open(&image->elf, image->fd) == 0;
		image->refused = !image->opened;
		image->fd = -1;
	}
	return image->opened ? &image->elf : NULL;
}

struct unwind_table *images_tables(struct sample_image *image)
{
	const struct image *elf;

	if (image->unwound)
		return image->tables;
	image->unwound = true;
	elf = image->kind > WIRE_IMAGE_VDSO ? NULL : images_elf(image);
	if (elf && unwind_table_open(&image->tables, elf) == 0)
		return image->tables;
	image->no_tables = elf || image->kind > WIRE_IMAGE_VDSO ? WIRE_CUT_TABLES : WIRE_CUT_IMAGE;
	return image->tables = NULL;
}

void images_pin(struct sample_image *image, int fd)
{
	struct stat before, now;

	if (image->fd >= 0 && fstat(image->fd, &before) == 0 && fstat(fd, &now) == 0 &&
	    before.st_dev == now.st_dev && before.st_ino == now.st_ino)
		return;
	if (image->fd >= 0)
		close(image->fd);
	image->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int images_file(const struct images *images, uint32_t number)
{
	for (unsigned n = 0; n < IMAGES_BUCKETS; n++)
		for (const struct sample_image *image = images->buckets[n]; image; image = image->next)
			if (image->number == number)
				return image->opened ? image->elf.fd : image->fd;
	return -1;
}

/* A file that is known by its inode, and has a build id, is the image with that build id. */
static void identify(struct images *images, struct sample_image *image)
{
	const struct image *elf = images_elf(image);
	struct sample_image wanted = { .kind = image->kind, .path = image->path, .bytes = image->bytes },
			    *other;
	bool made;

	if (!elf || !elf->build_id_bytes)
		return;
	wanted.build_id_bytes = elf->build_id_bytes;
	memcpy(wanted.build_id, elf->build_id, elf->build_id_bytes);
	other = find(images, &wanted, &made);
	if (!other)
		return;
	if (made) {
		other->elf = image->elf;
		other->opened = true;
	} else {
		image_close(&image->elf);
	}
	image->opened = false;
	image->other = other;
}

struct sample_image *images_see(struct images *images, uint32_t pid, const struct record_map *map)
{
	char path[4096 + 16];
	struct sample_image wanted = { .path = path }, *image;
	bool made;

	clean_path(map->path, path, sizeof(path));
	wanted.kind = kind_of(path);
	if (wanted.kind == WIRE_IMAGE_FILE || wanted.kind == WIRE_IMAGE_JITDUMP) {
		wanted.build_id_bytes = map->build_id_bytes;
		memcpy(wanted.build_id, map->build_id, map->build_id_bytes);
		wanted.major = map->major;
		wanted.minor = map->minor;
		wanted.inode = map->inode;
		wanted.generation = map->generation;
	}
	image = find(images, &wanted, &made);
	if (image && made && image->kind != WIRE_IMAGE_ANONYMOUS && image->kind != WIRE_IMAGE_VDSO) {
		if (!pin(image, pid, map))
			images->unreadable++;
		else if (!image->build_id_bytes && image->kind == WIRE_IMAGE_FILE)
			identify(images, image);
	}
	return image && image->other ? image->other : image;
}

struct sample_image *images_named(struct images *images, enum wire_image kind, const char *path,
				  uint32_t process, const unsigned char *build_id, unsigned build_id_bytes)
{
	char empty[] = "";
	struct sample_image wanted = { .kind = kind, .process = process, .build_id_bytes = build_id_bytes };
	char *copy = path ? strdup(path) : NULL;
	struct sample_image *image;
	bool made;

	wanted.path = copy ? copy : empty;
	if (build_id_bytes)
		memcpy(wanted.build_id, build_id, build_id_bytes);
	image = find(images, &wanted, &made);
	free(copy);
	return image;
}

uint32_t images_number(struct images *images, struct sample_image *image)
{
	const struct image *elf;
	const unsigned char *build_id = image->build_id;
	unsigned build_id_bytes = image->build_id_bytes;

	if (image->number)
		return image->number;
	elf = build_id_bytes || image->kind > WIRE_IMAGE_VDSO ? NULL : images_elf(image);
	if (elf) {
		build_id = elf->build_id;
		build_id_bytes = elf->build_id_bytes;
	}
	interned_number(images->table, image->kind);
	interned_number(images->table, image->bytes);
	interned_text(images->table, build_id, build_id_bytes);
	interned_text(images->table, image->path, strlen(image->path));
	image->number = interned_end(images->table);
	return image->number;
}

static void free_image(struct sample_image *image)
{
	if (image->tables)
		unwind_table_close(image->tables);
	if (image->opened)
		image_close(&image->elf);
	else if (image->fd >= 0)
		close(image->fd);
	free(image->path);
	free(image);
}

void images_free(struct images *images)
{
	for (unsigned n = 0; images->buckets && n < IMAGES_BUCKETS; n++) {
		while (images->buckets[n]) {
			struct sample_image *image = images->buckets[n];

			images->buckets[n] = image->next;
			free_image(image);
		}
	}
	free(images->buckets);
	*images = (struct images){ 0 };
}
