/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ELF images, their unwind tables, and stacks. The first byte says what follows: an image, from memory or from a file that
 * shrinks meanwhile; a table alone, for which an image is made; an expression.
 */
#include <gelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image/unwind/unwind.h"
#include "image/unwind/unwind_expression.h"
#include "image/unwind/unwind_row.h"

enum {
	KIND_IMAGE,
	KIND_FILE,
	KIND_TABLE,
	KIND_EXPRESSION,
	KINDS,
	FRAMES = 128,
	STACK_WORDS = 64,
	STACK = 0x7ffc0000,
	CODE = 0x10000, /* where the made image has its code, and its table right behind */
	CODE_BYTES = 0x1000,
};

static struct unwind_table *lookup(void *context, uint64_t address, uint64_t *bias, enum wire_truncation *why)
{
	*bias = 0;
	*why = address % 16 == 3 ? WIRE_TRUNCATION_MEMORY : WIRE_TRUNCATION_TABLES;
	return address % 16 > 4 ? context : NULL;
}

/* Instructions around an address: of a call, of the thread's end, or unknown. */
static bool instructions(void *context, uint64_t address, struct unwind_code *code)
{
	uint64_t state = address;

	*code = (struct unwind_code){ .known = address % 5, .image = context };
	for (unsigned n = 0; n < sizeof(code->bytes); n++)
		code->bytes[n] = (unsigned char)"\xe8\xff\x15\xd0\x0f\x05\xb0\x3c"[fuzz_random(&state) % 8];
	return address % 16 != 9;
}

/* Stacks of words that are code, or lie in the stack, as the input's last bytes have it. */
static void walk(struct unwind_table *table, uint64_t code, const uint8_t *seed, size_t size)
{
	uint64_t words[STACK_WORDS], places[FRAMES], state = size;
	struct unwind_registers registers = { .known = (UINT64_C(1) << UNWIND_GENERAL) - 1, .pc = code + 5 };
	struct unwind_sample sample = { .registers = &registers,
					.chain = words,
					.chain_count = STACK_WORDS / 2 };
	enum wire_truncation truncation = WIRE_TRUNCATIONS;

	for (size_t n = 0; n < size && n < 16; n++)
		state = state * 256 + seed[size - 1 - n];
	for (unsigned n = 0; n < STACK_WORDS; n++) {
		const uint64_t random = fuzz_random(&state);

		words[n] = random % 4 ? code + random / 4 % CODE_BYTES
				      : STACK + random / 4 % (STACK_WORDS + 8) * 8;
	}
	for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
		registers.value[n] = words[n % STACK_WORDS];
	registers.value[UNWIND_STACK] = STACK;
	for (unsigned turn = 0; turn < 8; turn++) {
		unsigned char *stack;
		unsigned count;

		registers.pc = turn ? code + fuzz_random(&state) % CODE_BYTES : code + 5;
		sample.stack_bytes = fuzz_random(&state) % (sizeof(words) + 1);
		sample.code = turn % 2 ? instructions : NULL;
		sample.stack = stack = fuzz_copy(words, sample.stack_bytes);
		count = unwind_frames(&sample, lookup, table, places, FRAMES, &truncation);
		FUZZ_HOLDS(count <= FRAMES && truncation < WIRE_TRUNCATIONS);
		free(stack);
	}
}

static void try_image(const uint8_t *data, size_t size, bool file)
{
	char *bytes = file ? NULL : fuzz_copy(data, size);
	struct unwind_table *table = NULL;
	uint64_t code = 0, offset, extent;
	struct image image;
	int error, fd;

	if (file) {
		fd = memfd_create("image", MFD_CLOEXEC);
		FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
		error = image_open(&image, fd);
	} else {
		error = image_open_memory(&image, bytes, size);
	}
	if (!error) {
		for (unsigned n = 0; n < image.segment_count; n++)
			if (image.segments[n].executable)
				code = image.segments[n].address;
		image_offset(&image, code, &offset);
		image_address(&image, size / 2, &offset);
		unwind_table_open(&table, &image);
		if (file)
			FUZZ_HOLDS(ftruncate(image.fd, 0) == 0);
		image_close(&image);
	}
	free(bytes);
	if (!table)
		return;
	unwind_table_extent(table, code, &offset, &extent);
	walk(table, code, data, size);
	unwind_table_close(table);
}

/* An image with code and, behind it, .eh_frame of any bytes. */
static void try_table(const uint8_t *data, size_t size)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	struct elf {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr sections[3];
		char names[sizeof(names)];
		uint8_t table[];
	} *elf = calloc(1, sizeof(*elf) + size);

	FUZZ_HOLDS(elf);
	memcpy(elf->header.e_ident, ELFMAG "\2\1\1", 7);
	elf->header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = EV_CURRENT,
				    .e_phoff = offsetof(struct elf, segment),
				    .e_shoff = offsetof(struct elf, sections),
				    .e_ehsize = sizeof(Elf64_Ehdr),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 1,
				    .e_shentsize = sizeof(Elf64_Shdr),
				    .e_shnum = 3,
				    .e_shstrndx = 2 };
	elf->segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_vaddr = CODE,
				     .p_filesz = sizeof(*elf) + size,
				     .p_memsz = sizeof(*elf) + size };
	elf->sections[1] = (Elf64_Shdr){ .sh_name = 1,
					 .sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_ALLOC,
					 .sh_addr = CODE + CODE_BYTES,
					 .sh_offset = offsetof(struct elf, table),
					 .sh_size = size };
	elf->sections[2] = (Elf64_Shdr){ .sh_name = 11,
					 .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct elf, names),
					 .sh_size = sizeof(names) };
	memcpy(elf->names, names, sizeof(names));
	if (size)
		memcpy(elf->table, data, size);
	try_image((const uint8_t *)elf, sizeof(*elf) + size, false);
	free(elf);
}

static void try_expression(const uint8_t *data, size_t size)
{
	unsigned char *bytes = fuzz_copy(data, size);
	uint64_t stack[16], value = 0x1000;
	struct unwind_registers registers = { .known = UINT64_MAX };
	const struct unwind_memory memory = { .bytes = (unsigned char *)stack,
					      .begin = 0x1000,
					      .size = sizeof(stack) };

	memset(stack, 0x10, sizeof(stack));
	for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
		registers.value[n] = 0x1000 + 8 * n;
	unwind_evaluate((struct bytes){ .at = bytes, .end = bytes + size }, &registers, &memory, &value,
			&value);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned kind = size ? data[0] % KINDS : KIND_TABLE;

	if (size)
		data++, size--;
	if (kind == KIND_EXPRESSION)
		try_expression(data, size);
	else if (kind == KIND_TABLE)
		try_table(data, size);
	else
		try_image(data, size, kind == KIND_FILE);
	return 0;
}
