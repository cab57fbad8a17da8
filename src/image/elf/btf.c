/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The type information of kernels; see btf.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "image/elf/btf.h"

enum {
	MAGIC = 0xeb9f,
	HEADER = 24,   /* bytes: magic, version, flags, its length, then where types and strings are */
	TYPE = 12,     /* bytes of a type before what its kind adds: name, kind and count, size or type */
	MEMBER = 12,   /* name, type, offset in bits */
	VARIABLE = 12, /* of a section: type, offset, bytes */
	DEPTH_MAX = 8, /* of anonymous structures */
	MEMBERS_MAX = 1 << 20, /* that are looked at for one: damaged structures may contain each other */
};

/* Of the format. */
enum kind {
	KIND_STRUCTURE = 4,
	KIND_UNION = 5,
	KIND_TYPEDEF = 8,
	KIND_FUNCTION = 12,
	KIND_VARIABLE = 14,
	KIND_SECTION = 15,
	KINDS = 20
};

/* The size of a kind behind the head of a type: bytes, and bytes for each member. */
static const struct {
	uint8_t fixed, each;
} sizes[KINDS] = {
	[1] = { 4, 0 },	 [3] = { 12, 0 },  [KIND_STRUCTURE] = { 0, MEMBER }, [KIND_UNION] = { 0, MEMBER },
	[6] = { 0, 8 },	 [13] = { 0, 8 },  [KIND_VARIABLE] = { 4, 0 },	     [KIND_SECTION] = { 0, VARIABLE },
	[17] = { 4, 0 }, [19] = { 0, 12 },
};

struct type {
	uint32_t name;
	unsigned kind;
	uint32_t count;	    /* of members */
	const char *inside; /* what its kind adds */
};

static struct type read_type(const char *at)
{
	const uint32_t info = number_load32(at + 4);

	return (struct type){ number_load32(at), info >> 24 & 31, info & 0xffff, at + TYPE };
}

static size_t btf_bytes_of(const struct type *type)
{
	return TYPE + sizes[type->kind].fixed + (size_t)sizes[type->kind].each * type->count;
}

/* Return: false: there is no such type. */
static bool find_type(const struct btf *btf, uint32_t number, struct type *type)
{
	if (number - 1 >= btf->count)
		return false;
	*type = read_type(btf->types + btf->places[number - 1]);
	return true;
}

static bool btf_has_name(const struct btf *btf, uint32_t place, const char *name)
{
	const size_t bytes = strlen(name) + 1;

	return place < btf->string_bytes && bytes <= btf->string_bytes - place &&
	       memcmp(btf->strings + place, name, bytes) == 0;
}

static int index_types(struct btf *btf)
{
	size_t at = 0;

	while (btf->type_bytes - at >= TYPE) {
		const struct type type = read_type(btf->types + at);

		if (type.kind >= KINDS || btf_bytes_of(&type) > btf->type_bytes - at)
			break; /* of a later version, or damaged: the types before it can be used */
		if (!array_reserve(btf->places, btf->room, btf->count + 1))
			return -ENOMEM;
		btf->places[btf->count++] = (uint32_t)at;
		at += btf_bytes_of(&type);
	}
	return btf->count ? 0 : -ENOEXEC;
}

/* A part of the bytes behind the header. Return: false: it is not there. */
static bool take_part(const char *bytes, size_t count, const char *field, const char **part,
		      size_t *part_bytes)
{
	const uint64_t begin = (uint64_t)number_load32(bytes + 4) + number_load32(field);

	*part_bytes = number_load32(field + 4);
	*part = bytes + begin;
	return begin <= count && *part_bytes <= count - begin;
}

static int btf_find_parts(struct btf *btf, const char *bytes, size_t count)
{
	*btf = (struct btf){ 0 };
	return count >= HEADER && count <= BTF_BYTES_MAX && number_load16(bytes) == MAGIC &&
			       take_part(bytes, count, bytes + 8, &btf->types, &btf->type_bytes) &&
			       take_part(bytes, count, bytes + 16, &btf->strings, &btf->string_bytes)
		       ? 0
		       : -ENOEXEC;
}

