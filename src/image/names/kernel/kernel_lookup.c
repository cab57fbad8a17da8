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

#include "bpf/bpf_program.h"
#include "image/names/kernel/kernel_lookup.h"
#include "image/names/kernel/kernel_names.h"

enum {
	LOOKUP_TEXT = 1024,   /* bytes; the kernel's names have at most 511 */
	LOOKUP_ARGUMENT = -8, /* of the format, on the program's stack */
	LOOKUP_FORMAT = 8,    /* bytes */
};

/* The program and its maps. */
struct lookup {
	int program, text, format;
	const char *result; /* the value of `text`, mapped; NULL: not yet */
};

static const char kernel_symbol[LOOKUP_FORMAT] = "%pS";

static int kernel_lookup_open_maps(struct lookup *lookup)
{
	const struct bpf_map text = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), LOOKUP_TEXT, 1, BPF_F_MMAPABLE };
	/* The kernel accepts a format only in memory that cannot change. */
	const struct bpf_map format = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), LOOKUP_FORMAT, 1,
					BPF_F_RDONLY_PROG };
	const uint32_t first = 0;
	void *result;
	int error;

	lookup->text = bpf_map_make(&text);
	if (lookup->text < 0)
		return lookup->text;
	lookup->format = bpf_map_make(&format);
	if (lookup->format < 0)
		return lookup->format;
	error = bpf_map_set(lookup->format, &first, kernel_symbol);
	if (!error)
		error = bpf_map_freeze(lookup->format);
	if (error)
		return error;
	result = mmap(NULL, LOOKUP_TEXT, PROT_READ, MAP_SHARED, lookup->text, 0);
	if (result == MAP_FAILED)
		return -errno;
	lookup->result = result;
	return 0;
}

/* The program prints its first argument into the map, and returns the length. */
static int open_lookup(struct lookup *lookup)
{
	static struct bpf_program code; /* 32 KiB of which little is used: not on the stack */
	int error;

	bpf_begin(&code);
	*lookup = (struct lookup){ -1, -1, -1, NULL };
	error = kernel_lookup_open_maps(lookup);
	if (error)
		return error;
	bpf_put_load(&code, BPF_DW, BPF_REG_6, BPF_REG_1, 0);
	bpf_put_store(&code, BPF_DW, BPF_REG_10, LOOKUP_ARGUMENT, BPF_REG_6);
	bpf_put_value(&code, BPF_REG_1, lookup->text);
	bpf_put_set(&code, BPF_REG_2, LOOKUP_TEXT);
	bpf_put_value(&code, BPF_REG_3, lookup->format);
	bpf_put_address(&code, BPF_REG_4, LOOKUP_ARGUMENT);
	bpf_put_set(&code, BPF_REG_5, sizeof(uint64_t));
	bpf_put_call(&code, BPF_FUNC_snprintf);
	bpf_put_end(&code);
	lookup->program = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
	return lookup->program < 0 ? lookup->program : 0;
}

static void close_lookup(struct lookup *lookup)
{
	const int files[] = { lookup->program, lookup->text, lookup->format };

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
