/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of Go programs; see go_names.h. */
#include <stdbool.h>
#include <string.h>

#include "image/elf/section.h"
#include "image/names/go_names.h"

enum {
	HEADER = 8,	 /* magic, two zeros, the unit of code, bytes of a pointer; then words of that size */
	NAME_MAX = 4096, /* bytes; longer ones are cut */
};

/* The first four bytes. */
enum magic {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
};

struct table {
	const unsigned char *bytes;
	uint64_t size;
	unsigned pointer; /* bytes of a pointer */
	unsigned number;  /* bytes of addresses and offsets in the index */
	bool relative;	  /* addresses are from `text` */
	uint64_t text;
	uint64_t count; /* functions */
	uint64_t index; /* of (address, offset from `functions`), then the end of the last one */
	uint64_t functions, names;
};

/* Loads a number of 4 or 8 bytes. Return: false: it is not inside the table. */
static bool go_names_load(const struct table *table, uint64_t at, unsigned bytes, uint64_t *value)
{
	*value = 0;
	if (at > table->size || table->size - at < bytes)
		return false;
	memcpy(value, table->bytes + at, bytes); /* tables of the other byte order have another magic */
	return true;
}

static bool load_word(const struct table *table, unsigned number, uint64_t *value)
{
	return go_names_load(table, HEADER + (uint64_t)number * table->pointer, table->pointer, value);
}

/* Words of the header: the number of functions, and the offsets of the parts. */
static bool go_names_read_header(struct table *table)
{
	uint64_t magic;

	if (!go_names_load(table, 0, 4, &magic) || table->size < HEADER)
		return false;
	table->pointer = table->number = table->bytes[7];
	if ((table->pointer != 4 && table->pointer != 8) || !load_word(table, 0, &table->count))
		return false;
	switch (magic) {
	case GO_1_2:
		table->index = HEADER + table->pointer;
		return true;
	case GO_1_16:
		return load_word(table, 2, &table->names) && load_word(table, 6, &table->index) &&
		       (table->functions = table->index);
	case GO_1_18:
	case GO_1_20:
		table->number = 4;
		table->relative = true;
		return load_word(table, 2, &table->text) && load_word(table, 3, &table->names) &&
		       load_word(table, 7, &table->index) && (table->functions = table->index);
	default:
		return false;
	}
}

/* The address of function n, from the table's text; of the number `count`, the end of the last one. */
static bool load_begin(const struct table *table, uint64_t n, uint64_t *begin)
{
	return go_names_load(table, table->index + n * 2 * table->number, table->number, begin);
}

/* A function's name: its entry has its address, then the offset of its name. */
static bool load_name(const struct table *table, uint64_t n, struct symbol *symbol)
{
	uint64_t function, name;

	if (!go_names_load(table, table->index + (n * 2 + 1) * table->number, table->number, &function) ||
	    function > table->size ||
	    !go_names_load(table, table->functions + function + table->number, 4, &name) ||
	    table->names > table->size || name >= table->size - table->names)
		return false;
	symbol->name = (const char *)table->bytes + table->names + name;
	name = table->size - table->names - name; /* bytes behind it */
	symbol->bytes = (uint32_t)strnlen(symbol->name, name < NAME_MAX ? name : NAME_MAX);
	return symbol->bytes;
}

static int go_names_add_functions(struct symbols *symbols, const struct table *table)
{
	uint64_t begin, end;
	int error = 0;

	if (!load_begin(table, 0, &begin))
		return 0;
	for (uint64_t n = 0; n < table->count && !error; n++, begin = end) {
		struct symbol symbol = { .sized = true };

		if (!load_begin(table, n + 1, &end))
			break;
		symbol.address = table->text + begin;
		symbol.end = table->text + end;
		if (symbol.end <= symbol.address || !load_name(table, n, &symbol))
			continue;
		error = symbols_add(symbols, &symbol);
		symbols->full = true;
	}
	return error;
}

/*
 * Where the linker leaves the text's address to a relocation, it is 0 in the file. It is then the section .text, provided that
 * the program's entry point is the beginning of a function by that: programs linked by C's linker have other code in front.
 */
static bool go_names_is_text(const struct table *table, uint64_t text, uint64_t entry)
{
	uint64_t begin;

	for (uint64_t n = 0; n < table->count && load_begin(table, n, &begin); n++) {
		if (text + begin == entry)
			return true;
	}
	return false;
}

int go_names_parse(struct symbols *symbols, const void *bytes, size_t size, uint64_t text, uint64_t entry)
{
	struct table table = { .bytes = bytes, .size = size };

	if (!go_names_read_header(&table) || table.index > size || table.functions > size ||
	    table.count > size / table.number / 2)
		return 0;
	if (table.relative && !table.text && go_names_is_text(&table, text, entry))
		table.text = text;
	return table.relative && !table.text ? 0 : go_names_add_functions(symbols, &table);
}

int go_names_read(struct symbols *symbols, Elf *image)
{
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	const Elf_Data *data = NULL;
	GElf_Shdr header;
	GElf_Ehdr program;
	int error;

	if (symbols->full || !gelf_getehdr(image, &program))
		return 0;
	for (unsigned n = 0; n < sizeof(sections) / sizeof(sections[0]) && !data; n++)
		data = section_data(image, sections[n], &header);
	if (!data)
		return 0;
	if (!section_find(image, ".text", &header))
		header.sh_addr = 0;
	error = go_names_parse(symbols, data->d_buf, data->d_size, header.sh_addr, program.e_entry);
	symbols_sort(symbols);
	return error;
}
