/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Loaded objects of this process, as their dynamic sections describe them. */
#ifndef BURIN_SOURCE_CALLS_CALL_OBJECT_H
#define BURIN_SOURCE_CALLS_CALL_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* It is valid while the object is loaded. */
struct call_object {
	struct dl_phdr_info info;
	const ElfW(Dyn) * dynamic; /* NULL: it has none */
	const ElfW(Sym) * symbols; /* NULL: none; `names`, too */
	const char *names;
	const uint16_t *versions; /* of symbols; NULL: they have none */
	unsigned place;		  /* in the order of the objects; set by call_object_find() */
};

/* call_object_read - describe an object. Context: any. */
void call_object_read(struct call_object *object, const struct dl_phdr_info *info);

/* call_object_find - the object whose code has an address. Context: takes the dynamic linker's lock. */
bool call_object_find(struct call_object *object, uint64_t address);

/* call_object_value, call_object_pointer - an entry of the dynamic section, and one that is an address; 0: there is none. */
uint64_t call_object_value(const struct call_object *object, int64_t tag);
const void *call_object_pointer(const struct call_object *object, int64_t tag);

/* call_object_has - whether a segment with these permissions (PF_*) has an address and some bytes behind it. */
bool call_object_has(const struct call_object *object, uint64_t address, uint64_t bytes,
		     uint32_t permissions);

/* call_object_definition - the object's next definition of a name. @before: the last one, or NULL. Return: NULL: no more. */
const ElfW(Sym) *
	call_object_definition(const struct call_object *object, const char *name, const ElfW(Sym) * before);

#endif
