/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's code; see kernel_image.h.
 *
 * The kernel is one image; modules and code made at run time (BPF programs, trampolines) are images of their
 * own. All lie in one address space, which all processes share. The layout is read with the first address
 * that needs it, so a recording without samples in the kernel does not read it.
 *
 * An offset in the kernel counts from _text, since KASLR moves the kernel at each boot. Where /proc hides
 * addresses, modules are missing and offsets are the addresses themselves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/names/kernel/kernel_names.h"
#include "source/perf/tasks/kernel_image.h"

void kernel_init(struct kernel *kernel, struct images *images)
{
	*kernel = (struct kernel){ .images = images };
}

static void add_module(struct kernel *kernel, const char *name, uint64_t begin, uint64_t bytes)
{
	char label[96];
	unsigned char id[IMAGE_BUILD_ID_MAX];
	unsigned id_bytes;
	struct mapping mapping = { .begin = begin, .end = begin + bytes };

	snprintf(label, sizeof(label), "[%s]", name);
	id_bytes = (unsigned)kernel_build_id(label, id, sizeof(id));
	mapping.image = images_named(kernel->images, WIRE_IMAGE_MODULE, label, 0, id, id_bytes);
	if (mapping.image && mapping.end > mapping.begin)
		mappings_add(&kernel->modules, &mapping);
}

static void read_modules(struct kernel *kernel)
{
	FILE *file = fopen("/proc/modules", "re");
	uint64_t bytes, address;
	char line[4096], name[80];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%79s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &bytes, &address) == 3 &&
		    address)
			add_module(kernel, name, address, bytes);
	if (file)
		fclose(file);
}

static bool read_layout(struct kernel *kernel)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	const unsigned id_bytes = (unsigned)kernel_build_id("", id, sizeof(id));

	kernel->image = images_named(kernel->images, WIRE_IMAGE_KERNEL, "[kernel]", 0, id, id_bytes);
	kernel->text = kernel_names_text("/proc/kallsyms");
	read_modules(kernel);
	return kernel->image != NULL;
}

/* Code generated at run time has only a name: it is recorded like a module. */
void kernel_take(struct kernel *kernel, const struct record *record)
{
	char label[96];
	struct mapping mapping = { .begin = record->map.begin, .end = record->map.begin + record->map.bytes };

	if (record->gone) /* a later mapping replaces it */
		return;
	snprintf(label, sizeof(label), "[%.90s]", record->name);
	mapping.image = images_named(kernel->images, WIRE_IMAGE_MODULE, label, 0, NULL, 0);
	if (mapping.image && mapping.end > mapping.begin)
		mappings_add(&kernel->modules, &mapping);
}

struct sample_image *kernel_find(struct kernel *kernel, uint64_t address, uint64_t *offset)
{
	const struct mapping *module;

	if (!kernel->image && !read_layout(kernel))
		return NULL;
	module = mappings_find(&kernel->modules, address);
	if (module) {
		*offset = module->offset + (address - module->begin);
		return module->image;
	}
	*offset = address - kernel->text;
	return kernel->image;
}

void kernel_free(struct kernel *kernel)
{
	mappings_clear(&kernel->modules);
	*kernel = (struct kernel){ 0 };
}
