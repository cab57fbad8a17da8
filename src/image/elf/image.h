/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An ELF file from which code was mapped: its identity, and the addresses of its bytes when it is loaded.
 *
 * There are three kinds of numbers. An *offset* is a position in the file: traces have offsets, since mappings are
 * of a file's bytes. An *address* is the file's own (p_vaddr), as in symbols, lines and unwind tables. In a process,
 * a bias is added to the address; only callers that know the process use it.
 *
 * Files are foreign, and the recorder reads them with all its rights. So headers, sections and notes are parsed here,
 * with bounds on memory and time, and not by a library. Damaged data gives fewer results, never a crash.
 */
#ifndef BURIN_IMAGE_ELF_IMAGE_H
#define BURIN_IMAGE_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IMAGE_BUILD_ID_MAX = 64, /* bytes */
};

struct image_segment {
	uint64_t offset, address, bytes; /* of its bytes in the file */
	int executable;
};

struct image {
	int fd;		    /* the image's own; -1: it is in memory */
	const char *memory; /* the caller's; NULL: it is in a file */
	size_t memory_bytes;
	bool wide;  /* ELFCLASS64 */
	bool fixed; /* ET_EXEC: the code lies at its addresses, and is not position-independent */
	uint16_t machine;
	uint64_t start;			/* e_entry */
	struct image_segment *segments; /* the loaded ones */
	unsigned segment_count;
	struct image_segment unwinding; /* PT_GNU_EH_FRAME; 0 bytes: it has none */
	uint64_t sections;		/* offset of their headers */
	uint32_t section_count, section_names;
	unsigned char build_id[IMAGE_BUILD_ID_MAX];
	unsigned build_id_bytes; /* 0: it has none */
};

/* A section, as in its header; nothing has been checked. */
struct image_section {
	uint32_t name, type, alignment;
	uint64_t flags, address, offset, bytes;
};

/*
 * image_open - open an ELF file.
 * @fd: closed by image_close(), and on failure
 * Context: allocates. Return: 0; -ENOEXEC: not a loadable ELF file, or of the other byte order; -ENOMEM.
 */
int image_open(struct image *image, int fd);

/* image_open_memory - open a file in memory (the vdso), which the caller frees. */
int image_open_memory(struct image *image, const char *memory, size_t bytes);

/* image_open_vdso - open the vdso, which all processes of our architecture share. Return: also -ENOENT: there is none. */
int image_open_vdso(struct image *image);

void image_close(struct image *image);

/* image_read - copy bytes of the file. Return: how many were copied. */
size_t image_read(const struct image *image, uint64_t offset, void *out, size_t bytes);

/* image_section - the first section with this name that has bytes in the file. Return: 0; -ENOENT. */
int image_section(const struct image *image, const char *name, struct image_section *section);

/* image_address - the image's address of an offset in the file. Return: 0 or -ENOENT. */
int image_address(const struct image *image, uint64_t offset, uint64_t *address);

/* image_offset - the offset in the file of an address. Return: 0 or -ENOENT. */
int image_offset(const struct image *image, uint64_t address, uint64_t *offset);

#endif
