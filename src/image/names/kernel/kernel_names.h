/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names of the running kernel's functions, from /proc/kallsyms. Addresses differ from boot to boot, so functions
 * are found by their offsets from _stext, or from the base of a module.
 */
#ifndef BURIN_IMAGE_NAMES_KERNEL_KERNEL_NAMES_H
#define BURIN_IMAGE_NAMES_KERNEL_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KERNEL_MODULE_MAX = 56 + 3, /* bytes of a module's name in brackets, with its NUL */
};

struct kernel_name {
	uint64_t address;
	size_t name;	 /* offset in text */
	unsigned module; /* number in modules; 0: the kernel itself */
};

struct kernel_module {
	char name[KERNEL_MODULE_MAX]; /* in brackets; "" of the kernel itself */
	uint64_t base;		      /* 0: unknown */
	uint64_t end;		      /* of its code; 0: unknown */
};

struct kernel_names {
	struct kernel_name *all; /* by address */
	size_t count;
	struct kernel_module *modules;
	unsigned module_count;
	size_t module_room;
	char *text; /* of the file, with a NUL after each name */
	size_t text_bytes;
};

/*
 * kernel_names_read - read the names.
 * @symbols, @modules: "/proc/kallsyms" and "/proc/modules"
 * Return: 0; -EPERM: the kernel shows addresses to privileged users only (kernel.kptr_restrict); a negative errno.
 */
int kernel_names_read(struct kernel_names *names, const char *symbols, const char *modules);
void kernel_names_free(struct kernel_names *names);

/*
 * kernel_names_find - the function at an offset. Behind the kernel's own code is none, as for kernel_lookup().
 * @module: "" or NULL for the kernel, otherwise a module's name in brackets
 * @begin, @size: of the function, @begin from the same base; size 0: unknown
 * Return: its name; NULL: none.
 */
const char *kernel_names_find(const struct kernel_names *names, const char *module, uint64_t offset,
			      uint64_t *begin, uint64_t *size);

/* kernel_names_text - the address of _text, one of the first lines of "/proc/kallsyms". Return: 0: hidden, or not there. */
uint64_t kernel_names_text(const char *symbols);

/* kernel_names_base - the address of a module, whose name is in brackets, by "/proc/modules". Return: 0: as above. */
uint64_t kernel_names_base(const char *modules, const char *module);

/* kernel_names_lists - whether "/proc/modules" has a module. */
bool kernel_names_lists(const char *modules, const char *module);

/*
 * kernel_build_id - the build id of the running kernel or one of its modules.
 * @module: "" for the kernel, otherwise a module's name in brackets
 * Return: bytes written to @id; 0: unknown.
 */
size_t kernel_build_id(const char *module, unsigned char *id, size_t room);

#endif
