/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds an image's unwind tables and the entry for an address, and keeps the compiled rows.
 *
 * Tables are not read by libdw, which does not limit the numbers of registers and the depth of saved states (in 0.188, an
 * entry of 100 bytes made it fill 5.8 GiB). The recorder reads tables with all its rights, while samples wait, so the
 * bytes of a table, the work to make an index, and the instructions per row are bounded. All is counted (unwind_meter.h).
 */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "image/unwind/unwind_table.h"

enum {
	SECTION_MAX = 64 << 20,	 /* bytes; a tenth is enough for the largest browsers and compilers */
	COPY_MAX = 17 << 20,	 /* bytes that are copied: an index, or .debug_frame */
	INDEX_MAX = 2 << 20,	 /* entries, which take 16 MiB */
	SORT_MAX = 1 << 20,	 /* entries that are sorted: linkers write a sorted index */
	SCAN_WORK_MAX = 2 << 20, /* some 20 ms: 600,000 entries, or 9 MB that are read page by page */
	ROWS_MIN_BITS = 6,	 /* at first 64 rows, 10 KiB */
	ROWS_MAX_BITS = 14,	 /* 2.6 MiB; then all rows are dropped */
	WORK_PER_ROW = 256,	 /* instructions, the mean of all rows; valid tables have 20 */
	WORK_AHEAD = 1 << 20,	 /* so many more may run at first: a few milliseconds */
	PAGE = 4096,		 /* bytes of a section that are read at once, at least */
	EXPRESSION_MAX = 1024, /* bytes of an expression that are read; those of valid tables have some 20 */
	PAGES_MAX = 16,	       /* then all are freed */
	SCAN_TIMES = 4, /* that a scan may read a section: the entries, and a few CIEs again and again */
};

/*
 * A section whose pages are read from the file when an entry needs them. Rows are kept, so most pages are needed once: a
 * compiler has 5 MB of entries and is seen at some thousand addresses.
 */
struct unwind_pages {
	const struct image *image; /* NULL: the section is a copy */
	uint64_t offset;	   /* in the file */
	unsigned char *bytes;	   /* address space for the whole section, without memory at first */
	size_t size;
	unsigned char *present; /* a bit of each page */
	unsigned count;		/* of those */
	struct unwind_meter *meter;
	uint64_t reads; /* so far, of pages */
};

/* The beginning of an entry's code. The index is sorted by address. */
struct index_entry {
	uint32_t address; /* from `low` of the table */
	uint32_t entry;	  /* offset in the section */
};

struct unwind_table {
	struct unwind_section section;
	unsigned char *bytes; /* a copy of the section, or NULL */
	struct unwind_pages pages;
	uint64_t low;	/* the image's lowest address */
	uint64_t start; /* e_entry */
	struct index_entry *index;
	size_t count, room;
	/* Hashed by address; VACANT: no row. Rows stand in the table itself, since a hash_table makes a frame 3 ns slower. */
	struct unwind_row *rows;
	unsigned row_bits, row_count;
	uint64_t work, compiled; /* instructions, rows */
	struct unwind_meter *meter;
	struct unwind_meter own; /* for a table without another meter */
};

static const uint64_t VACANT = UINT64_MAX;

/* A copy of bytes of the file; @size becomes how many the file has. NULL: none. */
static unsigned char *unwind_table_copy_file(const struct unwind_table *table, const struct image *image,
					     uint64_t offset, uint64_t *size)
{
	unsigned char *copy;

	if (*size == 0 || *size > COPY_MAX)
		return NULL;
	table->meter->spent += UNWIND_WORK_READ + *size / 32;
	copy = malloc(*size);
	if (copy)
		*size = image_read(image, offset, copy, *size);
	return copy;
}

/* ---- pages */

static bool is_present(const struct unwind_pages *pages, size_t page)
{
	return pages->present[page / 8] >> page % 8 & 1;
}

/* Bytes behind the end of a file that became shorter are zero: the end of the entries. */
static void unwind_table_load(struct unwind_pages *pages, uint64_t offset, uint64_t bytes)
{
	const uint64_t end = bytes < pages->size - offset ? offset + bytes : pages->size;

	for (size_t page = offset / PAGE; (uint64_t)page * PAGE < end; page++) {
		const size_t at = page * PAGE, left = pages->size - at;

		if (is_present(pages, page))
			continue;
		image_read(pages->image, pages->offset + at, pages->bytes + at, left < PAGE ? left : PAGE);
		pages->present[page / 8] |= (unsigned char)(1 << page % 8);
		pages->count++;
		pages->meter->spent += UNWIND_WORK_PAGE;
		pages->reads++;
	}
}

static void drop_pages(struct unwind_pages *pages)
{
	if (!pages->count)
		return;
	madvise(pages->bytes, pages->size, MADV_DONTNEED);
	memset(pages->present, 0, pages->size / PAGE / 8 + 1);
	pages->count = 0;
	pages->meter->spent += UNWIND_WORK_PAGE;
}

