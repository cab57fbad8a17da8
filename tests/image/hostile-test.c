/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Foreign images, registers and stacks do not crash the unwinder (promise P6), and take no longer than valid ones. Images
 * are mutated, programs of tables and expressions are random, and stacks are random. Work is counted, not timed.
 * Compiled with sanitizers.
 *
 *	hostile-test [BUILD [long]]	500 images, or 20000
 *
 * TEST_SEED in the environment repeats a run.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "image/unwind/unwind.h"
#include "image/unwind/unwind_expression.h"
#include "image/unwind/unwind_row.h"

enum {
	FRAMES_MAX = 1024,
	STACK_WORDS = 512,
	LIMIT_MS = 2000, /* of CPU, for one image; valid ones take a few */
};

static uint64_t random_state;

static uint64_t random_next(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static uint64_t random_below(uint64_t limit)
{
	return limit ? random_next() % limit : 0;
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- valid images, to be damaged ---- */

struct range {
	size_t at, bytes;
};

struct sound {
	unsigned char *bytes;
	size_t size;
	uint64_t code, code_bytes;
	struct range headers[4]; /* of the file, of segments, of sections, of the table of entries */
	struct range frames;	 /* .eh_frame or .debug_frame */
};

static struct sound sounds[8];
static unsigned sound_count;

static void take_range(struct range *range, uint64_t at, uint64_t bytes, size_t size)
{
	if (at < size && bytes <= size - at)
		*range = (struct range){ .at = at, .bytes = bytes };
}

/* Finds the parts that unwinding reads. */
static void take_parts(struct sound *sound)
{
	Elf *elf = elf_memory((char *)sound->bytes, sound->size);
	GElf_Ehdr header;
	GElf_Phdr segment;
	GElf_Shdr section;
	Elf_Scn *scn = NULL;

	gelf_getehdr(elf, &header);
	take_range(&sound->headers[0], 0, header.e_ehsize, sound->size);
	take_range(&sound->headers[1], header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), sound->size);
	take_range(&sound->headers[2], header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), sound->size);
	for (int n = 0; n < header.e_phnum; n++) {
		gelf_getphdr(elf, n, &segment);
		if (segment.p_type == PT_GNU_EH_FRAME)
			take_range(&sound->headers[3], segment.p_offset, segment.p_filesz, sound->size);
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X) {
			sound->code = segment.p_vaddr;
			sound->code_bytes = segment.p_filesz;
		}
	}
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *name = gelf_getshdr(scn, &section)
					   ? elf_strptr(elf, header.e_shstrndx, section.sh_name)
					   : NULL;

		if (name && strstr(name, "_frame") && !strstr(name, "hdr") && section.sh_size)
			take_range(&sound->frames, section.sh_offset, section.sh_size, sound->size);
	}
	elf_end(elf);
}

static void add_sound(const void *bytes, size_t size)
{
	struct sound *sound = &sounds[sound_count++];

	*sound = (struct sound){ .bytes = malloc(size), .size = size };
	memcpy(sound->bytes, bytes, size);
	take_parts(sound);
}

static void add_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *map;

	if (fd < 0 || fstat(fd, &stat))
		return;
	map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	add_sound(map, (size_t)stat.st_size);
	munmap(map, (size_t)stat.st_size);
}

static int add_loaded(struct dl_phdr_info *info, size_t bytes, void *context)
{
	(void)bytes;
	(void)context;
	if (strstr(info->dlpi_name, "/ld-linux") || strstr(info->dlpi_name, "/libelf"))
		add_file(info->dlpi_name);
	return 0;
}

static void add_sounds(const char *build)
{
	char path[4096];

	elf_version(EV_CURRENT);
	dl_iterate_phdr(add_loaded, NULL);
	snprintf(path, sizeof(path), "%s/tests/image/libframes.so", build);
	add_file(path);
	snprintf(path, sizeof(path), "%s/tests/image/libframes-compressed.so", build);
	add_file(path);
	snprintf(path, sizeof(path), "%s/tests/image/unwind-test", build);
	add_file(path);
	if (getauxval(AT_SYSINFO_EHDR))
		add_sound((void *)getauxval(AT_SYSINFO_EHDR), 4096); /* only its beginning */
}

/* ---- damage ---- */

