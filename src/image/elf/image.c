/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An ELF file that code was mapped from; see image.h. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/number.h"
#include "image/elf/image.h"

enum {
	SEGMENTS_MAX = 1024, /* programs have a dozen */
	SECTIONS_MAX = 4096, /* linked files have some 40 */
	NAME_MAX_BYTES = 64, /* of a section's name */
	NOTES_MAX = 65536,   /* bytes of one section or segment */
	NOTE_PARTS_MAX = 64, /* sections or segments of notes that are read */
	CHUNK = 256,	     /* headers that are read at once */
	NAMES_LOADED = 4096, /* bytes of names of sections that are read at once: those of most files */
};

size_t image_read(const struct image *image, uint64_t offset, void *out, size_t bytes)
{
	size_t done = 0;
	ssize_t got;

	if (image->memory) {
		if (offset >= image->memory_bytes)
			return 0;
		done = image->memory_bytes - offset < bytes ? image->memory_bytes - offset : bytes;
		memcpy(out, image->memory + offset, done);
		return done;
	}
	if (offset > (uint64_t)INT64_MAX - bytes)
		return 0;
	while (done < bytes &&
	       (got = pread(image->fd, (char *)out + done, bytes - done, (off_t)(offset + done))) > 0)
		done += (size_t)got;
	return done;
}

/* ---- headers: those of 32 bits are converted to 64 bits */

static bool read_ehdr(struct image *image, Elf64_Ehdr *header)
{
	static const unsigned char order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	Elf32_Ehdr narrow;

	if (image_read(image, 0, &narrow, sizeof(narrow)) != sizeof(narrow) ||
	    memcmp(narrow.e_ident, ELFMAG, SELFMAG) != 0 || narrow.e_ident[EI_DATA] != order)
		return false;
	image->wide = narrow.e_ident[EI_CLASS] == ELFCLASS64;
	if (image->wide)
		return image_read(image, 0, header, sizeof(*header)) == sizeof(*header) &&
		       header->e_phentsize == sizeof(Elf64_Phdr);
	*header = (Elf64_Ehdr){
		.e_type = narrow.e_type,
		.e_machine = narrow.e_machine,
		.e_entry = narrow.e_entry,
		.e_phoff = narrow.e_phoff,
		.e_shoff = narrow.e_shoff,
		.e_phnum = narrow.e_phnum,
		.e_shentsize = narrow.e_shentsize,
		.e_shnum = narrow.e_shnum,
		.e_shstrndx = narrow.e_shstrndx,
	};
	return narrow.e_ident[EI_CLASS] == ELFCLASS32 && narrow.e_phentsize == sizeof(Elf32_Phdr);
}

static bool read_phdr(const struct image *image, uint64_t segments, unsigned number, Elf64_Phdr *header)
{
	Elf32_Phdr narrow;

	if (image->wide)
		return image_read(image, segments + (uint64_t)number * sizeof(*header), header,
				  sizeof(*header)) == sizeof(*header);
	*header = (Elf64_Phdr){ 0 };
	if (image_read(image, segments + (uint64_t)number * sizeof(narrow), &narrow, sizeof(narrow)) !=
	    sizeof(narrow))
		return false;
	*header = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset,
		.p_vaddr = narrow.p_vaddr,
		.p_filesz = narrow.p_filesz,
		.p_align = narrow.p_align,
	};
	return true;
}

/* Reads headers of sections, from number @from on, at most CHUNK. Return: how many. */
static unsigned read_shdrs(const struct image *image, uint32_t from, uint32_t most,
			   struct image_section *sections)
{
	union {
		Elf64_Shdr wide[CHUNK];
		Elf32_Shdr narrow[CHUNK];
	} headers;
	const size_t size = image->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	const uint32_t left = image->section_count - from, wanted = left < most ? left : most;
	const unsigned count =
		(unsigned)(image_read(image, image->sections + from * size, &headers, wanted * size) / size);