/* Before an entry is decoded, none is in use. */
static void limit_pages(struct unwind_table *table)
{
	if (table->pages.count >= PAGES_MAX)
		drop_pages(&table->pages);
}

/* Return: the bytes of the section, which are read later; NULL: no memory. */
static unsigned char *open_pages(struct unwind_pages *pages, uint64_t offset, uint64_t size)
{
	void *bytes;

	if (size == 0 || size > SECTION_MAX)
		return NULL;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	madvise(bytes, size, MADV_NOHUGEPAGE); /* or the first byte takes 2 MiB */
	pages->present = calloc(size / PAGE / 8 + 1, 1);
	if (!pages->present) {
		munmap(bytes, size);
		return NULL;
	}
	pages->bytes = bytes;
	pages->size = size;
	pages->offset = offset;
	return bytes;
}

static void close_pages(struct unwind_pages *pages)
{
	if (pages->bytes)
		munmap(pages->bytes, pages->size);
	free(pages->present);
}

/* ---- the index */

static int unwind_table_add_entry(struct unwind_table *table, uint64_t address, uint64_t entry)
{
	if (address - table->low > UINT32_MAX || entry >= table->section.size || table->count == INDEX_MAX)
		return 0;
	if (!array_reserve(table->index, table->room, table->count + 1))
		return -ENOMEM;
	table->index[table->count++] =
		(struct index_entry){ .address = (uint32_t)(address - table->low), .entry = (uint32_t)entry };
	return 0;
}

/*
 * Makes the index from the entries. Samples wait meanwhile: entries that each have a far CIE of their own are not read to the
 * end, nor are more than the index holds. Entries without code are no less work.
 */
static int scan_entries(struct unwind_table *table)
{
	const uint64_t reads_max = SCAN_TIMES * (table->section.size / PAGE + PAGES_MAX);
	const uint64_t until = table->meter->spent + SCAN_WORK_MAX;
	struct unwind_entry entry;
	uint32_t next;
	int error = 0;

	for (uint32_t at = 0; at < table->section.size && table->count < INDEX_MAX && !error; at = next) {
		table->meter->spent += UNWIND_WORK_ENTRY;
		limit_pages(table);
		if (table->pages.reads > reads_max || table->meter->spent > until)
			return -E2BIG;
		if (unwind_entry_next(&table->section, at, &entry, &next) == 0 && entry.bytes)
			error = unwind_table_add_entry(table, entry.begin, at);
	}
	return error;
}

