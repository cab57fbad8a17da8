/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An ELF file that code was mapped from: which one it is, and where its bytes lie when it is loaded.
 *
 * Three kinds of numbers. An *offset* is a place in the file: what a trace keeps, since a mapping says which bytes
 * of which file lie where. An *address* is the file's own (p_vaddr): what symbols, lines and unwind tables speak
 * of. What a process sees is an address plus a bias, and stays with whoever knows the process.
 *
 * Files come from anywhere: what is damaged gives fewer answers, never a crash.
 */
#ifndef BURIN_IMAGE_IMAGE_H
#define BURIN_IMAGE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <libelf.h>

enum {
	IMAGE_BUILD_ID_MAX = 64, /* bytes */
};

struct image_segment {
	uint64_t offset, address, bytes; /* of what the file has of it */
	int executable;
};

struct image {
	int fd;	  /* the image's own; -1: it is in memory */
	Elf *elf; /* opened for reading */
	struct image_segment *segments;
	unsigned segment_count;
	unsigned char build_id[IMAGE_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0: it has none */
};

/*
 * image_open - look at an ELF file.
 * @fd: is the image's from now on, on failure too
 * Context: allocates. Return: 0; -ENOEXEC: no ELF file that could be loaded; -ENOMEM.
 */
int image_open(struct image *image, int fd);

/* image_open_memory - the same of a file that lies in memory (the vdso), which stays the caller's. */
int image_open_memory(struct image *image, char *memory, size_t bytes);

/* image_open_vdso - the same of the vdso, which is that of all processes of our kind. Return: also -ENOENT: there is none. */
int image_open_vdso(struct image *image);

void image_close(struct image *image);

/* image_address - where in the image's own addresses a byte of the file is loaded. Return: 0, or -ENOENT. */
int image_address(const struct image *image, uint64_t offset, uint64_t *address);

/* image_offset - the other way. */
int image_offset(const struct image *image, uint64_t address, uint64_t *offset);

#endif
