/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An ELF file that code was mapped from; see image.h. */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "image/image.h"

static int read_segments(struct image *image)
{
	size_t count;

	if (elf_getphdrnum(image->elf, &count) != 0 || count == 0)
		return -ENOEXEC;
	image->segments = calloc(count, sizeof(*image->segments));
	if (!image->segments)
		return -ENOMEM;
	for (size_t n = 0; n < count; n++) {
		GElf_Phdr header;

		if (!gelf_getphdr(image->elf, (int)n, &header) || header.p_type != PT_LOAD)
			continue;
		image->segments[image->segment_count++] = (struct image_segment){
			.offset = header.p_offset,
			.address = header.p_vaddr,
			.bytes = header.p_filesz,
			.executable = (header.p_flags & PF_X) != 0,
		};
	}
	return image->segment_count ? 0 : -ENOEXEC;
}

static void read_build_id(struct image *image)
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(image->elf, &id);

	if (bytes <= 0 || bytes > IMAGE_BUILD_ID_MAX)
		return;
	memcpy(image->build_id, id, (size_t)bytes);
	image->build_id_bytes = (unsigned)bytes;
}

static int begin(struct image *image)
{
	int error = -ENOEXEC;

	if (image->elf && elf_kind(image->elf) == ELF_K_ELF)
		error = read_segments(image);
	if (error)
		image_close(image);
	else
		read_build_id(image);
	return error;
}

int image_open(struct image *image, int fd)
{
	elf_version(EV_CURRENT);
	/* Not mapped: somebody may cut the file off while we read. */
	*image = (struct image){ .fd = fd, .elf = elf_begin(fd, ELF_C_READ, NULL) };
	return begin(image);
}

int image_open_memory(struct image *image, char *memory, size_t bytes)
{
	elf_version(EV_CURRENT);
	*image = (struct image){ .fd = -1, .elf = elf_memory(memory, bytes) };
	return begin(image);
}

int image_open_vdso(struct image *image)
{
	char *memory = (char *)getauxval(AT_SYSINFO_EHDR); // NOLINT: an address is what the kernel gives
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return memory ? image_open_memory(image, memory, 2 * page) : -ENOENT;
}

void image_close(struct image *image)
{
	elf_end(image->elf);
	free(image->segments);
	if (image->fd >= 0)
		close(image->fd);
	*image = (struct image){ .fd = -1 };
}

int image_address(const struct image *image, uint64_t offset, uint64_t *address)
{
	for (unsigned n = 0; n < image->segment_count; n++) {
		const struct image_segment *segment = &image->segments[n];

		if (offset - segment->offset < segment->bytes && offset >= segment->offset) {
			*address = offset - segment->offset + segment->address;
			return 0;
		}
	}
	return -ENOENT;
}

int image_offset(const struct image *image, uint64_t address, uint64_t *offset)
{
	for (unsigned n = 0; n < image->segment_count; n++) {
		const struct image_segment *segment = &image->segments[n];

		if (address - segment->address < segment->bytes && address >= segment->address) {
			*offset = address - segment->address + segment->offset;
			return 0;
		}
	}
	return -ENOENT;
}