/* Reads .eh_frame_hdr: the address of .eh_frame, then a sorted index. Return: false: not as linkers make it. */
static bool begin_header(const struct unwind_section *header, struct bytes *bytes, uint64_t *frames,
			 uint64_t *count)
{
	unsigned encodings[3];

	*bytes = (struct bytes){ .broken = true };
	if (!header->size) /* there is none */
		return false;
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

static int read_index(struct unwind_table *table, const struct unwind_section *header, struct bytes *bytes,
		      uint64_t count)
{
	int error = 0;

	table->meter->spent += count < INDEX_MAX ? count : INDEX_MAX;
	while (count-- > 0 && bytes_left(bytes) >= 8 && !error) {
		const uint64_t address = header->address + bytes_signed(bytes, 4);
		const uint64_t entry = header->address + bytes_signed(bytes, 4) - table->section.address;

		error = unwind_table_add_entry(table, address, entry);
	}
	return error;
}

/* Uncompresses a section and frees the original. Return: NULL: damaged, too large, not zlib, or no memory. */
static unsigned char *uncompress_section(const struct unwind_table *table, unsigned char *section,
					 uint64_t *size)
{
	Elf64_Chdr header;
	unsigned char *out = NULL;
	uLongf bytes = 0;

	if (*size >= sizeof(header)) {
		memcpy(&header, section, sizeof(header));
		bytes = header.ch_size;
		if (header.ch_type == ELFCOMPRESS_ZLIB && bytes && bytes <= COPY_MAX)
			out = malloc(bytes);
	}
	table->meter->spent += out ? bytes / 8 : 0;
	if (out && uncompress(out, &bytes, section + sizeof(header), *size - sizeof(header)) != Z_OK) {
		free(out);
		out = NULL;
	}
	free(section);
	*size = bytes;
	return out;
}

/* Loads .debug_frame, which may be compressed. */
static int take_debug_frame(struct unwind_table *table, const struct image *image)
{
	struct image_section section;

	if (image_section(image, ".debug_frame", &section))
		return -ENOENT;
	table->bytes = unwind_table_copy_file(table, image, section.offset, &section.bytes);
	if (table->bytes && section.flags & SHF_COMPRESSED)
		table->bytes = uncompress_section(table, table->bytes, &section.bytes);
	if (!table->bytes)
		return -ENOENT;
	table->section = (struct unwind_section){ .bytes = table->bytes,
						  .size = (uint32_t)section.bytes,
						  .debug = true };
	return 0;
}

/* Finds .eh_frame by its section; without sections, it is from its header's pointer to the segment's end. */
static int find_eh_frame(const struct image *image, uint64_t pointer, struct image_section *section)
{
	if (!image_section(image, ".eh_frame", section))
		return 0;
	for (unsigned n = 0; n < image->segment_count && pointer; n++) {
		const struct image_segment *segment = &image->segments[n];
		const uint64_t before = pointer - segment->address;

		if (pointer >= segment->address && before < segment->bytes) {
			section->address = pointer;
			section->bytes = segment->bytes - before;
			section->offset = segment->offset + before;
			return 0;
		}
	}
	return -ENOENT;
}

/* A copy of the section, or what reads it later. */
static int take_section(struct unwind_table *table, const struct image *image, struct image_section *section)
{
	const unsigned char *bytes;

	if (table->pages.image)
		bytes = open_pages(&table->pages, section->offset, section->bytes);
	else
		bytes = table->bytes = unwind_table_copy_file(table, image, section->offset, &section->bytes);
	if (!bytes)
		return -ENOENT;
	table->section = (struct unwind_section){ .bytes = bytes,
						  .size = (uint32_t)section->bytes,
						  .address = section->address,
						  .load = table->pages.image ? unwind_table_load : NULL,
						  .pages = &table->pages };
	return 0;
}

static int take_eh_frame(struct unwind_table *table, const struct image *image,
			 const struct unwind_section *header)
{
	struct bytes index;
	uint64_t pointer, count;
	struct image_section section;
	int error;

	if (!begin_header(header, &index, &pointer, &count))
		pointer = count = 0;
	error = find_eh_frame(image, pointer, &section);
	if (!error)
		error = take_section(table, image, &section);
	if (error)
		return error;
	return count ? read_index(table, header, &index, count) : 0;
}

static int take_sections(struct unwind_table *table, const struct image *image)
{
	struct unwind_section header = { .size = 0 };
	const uint64_t look_up = UNWIND_WORK_READ + image->section_count * UINT64_C(8);
	uint64_t bytes = image->unwinding.bytes;
	unsigned char *copy = unwind_table_copy_file(table, image, image->unwinding.offset, &bytes);
	int error;

	if (copy)
		header = (struct unwind_section){ .bytes = copy,
						  .size = (uint32_t)bytes,
						  .address = image->unwinding.address };
	error = take_eh_frame(table, image, &header);
	free(copy);
	table->meter->spent += look_up;
	return error == -ENOENT ? take_debug_frame(table, image) : error;
}

static int compare_index(const void *left, const void *right)
{
	const struct index_entry *a = left, *b = right;

	return number_order(a->address, b->address);
}

static void sort_index(struct unwind_table *table)
{
	size_t n = 1;

	while (n < table->count && table->index[n].address >= table->index[n - 1].address)
		n++;
	if (n >= table->count)
		return;
	if (table->count > SORT_MAX)
		table->count = SORT_MAX;
	table->meter->spent += table->count * 6;
	qsort(table->index, table->count, sizeof(*table->index), compare_index);
}

/* Gives back the room for more entries, which was doubled up to now. */
static void fit_index(struct unwind_table *table)
{
	struct index_entry *fitted = realloc(table->index, table->count * sizeof(*fitted));

	if (!fitted)
		return;
	table->index = fitted;
	table->room = table->count;
}

/* Whether the image is of this architecture; images of the other byte order cannot be opened. */
static bool unwind_table_is_ours(const struct image *image)
{
#if defined(__aarch64__)
	return image->wide && image->machine == EM_AARCH64;
#else
	return image->wide && image->machine == EM_X86_64;
#endif
}

static int open_table(struct unwind_table **result, const struct image *image, bool paged,
		      struct unwind_meter *meter)
{
	struct unwind_table *table;
	int error;

	*result = NULL;
	if (!unwind_table_is_ours(image))
		return -ENOTSUP;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->own.limit = UINT64_MAX;
	table->meter = table->pages.meter = meter ? meter : &table->own;
	table->pages.image = paged && !image->memory ? image : NULL;
	table->start = image->start;
	table->low = image->segments[0].address;
	for (unsigned n = 1; n < image->segment_count; n++)
		table->low =
			image->segments[n].address < table->low ? image->segments[n].address : table->low;
	error = take_sections(table, image);
	table->section.work = &table->work;
	if (!error && table->count == 0)
		error = scan_entries(table);
	if (!error && table->count == 0)
		error = -ENOENT;
	if (error) {
		unwind_table_close(table);
		return error;
	}
	sort_index(table);
	fit_index(table);
	*result = table;
	return 0;
}

int unwind_table_open(struct unwind_table **result, const struct image *image)
{
	return open_table(result, image, false, NULL);
}

int unwind_table_open_file(struct unwind_table **result, const struct image *image,
			   struct unwind_meter *meter)
{
	return open_table(result, image, true, meter);
}

void unwind_table_close(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->index);
	free(table->bytes);
	close_pages(&table->pages);
	free(table);
}

