/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where an image's unwind tables are, which entry covers an address, and the rows that were compiled.
 *
 * elfutils tells what lies where in the file; the tables themselves are read here and not by libdw: it takes
 * numbers of registers and depths of remembered states as they come (0.188: an entry of 100 bytes had it fill
 * 5.8 GiB).
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/unwind_row.h"
#include "image/unwind.h"

enum {
	SECTION_MAX = 256 << 20, /* bytes; the largest of browsers and compilers have a tenth */
	ROWS_MIN_BITS = 6,	 /* 64 rows to begin with, 10 KiB */
	ROWS_MAX_BITS = 14,	 /* 2.6 MiB; beyond, all are forgotten */
};

/* Where code that an entry covers begins: the entries in order of that. */
struct place {
	uint32_t address; /* from `low` of the table */
	uint32_t entry;	  /* offset in the section */
};

struct unwind_table {
	struct unwind_section section;
	unsigned char *bytes; /* of the section */
	uint64_t low;	      /* the image's lowest address */
	uint64_t start;	      /* e_entry */
	struct place *places;
	size_t count, capacity;
	struct unwind_row *rows; /* hashed by address, which is VACANT in those without a row */
	unsigned row_bits, row_count;
};

static const uint64_t VACANT = UINT64_MAX;

/* A copy of bytes of the file, as many as there are: 0 is none. */
static unsigned char *copy_file(const struct image *image, uint64_t offset, uint64_t *size)
{
	unsigned char *copy;
	uint64_t done = 0;
	ssize_t got;

	if (*size == 0 || *size > SECTION_MAX || offset > INT64_MAX - SECTION_MAX)
		return NULL;
	copy = malloc(*size);
	if (!copy)
		return NULL;
	if (image->fd < 0) {
		size_t whole;
		const char *file = elf_rawfile(image->elf, &whole);

		done = !file || offset >= whole ? 0 : whole - offset < *size ? whole - offset : *size;
		if (done)
			memcpy(copy, file + offset, done);
	} else {
		while (done < *size &&
		       (got = pread(image->fd, copy + done, *size - done, (off_t)(offset + done))) > 0)
			done += (uint64_t)got;
	}
	*size = done;
	return copy;
}

static Elf_Scn *find_section(const struct image *image, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(image->elf, section)) != NULL) {
		const char *its =
			gelf_getshdr(section, header) ? elf_strptr(image->elf, names, header->sh_name) : NULL;

		if (its && !strcmp(its, name) && header->sh_type != SHT_NOBITS && header->sh_size > 0)
			return section;
	}
	return NULL;
}

static bool find_segment(const struct image *image, uint32_t type, GElf_Phdr *header)
{
	size_t count;

	if (elf_getphdrnum(image->elf, &count) != 0)
		return false;
	for (size_t n = 0; n < count; n++) {
		if (gelf_getphdr(image->elf, (int)n, header) && header->p_type == type)
			return true;
	}
	return false;
}

