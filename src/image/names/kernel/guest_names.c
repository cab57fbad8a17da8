/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of a guest; see guest_names.h. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/nolibc.h"
#include "base/number.h"
#include "image/elf/image.h"
#include "image/names/demangle.h"
#include "image/names/kernel/guest_names.h"
#include "image/names/kernel/kallsyms.h"

enum {
	FILE_MAX = 256 << 20, /* bytes of a text, or of the symbols of an ELF file */
	READ_BYTES = 64 << 10,
	PAGE = 4096,
	VOTERS_MAX = 256, /* addresses */
	VOTES_MAX = 1 << 20,
	AGREED = 4,	    /* addresses that show another distance, at least */
	IMAGE_MAGIC = 0x38, /* in the header of a kernel of aarch64 */
};

static const uint64_t UPPER_HALF = 0xffff800000000000; /* where a kernel lies */

static int guest_names_add_one(struct guest_names *names, uint64_t address, uint64_t size, size_t name)
{
	if (!array_reserve(names->all, names->room, names->count + 1))
		return -ENOMEM;
	names->all[names->count++] = (struct guest_name){ address, size, name };
	return 0;
}

/* ---- A text: an address, a type, a name, and perhaps a module. */

static int guest_names_read_line(struct guest_names *names, char *line)
{
	const char *behind;
	const uint64_t address = nolibc_number(line, 16, &behind);

	if (behind == line || behind[0] != ' ' || !behind[1] || !strchr("tTwW", behind[1]) ||
	    behind[2] != ' ' || !behind[3])
		return 0;
	line = line + (behind + 3 - line);
	line[strcspn(line, "\t\r ")] = 0;
	return guest_names_add_one(names, address, 0, (size_t)(line - names->text));
}

static int guest_names_read_file(struct guest_names *names, int file)
{
	ssize_t got;

	do {
		if (names->bytes > FILE_MAX)
			return -EFBIG;
		if (!array_reserve(names->text, names->text_room, names->bytes + READ_BYTES + 1))
			return -ENOMEM;
		got = pread(file, names->text + names->bytes, READ_BYTES, (off_t)names->bytes);
		if (got > 0)
			names->bytes += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got == 0)
		names->text[names->bytes] = 0;
	return got < 0 ? -errno : 0;
}

static int guest_names_read_text(struct guest_names *names, int file)
{
	int error = guest_names_read_file(names, file);

	for (char *line = names->text, *end; !error && line < names->text + names->bytes; line = end + 1) {
		end = line + strcspn(line, "\n");
		*end = 0;
		error = guest_names_read_line(names, line);
	}
	return error;
}

/* ---- An ELF file */

static int read_section(const struct image *image, const char *name, char **bytes, size_t *count)
{
	struct image_section section;

	if (image_section(image, name, &section) != 0)
		return -ENOEXEC;
	if (section.bytes > FILE_MAX)
		return -EFBIG;
	*bytes = malloc((size_t)section.bytes + 1);
	if (!*bytes)
		return -ENOMEM;
	*count = image_read(image, section.offset, *bytes, (size_t)section.bytes);
	(*bytes)[*count] = 0;
	return 0;
}