uint64_t unwind_table_bytes(const struct unwind_table *table)
{
	const uint64_t rows = table->rows ? sizeof(*table->rows) << table->row_bits : 0;

	return (table->bytes ? table->section.size : 0) + table->room * sizeof(*table->index) + rows;
}

void unwind_table_shrink(struct unwind_table *table)
{
	drop_pages(&table->pages);
}

uint64_t unwind_table_start(const struct unwind_table *table)
{
	return table->start;
}

struct bytes unwind_table_expression(const struct unwind_table *table, int32_t offset)
{
	const struct unwind_section *section = &table->section;
	struct bytes bytes = { .at = section->bytes + offset, .end = section->bytes + section->size };

	if (!unwind_meter_permits(table->meter))
		return (struct bytes){ .broken = true };
	table->meter->spent += UNWIND_WORK_EXPRESSION;
	if (section->load)
		section->load(section->pages, (uint64_t)offset, EXPRESSION_MAX);
	return bytes_take(&bytes, bytes_uleb(&bytes));
}

/* The last index entry at or before the address. In a hostile image, its entry may cover other code. */
static const struct index_entry *find_index(const struct unwind_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	if (address < table->low)
		return NULL;
	address -= table->low;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (table->index[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->index[low - 1] : NULL;
}

static int unwind_table_find_entry(struct unwind_table *table, uint64_t address, struct unwind_entry *entry)
{
	const struct index_entry *found = find_index(table, address);
	uint32_t next;

	limit_pages(table);
	return found && unwind_entry_next(&table->section, found->entry, entry, &next) == 0 &&
			       address - entry->begin < entry->bytes
		       ? 0
		       : -ENOENT;
}

int unwind_table_extent(struct unwind_table *table, uint64_t address, uint64_t *begin, uint64_t *bytes)
{
	struct unwind_entry entry;

	if (!unwind_meter_permits(table->meter) || unwind_table_find_entry(table, address, &entry))
		return -ENOENT;
	*begin = entry.begin;
	*bytes = entry.bytes;
	return 0;
}

/* Limits the mean work per row. Only a table made for an attack exceeds it; its rows are unknown until the mean has sunk. */
static void unwind_table_compile(struct unwind_table *table, uint64_t address, struct unwind_row *row)
{
	const uint64_t before = table->work;
	struct unwind_entry entry;

	*row = (struct unwind_row){ .address = address, .cfa = UNWIND_CFA_UNKNOWN };
	table->compiled++;
	if (table->work <= WORK_AHEAD + WORK_PER_ROW * table->compiled &&
	    unwind_table_find_entry(table, address, &entry) == 0)
		unwind_compile(&table->section, &entry, address, row);
	table->meter->spent += table->work - before + 1;
}

/* The slot of an address in a table of rows, used or free. */
static struct unwind_row *unwind_table_find_row(struct unwind_row *rows, unsigned bits, uint64_t address)
{
	size_t n = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));

	while (rows[n].address != address && rows[n].address != VACANT)
		n = (n + 1) & ((UINT64_C(1) << bits) - 1);
	return &rows[n];
}

/* Doubles the table of rows. At the maximum, or without memory, the table is emptied instead. */
static int unwind_table_grow(struct unwind_table *table)
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
	for (size_t n = 0; n < before; n++)
		if (table->rows[n].address != VACANT)
			*unwind_table_find_row(rows, bits, table->rows[n].address) = table->rows[n];
	free(table->rows);
	table->rows = rows;
	table->row_bits = bits;
	return 0;
}

const struct unwind_row *unwind_table_row(struct unwind_table *table, uint64_t address)
{
	static const struct unwind_row unknown = { .cfa = UNWIND_CFA_UNKNOWN };
	struct unwind_row *row;

	/* A hostile image may have code at this address, which marks free slots. */
	if (address == VACANT)
		return &unknown;
	if (table->rows) {
		row = unwind_table_find_row(table->rows, table->row_bits, address);
		if (row->address == address)
			return row;
	}
	if (!unwind_meter_permits(table->meter))
		return &unknown;
	if ((!table->rows || table->row_count >> (table->row_bits - 1)) && unwind_table_grow(table))
		return &unknown;
	row = unwind_table_find_row(table->rows, table->row_bits, address);
	unwind_table_compile(table, address, row);
	table->row_count++;
	return row;
}
