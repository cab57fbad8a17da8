/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts of debug information; see dwarf_text.h. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <dwarf.h>
#include <gelf.h>

#include "image/names/dwarf_text.h"

enum {
	SECTIONS_MAX = 8, /* sections with entries, each at most twice in memory */
};

/* The sections with entries of the last file. Names are found by one thread of a child process. */
static struct known {
	Dwarf *dwarf;
	struct bytes {
		const char *begin;
		size_t bytes;
	} sections[SECTIONS_MAX];
	unsigned count;
} last;

static bool has_entries(const char *name)
{
	static const char *const names[] = { ".debug_info", ".debug_types", ".debug_info.dwo",
					     ".debug_types.dwo" };

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (!strcmp(name, names[n]))
			return true;
	return false;
}

static void dwarf_text_know(struct known *known, const Elf_Data *data)
{
	if (data && data->d_buf && data->d_size && known->count < SECTIONS_MAX)
		known->sections[known->count++] = (struct bytes){ data->d_buf, data->d_size };
}

/* libelf has a section's bytes twice, of which libdw takes the one or the other, depending on its version. */
static void know_file(struct known *known, Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	size_t names;

	*known = (struct known){ .dwarf = dwarf };
	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (!name || header.sh_type == SHT_NOBITS || !has_entries(name))
			continue;
		dwarf_text_know(known, elf_getdata(section, NULL));
		if (!(header.sh_flags & SHF_COMPRESSED))
			dwarf_text_know(known, elf_rawdata(section, NULL));
	}
}

/* Whether a text ends in the section in which it begins. */
static bool has_end(const struct known *known, const char *text)
{
	for (unsigned n = 0; n < known->count; n++) {
		const struct bytes *section = &known->sections[n];
		const size_t offset = (size_t)(text - section->begin);

		if (text >= section->begin && offset < section->bytes)
			return memchr(text, '\0', section->bytes - offset) != NULL;
	}
	return false;
}

/* Texts in sections of their own have an end (inflate_terminate()). */
const char *dwarf_text(Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);
	Dwarf *dwarf;

	if (!text || dwarf_whatform(attribute) != DW_FORM_string)
		return text;
	dwarf = dwarf_cu_getdwarf(attribute->cu);
	if (last.dwarf != dwarf)
		know_file(&last, dwarf);
	return has_end(&last, text) ? text : NULL;
}

const char *dwarf_text_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_text(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

void dwarf_text_forget(void)
{
	last.dwarf = NULL;
}
