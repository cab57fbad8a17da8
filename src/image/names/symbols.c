/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of an image; see symbols.h. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "image/elf/section.h"
#include "image/names/symbols.h"

enum {
	MINI_MAX = 256 << 20, /* bytes of .gnu_debugdata, uncompressed */
};

int symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
	if (!array_reserve_max(symbols->all, symbols->room, symbols->count + 1, UINT32_MAX))
		return -ENOMEM;
	symbols->all[symbols->count++] = *symbol;
	return 0;
}

static size_t underscores(const struct symbol *symbol)
{
	size_t count = 0;

	while (count < symbol->bytes && symbol->name[count] == '_')
		count++;
	return count;
}

/* Compares two names for one address. Return: less than 0: the first is better. */
static int compare_names(const struct symbol *a, const struct symbol *b)
{
	return number_order(b->sized, a->sized) ?:
	       number_order(a->local, b->local) ?:
	       number_order(underscores(a), underscores(b)) ?:
	       number_order(a->weak, b->weak) ?:
	       number_order(a->bytes, b->bytes) ?:
	       memcmp(a->name, b->name, a->bytes);
}

static int symbols_compare(const void *one, const void *other)
{
	const struct symbol *a = one, *b = other;

	return number_order(a->address, b->address) ?: compare_names(a, b);
}

/* The end of a section of code, which no symbol may exceed; 0: not code. */
static uint64_t code_end(const GElf_Shdr *section)
{
	return section->sh_flags & SHF_EXECINSTR ? section->sh_addr + section->sh_size : 0;
}

static bool names_code(const GElf_Sym *symbol, const char *name)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* Assembler code may have symbols without a type; `$x` and the like mark kinds of code, `.L` is a label. */
	return type == STT_NOTYPE && *name != '$' && *name != '.';
}

static int add_elf_symbol(struct symbols *symbols, const GElf_Sym *symbol, const char *name, uint64_t limit)
{
	const uint64_t end = symbol->st_value + symbol->st_size;
	const bool sound = end > symbol->st_value && end <= limit;

	return symbols_add(symbols, &(struct symbol){
					    .address = symbol->st_value,
					    .end = sound ? end : limit,
					    .name = name,
					    .bytes = (uint32_t)strcspn(name, "@"), /* without its version */
					    .sized = sound,
					    .local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL,
					    .resolver = GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
					    .weak = GELF_ST_BIND(symbol->st_info) == STB_WEAK,
				    });
}

/* The ends of code, by number of the section. Return: NULL: no memory, or no sections. */
static uint64_t *code_ends(Elf *elf, size_t *count)
{
	uint64_t *ends;

	if (elf_getshdrnum(elf, count) != 0 || !*count)
		return NULL;
	ends = calloc(*count, sizeof(*ends));
	for (Elf_Scn *section = elf_nextscn(elf, NULL); ends && section;
	     section = elf_nextscn(elf, section)) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && elf_ndxscn(section) < *count)
			ends[elf_ndxscn(section)] = code_end(&header);
	}
	return ends;
}

static int symbols_read_table(struct symbols *symbols, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	const size_t entries = data && size ? data->d_size / size : 0;
	const size_t before = symbols->count;
	size_t sections;
	uint64_t *ends = code_ends(elf, &sections);
	int error = 0;

	for (size_t n = 1; ends && n < entries && n < INT32_MAX && !error; n++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)n, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_shndx >= sections || ends[symbol.st_shndx] <= symbol.st_value)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name && names_code(&symbol, name))
			error = add_elf_symbol(symbols, &symbol, name, ends[symbol.st_shndx]);
	}
	free(ends);
	if (header->sh_type == SHT_SYMTAB && symbols->count > before)
		symbols->full = true;
	return error;
}

static int read_tables(struct symbols *symbols, Elf *elf)
{
	int error = 0;

	for (Elf_Scn *section = elf_nextscn(elf, NULL); section && !error;
	     section = elf_nextscn(elf, section)) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			error = symbols_read_table(symbols, elf, section, &header);
	}
	return error;
}

