/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Inflating sections; see inflate.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef BURIN_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "base/containers/array.h"
#include "image/elf/inflate.h"

#ifdef BURIN_LIBDEFLATE

enum {
	INFLATE_FACTOR_MAX = 1032, /* no deflated byte becomes more */
};

/* Return: the bytes, which @inflated owns; NULL: by this code it is not possible. */
static void *inflate_whole(struct inflated *inflated, const char *from, size_t from_bytes, size_t bytes)
{
	void *to;

	if (!bytes || bytes / INFLATE_FACTOR_MAX > from_bytes ||
	    !array_reserve(inflated->all, inflated->room, inflated->count + 1))
		return NULL;
	if (!inflated->decompressor)
		inflated->decompressor = libdeflate_alloc_decompressor();
	to = inflated->decompressor ? malloc(bytes) : NULL;
	if (!to || libdeflate_zlib_decompress(inflated->decompressor, from, from_bytes, to, bytes, NULL) !=
			   LIBDEFLATE_SUCCESS) {
		free(to);
		return NULL;
	}
	return inflated->all[inflated->count++] = to;
}

/* libelf has a section's bytes twice, of which libdw takes the one or the other, depending on its version. */
static bool inflate_replace(struct inflated *inflated, Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	const size_t head = gelf_getclass(elf) == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	Elf_Data *data = elf_getdata(section, NULL), *raw = elf_rawdata(section, NULL);
	GElf_Chdr compression;
	void *bytes;

	if (!data || !raw || !raw->d_buf || raw->d_size < head || data->d_size != raw->d_size ||
	    !gelf_getchdr(section, &compression) || compression.ch_type != ELFCOMPRESS_ZLIB)
		return false;
	bytes = inflate_whole(inflated, (const char *)raw->d_buf + head, raw->d_size - head,
			      compression.ch_size);
	if (!bytes)
		return false;
	data->d_buf = raw->d_buf = bytes;
	data->d_size = raw->d_size = header->sh_size = compression.ch_size;
	data->d_type = raw->d_type = ELF_T_BYTE;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_addralign = compression.ch_addralign;
	return gelf_update_shdr(section, header) != 0;
}

#else

static bool inflate_replace(struct inflated *inflated, Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	(void)inflated, (void)elf, (void)section, (void)header;
	return false;
}

#endif

int inflate_section(struct inflated *inflated, Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED) ||
	    inflate_replace(inflated, elf, section, &header))
		return 0;
	errno = 0; /* it is libelf's error that counts */
	return elf_compress(section, 0, 0) < 0 ? -1 : 0;
}

int inflate_terminate(struct inflated *inflated, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL), *raw = elf_rawdata(section, NULL);
	char *bytes;

	if (!data || !data->d_buf || !data->d_size || !((const char *)data->d_buf)[data->d_size - 1])
		return 0;
	bytes = array_reserve(inflated->all, inflated->room, inflated->count + 1) ? malloc(data->d_size + 1)
										  : NULL;
	if (!bytes)
		return -1;
	inflated->all[inflated->count++] = bytes;
	memcpy(bytes, data->d_buf, data->d_size);
	bytes[data->d_size] = '\0';
	if (raw && raw->d_buf && raw->d_size == data->d_size) /* which libdw may take, too */
		raw->d_buf = bytes;
	data->d_buf = bytes;
	return 0;
}

void inflated_free(struct inflated *inflated)
{
#ifdef BURIN_LIBDEFLATE
	if (inflated->decompressor)
		libdeflate_free_decompressor(inflated->decompressor);
#endif
	while (inflated->count)
		free(inflated->all[--inflated->count]);
	free(inflated->all);
	*inflated = (struct inflated){ 0 };
}
