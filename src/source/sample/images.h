/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What code lies in: files, the kernel and its modules, the vdso, memory without a file. Each is one entry of the
 * table of images, made when the first stack needs it.
 *
 * A mapping names a file but does not keep it: the process may end, the file may be replaced, its root may be one that
 * nobody else sees. So a file is opened at first sight, and what was opened is compared with what was mapped: by its
 * build id if the kernel tells it, otherwise by device and inode.
 */
#ifndef BURIN_SOURCE_SAMPLE_IMAGES_H
#define BURIN_SOURCE_SAMPLE_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/interned.h"
#include "image/image.h"
#include "image/unwind.h"
#include "source/sample/record.h"
#include "wire/profile.h"

struct sample_image {
	struct sample_image *next; /* with the same hash */
	enum wire_image kind;
	unsigned char build_id[IMAGE_BUILD_ID_MAX];
	unsigned build_id_bytes;
	uint32_t major, minor; /* 0, 0: unknown, as are inode and generation */
	uint64_t inode, generation;
	uint64_t bytes; /* of the file; 0: unknown */
	char *path;
	uint32_t process; /* of this address space only; 0: of all */
	uint32_t number;  /* in the table; 0: not yet */
	int fd;		  /* the file as it was mapped; -1: not to be had, or `elf` has it */
	struct image elf; /* if ->opened */
	bool opened, refused;
	bool in_memory;		     /* a file by kind, but of no file system (memfd_create(2)) */
	struct unwind_table *tables; /* if ->unwound, or NULL */
	enum wire_cut no_tables;     /* why there are none */
	bool unwound;
	struct sample_image *other; /* the same file, known by its build id; NULL: this is all there is */
};

struct images {
	struct sample_image **buckets;
	unsigned count;
	struct interned *table;
	uint64_t unreadable; /* files that were mapped and could not be had */
};

/* images_init - @table: the caller's, lives as long. Return: 0 or -ENOMEM. */
int images_init(struct images *images, struct interned *table);

/*
 * images_see - the image that a mapping is of; at first sight the file is opened.
 * @pid: who has mapped it; 0: nobody that is known
 * Return: the image, which lives as long as the images; NULL: no memory.
 */
struct sample_image *images_see(struct images *images, uint32_t pid, const struct record_map *map);

/* images_named - an image that is no file: the kernel (@path NULL), a module, code of a process. Return: as images_see(). */
struct sample_image *images_named(struct images *images, enum wire_image kind, const char *path,
				  uint32_t process, const unsigned char *build_id, unsigned build_id_bytes);

/* images_pin - have a file that an image is named by, instead of another. @fd: the caller's */
void images_pin(struct sample_image *image, int fd);

/* images_number - its entry in the table, which is made if there is none. Return: 0: it cannot be had. */
uint32_t images_number(struct images *images, struct sample_image *image);

/* images_elf - the file, opened as ELF. Return: NULL: it cannot be read. */
const struct image *images_elf(struct sample_image *image);

/* images_tables - what tells callers from there; opened when first asked for. Return: NULL: there are none, ->no_tables. */
struct unwind_table *images_tables(struct sample_image *image);

/* images_file - a descriptor of the file by its number in the table, the images' own; -1: there is none. */
int images_file(const struct images *images, uint32_t number);

void images_free(struct images *images);

#endif
