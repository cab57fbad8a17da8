/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows: each instruction of the tables, and the rows of whole libraries compared with libdw's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdw.h>

#include "image/unwind/unwind_table.h"

/* ---- one entry, by hand ---- */

/* A CIE as compilers write it: CFA = rsp + 8, return address at CFA - 8; then an FDE of 0x1000 .. 0x1100. */
static unsigned char section_bytes[512];
static struct unwind_section section;
static struct unwind_entry entry;

static size_t put(size_t at, const void *bytes, size_t count)
{
	memcpy(section_bytes + at, bytes, count);
	return at + count;
}

static void make_entry(const unsigned char *program, size_t count)
{
	static const unsigned char cie[] = { 0,
					     0,
					     0,
					     0,
					     1,
					     'z',
					     'R',
					     'S',
					     0,
					     1,
					     0x78,
					     16,
					     1,
					     DW_EH_PE_udata4,
					     DW_CFA_def_cfa,
					     7,
					     8,
					     DW_CFA_offset | 16,
					     1 };
	const uint32_t cie_length = sizeof(cie), length = 4 + 4 + 4 + 1 + (uint32_t)count;
	const uint32_t fields[] = { cie_length + 8, 0x1000, 0x100 };
	uint32_t next;
	size_t at = put(0, &cie_length, 4);

	at = put(at, cie, sizeof(cie));
	at = put(at, &length, 4);
	at = put(at, fields, sizeof(fields));
	at = put(at, "", 1);
	at = put(at, program, count);
	section = (struct unwind_section){ .bytes = section_bytes, .size = (uint32_t)at };
	assert_int_equal(unwind_entry_next(&section, 0, &entry, &next), -ENOENT);
	assert_int_equal(next, cie_length + 4);
	assert_int_equal(unwind_entry_next(&section, next, &entry, &next), 0);
	assert_int_equal(next, at);
	assert_int_equal(entry.begin, 0x1000);
	assert_int_equal(entry.bytes, 0x100);
}

static int how(const struct unwind_row *row, unsigned number, int32_t *offset)
{
	for (unsigned n = 0; n < row->count; n++) {
		if (row->rules[n].number == number) {
			*offset = row->rules[n].offset;
			return row->rules[n].how;
		}
	}
	*offset = 0;
	return UNWIND_SAME;
}

static struct unwind_row row_at(uint64_t address)
{
	struct unwind_row row;

	assert_int_equal(unwind_compile(&section, &entry, address, &row), 0);
	assert_int_equal(row.address, address);
	assert_true(row.signal);
	return row;
}

static void expect_cfa(uint64_t address, unsigned base, int32_t offset)
{
	const struct unwind_row row = row_at(address);

	assert_int_equal(row.cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(row.base, base);
	assert_int_equal(row.offset, offset);
}

static void expect_rule(uint64_t address, unsigned number, int expected, int32_t expected_offset)
{
	const struct unwind_row row = row_at(address);
	int32_t offset;

	assert_int_equal(how(&row, number, &offset), expected);
	assert_int_equal(offset, expected_offset);
}

#define ENTRY(...) \
	make_entry((const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ }))

static void frame_addresses(void **state)
{
	(void)state;
	ENTRY(DW_CFA_nop);
	expect_cfa(0x1000, 7, 8);
	expect_rule(0x10ff, 16, UNWIND_AT, -8);
	ENTRY(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 0x90, 1, DW_CFA_advance_loc1, 16,
	      DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc2, 32, 0, DW_CFA_def_cfa_sf, 3, 0x7f,
	      DW_CFA_advance_loc4, 64, 0, 0, 0, DW_CFA_def_cfa_offset_sf, 0x7e);
	expect_cfa(0x1003, 7, 8);
	expect_cfa(0x1004, 7, 0x90);
	expect_cfa(0x1013, 7, 0x90);
	expect_cfa(0x1014, 6, 0x90);
	expect_cfa(0x1034, 3, 8);
	expect_cfa(0x1073, 3, 8);
	expect_cfa(0x1074, 3, 16);
	ENTRY(DW_CFA_set_loc, 0x20, 0x10, 0, 0, DW_CFA_def_cfa, 6, 24);
	expect_cfa(0x101f, 7, 8);
	expect_cfa(0x1020, 6, 24);
	ENTRY(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8);
	assert_int_equal(row_at(0x1000).cfa, UNWIND_CFA_EXPRESSION);
	assert_memory_equal(section_bytes + row_at(0x1000).offset, ((unsigned char[]){ 2, DW_OP_breg7, 8 }),
			    3);
}