static void damage_range(unsigned char *bytes, struct range range, unsigned times)
{
	static const uint64_t values[] = { 0,	   1,	       0x7f,	   0x80,       0xff,
					   0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX, INT64_MAX };

	for (unsigned n = 0; n < times && range.bytes; n++) {
		const size_t at = range.at + random_below(range.bytes), left = range.at + range.bytes - at;
		const uint64_t value = random_below(2) ? values[random_below(10)] : random_next();
		const size_t width = (size_t)1 << random_below(4);

		if (random_below(4) == 0)
			bytes[at] ^= (unsigned char)(1 << random_below(8));
		else
			memcpy(bytes + at, &value, width < left ? width : left);
	}
}

/* Return: the new size of the image. */
static size_t damage(const struct sound *sound, unsigned char *bytes)
{
	const unsigned what = (unsigned)random_below(8);

	if (what < 4) /* from a few bytes to one in four */
		damage_range(bytes, sound->frames,
			     1 + (unsigned)(sound->frames.bytes >> (2 + random_below(10))));
	else if (what < 7)
		damage_range(bytes, sound->headers[random_below(4)], 1 + (unsigned)random_below(20));
	if (what == 6 && sound->frames.bytes)
		damage_range(bytes, sound->frames, 100);
	return what == 7 ? random_below(sound->size) : sound->size;
}

/* ---- unwinding ---- */

struct imagined {
	struct unwind_table *table;
	uint64_t code, code_bytes;
};

static struct unwind_table *lookup(void *context, uint64_t address, uint64_t *bias, enum wire_truncation *why)
{
	const struct imagined *imagined = context;

	*bias = 0;
	*why = address % 16 == 3 ? WIRE_TRUNCATION_MEMORY : WIRE_TRUNCATION_TABLES;
	return address % 16 > 4 ? imagined->table : NULL;
}

/* Instructions around an address: of a call, of the thread's end, or unknown. */
static bool instructions(void *context, uint64_t address, struct unwind_code *code)
{
	*code = (struct unwind_code){ .known = random_below(5), .image = context };
	for (unsigned n = 0; n < sizeof(code->bytes); n++)
		code->bytes[n] = (unsigned char)"\xe8\xff\x15\xd0\x0f\x05\xb0\x3c"[random_below(8)];
	return address % 16 != 9;
}

static uint64_t random_code(const struct imagined *imagined)
{
	return imagined->code + random_below(imagined->code_bytes);
}

/* A word of a stack: an address in the code, one in the stack, or any number. */
static uint64_t random_word(const struct imagined *imagined, uint64_t stack)
{
	switch (random_below(4)) {
	case 0:
	case 1:
		return random_code(imagined);
	case 2:
		return stack + 8 * random_below(STACK_WORDS + 10);
	default:
		return random_below(2) ? random_next() : random_below(100);
	}
}

/* Return: frames. */
static unsigned unwind_random(struct imagined *imagined)
{
	const uint64_t begin = random_below(8) ? 0x7ffc00000000 : random_next();
	uint64_t words[STACK_WORDS], chain[64], locations[FRAMES_MAX];
	struct unwind_registers registers = { .pc = random_code(imagined), .known = random_next() };
	struct unwind_sample sample = { .registers = &registers,
					.stack_bytes = random_below(sizeof(words) + 1),
					.chain = chain,
					.chain_count = (unsigned)random_below(65) };
	unsigned char *stack;
	enum wire_truncation truncation = WIRE_TRUNCATIONS;
	unsigned count, max = random_below(8) ? FRAMES_MAX : 1 + (unsigned)random_below(10);

	for (unsigned n = 0; n < STACK_WORDS; n++)
		words[n] = random_word(imagined, begin);
	for (unsigned n = 0; n < 64; n++)
		chain[n] = random_word(imagined, begin);
	for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
		registers.value[n] = random_word(imagined, begin);
	registers.value[UNWIND_STACK] = begin;
	if (random_below(4))
		registers.known = (UINT64_C(1) << UNWIND_GENERAL) - 1;
	stack = malloc(sample.stack_bytes); /* exactly of that size: a sanitizer reports reads beyond it */
	memcpy(stack, words, sample.stack_bytes);
	sample.stack = stack;
	sample.code = random_below(2) ? instructions : NULL;
	count = unwind_frames(&sample, lookup, imagined, locations, max, &truncation);
	free(stack);
	if (count > max || truncation >= WIRE_TRUNCATIONS) {
		printf("not ok frames: %u of %u, truncation %u\n", count, max, truncation);
		exit(1);
	}
	return count;
}

