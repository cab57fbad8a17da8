/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * BTF, the type information of Linux kernels: where the members of structures and the variables of a section lie.
 *
 * It comes from the kernel or from a file that a user names. All of it is checked where it is used: damaged data gives fewer answers.
 */
#ifndef BURIN_IMAGE_ELF_BTF_H
#define BURIN_IMAGE_ELF_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BTF_BYTES_MAX = 64 << 20,
};

struct btf {
	const char *types, *strings;
	size_t type_bytes, string_bytes;
	uint32_t *places; /* of type n in `types`; n is at least 1 */
	size_t count, room;
};

/*
 * btf_open - find the types in BTF.
 * @bytes: the caller's, unchanged until btf_close()
 * Return: 0; -ENOEXEC: it is not BTF; -ENOMEM.
 */
int btf_open(struct btf *btf, const char *bytes, size_t count);
void btf_close(struct btf *btf);

/* btf_structure - the number of a structure; 0: there is none. */
uint32_t btf_structure(const struct btf *btf, const char *name);

/*
 * btf_typedefs - the numbers of typedefs, without btf_open(): one walk over the types, up to the last one that is asked for.
 * Return: whether all are there.
 */
bool btf_typedefs(const char *bytes, size_t count, const char *const *names, uint32_t *types,
		  unsigned wanted);

/* btf_function - the number of a function; 0: there is none. */
uint32_t btf_function(const struct btf *btf, const char *name);

/* btf_size - bytes of a structure; 0: there is none of that number. */
uint64_t btf_size(const struct btf *btf, uint32_t structure);

/* btf_member - where a member lies in a structure or in the anonymous ones inside. Return: whether it is there. */
bool btf_member(const struct btf *btf, uint32_t structure, const char *name, uint64_t *bytes);

/* btf_variable - where a variable lies in a section. Return: whether it is there. */
bool btf_variable(const struct btf *btf, const char *section, const char *name, uint64_t *bytes);

#endif