/* Return: the bytes; NULL: damaged, or no memory. */
static char *symbols_uncompress(const Elf_Data *data, size_t *bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = 0, wanted = data->d_size * 4 + 4096;
	char *out = NULL;
	lzma_ret state;

	if (lzma_stream_decoder(&stream, MINI_MAX, 0) != LZMA_OK)
		return NULL;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	do {
		if (!array_reserve_max(out, room, wanted, MINI_MAX)) {
			state = LZMA_MEM_ERROR;
			break;
		}
		stream.next_out = (uint8_t *)out + stream.total_out;
		stream.avail_out = room - stream.total_out;
		state = lzma_code(&stream, LZMA_FINISH);
		wanted = room + 1;
	} while (state == LZMA_OK && !stream.avail_out);
	*bytes = stream.total_out;
	lzma_end(&stream);
	if (state != LZMA_STREAM_END) {
		free(out);
		return NULL;
	}
	return out;
}

static int read_mini(struct symbols *symbols, Elf *image)
{
	GElf_Shdr header;
	const Elf_Data *data = section_data(image, ".gnu_debugdata", &header);
	size_t bytes;

	symbols->memory = data ? symbols_uncompress(data, &bytes) : NULL;
	if (symbols->memory)
		symbols->mini = elf_memory(symbols->memory, bytes);
	return symbols->mini ? read_tables(symbols, symbols->mini) : 0;
}

/* Keeps the best name of each address, with the largest size of all its names. */
static void drop_aliases(struct symbols *symbols)
{
	size_t kept = 0;

	for (size_t n = 0; n < symbols->count; n++) {
		const struct symbol *next = &symbols->all[n];
		struct symbol *last = kept ? &symbols->all[kept - 1] : NULL;

		if (!last || last->address != next->address) {
			symbols->all[kept++] = *next;
			continue;
		}
		if (next->sized && next->end > last->end)
			last->end = next->end;
		last->resolver |= next->resolver;
	}
	symbols->count = kept;
}

/* Nests symbols, drops labels, and ends symbols without a size at the next symbol. */
static void symbols_nest(struct symbols *symbols)
{
	uint32_t outer = 0; /* number of the innermost symbol around the current one, plus 1 */
	size_t kept = 0;

	for (size_t n = 0; n < symbols->count; n++) {
		struct symbol symbol = symbols->all[n];

		while (outer && symbols->all[outer - 1].end <= symbol.address)
			outer = symbols->all[outer - 1].outer;
		if (outer && !symbols->all[outer - 1].sized) {
			symbols->all[outer - 1].end = symbol.address;
			outer = symbols->all[outer - 1].outer;
		}
		if (outer && !symbol.sized)
			continue;
		symbol.outer = outer;
		symbols->all[kept++] = symbol;
		outer = (uint32_t)kept;
	}
	symbols->count = kept;
}

void symbols_sort(struct symbols *symbols)
{
	if (symbols->count)
		qsort(symbols->all, symbols->count, sizeof(*symbols->all), symbols_compare);
	drop_aliases(symbols);
	symbols_nest(symbols);
}

int symbols_read(struct symbols *symbols, Elf *image, Elf *debug)
{
	int error;

	*symbols = (struct symbols){ 0 };
	error = read_tables(symbols, image);
	if (!error && debug)
		error = read_tables(symbols, debug);
	if (!error && !symbols->full)
		error = read_mini(symbols, image);
	symbols_sort(symbols);
	if (error)
		symbols_free(symbols);
	return error;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols->all);
	elf_end(symbols->mini);
	free(symbols->memory);
	*symbols = (struct symbols){ 0 };
}

const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count; /* symbols below low begin at or before the address */
	uint32_t number;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (symbols->all[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (number = (uint32_t)low; number; number = symbols->all[number - 1].outer)
		if (address < symbols->all[number - 1].end)
			return &symbols->all[number - 1];
	return NULL;
}