struct tally {
	unsigned opened, tables;
	uint64_t frames;
	double longest_ms;
};

static int open_either_way(struct image *image, unsigned char *bytes, size_t size)
{
	int fd;

	if (random_below(2))
		return image_open_memory(image, (char *)bytes, size);
	fd = memfd_create("image", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	return image_open(image, fd);
}

static void try_image(const struct sound *sound, unsigned stacks, struct tally *tally)
{
	unsigned char *bytes = malloc(sound->size);
	struct imagined imagined = { .code = sound->code, .code_bytes = sound->code_bytes };
	struct image image;
	size_t size;
	bool open = false;
	const double begin = cpu_ms();

	memcpy(bytes, sound->bytes, sound->size);
	size = damage(sound, bytes);
	if (open_either_way(&image, bytes, size) == 0) {
		const bool later = image.fd >= 0 && tally->opened % 2;

		/* Half of the files are read while stacks are unwound: they may shrink before, too. */
		tally->opened++;
		if ((later ? unwind_table_open_file(&imagined.table, &image, NULL)
			   : unwind_table_open(&imagined.table, &image)) == 0)
			tally->tables++;
		if (image.fd >= 0 && (!later || tally->opened % 4 < 2) && ftruncate(image.fd, 0))
			abort();
		if (!later)
			image_close(&image);
		else
			open = true;
	}
	free(bytes);
	for (unsigned n = 0; n < stacks; n++)
		tally->frames += unwind_random(&imagined);
	unwind_table_close(imagined.table);
	if (open)
		image_close(&image);
	if (cpu_ms() - begin > tally->longest_ms)
		tally->longest_ms = cpu_ms() - begin;
}

static void try_images(unsigned images)
{
	struct tally tally = { .opened = 0 };

	for (unsigned n = 0; n < images; n++)
		try_image(&sounds[random_below(sound_count)], 50, &tally);
	printf("# %u images, %u could be opened, %u had tables; %lu frames; the longest took %.0f ms\n",
	       images, tally.opened, tally.tables, (unsigned long)tally.frames, tally.longest_ms);
	if (tally.tables < images / 3 || tally.frames < images)
		printf("not ok images: too few could be used\n");
	else if (tally.longest_ms > LIMIT_MS)
		printf("not ok images: one took %.0f ms\n", tally.longest_ms);
	else
		printf("ok images\n");
}

/* ---- programs and expressions ---- */

static void random_bytes(unsigned char *bytes, size_t count)
{
	for (size_t n = 0; n < count; n++)
		bytes[n] = (unsigned char)(random_below(3) ? random_below(0x40) : random_next());
}

static void try_programs(unsigned programs)
{
	static const unsigned char cie[] = {
		14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0
	};
	unsigned rows = 0;

	for (unsigned n = 0; n < programs; n++) {
		const size_t code = random_below(100), size = sizeof(cie) + 17 + code;
		unsigned char *bytes = malloc(size);
		const uint32_t fields[] = { (uint32_t)(13 + code), sizeof(cie) + 4, 0x1000, 0x100 };
		const struct unwind_section section = { .bytes = bytes,
							.size = (uint32_t)size,
							.address = 0x1000 };
		struct unwind_entry entry;
		struct unwind_row row;
		uint32_t next;

		memcpy(bytes, cie, sizeof(cie));
		memcpy(bytes + sizeof(cie), fields, 16);
		bytes[sizeof(cie) + 16] = 0;
		random_bytes(bytes + size - code, code);
		if (unwind_entry_next(&section, sizeof(cie), &entry, &next) == 0) {
			for (uint64_t at = 0; at < 0x100; at += 31)
				rows += unwind_compile(&section, &entry, entry.begin + at, &row) == 0;
		}
		free(bytes);
	}
	printf("# %u programs: %u rows\n", programs, rows);
	printf(rows > programs / 2 ? "ok programs\n" : "not ok programs: too few rows\n");
}

static void try_expressions(unsigned expressions)
{
	static const unsigned char useful[] = { 0x06, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
						0x19, 0x1c, 0x22, 0x23, 0x24, 0x28, 0x2f,
						0x31, 0x77, 0x70, 0x94, 0x08, 0x10, 0x92 };
	uint64_t stack[16], value;
	unsigned sound = 0;
	struct unwind_registers registers = { .known = UINT64_MAX };
	const struct unwind_memory memory = { .bytes = (unsigned char *)stack,
					      .begin = 0x1000,
					      .size = sizeof(stack) };

	memset(stack, 0x10, sizeof(stack));
	for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
		registers.value[n] = 0x1000 + 8 * n;
	for (unsigned n = 0; n < expressions; n++) {
		const size_t size = random_below(24);
		unsigned char *bytes = malloc(size);

		for (size_t k = 0; k < size; k++)
			bytes[k] = random_below(4) ? useful[random_below(sizeof(useful))]
						   : (unsigned char)random_next();
		value = 0x1000;
		sound += unwind_evaluate((struct bytes){ .at = bytes, .end = bytes + size }, &registers,
					 &memory, &value, &value) == 0;
		free(bytes);
	}
	printf("# %u expressions: %u had a value\n", expressions, sound);
	printf(sound > expressions / 100 ? "ok expressions\n" : "not ok expressions: too few\n");
}

/* ---- work */

enum {
	NOPS = 60000,
	ASKED = 2000, /* addresses */
};

/* The head of an image without sections, whose unwind entries begin at @frames. */
static void put_head(unsigned char *bytes, size_t size, uint32_t frames)
{
	const uint32_t index[] = { 0x3b030301, frames, 0 }; /* two absolute numbers of 4 bytes */
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size, .p_memsz = size },
		{ .p_type = PT_GNU_EH_FRAME, .p_offset = 1024, .p_vaddr = 1024, .p_filesz = sizeof(index) },
	};
	Elf64_Ehdr header = { .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(segments[0]),
			      .e_phnum = 2 };