	for (unsigned n = 0; n < count; n++) {
		const Elf64_Shdr *wide = &headers.wide[n];
		const Elf32_Shdr *narrow = &headers.narrow[n];

		sections[n] = image->wide ? (struct image_section){
			.name = wide->sh_name, .type = wide->sh_type, .flags = wide->sh_flags,
			.address = wide->sh_addr, .offset = wide->sh_offset, .bytes = wide->sh_size,
			.alignment = (uint32_t)wide->sh_addralign,
		} : (struct image_section){
			.name = narrow->sh_name, .type = narrow->sh_type, .flags = narrow->sh_flags,
			.address = narrow->sh_addr, .offset = narrow->sh_offset, .bytes = narrow->sh_size,
			.alignment = narrow->sh_addralign,
		};
	}
	return count;
}

static int image_read_segments(struct image *image, const Elf64_Ehdr *header)
{
	if (!header->e_phnum || header->e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	image->segments = calloc(header->e_phnum, sizeof(*image->segments));
	if (!image->segments)
		return -ENOMEM;
	for (unsigned n = 0; n < header->e_phnum; n++) {
		struct image_segment segment;
		Elf64_Phdr part;

		if (!read_phdr(image, header->e_phoff, n, &part))
			break;
		segment = (struct image_segment){
			.offset = part.p_offset,
			.address = part.p_vaddr,
			.bytes = part.p_filesz,
			.executable = (part.p_flags & PF_X) != 0,
		};
		if (part.p_type == PT_LOAD)
			image->segments[image->segment_count++] = segment;
		else if (part.p_type == PT_GNU_EH_FRAME && !image->unwinding.bytes)
			image->unwinding = segment;
	}
	return image->segment_count ? 0 : -ENOEXEC;
}

/* ---- sections */

/* Numbers that are too large for the file's header are in the first section's header. */
static void find_sections(struct image *image, const Elf64_Ehdr *header)
{
	const size_t size = image->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	Elf64_Shdr first = { 0 };
	Elf32_Shdr narrow = { 0 };

	if (!header->e_shoff || header->e_shentsize != size || header->e_shoff > INT64_MAX)
		return;
	if (image->wide) {
		image_read(image, header->e_shoff, &first, sizeof(first));
	} else {
		image_read(image, header->e_shoff, &narrow, sizeof(narrow));
		first.sh_size = narrow.sh_size;
		first.sh_link = narrow.sh_link;
	}
	image->sections = header->e_shoff;
	image->section_count = header->e_shnum ? header->e_shnum : (uint32_t)first.sh_size;
	if (image->section_count > SECTIONS_MAX)
		image->section_count = SECTIONS_MAX;
	image->section_names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
}

/* The table of names: its first bytes are read at once, the rest name by name. */
struct section_names {
	struct image_section at;
	size_t loaded;
	char bytes[NAMES_LOADED];
};

static bool load_names(const struct image *image, struct section_names *names)
{
	if (!read_shdrs(image, image->section_names, 1, &names->at) || names->at.offset > INT64_MAX)
		return false;
	names->loaded = image_read(image, names->at.offset, names->bytes,
				   names->at.bytes < NAMES_LOADED ? names->at.bytes : NAMES_LOADED);
	return true;
}

static bool image_has_name(const struct image *image, const struct section_names *names,
			   const struct image_section *section, const char *name)
{
	char its[NAME_MAX_BYTES];
	const size_t bytes = strlen(name) + 1;

	if (section->name >= names->at.bytes || names->at.bytes - section->name < bytes)
		return false;
	if (section->name < names->loaded && names->loaded - section->name >= bytes)
		return !memcmp(names->bytes + section->name, name, bytes);
	return image_read(image, names->at.offset + section->name, its, bytes) == bytes &&
	       !memcmp(its, name, bytes);
}

int image_section(const struct image *image, const char *name, struct image_section *section)
{
	struct image_section some[CHUNK];
	struct section_names names;
	unsigned count;

	if (image->section_names >= image->section_count || strlen(name) >= NAME_MAX_BYTES ||
	    !load_names(image, &names))
		return -ENOENT;
	for (uint32_t from = 0; from < image->section_count; from += count) {
		count = read_shdrs(image, from, CHUNK, some);
		for (unsigned n = 0; n < count; n++) {
			if (some[n].type == SHT_NOBITS || !some[n].bytes ||
			    !image_has_name(image, &names, &some[n], name))
				continue;
			*section = some[n];
			return 0;
		}
		if (!count)
			break;
	}
	return -ENOENT;
}

/* ---- the build id */

/* Return: whether these notes have it. */
static bool image_find_id(struct image *image, const unsigned char *notes, size_t bytes, size_t alignment)
{
	for (size_t at = 0; bytes - at >= sizeof(Elf64_Nhdr);) {
		const uint32_t owner = number_load32(notes + at), content = number_load32(notes + at + 4);
		const uint32_t type = number_load32(notes + at + 8);
		const uint64_t name = at + sizeof(Elf64_Nhdr);
		const uint64_t value = (name + owner + alignment - 1) / alignment * alignment;
		const uint64_t next = (value + content + alignment - 1) / alignment * alignment;

		if (value > bytes || content > bytes - value)
			return false;
		if (type == NT_GNU_BUILD_ID && owner == sizeof("GNU") && !memcmp(notes + name, "GNU", 4) &&
		    content && content <= IMAGE_BUILD_ID_MAX) {
			memcpy(image->build_id, notes + value, content);
			image->build_id_bytes = content;
			return true;
		}
		if (next >= bytes)
			return false;
		at = next;
	}
	return false;
}

static bool find_id_at(struct image *image, uint64_t offset, uint64_t bytes, uint64_t alignment)
{
	unsigned char *notes = malloc(NOTES_MAX);
	bool found = false;

	if (notes)
		found = image_find_id(image, notes,
				      image_read(image, offset, notes, bytes < NOTES_MAX ? bytes : NOTES_MAX),
				      alignment == 8 ? 8 : 4);
	free(notes);
	return found;
}

/* Searches sections of notes: a debug file may have no bytes of note segments. */
static bool find_id_in_sections(struct image *image)
{
	struct image_section some[CHUNK];
	unsigned count, looked = 0;

	for (uint32_t from = 0; from < image->section_count; from += count) {
		count = read_shdrs(image, from, CHUNK, some);
		for (unsigned n = 0; n < count; n++)
			if (some[n].type == SHT_NOTE && looked++ < NOTE_PARTS_MAX &&
			    find_id_at(image, some[n].offset, some[n].bytes, some[n].alignment))
				return true;
		if (!count)
			break;
	}
	return false;
}

static void read_build_id(struct image *image, const Elf64_Ehdr *header)
{
	unsigned looked = 0;
	Elf64_Phdr part;

	if (find_id_in_sections(image))
		return;
	for (unsigned n = 0; n < header->e_phnum && read_phdr(image, header->e_phoff, n, &part); n++)
		if (part.p_type == PT_NOTE && looked++ < NOTE_PARTS_MAX &&
		    find_id_at(image, part.p_offset, part.p_filesz, part.p_align))
			return;
}

/* ---- opening */

static int image_begin(struct image *image)
{
	Elf64_Ehdr header;
	int error = -ENOEXEC;

	if (read_ehdr(image, &header))
		error = image_read_segments(image, &header);
	if (error) {
		image_close(image);
		return error;
	}
	image->fixed = header.e_type == ET_EXEC;
	image->machine = header.e_machine;
	image->start = header.e_entry;
	find_sections(image, &header);
	read_build_id(image, &header);
	return 0;
}

int image_open(struct image *image, int fd)
{
	/* The file is not mapped, since its owner may truncate it while it is read. */
	*image = (struct image){ .fd = fd };
	return image_begin(image);
}

int image_open_memory(struct image *image, const char *memory, size_t bytes)
{
	*image = (struct image){ .fd = -1, .memory = memory, .memory_bytes = bytes };
	return image_begin(image);
}

int image_open_vdso(struct image *image)
{
	const char *memory =
		(const char *)getauxval(AT_SYSINFO_EHDR); // NOLINT: an address is what the kernel gives
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return memory ? image_open_memory(image, memory, 2 * page) : -ENOENT;
}

void image_close(struct image *image)
{
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
