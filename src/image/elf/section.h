/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sections of an ELF file by name. */
#ifndef BURIN_IMAGE_ELF_SECTION_H
#define BURIN_IMAGE_ELF_SECTION_H

#include <gelf.h>
#include <stddef.h>
#include <string.h>

/* section_find - the first section with a name, and its header. Return: NULL: none. */
static inline Elf_Scn *section_find(Elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
		const char *its =
			gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (its && !strcmp(its, name))
			return section;
	}
	return NULL;
}

/* section_data - the bytes of a section; NULL: it has none in this file, or the file is damaged. */
static inline const Elf_Data *section_data(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = section_find(elf, name, header);
	const Elf_Data *data = section && header->sh_type != SHT_NOBITS ? elf_rawdata(section, NULL) : NULL;

	return data && data->d_buf && data->d_size ? data : NULL;
}

#endif
