/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names that the kernel prints; see kernel_lookup.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/names/kernel/kernel_lookup.bpf.h"
#include "image/names/kernel/kernel_lookup.h"
#include "image/names/kernel/kernel_names.h"

enum {
	LOOKUP_TEXT = 1024, /* bytes; the kernel's names have at most 511 */
};

/* The program and its map. */
struct lookup {
	int program, text;
	const char *result; /* the value of `text`, mapped; NULL: not yet */
};

static int kernel_lookup_load(const struct lookup *lookup)
{
	static const char line[] = "%pS";
	const int format = bpf_map_constant(line, sizeof(line));
	const struct bpf_symbol symbols[] = { { "text", BPF_SYMBOL_VALUE, (uint64_t)lookup->text },
					      { "format", BPF_SYMBOL_VALUE, (uint64_t)format },
					      { "text_bytes", BPF_SYMBOL_NUMBER, LOOKUP_TEXT },
					      { 0 } };
	int program = format;

	if (format < 0)
		return format;
	program = bpf_load_code(BPF_PROG_TYPE_RAW_TRACEPOINT, &kernel_lookup_program, symbols);
	close(format); /* the program holds it */
	return program;
}

/* The program prints its first argument into the map, and returns the length. */
static int open_lookup(struct lookup *lookup)
{
	const struct bpf_map text = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), LOOKUP_TEXT, 1, BPF_F_MMAPABLE };
	void *result;

	*lookup = (struct lookup){ -1, bpf_map_make(&text), NULL };
	if (lookup->text < 0)
		return lookup->text;
	result = mmap(NULL, LOOKUP_TEXT, PROT_READ, MAP_SHARED, lookup->text, 0);
	if (result == MAP_FAILED)
		return -errno;
	lookup->result = result;
	lookup->program = kernel_lookup_load(lookup);
	return lookup->program < 0 ? lookup->program : 0;
}

static void close_lookup(struct lookup *lookup)
{
	const int files[] = { lookup->program, lookup->text };

	if (lookup->result)
		munmap((void *)(uintptr_t)lookup->result, LOOKUP_TEXT);
	for (unsigned n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		if (files[n] >= 0)
			close(files[n]);
}

/* ---- the kernel's text: `name+0x10/0x20` or `name+0x10/0x20 [module]`; without a name, the address */

/* @module: receives the module in brackets, or "". Return: bytes of the name; 0: there is none. */
static size_t kernel_lookup_parse(const char *text, const char **module, uint64_t *offset, uint64_t *size)
{
	const char *end = text + strlen(text), *plus;
	int read = 0;

	*module = "";
	if (end > text && end[-1] == ']') {
		const char *bracket = strstr(text, " [");

		if (!bracket)
			return 0;
		end = bracket;
		*module = bracket + 1;
	}
	plus = memrchr(text, '+', (size_t)(end - text));
	if (!plus || sscanf(plus, "+%" SCNx64 "/%" SCNx64 "%n", offset, size, &read) != 2 ||
	    plus + read != end)
		return 0;
	return (size_t)(plus - text);
}

static int find_one(const struct lookup *lookup, uint64_t address, const char *module,
		    struct kernel_function *function, struct arena *texts)
{
	uint64_t offset, size;
	const char *of;
	uint32_t length;
	size_t bytes;
	int error = bpf_run(lookup->program, &address, 1, &length);

	if (error)
		return error;
	if (length < 1 || length > LOOKUP_TEXT || lookup->result[length - 1])
		return -EBADMSG;
	bytes = kernel_lookup_parse(lookup->result, &of, &offset, &size);
	if (!bytes || strcmp(of, module) != 0)
		return 0;
	*function =
		(struct kernel_function){ arena_keep(texts, lookup->result, bytes), address - offset, size };
	return function->name ? 0 : -ENOMEM;
}

/* ---- where the code lies */

/* The size of the kernel's own code: `  01000000-022090c7 : Kernel code`. Return: 0: unknown, or hidden. */
static uint64_t code_bytes(void)
{
	FILE *in = fopen("/proc/iomem", "re");
	uint64_t begin, end, bytes = 0;
	char line[256];

	while (in && !bytes && fgets(line, sizeof(line), in))
		if (strstr(line, " : Kernel code\n") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 && end > begin)
			bytes = end - begin + 1;
	if (in)
		fclose(in);
	return bytes;
}

int kernel_lookup(const char *module, const uint64_t *offsets, size_t count,
		  struct kernel_function *functions, struct arena *texts)
{
	const uint64_t base =
		*module ? kernel_names_base("/proc/modules", module) : kernel_names_text("/proc/kallsyms");
	/*
	 * The kernel's own code has the same names for as long as it runs. Behind it, the kernel would name code of BPF
	 * programs. Such a program may have been replaced by another since it was sampled, so it has no name.
	 */
	const uint64_t end = *module ? UINT64_MAX : code_bytes();
	struct lookup lookup;
	int error;

	if (!base || !end)
		return -EPERM;
	if (count > KERNEL_LOOKUP_MAX)
		return -E2BIG;
	error = open_lookup(&lookup);
	for (size_t n = 0; n < count && !error; n++) {
		functions[n] = (struct kernel_function){ 0 };
		if (offsets[n] >= end)
			continue;
		error = find_one(&lookup, base + offsets[n], module, &functions[n], texts);
		functions[n].begin -= base;
	}
	close_lookup(&lookup);
	return error;
}
