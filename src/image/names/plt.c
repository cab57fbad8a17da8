/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The procedure linkage table: small pieces of code that jump through a slot of the GOT to a function elsewhere. They
 * have no symbols. But the slot's relocation names the function, and the code contains the slot's address. So the code
 * is decoded, and each kind of PLT (.plt, .plt.got, .plt.sec; with and without lazy binding) is read in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "image/names/plt.h"
#include "image/elf/section.h"

struct slot {
	uint64_t address;
	const char *name;
	uint32_t bytes;
};

struct slots {
	struct slot *all;
	size_t count, room;
};

static int plt_compare(const void *a, const void *b)
{
	const struct slot *one = a, *other = b;

	return number_order(one->address, other->address);
}

/* A function of the image itself that is selected at load time (ifunc) has an address in its relocation, not a name. */
static bool name_slot(struct slot *slot, const struct symbols *symbols, Elf *elf, const GElf_Rela *rela,
		      const GElf_Shdr *table, Elf_Data *names)
{
	const char *name = NULL;
	GElf_Sym symbol;

	slot->address = rela->r_offset;
	if (!GELF_R_SYM(rela->r_info)) {
		const struct symbol *found = symbols_find(symbols, (uint64_t)rela->r_addend);

		if (!found || found->address != (uint64_t)rela->r_addend)
			return false;
		slot->name = found->name;
		slot->bytes = found->bytes;
		return true;
	}
	if (names && gelf_getsym(names, (int)GELF_R_SYM(rela->r_info), &symbol))
		name = elf_strptr(elf, table->sh_link, symbol.st_name);
	slot->name = name;
	slot->bytes = name ? (uint32_t)strcspn(name, "@") : 0;
	return slot->bytes;
}

static void read_relocations(struct slots *slots, const struct symbols *symbols, Elf *elf, Elf_Scn *section,
			     const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL), *names = NULL;
	const size_t size = gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
	const size_t entries = data && size ? data->d_size / size : 0;
	Elf_Scn *linked = elf_getscn(elf, header->sh_link);
	GElf_Shdr table = { 0 };

	if (linked && gelf_getshdr(linked, &table) && table.sh_type == SHT_DYNSYM)
		names = elf_getdata(linked, NULL);
	if (!array_reserve(slots->all, slots->room, slots->count + entries))
		return;
	for (size_t n = 0; n < entries && n < INT32_MAX; n++) {
		GElf_Rela rela;

		if (gelf_getrela(data, (int)n, &rela) &&
		    name_slot(&slots->all[slots->count], symbols, elf, &rela, &table, names))
			slots->count++;
	}
}

/* The address of the slot that x86-64 code jumps through: `jmp *offset(%rip)`. Return: 0: not a PLT entry. */
static uint64_t slot_x86(const unsigned char *code, size_t bytes, uint64_t address)
{
	for (size_t n = 0; n + 6 <= bytes; n++)
		if (code[n] == 0xff && code[n + 1] == 0x25)
			return address + n + 6 + (uint64_t)(int64_t)(int32_t)number_load32(code + n + 2);
	return 0;
}

/* The same for aarch64: `adrp x16, page; ldr x17, [x16, offset]`. */
static uint64_t slot_aarch64(const unsigned char *code, size_t bytes, uint64_t address)
{
	for (size_t n = 0; n + 8 <= bytes; n += 4) {
		const uint32_t adrp = number_load32(code + n), ldr = number_load32(code + n + 4);
		const int64_t pages =
			(int32_t)((adrp >> 5 & 0x7ffff) << 13) >> 11 | (int32_t)(adrp >> 29 & 3);

		if ((adrp & 0x9f00001f) == 0x90000010 && (ldr & 0xffc003ff) == 0xf9400211)
			return ((address + n) & ~UINT64_C(4095)) + ((uint64_t)pages << 12) +
			       (ldr >> 10 & 4095) * 8;
	}
	return 0;
}

static int plt_add_entry(struct symbols *symbols, const struct slots *slots, uint64_t address, uint64_t slot,
			 size_t bytes)
{
	const struct slot key = { .address = slot };
	const struct slot *found =
		slot ? bsearch(&key, slots->all, slots->count, sizeof(key), plt_compare) : NULL;

	if (!found)
		return 0;
	return symbols_add(symbols, &(struct symbol){ .address = address,
						      .end = address + bytes,
						      .name = found->name,
						      .bytes = found->bytes,
						      .sized = true,
						      .local = true,
						      .plt = true });
}

static int plt_read_code(struct symbols *symbols, const struct slots *slots, Elf *elf, const char *name)
{
	GElf_Shdr header;
	GElf_Ehdr elf_header;
	const Elf_Data *data = section_data(elf, name, &header);
	size_t step = !strcmp(name, ".plt.got") && header.sh_entsize == 8 ? 8 : 16;
	int error = 0;

	if (!data || !gelf_getehdr(elf, &elf_header))
		return 0;
	for (size_t at = 0; at + step <= data->d_size && !error; at += step) {
		const unsigned char *code = (const unsigned char *)data->d_buf + at;
		const uint64_t address = header.sh_addr + at;
		uint64_t slot = 0;

		if (elf_header.e_machine == EM_X86_64)
			slot = slot_x86(code, step, address);
		else if (elf_header.e_machine == EM_AARCH64)
			slot = slot_aarch64(code, step, address);
		error = plt_add_entry(symbols, slots, address, slot, step);
	}
	return error;
}

static const char *const sections[PLT_PARTS] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };

unsigned plt_parts(Elf *image, GElf_Shdr parts[PLT_PARTS])
{
	unsigned count = 0;

	for (unsigned n = 0; n < PLT_PARTS; n++)
		count += section_find(image, sections[n], &parts[count]) != NULL;
	return count;
}

int plt_read(struct symbols *symbols, Elf *image)
{
	struct slots slots = { 0 };
	int error = 0;

	for (Elf_Scn *section = elf_nextscn(image, NULL); section; section = elf_nextscn(image, section)) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			read_relocations(&slots, symbols, image, section, &header);
	}
	if (slots.count)
		qsort(slots.all, slots.count, sizeof(*slots.all), plt_compare);
	for (unsigned n = 0; n < PLT_PARTS && slots.count && !error; n++)
		error = plt_read_code(symbols, &slots, image, sections[n]);
	free(slots.all);
	symbols_sort(symbols);
	return error;
}
