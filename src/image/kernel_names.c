/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The running kernel's functions; see kernel_names.h. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "image/kernel_names.h"

static bool grow(void **array, size_t *room, size_t needed, size_t size)
{
	size_t larger = *room ? *room : 4096;
	void *moved;

	if (needed <= *room)
		return true;
	while (larger < needed)
		larger *= 2;
	moved = reallocarray(*array, larger, size);
	if (!moved)
		return false;
	*array = moved;
	*room = larger;
	return true;
}

/* Return: its number, a new one if need be; 0: no memory, or the name is empty. */
static unsigned module_number(struct kernel_names *names, const char *name)
{
	struct kernel_module *modules;

	for (unsigned n = names->module_count; n-- > 1;) { /* the last one is the likeliest */
		if (!strcmp(names->modules[n].name, name))
			return n;
	}
	modules = reallocarray(names->modules, names->module_count + 1, sizeof(*modules));
	if (!modules)
		return 0;
	names->modules = modules;
	modules[names->module_count] = (struct kernel_module){ 0 };
	snprintf(modules[names->module_count].name, KERNEL_MODULE_MAX, "%s", name);
	return names->module_count++;
}

static int add(struct kernel_names *names, uint64_t address, const char *name, unsigned module)
{
	const size_t bytes = strlen(name) + 1;

	if (!grow((void **)&names->all, &names->room, names->count + 1, sizeof(*names->all)) ||
	    !grow((void **)&names->text, &names->text_room, names->text_bytes + bytes, 1))
		return -ENOMEM;
	memcpy(names->text + names->text_bytes, name, bytes);
	names->all[names->count++] = (struct kernel_name){ address, names->text_bytes, module };
	names->text_bytes += bytes;
	return 0;
}

/* `ffffffff81000000 T name` or `ffffffffc0000000 t name [module]`; data are no functions. */
static int read_symbol(struct kernel_names *names, const char *line)
{
	char name[512], module[KERNEL_MODULE_MAX] = "", type;
	unsigned long long address;
	const int fields = sscanf(line, "%llx %c %511s %58s", &address, &type, name, module);

	if (fields < 3 || !strchr("tTwWi", type))
		return 0;
	if (!strcmp(name, "_text"))
		names->modules[0].base = address;
	return add(names, address, name, *module ? module_number(names, module) : 0);
}

/* `name 16384 0 - Live 0xffffffffc0000000` */
static void read_module(struct kernel_names *names, const char *line)
{
	char name[KERNEL_MODULE_MAX - 2], bracketed[KERNEL_MODULE_MAX];
	unsigned long long base;

	if (sscanf(line, "%56s %*s %*s %*s %*s %llx", name, &base) != 2)
		return;
	snprintf(bracketed, sizeof(bracketed), "[%s]", name);
	for (unsigned n = 1; n < names->module_count; n++) {
		if (!strcmp(names->modules[n].name, bracketed))
			names->modules[n].base = base;
	}
}

static int compare(const void *one, const void *other)
{
	const struct kernel_name *a = one, *b = other;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int read_symbols(struct kernel_names *names, FILE *in)
{
	char line[1024];
	uint64_t bits = 0;
	int error = 0;

	while (!error && fgets(line, sizeof(line), in))
		error = read_symbol(names, line);
	for (size_t n = 0; n < names->count; n++)
		bits |= names->all[n].address;
	if (!error && !bits)
		error = -EPERM;
	if (!error)
		qsort(names->all, names->count, sizeof(*names->all), compare);
	return error;
}

int kernel_names_read(struct kernel_names *names, const char *symbols, const char *modules)
{
	FILE *in = fopen(symbols, "re");
	char line[1024];
	int error;

	*names = (struct kernel_names){ 0 };
	if (!in)
		return -errno;
	names->modules = calloc(1, sizeof(*names->modules));
	names->module_count = names->modules ? 1 : 0;
	error = names->modules ? read_symbols(names, in) : -ENOMEM;
	fclose(in);
	in = error ? NULL : fopen(modules, "re");
	while (in && fgets(line, sizeof(line), in))
		read_module(names, line);
	if (in)
		fclose(in);
	if (error)
		kernel_names_free(names);
	return error;
}

void kernel_names_free(struct kernel_names *names)
{
	free(names->all);
	free(names->modules);
	free(names->text);
	*names = (struct kernel_names){ 0 };
}

static const struct kernel_module *find_module(const struct kernel_names *names, const char *name)
{
	for (unsigned n = 0; n < names->module_count; n++) {
		if (!strcmp(names->modules[n].name, name) && names->modules[n].base)
			return &names->modules[n];
	}
	return NULL;
}

const char *kernel_names_find(const struct kernel_names *names, const char *module, uint64_t offset,
			      uint64_t *begin, uint64_t *size)
{
	const struct kernel_module *of = find_module(names, module ? module : "");
	size_t low = 0, high = names->count;
	const struct kernel_name *found;

	while (of && low < high) {
		const size_t middle = low + (high - low) / 2;

		if (names->all[middle].address <= of->base + offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || names->modules[names->all[low - 1].module].base != of->base)
		return NULL;
	found = &names->all[low - 1];
	*begin = found->address - of->base;
	*size = low < names->count ? names->all[low].address - found->address : 0;
	while (found > names->all && found[-1].address == found->address)
		found--; /* the first of several names */
	return names->text + found->name;
}

size_t kernel_build_id(const char *module, unsigned char *id, size_t room)
{
	unsigned char notes[65536];
	char path[128] = "/sys/kernel/notes", name[KERNEL_MODULE_MAX];
	FILE *in;
	size_t bytes;

	if (sscanf(module, "[%56[^]/]]", name) == 1)
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	in = fopen(path, "re");
	bytes = in ? fread(notes, 1, sizeof(notes), in) : 0;

	if (in)
		fclose(in);
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
		const uint32_t owner = number_load32(notes + at), content = number_load32(notes + at + 4);
		const size_t value = at + sizeof(Elf64_Nhdr) + ((size_t)owner + 3) / 4 * 4;

		if (value > bytes || content > bytes - value)
			break;
		if (number_load32(notes + at + 8) == NT_GNU_BUILD_ID && content <= room) {
			memcpy(id, notes + value, content);
			return content;
		}
		at = value + ((size_t)content + 3) / 4 * 4;
	}
	return 0;
}