static void registers(void **state)
{
	(void)state;
	ENTRY(DW_CFA_offset | 6, 2, DW_CFA_offset_extended, 3, 3, DW_CFA_offset_extended_sf, 12, 0x7e,
	      DW_CFA_val_offset, 13, 4, DW_CFA_val_offset_sf, 14, 0x7f, DW_CFA_register, 15, 2,
	      DW_CFA_GNU_negative_offset_extended, 0, 5, DW_CFA_GNU_args_size, 16, DW_CFA_offset | 40, 7);
	expect_rule(0x1000, 6, UNWIND_AT, -16);
	expect_rule(0x1000, 3, UNWIND_AT, -24);
	expect_rule(0x1000, 12, UNWIND_AT, 16);
	expect_rule(0x1000, 13, UNWIND_VALUE, -32);
	expect_rule(0x1000, 14, UNWIND_VALUE, 8);
	expect_rule(0x1000, 15, UNWIND_REGISTER, 2);
	expect_rule(0x1000, 0, UNWIND_AT, 40);
	assert_int_equal(row_at(0x1000).count, 8);
	ENTRY(DW_CFA_undefined, 16, DW_CFA_expression, 3, 1, DW_OP_lit1, DW_CFA_val_expression, 12, 1,
	      DW_OP_lit2);
	expect_rule(0x1000, 16, UNWIND_UNDEFINED, 0);
	expect_rule(0x1000, 3, UNWIND_AT_EXPRESSION, (int32_t)(section.size - 6));
	expect_rule(0x1000, 12, UNWIND_EXPRESSION, (int32_t)(section.size - 2));
	ENTRY(DW_CFA_offset | 6, 2, DW_CFA_undefined, 16, DW_CFA_advance_loc | 1, DW_CFA_remember_state,
	      DW_CFA_same_value, 6, DW_CFA_restore_extended, 16, DW_CFA_def_cfa_offset, 32,
	      DW_CFA_advance_loc | 1, DW_CFA_restore_state, DW_CFA_advance_loc | 1, DW_CFA_restore | 6);
	expect_rule(0x1000, 6, UNWIND_AT, -16);
	expect_rule(0x1001, 6, UNWIND_SAME, 0);
	expect_rule(0x1001, 16, UNWIND_AT, -8);
	expect_cfa(0x1001, 7, 32);
	expect_rule(0x1002, 6, UNWIND_AT, -16);
	expect_rule(0x1002, 16, UNWIND_UNDEFINED, 0);
	expect_cfa(0x1002, 7, 8);
	expect_rule(0x1003, 6, UNWIND_SAME, 0);
}

static void refuse(void)
{
	struct unwind_row row;

	assert_int_equal(unwind_compile(&section, &entry, 0x1000, &row), -EINVAL);
	assert_int_equal(row.cfa, UNWIND_CFA_UNKNOWN);
}

static void nonsense(void **state)
{
	unsigned char many[64];

	(void)state;
	ENTRY(DW_CFA_restore_state);
	refuse();
	ENTRY(0x3e);
	refuse();
	ENTRY(DW_CFA_def_cfa_expression, 9, DW_OP_breg7);
	refuse();
	ENTRY(DW_CFA_def_cfa, 33, 8);
	refuse();
	ENTRY(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0x7f);
	refuse();
	memset(many, DW_CFA_remember_state, sizeof(many));
	make_entry(many, sizeof(many));
	refuse();
}

/* ---- whole libraries ---- */

/* Converts libdw's row to ours. Return: false: it has expressions, which are not compared. */
static int foreign_rule(Dwarf_Frame *frame, unsigned number, int *expected, int32_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	*offset = 0;
	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count))
		return 0;
	if (count == 0) {
		*expected = ops ? UNWIND_UNDEFINED : UNWIND_SAME;
		return 1;
	}
	if (ops != memory || ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return 0;
	*expected = UNWIND_AT;
	*offset = count == 2 ? (int32_t)ops[1].number : 0;
	return count == 1 || ops[1].atom == DW_OP_plus_uconst;
}

static void compare_row(const struct unwind_row *row, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (count == 1 && ops[0].atom == DW_OP_bregx) {
		assert_int_equal(row->cfa, UNWIND_CFA_REGISTER);
		assert_int_equal(row->base, ops[0].number);
		assert_int_equal(row->offset, (int32_t)ops[0].number2);
	} else {
		assert_int_equal(row->cfa, UNWIND_CFA_EXPRESSION);
	}
	for (unsigned number = 0; number <= 16; number++) {
		int expected, ours;
		int32_t expected_offset, offset;

		if (!foreign_rule(frame, number, &expected, &expected_offset))
			continue;
		ours = how(row, number, &offset);
		/* to libdw, registers that a call does not keep are undefined unless they are saved */
		if (expected == UNWIND_UNDEFINED && ours == UNWIND_SAME && number != 16)
			continue;
		if (number == 7 && expected == UNWIND_AT) /* and the stack pointer is the CFA */
			continue;
		if (ours != expected || offset != expected_offset)
			fail_msg("%#lx: register %u: %d %d instead of %d %d", row->address, number, ours,
				 offset, expected, expected_offset);
	}
}