static int add_place(struct unwind_table *table, uint64_t address, uint64_t entry)
{
	if (address - table->low > UINT32_MAX || entry >= table->section.size)
		return 0;
	if (table->count == table->capacity) {
		const size_t capacity = table->capacity ? table->capacity * 2 : 256;
		struct place *more = realloc(table->places, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		table->places = more;
		table->capacity = capacity;
	}
	table->places[table->count++] =
		(struct place){ .address = (uint32_t)(address - table->low), .entry = (uint32_t)entry };
	return 0;
}

/* The places as the entries themselves tell. */
static int scan_entries(struct unwind_table *table)
{
	struct unwind_entry entry;
	uint32_t next;
	int error = 0;

	for (uint32_t at = 0; at < table->section.size && !error; at = next) {
		if (unwind_entry_next(&table->section, at, &entry, &next) == 0 && entry.bytes)
			error = add_place(table, entry.begin, at);
	}
	return error;
}

/* .eh_frame_hdr: where .eh_frame is, then a table of places. Return: whether it is as linkers make it. */
static bool begin_header(const struct unwind_section *header, struct bytes *bytes, uint64_t *frames,
			 uint64_t *count)
{
	unsigned encodings[3];

	*bytes = (struct bytes){ .at = header->bytes, .end = header->bytes + header->size };
	if (bytes_number(bytes, 1) != 1)
		return false;
	for (unsigned n = 0; n < 3; n++)
		encodings[n] = (unsigned)bytes_number(bytes, 1);
	*frames = unwind_pointer(header, bytes, encodings[0]);
	*count = unwind_pointer(header, bytes, encodings[1]);
	if (encodings[2] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		*count = 0;
	return !bytes->broken;
}

static int read_places(struct unwind_table *table, const struct unwind_section *header, struct bytes *bytes,
		       uint64_t count)
{
	int error = 0;

	while (count-- > 0 && bytes_left(bytes) >= 8 && !error) {
		const uint64_t address = header->address + bytes_signed(bytes, 4);
		const uint64_t entry = header->address + bytes_signed(bytes, 4) - table->section.address;

		error = add_place(table, address, entry);
	}
	return error;
}

/* .debug_frame, which may be compressed. */
static int take_debug_frame(struct unwind_table *table, const struct image *image)
{
	GElf_Shdr header;
	GElf_Chdr compressed;
	Elf_Data *data;
	Elf_Scn *section = find_section(image, ".debug_frame", &header);

	if (!section)
		return -ENOENT;
	if (header.sh_flags & SHF_COMPRESSED &&
	    (!gelf_getchdr(section, &compressed) || compressed.ch_size > SECTION_MAX ||
	     elf_compress(section, 0, 0) < 0))
		return -ENOENT;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || !data->d_size || data->d_size > SECTION_MAX)
		return -ENOENT;
	table->bytes = malloc(data->d_size);
	if (!table->bytes)
		return -ENOMEM;
	memcpy(table->bytes, data->d_buf, data->d_size);
	table->section = (struct unwind_section){ .bytes = table->bytes,
						  .size = (uint32_t)data->d_size,
						  .debug = true };
	return 0;
}

/* Where .eh_frame is: by its section; without sections, from its header's pointer to the segment's end. */
static int find_eh_frame(const struct image *image, uint64_t pointer, uint64_t *offset, GElf_Shdr *section)
{
	if (find_section(image, ".eh_frame", section)) {
		*offset = section->sh_offset;
		return 0;
	}
	for (unsigned n = 0; n < image->segment_count && pointer; n++) {
		const struct image_segment *segment = &image->segments[n];

		if (pointer >= segment->address && pointer - segment->address < segment->bytes) {
			section->sh_addr = pointer;
			section->sh_size = segment->bytes - (pointer - segment->address);
			*offset = segment->offset + (pointer - segment->address);
			return 0;
		}
	}
	return -ENOENT;
}

static int take_eh_frame(struct unwind_table *table, const struct image *image,
			 const struct unwind_section *header)
{
	struct bytes places;
	uint64_t pointer, count, offset;
	GElf_Shdr section;
	int error;

	if (!begin_header(header, &places, &pointer, &count))
		pointer = count = 0;
	error = find_eh_frame(image, pointer, &offset, &section);
	if (error)
		return error;
	table->bytes = copy_file(image, offset, &section.sh_size);
	if (!table->bytes)
		return -ENOENT;
	table->section = (struct unwind_section){ .bytes = table->bytes,
						  .size = (uint32_t)section.sh_size,
						  .address = section.sh_addr };
	return read_places(table, header, &places, count);
}

static int take_sections(struct unwind_table *table, const struct image *image)
{
	struct unwind_section header = { .size = 0 };
	unsigned char *copy = NULL;
	GElf_Phdr segment;
	int error;

	if (find_segment(image, PT_GNU_EH_FRAME, &segment)) {
		copy = copy_file(image, segment.p_offset, &segment.p_filesz);
		if (copy)
			header = (struct unwind_section){ .bytes = copy,
							  .size = (uint32_t)segment.p_filesz,
							  .address = segment.p_vaddr };
	}
	error = take_eh_frame(table, image, &header);
	free(copy);
	return error == -ENOENT ? take_debug_frame(table, image) : error;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void order_places(struct unwind_table *table)
{
	for (size_t n = 1; n < table->count; n++) {
		if (table->places[n].address < table->places[n - 1].address) {
			qsort(table->places, table->count, sizeof(*table->places), compare_places);
			return;
		}
	}
}

static bool is_ours(const struct image *image, uint64_t *start)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(image->elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	*start = header.e_entry;
#if defined(__aarch64__)
	return header.e_machine == EM_AARCH64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
#else
	return header.e_machine == EM_X86_64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
#endif
}

int unwind_table_open(struct unwind_table **result, const struct image *image)
{
	struct unwind_table *table;
	uint64_t start;
	int error;

	*result = NULL;
	if (!is_ours(image, &start))
		return -ENOTSUP;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->start = start;
	table->low = image->segments[0].address;
	for (unsigned n = 1; n < image->segment_count; n++)
		table->low =
			image->segments[n].address < table->low ? image->segments[n].address : table->low;
	error = take_sections(table, image);
	if (!error && table->count == 0)
		error = scan_entries(table);
	if (!error && table->count == 0)
		error = -ENOENT;
	if (error) {
		unwind_table_close(table);
		return error;
	}
	order_places(table);
	*result = table;
	return 0;
}

void unwind_table_close(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->places);
	free(table->bytes);
	free(table);
}

uint64_t unwind_table_start(const struct unwind_table *table)
{
	return table->start;
}

struct bytes unwind_table_expression(const struct unwind_table *table, int32_t offset)
{
	struct bytes bytes = { .at = table->section.bytes + offset,
			       .end = table->section.bytes + table->section.size };

	return bytes_take(&bytes, bytes_uleb(&bytes));
}

/* The last place that is not behind the address; hostile ones need not be in order of their entries. */
static const struct place *find_place(const struct unwind_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	if (address < table->low)
		return NULL;
	address -= table->low;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (table->places[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->places[low - 1] : NULL;
}

static void compile(const struct unwind_table *table, uint64_t address, struct unwind_row *row)
{
	const struct place *place = find_place(table, address);
	struct unwind_entry entry;
	uint32_t next;

	*row = (struct unwind_row){ .address = address, .cfa = UNWIND_CFA_UNKNOWN };
	if (place && unwind_entry_next(&table->section, place->entry, &entry, &next) == 0 &&
	    address - entry.begin < entry.bytes)
		unwind_compile(&table->section, &entry, address, row);
}

/* Where in a table of rows the one of an address is, or would be. */
static struct unwind_row *find_row(struct unwind_row *rows, unsigned bits, uint64_t address)
{
	size_t n = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));

	while (rows[n].address != address && rows[n].address != VACANT)
		n = (n + 1) & ((UINT64_C(1) << bits) - 1);
	return &rows[n];
}

/* Room for more rows: twice as many; beyond the maximum, or without memory, the same, emptied. */
static int grow(struct unwind_table *table)
{
	const unsigned bits = table->rows ? table->row_bits + 1 : ROWS_MIN_BITS;
	const size_t size = (size_t)1 << bits, before = table->rows ? size / 2 : 0;
	struct unwind_row *rows = bits > ROWS_MAX_BITS ? NULL : malloc(size * sizeof(*rows));

	if (!rows && !table->rows)
		return -ENOMEM;
	if (!rows) {
		for (size_t n = 0; n < before; n++)
			table->rows[n].address = VACANT;
		table->row_count = 0;
		return 0;
	}
	for (size_t n = 0; n < size; n++)
		rows[n].address = VACANT;
	for (size_t n = 0; n < before; n++) {
		if (table->rows[n].address != VACANT)
			*find_row(rows, bits, table->rows[n].address) = table->rows[n];
	}
	free(table->rows);
	table->rows = rows;
	table->row_bits = bits;
	return 0;
}

const struct unwind_row *unwind_table_row(struct unwind_table *table, uint64_t address)
{
	static const struct unwind_row unknown = { .cfa = UNWIND_CFA_UNKNOWN };
	struct unwind_row *row;

	if (table->rows) {
		row = find_row(table->rows, table->row_bits, address);
		if (row->address == address)
			return row;
	}
	if (address == VACANT || ((!table->rows || table->row_count >> (table->row_bits - 1)) && grow(table)))
		return &unknown;
	row = find_row(table->rows, table->row_bits, address);
	compile(table, address, row);
	table->row_count++;
	return row;
}