/* The fields of a symbol that count; narrow files have them in another order. */
static Elf64_Sym symbol_at(const char *bytes, bool wide)
{
	Elf64_Sym symbol;
	Elf32_Sym narrow;

	if (wide) {
		memcpy(&symbol, bytes, sizeof(symbol));
		return symbol;
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return (Elf64_Sym){ .st_name = narrow.st_name,
			    .st_info = narrow.st_info,
			    .st_shndx = narrow.st_shndx,
			    .st_value = narrow.st_value,
			    .st_size = narrow.st_size };
}

/* Symbols of ARM that mark where code and data begin: "$x", "$d.7". */
static bool is_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static int guest_names_read_elf(struct guest_names *names, const struct image *image)
{
	const size_t each = image->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	char *symbols = NULL;
	size_t bytes = 0;
	int error = read_section(image, ".symtab", &symbols, &bytes);

	if (!error)
		error = read_section(image, ".strtab", &names->text, &names->bytes);
	for (size_t at = 0; !error && at + each <= bytes; at += each) {
		const Elf64_Sym symbol = symbol_at(symbols + at, image->wide);
		const unsigned type = ELF64_ST_TYPE(symbol.st_info);

		if ((type == STT_FUNC || type == STT_NOTYPE) && symbol.st_shndx != SHN_UNDEF &&
		    symbol.st_shndx < SHN_LORESERVE && symbol.st_name < names->bytes &&
		    names->text[symbol.st_name] && !is_mark(names->text + symbol.st_name))
			error = guest_names_add_one(names, symbol.st_value, symbol.st_size, symbol.st_name);
	}
	free(symbols);
	return error;
}

/* ---- A kernel without symbols, which has names of its functions for itself */

struct kernel {
	struct guest_names *names;
	const struct image *image;
	bool unlinked; /* its addresses are distances, until it moves itself */
};

static bool guest_names_is_base(void *context, uint64_t address)
{
	const struct kernel *kernel = context;
	uint64_t offset;

	return kernel->unlinked ? !address || address >> 63
				: image_offset(kernel->image, address, &offset) == 0;
}

static int add_own(void *context, uint64_t address, const char *name)
{
	const struct kernel *kernel = context;

	if (kernel->names->bytes > FILE_MAX)
		return -EFBIG;
	return guest_names_add(kernel->names, address | (kernel->unlinked ? UPPER_HALF : 0), 0, name);
}

/* The tables are within a segment: the one with the data that do not change. */
static int read_segment(struct kallsyms_reader *reader, const struct image *image,
			const struct image_segment *segment)
{
	const size_t size = segment->bytes < reader->steps ? (size_t)segment->bytes : 0;
	unsigned char *bytes = size && size <= FILE_MAX ? malloc(size) : NULL;
	int error;

	if (!bytes)
		return size && size <= FILE_MAX ? -ENOMEM : -ENOEXEC;
	reader->steps -= size;
	error = kallsyms_read(reader, bytes, image_read(image, segment->offset, bytes, size));
	free(bytes);
	return error;
}

static int read_own(struct guest_names *names, const struct image *image, bool unlinked)
{
	struct kernel kernel = { names, image, unlinked };
	struct kallsyms_reader reader = { guest_names_is_base, add_own, &kernel, KALLSYMS_STEPS };
	int error = -ENOEXEC;

	for (unsigned n = 0; n < image->segment_count && error == -ENOEXEC && image->wide; n++)
		error = read_segment(&reader, image, &image->segments[n]);
	return error;
}

/* A kernel of aarch64 is a copy of its memory. Return: -ENOENT: it is another file. */
static int guest_names_read_image(struct guest_names *names, int file)
{
	struct image_segment all = { 0 };
	const struct image image = { .fd = file, .wide = true, .segments = &all, .segment_count = 1 };
	char head[IMAGE_MAGIC + 4] = "";
	struct stat status;

	if (pread(file, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head + IMAGE_MAGIC, "ARM\x64", 4) != 0)
		return -ENOENT;
	if (fstat(file, &status) != 0)
		return -errno;
	all.bytes = (uint64_t)status.st_size;
	return read_own(names, &image, true);
}

/* ---- All */

/* Of several names for one address, the first is one with a size. */
static int guest_names_compare(const void *one, const void *other)
{
	const struct guest_name *a = one, *b = other;

	return number_order(a->address, b->address) ?: number_order(b->size, a->size) ?: number_order(a->name, b->name);
}

/* Whether a name is not the first for its address. */
static bool is_alias(const struct guest_names *names, size_t n)
{
	return n && names->all[n].address == names->all[n - 1].address;
}

/* Sort them, and set unknown sizes by the distance to the next address. */
static void guest_names_complete(struct guest_names *names)
{
	uint64_t next = 0; /* address behind; 0: none */

	qsort(names->all, names->count, sizeof(*names->all), guest_names_compare);
	for (size_t n = names->count; n-- > 0;) {
		struct guest_name *name = &names->all[n];

		if (!name->size)
			name->size = next ? next - name->address : PAGE;
		if (!is_alias(names, n))
			next = name->address;
	}
}

int guest_names_read(struct guest_names *names, int file)
{
	struct image image;
	int error, copy = dup(file);

	*names = (struct guest_names){ 0 };
	if (copy < 0)
		return -errno;
	error = image_open(&image, copy); /* which closes the copy */
	if (!error) {
		error = guest_names_read_elf(names, &image);
		if (error == -ENOEXEC)
			error = read_own(names, &image, false);
		names->fixed = image.fixed;
		image_close(&image);
	} else if (error == -ENOEXEC) {
		error = guest_names_read_image(names, file);
		if (error == -ENOENT)
			error = guest_names_read_text(names, file);
	}
	if (!error && !names->count)
		error = -ENOEXEC;
	if (error)
		guest_names_free(names);
	else
		guest_names_complete(names);
	return error;
}

void guest_names_free(struct guest_names *names)
{
	free(names->all);
	free(names->text);
	*names = (struct guest_names){ 0 };
}

/* ---- The distance */

static int compare_votes(const void *one, const void *other)
{
	return number_order(*(const uint64_t *)one, *(const uint64_t *)other);
}

/* The distance with the most votes; 0 if that has at least half as many. */
static uint64_t guest_names_elect(uint64_t *votes, size_t count)
{
	size_t most = 0, unmoved = 0;
	uint64_t best = 0;

	qsort(votes, count, sizeof(*votes), compare_votes);
	for (size_t n = 0, run = 0; n < count; n++) {
		run = n && votes[n] == votes[n - 1] ? run + 1 : 1;
		if (votes[n] == 0)
			unmoved = run;
		if (run > most) {
			most = run;
			best = votes[n];
		}
	}
	return 2 * unmoved >= most ? 0 : best;
}

static int guest_names_vote(const struct guest_names *names, const uint64_t *addresses, size_t count,
			    uint64_t *shift)
{
	const size_t step = count / VOTERS_MAX + 1, voters = count / step + 1;
	const size_t room = names->count < VOTES_MAX / voters ? names->count * voters : VOTES_MAX;
	uint64_t *votes = malloc(room * sizeof(*votes));
	size_t cast = 0;

	if (!votes)
		return -ENOMEM;
	for (size_t n = 0; n < count; n += step)
		for (size_t at = 0; at < names->count && cast < room; at++)
			if ((addresses[n] - names->all[at].address) % PAGE == 0 && !is_alias(names, at))
				votes[cast++] = addresses[n] - names->all[at].address;
	*shift = guest_names_elect(votes, cast);
	free(votes);
	return 0;
}

/* The function that begins at an address; NULL: none does. */
static const struct guest_name *guest_names_find(const struct guest_names *names, uint64_t address)
{
	size_t from = 0, count = names->count;

	while (count) { /* names before `from` have lower addresses, those from from + count on do not */
		const size_t half = count / 2;

		if (names->all[from + half].address < address) {
			from += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return from < names->count && names->all[from].address == address ? &names->all[from] : NULL;
}

/* The function that begins at an address by one of the distances; NULL: none does. */
static const struct guest_name *find_moved(const struct guest_names *names, const struct guest_shifts *shifts,
					   uint64_t address)
{
	const struct guest_name *found = NULL;

	for (size_t n = 0; n < shifts->count && !found; n++)
		found = guest_names_find(names, address - shifts->all[n]);
	return found;
}

/* Addresses of the upper half, which is a kernel's, that begin no function. Return: how many. */
static size_t guest_names_unexplained(const struct guest_names *names, const struct guest_shifts *shifts,
				      const uint64_t *addresses, size_t count, uint64_t *rest)
{
	size_t kept = 0;

	for (size_t n = 0; n < count; n++)
		if (addresses[n] >> 63 && !find_moved(names, shifts, addresses[n]))
			rest[kept++] = addresses[n];
	return kept;
}

/* One more distance. Return: whether it is one; -ENOMEM. @rest: room for all addresses */
static int find_another(const struct guest_names *names, const uint64_t *addresses, size_t count,
			struct guest_shifts *shifts, uint64_t *rest)
{
	const size_t before = guest_names_unexplained(names, shifts, addresses, count, rest);
	int error = before < AGREED ? 0 : guest_names_vote(names, rest, before, &shifts->all[shifts->count]);
	size_t after;

	if (error || before < AGREED)
		return error;
	shifts->count++;
	after = guest_names_unexplained(names, shifts, addresses, count, rest);
	if (before - after >= AGREED && 2 * after <= before)
		return 1;
	shifts->count--;
	return 0;
}

/* Whether an address lies from the first function to the last one. */
static bool is_inside(const struct guest_names *names, uint64_t address)
{
	const uint64_t first = names->all[0].address, last = names->all[names->count - 1].address;

	return address - first <= last - first;
}

/*
 * Whether a kernel can lie there: what was called between its first and its last function mostly begins one. Some distance always has the most
 * votes, also if only a firmware was recorded.
 */
static bool is_plausible(const struct guest_names *names, const uint64_t *addresses, size_t count,
			 uint64_t shift)
{
	size_t inside = 0, exact = 0;

	for (size_t n = 0; n < count && names->all[0].address >> 63; n++) {
		const uint64_t address = addresses[n] - shift;

		inside += is_inside(names, address);
		exact += guest_names_find(names, address) != NULL;
	}
	return 2 * exact >= inside;
}

int guest_names_shifts(const struct guest_names *names, const uint64_t *addresses, size_t count,
		       struct guest_shifts *shifts)
{
	uint64_t *rest = malloc((count + 1) * sizeof(*rest));
	int more = rest ? 1 : -ENOMEM;

	if (rest && !shifts->count) {
		more = guest_names_vote(names, addresses, count, &shifts->all[0]);
		shifts->count = 1;
		if (!more && names->count && !is_plausible(names, addresses, count, shifts->all[0]))
			shifts->all[0] = 0;
		more = more ? more : 1;
	}
	while (more == 1 && shifts->count < GUEST_SHIFTS)
		more = find_another(names, addresses, count, shifts, rest);
	free(rest);
	return more < 0 ? more : 0;
}

/* ---- Functions that are known */

int guest_names_add(struct guest_names *names, uint64_t address, uint64_t size, const char *name)
{
	const size_t bytes = strlen(name) + 1, at = names->bytes;

	if (!array_reserve(names->text, names->text_room, at + bytes))
		return -ENOMEM;
	memcpy(names->text + at, name, bytes);
	names->bytes += bytes;
	return guest_names_add_one(names, address, size, at);
}

/* Whether a function has a name, which is one for readers. */
static bool guest_names_is_called(const struct guest_names *names, const struct guest_name *function,
				  const char *name)
{
	const struct guest_name *end = names->all + names->count;
	char readable[DEMANGLE_OUT_MAX];
	bool found = false;

	for (const struct guest_name *alias = function;
	     !found && alias < end && alias->address == function->address; alias++) {
		const char *own = names->text + alias->name;

		found = strcmp(own, name) == 0 || (demangle(readable, own) && strcmp(readable, name) == 0);
	}
	return found;
}

struct guest_agreement guest_names_agree(const struct guest_names *names, const struct guest_shifts *shifts,
					 const struct guest_names *known, const uint64_t *addresses,
					 size_t count)
{
	struct guest_agreement all = { 0 };

	for (size_t n = 0; n < count; n++) {
		const struct guest_name *own = find_moved(names, shifts, addresses[n]);
		const struct guest_name *old = guest_names_find(known, addresses[n]);

		all.begun += own != NULL;
		all.inside += names->count && is_inside(names, addresses[n] - shifts->all[0]);
		all.known += old != NULL;
		if (!own || !old || guest_names_is_called(names, own, known->text + old->name))
			continue;
		if (!all.contradicted++) {
			all.first = names->text + own->name;
			all.was = known->text + old->name;
		}
	}
	return all;
}

/* ---- The map */

static void put_all(FILE *text, const struct guest_names *names, uint64_t shift)
{
	for (size_t n = 0; n < names->count; n++)
		if (!is_alias(names, n))
			fprintf(text, "%" PRIx64 " %" PRIx64 " %s\n", names->all[n].address + shift,
				names->all[n].size, names->text + names->all[n].name);
}

static void put_found(FILE *text, const struct guest_names *names, const struct guest_shifts *shifts,
		      const uint64_t *addresses, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		const struct guest_name *name = find_moved(names, shifts, addresses[n]);

		if (name)
			fprintf(text, "%" PRIx64 " 1 %s\n", addresses[n], names->text + name->name);
	}
}

/* Those that begin where none of the others does: such a one lies there only by a guess of its size. */
static void put_begun(FILE *text, const struct guest_names *known, const struct guest_names *names,
		      const struct guest_shifts *shifts)
{
	for (size_t n = 0; n < known->count; n++)
		if (!find_moved(names, shifts, known->all[n].address))
			fprintf(text, "%" PRIx64 " 1 %s\n", known->all[n].address,
				known->text + known->all[n].name);
}

int guest_names_map(const struct guest_names *names, const struct guest_shifts *shifts,
		    const struct guest_names *known, const uint64_t *addresses, size_t count)
{
	const int file = memfd_create("burin-guest", MFD_CLOEXEC);
	FILE *text = file < 0 ? NULL : fdopen(dup(file), "w");
	bool done;

	if (!text) {
		const int error = -errno;

		if (file >= 0)
			close(file);
		return error;
	}
	put_all(text, known, 0); /* of several lines for an address, the last one holds */
	if (shifts->count > 1 || shifts->mixed)
		put_found(text, names, shifts, addresses, count);
	else
		put_all(text, names, shifts->all[0]);
	put_begun(text, known, names, shifts);
	done = !ferror(text);
	if (fclose(text) != 0 || !done) {
		close(file);
		return -ENOSPC;
	}
	return file;
}