/* Compares rows at some addresses of the code. Return: rows that both have. */
static unsigned compare_tables(struct unwind_table *table, Dwarf_CFI *cfi, const struct image *image,
			       uint64_t stride)
{
	unsigned rows = 0;

	for (unsigned n = 0; n < image->segment_count; n++) {
		const struct image_segment *segment = &image->segments[n];

		for (uint64_t at = 0; segment->executable && at < segment->bytes; at += stride) {
			const struct unwind_row *row = unwind_table_row(table, segment->address + at);
			Dwarf_Frame *frame = NULL;

			if (dwarf_cfi_addrframe(cfi, segment->address + at, &frame) == 0) {
				compare_row(row, frame);
				rows++;
			} else {
				assert_int_equal(row->cfa, UNWIND_CFA_UNKNOWN);
			}
			free(frame);
		}
	}
	return rows;
}

static void open_image(struct image *image, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(image_open(image, fd), 0);
}

/* The same file in libdw. */
static Elf *open_elf(const struct image *image)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(image->fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	return elf;
}

static int libc_path(struct dl_phdr_info *info, size_t bytes, void *path)
{
	(void)bytes;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	snprintf((char *)path, 4096, "%s", info->dlpi_name);
	return 1;
}

static void library(void **state)
{
	struct unwind_table *table;
	struct image image;
	Elf *elf;
	char path[4096];

	(void)state;
	assert_int_equal(dl_iterate_phdr(libc_path, path), 1);
	open_image(&image, path);
	elf = open_elf(&image);
	assert_int_equal(unwind_table_open(&table, &image), 0);
	assert_true(compare_tables(table, dwarf_getcfi_elf(elf), &image, 13) > 50000);
	elf_end(elf);
	unwind_table_close(table);
	image_close(&image);
}

/* Without the header with its sorted table, the entries are scanned: the same rows. */
static void without_header(void **state)
{
	struct unwind_table *table, *other;
	struct image image, stripped;
	char path[4096], *copy;
	struct stat stat;
	ElfW(Phdr) * headers;
	unsigned rows = 0;

	(void)state;
	assert_int_equal(dl_iterate_phdr(libc_path, path), 1);
	open_image(&image, path);
	assert_int_equal(fstat(image.fd, &stat), 0);
	copy = malloc((size_t)stat.st_size);
	assert_int_equal(pread(image.fd, copy, (size_t)stat.st_size, 0), stat.st_size);
	headers = (ElfW(Phdr) *)(copy + ((ElfW(Ehdr) *)copy)->e_phoff);
	for (unsigned n = 0; n < ((ElfW(Ehdr) *)copy)->e_phnum; n++) {
		if (headers[n].p_type == PT_GNU_EH_FRAME)
			headers[n].p_type = PT_NULL;
	}
	assert_int_equal(image_open_memory(&stripped, copy, (size_t)stat.st_size), 0);
	assert_int_equal(unwind_table_open(&table, &image), 0);
	assert_int_equal(unwind_table_open(&other, &stripped), 0);
	for (uint64_t address = image.segments[0].address; address < 2 << 20; address += 101) {
		const struct unwind_row row = *unwind_table_row(table, address);

		assert_memory_equal(&row, unwind_table_row(other, address), sizeof(row));
		rows += row.cfa != UNWIND_CFA_UNKNOWN;
	}
	assert_true(rows > 1000);
	unwind_table_close(table);
	unwind_table_close(other);
	image_close(&image);
	image_close(&stripped);
	free(copy);
}

/*
 * Entries that are read from the file when they are needed: the same rows, also after they were freed, and no memory for the
 * entries. Of a file that became empty, addresses without a row get an unknown one.
 */