#if defined(__aarch64__)
	header.e_machine = EM_AARCH64;
#endif
	memcpy(header.e_ident, ELFMAG "\2\1\1", 7);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, sizeof(segments));
	memcpy(bytes + 1024, index, sizeof(index));
}

/* An image without sections, with one entry, whose program is only DW_CFA_nop. Return: bytes. */
static size_t make_slow(unsigned char **out)
{
	static const unsigned char cie[] = { 17, 0, 0,	  0,  0, 0,    0,    0, 1, 'z', 'R',
					     0,	 1, 0x78, 16, 1, 0x04, 0x0c, 7, 8, 0 };
	const size_t frames = 4096, entry = frames + sizeof(cie), size = entry + 4 + 4 + 17 + NOPS + 4;
	unsigned char *bytes = calloc(1, size), *at = bytes + entry;
	const uint32_t length = 4 + 17 + NOPS, back = sizeof(cie) + 4;
	const uint64_t code[2] = { 0x100000, 0x10000 };

	put_head(bytes, size, (uint32_t)frames);
	memcpy(bytes + frames, cie, sizeof(cie));
	memcpy(at, &length, 4);
	memcpy(at + 4, &back, 4);
	memcpy(at + 8, code, 16); /* no augmentation follows, and zeros are DW_CFA_nop */
	*out = bytes;
	return size;
}

/* A table with tens of thousands of instructions per row: some rows are compiled, then the work is limited. */
static void try_work(void)
{
	struct unwind_table *table = NULL;
	struct image image;
	unsigned char *bytes;
	const size_t size = make_slow(&bytes);
	unsigned known = 0;
	int error = image_open_memory(&image, (char *)bytes, size);

	if (!error) {
		error = unwind_table_open(&table, &image);
		image_close(&image);
	}
	for (uint64_t n = 0; n < ASKED && !error; n++)
		known += unwind_table_row(table, 0x100000 + n * 16)->cfa != UNWIND_CFA_UNKNOWN;
	/* The highest address marks free slots of the table of rows. Once, its row was read from uninitialized memory. */
	if (!error && unwind_table_row(table, UINT64_MAX)->address == UINT64_MAX)
		printf("not ok work: the highest address has a row\n");
	unwind_table_close(table);
	free(bytes);
	printf("# of %d rows of %d instructions each, %u were compiled (%d)\n", ASKED, NOPS, known, error);
	printf(!error && known > 10 && known < 100 ? "ok work\n"
						   : "not ok work: it is not bounded, or nothing was read\n");
}

enum {
	SCAN_ENTRIES = 20000,
	SCAN_FRAMES = 4096, /* offset of the entries in the file */
	SCAN_ROOM = 2 << 20,
};

/*
 * Write entries without an index: CIEs that are a page apart, and FDEs that refer to one after the other.
 * @cie_bytes: of each, without its length
 * Return: bytes.
 */
