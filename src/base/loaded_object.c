/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Loaded objects; see loaded_object.h. */
#include <string.h>

#include "base/loaded_object.h"

enum {
	PAGE = 4096,
};

uint64_t loaded_object_value(const struct loaded_object *object, int64_t tag)
{
	for (const ElfW(Dyn) *at = object->dynamic; at && at->d_tag != DT_NULL; at++)
		if (at->d_tag == tag)
			return at->d_un.d_val;
	return 0;
}

const void *loaded_object_pointer(const struct loaded_object *object, int64_t tag)
{
	const uint64_t address = loaded_object_value(object, tag);

	/* The C library has relocated it, except in objects that it cannot write to. */
	return (const void *)(uintptr_t)(address && address < object->info.dlpi_addr
						 ? address + object->info.dlpi_addr
						 : address);
}

void loaded_object_read(struct loaded_object *object, const struct dl_phdr_info *info)
{
	*object = (struct loaded_object){ .info = *info };
	for (unsigned n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[n];
		const uint64_t at = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_DYNAMIC)
			object->dynamic = (const ElfW(Dyn) *)(uintptr_t)at;
		if (part->p_type != PT_GNU_RELRO)
			continue;
		object->fixed = at & ~(uint64_t)(PAGE - 1);
		object->fixed_bytes = ((at + part->p_memsz) & ~(uint64_t)(PAGE - 1)) - object->fixed;
	}
	object->names = loaded_object_pointer(object, DT_STRTAB);
	object->symbols = object->names ? loaded_object_pointer(object, DT_SYMTAB) : NULL;
	object->versions = loaded_object_pointer(object, DT_VERSYM);
}

bool loaded_object_has(const struct loaded_object *object, uint64_t address, uint64_t bytes,
		       uint32_t permissions)
{
	for (unsigned n = 0; n < object->info.dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &object->info.dlpi_phdr[n];
		const uint64_t offset = address - (object->info.dlpi_addr + part->p_vaddr);

		if (part->p_type == PT_LOAD && (part->p_flags & permissions) == permissions &&
		    offset < part->p_memsz && part->p_memsz - offset >= bytes)
			return true;
	}
	return false;
}

const char *loaded_object_version(const struct loaded_object *object, uint64_t symbol)
{
	const uint8_t *need = loaded_object_pointer(object, DT_VERNEED);
	const uint16_t wanted = object->versions ? object->versions[symbol] & ~LOADED_VERSION_HIDDEN : 0;
	ElfW(Verneed) library;

	for (uint64_t n = loaded_object_value(object, DT_VERNEEDNUM);
	     wanted > LOADED_VERSION_GLOBAL && need && n-- > 0; need += library.vn_next) {
		const uint8_t *at;
		ElfW(Vernaux) version;

		memcpy(&library, need, sizeof(library));
		at = need + library.vn_aux;
		for (unsigned m = 0; m < library.vn_cnt; m++, at += version.vna_next) {
			memcpy(&version, at, sizeof(version));
			if (version.vna_other == wanted)
				return object->names + version.vna_name;
		}
	}
	return NULL;
}

struct search {
	struct loaded_object object;
	uint64_t address;
};

static int search_visit(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct search *search = data;

	(void)bytes;
	search->object.info = *info;
	if (loaded_object_has(&search->object, search->address, 1, PF_X))
		return 1;
	search->object.place++;
	return 0;
}

bool loaded_object_find(struct loaded_object *object, uint64_t address)
{
	struct search search = { .address = address };

	if (!dl_iterate_phdr(search_visit, &search))
		return false;
	loaded_object_read(object, &search.object.info);
	object->place = search.object.place;
	return true;
}

static bool loaded_object_defines(const struct loaded_object *object, uint32_t n, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[n];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       strcmp(object->names + symbol->st_name, name) == 0;
}

/* The first symbol from @n on in a chain of the hash table, whose last has an odd hash. */
static uint32_t find_in_chain(const struct loaded_object *object, const uint32_t *hashes, uint32_t n,
			      const char *name, uint32_t hash)
{
	for (;; n++) {
		if ((hashes[n] | 1) == (hash | 1) && loaded_object_defines(object, n, name))
			return n;
		if (hashes[n] & 1)
			return 0;
	}
}

static uint32_t find_by_hash(const struct loaded_object *object, const uint32_t *table, const char *name,
			     uint32_t before)
{
	const uint32_t *buckets = table + 4 + 2 * table[2], *hashes = buckets + table[0] - table[1];
	uint32_t hash = 5381, n;

	if (!table[0])
		return 0;
	for (const char *at = name; *at; at++)
		hash = hash * 33 + (uint8_t)*at;
	n = buckets[hash % table[0]];
	if (before)
		n = hashes[before] & 1 ? 0 : before + 1;
	return n < table[1] ? 0 : find_in_chain(object, hashes, n, name, hash);
}

const ElfW(Sym) * loaded_object_definition(const struct loaded_object *object, const char *name,
					   const ElfW(Sym) * before)
{
	const uint32_t *by_hash = loaded_object_pointer(object, DT_GNU_HASH),
		       *old = loaded_object_pointer(object, DT_HASH);
	uint32_t n = before ? (uint32_t)(before - object->symbols) : 0;

	if (!object->symbols)
		return NULL;
	if (by_hash) {
		n = find_by_hash(object, by_hash, name, n);
		return n ? &object->symbols[n] : NULL;
	}
	/* Few objects have only the old table, whose second word is the number of symbols. */
	for (n++; old && n < old[1]; n++)
		if (loaded_object_defines(object, n, name))
			return &object->symbols[n];
	return NULL;
}
