/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Prepares sections of an ELF file for libdw: inflates compressed ones. With libdeflate that takes less than half of the time. */
#ifndef BURIN_IMAGE_ELF_INFLATE_H
#define BURIN_IMAGE_ELF_INFLATE_H

#include <gelf.h>

struct libdeflate_decompressor;

/* Memory of inflated sections; {0}: none yet. */
struct inflated {
	struct libdeflate_decompressor *decompressor;
	void **all;
	size_t count, room;
};

/*
 * inflate_section - from now on, a section's header and data are those of its inflated bytes. Does nothing if the section
 * is not compressed.
 * @inflated: owns the bytes; free it behind the ELF file
 * Return: 0; -1: the section is damaged, or there is no memory for it. Then errno may be ENOMEM.
 */
int inflate_section(struct inflated *inflated, Elf *elf, Elf_Scn *section);

/*
 * inflate_terminate - put a NUL behind the bytes of a section of texts, unless they end with one: libdw does not notice that in a damaged
 * file a text has no end.
 * @inflated, return: as inflate_section()
 */
int inflate_terminate(struct inflated *inflated, Elf_Scn *section);

void inflated_free(struct inflated *inflated);

#endif