static size_t make_frames(unsigned char *frames, unsigned cies, uint32_t cie_bytes)
{
	static const unsigned char cie[] = { 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x04 };
	size_t at = 0;

	for (unsigned n = 0; n < cies; n++) {
		const uint32_t rest[] = { 4096 - cie_bytes % 4096 - 8,
					  1 }; /* up to the next page: an FDE of nothing */

		memcpy(frames + at, &cie_bytes, 4);
		memcpy(frames + at + 4, cie, sizeof(cie));
		memcpy(frames + at + 4 + cie_bytes, rest, sizeof(rest));
		at += (cie_bytes / 4096 + 1) * 4096;
	}
	for (uint32_t n = 0; n < SCAN_ENTRIES; n++, at += 28) {
		const uint32_t to = n % cies * (cie_bytes / 4096 + 1) * 4096;
		const uint32_t head[] = { 24, (uint32_t)at + 4 - to };
		const uint64_t code[] = { 0x100000 + 16 * n, 16 };

		memcpy(frames + at, head, sizeof(head));
		memcpy(frames + at + 8, code, sizeof(code));
	}
	return at;
}

/* Return: as unwind_table_open_file() for an image with these entries. */
static int open_frames(unsigned cies, uint32_t cie_bytes)
{
	unsigned char *bytes = calloc(1, SCAN_ROOM);
	const size_t size = SCAN_FRAMES + make_frames(bytes + SCAN_FRAMES, cies, cie_bytes);
	struct unwind_table *table = NULL;
	struct image image;
	const int fd = memfd_create("frames", 0);
	int error;

	put_head(bytes, size, SCAN_FRAMES);
	error = write(fd, bytes, size) == (ssize_t)size ? image_open(&image, fd) : -EIO;
	free(bytes);
	if (error)
		return error;
	error = unwind_table_open_file(&table, &image, NULL);
	unwind_table_close(table);
	image_close(&image);
	return error;
}

/*
 * Entries without an index are all read, each with its CIE. A CIE of 60 KB was once read again for each of three million
 * entries, which took minutes.
 */
static void try_scan(void)
{
	const int near = open_frames(1, 20), few = open_frames(8, 20), large = open_frames(1, 60000),
		  far = open_frames(64, 20);

	printf("# entries with one CIE: %d, with 8: %d, with a large one: %d, with 64: %d\n", near, few,
	       large, far);
	printf(!near && !few && large == -ENOENT && far == -E2BIG
		       ? "ok scan\n"
		       : "not ok scan: it is not bounded, or valid entries are refused\n");
}

/* An augmentation has a few letters. A very long one was once scanned again for each entry. */
static void try_text(void)
{
	unsigned char bytes[128] = { 30, 0, 0, 0, 0, 0, 0, 0, 1, 'z' };
	const uint32_t fields[] = { 21, 38, 0x1000, 0, 0x100, 0, 0 };
	const struct unwind_section section = { .bytes = bytes, .size = 34 + 25, .address = 0x1000 };
	struct unwind_entry entry;
	unsigned sound = 0, refused = 0;
	uint32_t next;

	memcpy(bytes + 34, fields, 25);
	for (unsigned letters = 0; letters < 18; letters++) {
		unsigned char *at = bytes + 10 + letters;

		memset(bytes + 10, 'S', letters);
		memcpy(at, "\0\1\x78\x10\0\0\0\0", 6);
		if (unwind_entry_next(&section, 34, &entry, &next) == 0)
			sound++;
		else
			refused++;
	}
	printf("# augmentations: %u sound, %u refused\n", sound, refused);
	printf(sound >= 8 && refused ? "ok augmentations\n" : "not ok augmentations\n");
}

int main(int argc, char **argv)
{
	const bool is_long = argc > 2 && !strcmp(argv[2], "long");
	const char *seed = getenv("TEST_SEED");

	setvbuf(stdout, NULL, _IOLBF, 0);
	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	printf("# TEST_SEED=%lu\n", (unsigned long)random_state);
	alarm(is_long ? 9000 : 900);
	add_sounds(argc > 1 ? argv[1] : "build");
	try_images(is_long ? 20000 : 500);
	try_programs(is_long ? 1000000 : 50000);
	try_expressions(is_long ? 1000000 : 100000);
	try_work();
	try_scan();
	try_text();
	for (unsigned n = 0; n < sound_count; n++)
		free(sounds[n].bytes);
	return 0;
}