static void read_later(void **state)
{
	struct unwind_table *table, *other;
	struct image image, copy;
	char path[4096], name[] = "/tmp/burin-rows-XXXXXX", command[8192];
	unsigned rows = 0;
	uint64_t address;

	(void)state;
	assert_int_equal(dl_iterate_phdr(libc_path, path), 1);
	close(mkstemp(name));
	snprintf(command, sizeof(command), "cat %s >%s", path, name);
	assert_int_equal(system(command), 0);
	open_image(&image, path);
	assert_int_equal(image_open(&copy, open(name, O_RDWR)), 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(unwind_table_open(&table, &image), 0);
	assert_int_equal(unwind_table_open_file(&other, &copy, NULL), 0);
	assert_true(unwind_table_bytes(other) * 2 < unwind_table_bytes(table));
	for (address = image.segments[0].address; address < 1 << 20; address += 101) {
		const struct unwind_row row = *unwind_table_row(table, address);

		assert_memory_equal(&row, unwind_table_row(other, address), sizeof(row));
		rows += row.cfa != UNWIND_CFA_UNKNOWN;
		if (address % 16 == 0)
			unwind_table_shrink(other);
	}
	assert_true(rows > 1000);
	unwind_table_shrink(other);
	assert_int_equal(ftruncate(copy.fd, 0), 0);
	assert_int_equal(unwind_table_row(other, address)->cfa, UNWIND_CFA_UNKNOWN);
	unwind_table_close(table);
	unwind_table_close(other);
	image_close(&image);
	image_close(&copy);
}

/* Where the meter permits no work, rows are unknown and not kept: they are there when it does. */
static void metered(void **state)
{
	struct unwind_meter meter = { .limit = UINT64_MAX };
	struct unwind_table *table, *other;
	struct image image;
	char path[4096];
	uint64_t address, spent, begin, bytes;

	(void)state;
	assert_int_equal(dl_iterate_phdr(libc_path, path), 1);
	open_image(&image, path);
	assert_int_equal(unwind_table_open(&other, &image), 0);
	assert_int_equal(unwind_table_open_file(&table, &image, &meter), 0);
	assert_in_range(meter.spent, 1000, 2000000); /* a page of the index, at least */
	for (address = image.segments[0].address; unwind_table_row(other, address)->cfa == UNWIND_CFA_UNKNOWN;
	     address++)
		continue;
	meter.limit = spent = meter.spent;
	assert_int_equal(unwind_table_row(table, address)->cfa, UNWIND_CFA_UNKNOWN);
	assert_int_not_equal(unwind_table_extent(table, address, &begin, &bytes), 0);
	assert_true(meter.refused && meter.spent == spent);
	meter = (struct unwind_meter){ .spent = spent, .limit = UINT64_MAX };
	assert_memory_equal(unwind_table_row(table, address), unwind_table_row(other, address),
			    sizeof(struct unwind_row));
	assert_true(!meter.refused && meter.spent > spent);
	meter.limit = spent = meter.spent; /* a known row is no work */
	assert_int_not_equal(unwind_table_row(table, address)->cfa, UNWIND_CFA_UNKNOWN);
	assert_true(!meter.refused && meter.spent == spent);
	unwind_table_close(table);
	unwind_table_close(other);
	image_close(&image);
}

/* Objects with .debug_frame only, uncompressed and compressed. */
static void debug_frame(const char *name)
{
	char path[4096], *slash;
	struct unwind_table *table;
	struct image image;
	Dwarf *dwarf;
	Elf *elf;
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 64);

	assert_true(bytes > 0);
	path[bytes] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash + 1, name);
	open_image(&image, path);
	assert_int_equal(unwind_table_open(&table, &image), 0);
	elf = open_elf(&image);
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	assert_non_null(dwarf);
	assert_true(compare_tables(table, dwarf_getcfi(dwarf), &image, 1) > 100);
	dwarf_end(dwarf);
	elf_end(elf);
	unwind_table_close(table);
	image_close(&image);
}

static void debug_frames(void **state)
{
	(void)state;
	debug_frame("libframes.so");
	debug_frame("libframes-compressed.so");
}

/* Far more addresses than rows are kept: some are dropped, none is wrong. */
static void many_rows(void **state)
{
	struct unwind_table *table, *other;
	struct image image;
	char path[4096];

	(void)state;
	assert_int_equal(dl_iterate_phdr(libc_path, path), 1);
	open_image(&image, path);
	assert_int_equal(unwind_table_open(&table, &image), 0);
	for (uint64_t address = 0x30000; address < 0x60000; address++)
		assert_int_equal(unwind_table_row(table, address)->address, address);
	for (uint64_t address = 0x30000; address < 0x30100; address++) {
		const struct unwind_row row = *unwind_table_row(table, address);

		assert_int_equal(unwind_table_open(&other, &image), 0);
		assert_memory_equal(&row, unwind_table_row(other, address), sizeof(row));
		unwind_table_close(other);
	}
	unwind_table_close(table);
	image_close(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_addresses), cmocka_unit_test(registers),
		cmocka_unit_test(nonsense),	   cmocka_unit_test(library),
		cmocka_unit_test(without_header),  cmocka_unit_test(read_later),
		cmocka_unit_test(metered),	   cmocka_unit_test(debug_frames),
		cmocka_unit_test(many_rows),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
