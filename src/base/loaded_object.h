/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Loaded objects of this process, as their dynamic sections describe them. */
#ifndef BURIN_BASE_LOADED_OBJECT_H
#define BURIN_BASE_LOADED_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Versions of symbols, in `versions` below. */
enum {
	LOADED_VERSION_HIDDEN = 0x8000, /* a flag */
	LOADED_VERSION_GLOBAL = 1,	/* up to this one it is no version */
};

/* It is valid while the object is loaded. */
struct loaded_object {
	struct dl_phdr_info info;
	const ElfW(Dyn) * dynamic; /* NULL: it has none */
	const ElfW(Sym) * symbols; /* NULL: none; `names`, too */
	const char *names;
	const uint16_t *versions; /* of symbols; NULL: they have none */
	uint64_t fixed,
		fixed_bytes; /* pages that the dynamic linker has made read-only when it had relocated them */
	unsigned place;	     /* in the order of the objects; set by loaded_object_find() */
};

/* loaded_object_read - describe an object. Context: any. */
void loaded_object_read(struct loaded_object *object, const struct dl_phdr_info *info);

/* loaded_object_find - the object whose code has an address. Context: takes the dynamic linker's lock. */
bool loaded_object_find(struct loaded_object *object, uint64_t address);

/* loaded_object_value, loaded_object_pointer - an entry of the dynamic section, and one that is an address; 0: there is none. */
uint64_t loaded_object_value(const struct loaded_object *object, int64_t tag);
const void *loaded_object_pointer(const struct loaded_object *object, int64_t tag);

/* loaded_object_version - the version that an object's symbol asks for; NULL: any. @symbol: its index */
const char *loaded_object_version(const struct loaded_object *object, uint64_t symbol);

/* loaded_object_has - whether a segment with these permissions (PF_*) has an address and some bytes behind it. */
bool loaded_object_has(const struct loaded_object *object, uint64_t address, uint64_t bytes,
		       uint32_t permissions);

/* loaded_object_definition - the object's next definition of a name. @before: the last one, or NULL. Return: NULL: no more. */
const ElfW(Sym) * loaded_object_definition(const struct loaded_object *object, const char *name,
					   const ElfW(Sym) * before);

#endif