int btf_open(struct btf *btf, const char *bytes, size_t count)
{
	int error = btf_find_parts(btf, bytes, count);

	if (!error)
		error = index_types(btf);
	if (error)
		btf_close(btf);
	return error;
}

bool btf_typedefs(const char *bytes, size_t count, const char *const *names, uint32_t *types, unsigned wanted)
{
	struct btf btf;
	unsigned found = 0;
	size_t at = 0;

	memset(types, 0, wanted * sizeof(*types));
	if (btf_find_parts(&btf, bytes, count) != 0)
		return false;
	for (uint32_t number = 1; btf.type_bytes - at >= TYPE && found < wanted; number++) {
		const struct type type = read_type(btf.types + at);

		if (type.kind >= KINDS || btf_bytes_of(&type) > btf.type_bytes - at)
			break;
		for (unsigned n = 0; type.kind == KIND_TYPEDEF && n < wanted; n++)
			if (!types[n] && btf_has_name(&btf, type.name, names[n])) {
				types[n] = number;
				found++;
			}
		at += btf_bytes_of(&type);
	}
	return found == wanted;
}

void btf_close(struct btf *btf)
{
	free(btf->places);
	*btf = (struct btf){ 0 };
}

static uint32_t btf_find(const struct btf *btf, enum kind kind, const char *name)
{
	struct type type;

	for (uint32_t n = 1; find_type(btf, n, &type); n++)
		if (type.kind == kind && btf_has_name(btf, type.name, name))
			return n;
	return 0;
}

uint32_t btf_structure(const struct btf *btf, const char *name)
{
	return btf_find(btf, KIND_STRUCTURE, name);
}

uint32_t btf_function(const struct btf *btf, const char *name)
{
	return btf_find(btf, KIND_FUNCTION, name);
}

uint64_t btf_size(const struct btf *btf, uint32_t structure)
{
	struct type type;

	return find_type(btf, structure, &type) ? number_load32(type.inside - 4) : 0;
}

struct search {
	const char *name;
	uint64_t bits; /* where it is, as far as it was found */
	uint32_t looked;
};

static bool btf_find_member(const struct btf *btf, uint32_t number, unsigned depth, struct search *search)
{
	struct type type;

	if (depth == DEPTH_MAX || !find_type(btf, number, &type) ||
	    (type.kind != KIND_STRUCTURE && type.kind != KIND_UNION))
		return false;
	for (uint32_t n = 0; n < type.count && search->looked++ < MEMBERS_MAX; n++) {
		const char *member = type.inside + (size_t)n * MEMBER;
		const uint64_t before = search->bits;

		/* Beside bit fields, the upper byte has the width of one. */
		search->bits = before + (number_load32(member + 8) & 0xffffff);
		if (btf_has_name(btf, number_load32(member), search->name) ||
		    (btf_has_name(btf, number_load32(member), "") &&
		     btf_find_member(btf, number_load32(member + 4), depth + 1, search)))
			return true;
		search->bits = before;
	}
	return false;
}

bool btf_member(const struct btf *btf, uint32_t structure, const char *name, uint64_t *bytes)
{
	struct search search = { .name = name };
	const bool found = btf_find_member(btf, structure, 0, &search);

	*bytes = search.bits / 8;
	return found;
}

bool btf_variable(const struct btf *btf, const char *section, const char *name, uint64_t *bytes)
{
	struct type type, variable;

	if (!find_type(btf, btf_find(btf, KIND_SECTION, section), &type))
		return false;
	for (uint32_t n = 0; n < type.count; n++) {
		const char *entry = type.inside + (size_t)n * VARIABLE;

		if (!find_type(btf, number_load32(entry), &variable) || variable.kind != KIND_VARIABLE ||
		    !btf_has_name(btf, variable.name, name))
			continue;
		*bytes = number_load32(entry + 4);
		return true;
	}
	return false;
}
