/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The running kernel's functions; see kernel_names.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "base/nolibc.h"
#include "image/names/kernel/kernel_names.h"

enum {
	KERNEL_READ_BYTES = 64 << 10,
	KERNEL_LINE_LEAST = 20, /* bytes: an address, a type, a name */
	KERNEL_ADDRESS_DIGITS = 16,
};

/* Return: the module's number, added if it is new; 0: no memory. */
static unsigned module_number(struct kernel_names *names, const char *name)
{
	for (unsigned n = names->module_count; n-- > 1;) { /* backwards: mostly it is the last one */
		if (!strcmp(names->modules[n].name, name))
			return n;
	}
	if (!array_reserve_zeroed(names->modules, names->module_room, names->module_count + 1))
		return 0;
	snprintf(names->modules[names->module_count].name, KERNEL_MODULE_MAX, "%s", name);
	return names->module_count++;
}

/* With read(2): the kernel returns up to a page per call, but stdio would ask for only 1 KiB. */
static int kernel_names_read_text(struct kernel_names *names, int file)
{
	size_t room = 0;
	ssize_t got;

	do {
		if (!array_reserve(names->text, room, names->text_bytes + KERNEL_READ_BYTES + 1))
			return -ENOMEM;
		got = read(file, names->text + names->text_bytes, room - names->text_bytes - 1);
		if (got > 0)
			names->text_bytes += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	names->text[names->text_bytes] = '\0';
	return got < 0 ? -errno : 0;
}

/*
 * `ffffffff81000000 T name` or `ffffffffc0000000 t name<TAB>[module]`; symbols of data are skipped. Not by sscanf(): there
 * are more than 100,000 lines, and it takes longer to parse one than the kernel takes to print it.
 */
static int read_symbol(struct kernel_names *names, char *line, char *end)
{
	const char *behind;
	unsigned number = 0;
	const uint64_t address = nolibc_number(line, 16, &behind);
	char *name = line + KERNEL_ADDRESS_DIGITS + 3, *module;

	if (end - line < KERNEL_LINE_LEAST || behind != line + KERNEL_ADDRESS_DIGITS || behind[0] != ' ' ||
	    behind[2] != ' ' || !strchr("tTwWi", behind[1]))
		return 0;
	module = end[-1] == ']' ? memchr(name, '\t', (size_t)(end - name)) : NULL;
	if (module) {
		*module++ = '\0';
		number = module_number(names, module);
		if (number == 0)
			return -ENOMEM;
	}
	if (!strcmp(name, "_stext"))
		names->modules[0].base = address;
	if (!strcmp(name, "_etext"))
		names->modules[0].end = address;
	names->all[names->count++] = (struct kernel_name){ address, (size_t)(name - names->text), number };
	return 0;
}

/* `name 16384 0 - Live 0xffffffffc0000000`. @name: receives the name in brackets. Return: the address; 0: none. */
static uint64_t module_line(const char *line, char name[KERNEL_MODULE_MAX])
{
	char bare[KERNEL_MODULE_MAX - 2];
	unsigned long long base;

	if (sscanf(line, "%56s %*s %*s %*s %*s %llx", bare, &base) != 2)
		return 0;
	snprintf(name, KERNEL_MODULE_MAX, "[%s]", bare);
	return base;
}

static void read_module(struct kernel_names *names, const char *line)
{
	char name[KERNEL_MODULE_MAX];
	const uint64_t base = module_line(line, name);

	for (unsigned n = 1; base && n < names->module_count; n++)
		if (!strcmp(names->modules[n].name, name))
			names->modules[n].base = base;
}

bool kernel_names_lists(const char *modules, const char *module)
{
	FILE *in = fopen(modules, "re");
	char line[1024], name[KERNEL_MODULE_MAX];
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in)) {
		snprintf(name, sizeof(name), "[%.*s]", (int)strcspn(line, " "), line);
		found = strcmp(name, module) == 0;
	}
	if (in)
		fclose(in);
	return found;
}

uint64_t kernel_names_base(const char *modules, const char *module)
{
	FILE *in = fopen(modules, "re");
	char line[1024], name[KERNEL_MODULE_MAX];
	uint64_t base = 0;

	while (in && !base && fgets(line, sizeof(line), in)) {
		base = module_line(line, name);
		if (base && strcmp(name, module) != 0)
			base = 0;
	}
	if (in)
		fclose(in);
	return base;
}

uint64_t kernel_names_text(const char *symbols)
{
	FILE *in = fopen(symbols, "re");
	char line[1024];
	uint64_t address = 0;
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in)) {
		const char *behind;

		address = nolibc_number(line, 16, &behind);
		found = behind == line + KERNEL_ADDRESS_DIGITS && strcmp(behind + 2, " _stext\n") == 0;
	}
	if (in)
		fclose(in);
	return found ? address : 0;
}

static int kernel_names_compare(const void *one, const void *other)
{
	const struct kernel_name *a = one, *b = other;

	return number_order(a->address, b->address) ?: number_order(a->name, b->name);
}

static size_t kernel_names_count_lines(const struct kernel_names *names)
{
	size_t count = 0;

	for (const char *at = names->text; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

static int kernel_names_read_symbols(struct kernel_names *names)
{
	uint64_t bits = 0;
	bool sorted = true; /* mostly they are: the kernel's own come first, in order */
	int error = 0;

	names->all = calloc(kernel_names_count_lines(names) + 1, sizeof(*names->all));
	if (!names->all || !array_reserve_zeroed(names->modules, names->module_room, 1))
		return -ENOMEM;
	names->module_count = 1;
	for (char *line = names->text, *end; !error && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		error = read_symbol(names, line, end);
	}
	if (error)
		return error;
	for (size_t n = 0; n < names->count; n++) {
		bits |= names->all[n].address;
		sorted &= n == 0 || names->all[n - 1].address <= names->all[n].address;
	}
	if (!sorted)
		qsort(names->all, names->count, sizeof(*names->all), kernel_names_compare);
	return bits ? 0 : -EPERM;
}

int kernel_names_read(struct kernel_names *names, const char *symbols, const char *modules)
{
	const int file = open(symbols, O_RDONLY | O_CLOEXEC);
	char line[1024];
	FILE *in;
	int error;

	*names = (struct kernel_names){ 0 };
	if (file < 0)
		return -errno;
	error = kernel_names_read_text(names, file);
	close(file);
	if (!error)
		error = kernel_names_read_symbols(names);
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
	for (unsigned n = 0; n < names->module_count; n++)
		if (!strcmp(names->modules[n].name, name) && names->modules[n].base)
			return &names->modules[n];
	return NULL;
}

const char *kernel_names_find(const struct kernel_names *names, const char *module, uint64_t offset,
			      uint64_t *begin, uint64_t *size)
{
	const struct kernel_module *of = find_module(names, module ? module : "");
	size_t low = 0, high = names->count;
	const struct kernel_name *found;

	/* Not the name of the kernel's last function: the code is a BPF program's, which the list may not have any more. */
	if (of && of->end && of->base + offset >= of->end)
		return NULL;
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
	unsigned char notes[4096];
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
		/* Xen's notes, which Debian's kernels have, have the same numbers. */
		if (number_load32(notes + at + 8) == NT_GNU_BUILD_ID && owner == sizeof("GNU") &&
		    memcmp(notes + at + sizeof(Elf64_Nhdr), "GNU", sizeof("GNU")) == 0 && content <= room) {
			memcpy(id, notes + value, content);
			return content;
		}
		at = value + ((size_t)content + 3) / 4 * 4;
	}
	return 0;
}
