/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of functions; see call_symbols.h. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/demangle.h>

#include "base/nolibc.h"
#include "source/calls/functions/call_symbols.h"
#include "source/tracepoint/thread.h"
#include "wire/wire_call.h"

enum {
	SEGMENTS_MAX = 64,
	SECTIONS_MAX = 1 << 16,
	NAME_MAX_BYTES = 2000, /* of a mangled name; longer ones are not demangled */
	DEMANGLED_MAX = 4096,
	DEMANGLE_STACK = 1 << 20, /* it takes up to 300 bytes of stack for each byte of a name */
};

struct symbol_entry {
	uint64_t offset; /* in the file */
	uint32_t name;	 /* in the strings */
	uint32_t bytes;	 /* of its code; at least 1 */
};

struct call_symbols {
	struct call_symbols *next;
	uint32_t image; /* in the session */
	uint64_t count;
	struct symbol_entry *entries; /* by offset */
	char *strings;		      /* the last byte is NUL */
	uint64_t string_bytes;
};

/* A file that is being read. */
struct reading {
	int fd;
	uint64_t bytes; /* of the file */
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[SEGMENTS_MAX];
	unsigned segment_count;
};

static struct call_symbols *all;

static void *get(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool read_at(const struct reading *file, uint64_t offset, void *out, uint64_t bytes)
{
	uint64_t done = 0;

	if (offset > file->bytes || bytes > file->bytes - offset)
		return false;
	while (done < bytes) {
		const ssize_t got = pread(file->fd, (char *)out + done, bytes - done, (off_t)(offset + done));

		if (got <= 0)
			return false;
		done += (uint64_t)got;
	}
	return true;
}

/* Memory with a part of the file and a NUL behind it. */
static char *read_part(const struct reading *file, uint64_t offset, uint64_t bytes)
{
	char *memory =
		bytes && offset <= file->bytes && bytes <= file->bytes - offset ? get(bytes + 1) : NULL;

	if (memory && !read_at(file, offset, memory, bytes)) {
		munmap(memory, bytes + 1);
		return NULL;
	}
	return memory;
}

/* @want: the file must be this one, if it is not NULL */
static bool open_file(struct reading *file, const char *path, const struct wire_call_image *want)
{
	struct stat status;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return false;
	if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (!want || !want->inode || (want->inode == status.st_ino && want->device == status.st_dev))) {
		file->bytes = (uint64_t)status.st_size;
		if (read_at(file, 0, &file->header, sizeof(file->header)) &&
		    memcmp(file->header.e_ident, ELFMAG, SELFMAG) == 0 &&
		    file->header.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
		    file->header.e_shentsize == sizeof(ElfW(Shdr)))
			return true;
	}
	close(file->fd);
	return false;
}

static bool read_segments(struct reading *file)
{
	file->segment_count = file->header.e_phnum < SEGMENTS_MAX ? file->header.e_phnum : SEGMENTS_MAX;
	return file->header.e_phentsize == sizeof(ElfW(Phdr)) &&
	       read_at(file, file->header.e_phoff, file->segments,
		       file->segment_count * sizeof(*file->segments));
}

/* @from: the file whose segments are loaded, also of symbols in its debug file. Return: whether the address is in it. */
static bool offset_of(const struct reading *from, uint64_t address, uint64_t *offset)
{
	for (unsigned n = 0; n < from->segment_count; n++) {
		const ElfW(Phdr) *part = &from->segments[n];

		if (part->p_type != PT_LOAD || address - part->p_vaddr >= part->p_filesz)
			continue;
		*offset = address - part->p_vaddr + part->p_offset;
		return true;
	}
	return false;
}

static bool is_before(const struct symbol_entry *one, const struct symbol_entry *other)
{
	return one->offset != other->offset ? one->offset < other->offset : one->name < other->name;
}

static void sink(struct symbol_entry *entries, uint64_t at, uint64_t count)
{
	const struct symbol_entry entry = entries[at];

	for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
		child += child + 1 < count && is_before(&entries[child], &entries[child + 1]);
		if (!is_before(&entry, &entries[child]))
			break;
		entries[at] = entries[child];
	}
	entries[at] = entry;
}

/* A heap sort: qsort() may call malloc. */
static void sort(struct symbol_entry *entries, uint64_t count)
{
	for (uint64_t at = count / 2; at-- > 0;)
		sink(entries, at, count);
	for (uint64_t left = count; left-- > 1;) {
		const struct symbol_entry largest = entries[0];

		entries[0] = entries[left];
		entries[left] = largest;
		sink(entries, 0, left);
	}
}

/* "fopen" of "fopen@@GLIBC_2.2.5", as debug files have it. */
static void cut_version(char *name)
{
	char *at = strchr(name, '@');

	if (at && at != name)
		*at = 0;
}

static void take_symbols(struct call_symbols *symbols, const struct reading *from, const ElfW(Sym) * table,
			 uint64_t count)
{
	for (uint64_t n = 0; n < count; n++) {
		const unsigned type = table[n].st_info & 15;
		struct symbol_entry *entry = &symbols->entries[symbols->count];

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || table[n].st_shndx == SHN_UNDEF ||
		    table[n].st_name >= symbols->string_bytes ||
		    !offset_of(from, table[n].st_value, &entry->offset))
			continue;
		entry->name = table[n].st_name;
		cut_version(symbols->strings + entry->name);
		entry->bytes = table[n].st_size > UINT32_MAX ? UINT32_MAX
			       : table[n].st_size	     ? (uint32_t)table[n].st_size
							     : 1;
		symbols->count++;
	}
}

/* Read a table of symbols and its strings. Return: whether it could be read. */
static bool read_table(struct call_symbols *symbols, const struct reading *file, const struct reading *from,
		       const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
	const uint64_t count = table->sh_size / sizeof(ElfW(Sym)),
		       bytes = count * sizeof(struct symbol_entry);
	char *entries = read_part(file, table->sh_offset, table->sh_size);

	symbols->strings = entries ? read_part(file, strings->sh_offset, strings->sh_size) : NULL;
	symbols->string_bytes = strings->sh_size;
	symbols->entries = symbols->strings && count ? get(bytes) : NULL;
	if (symbols->entries) {
		take_symbols(symbols, from, (const ElfW(Sym) *)entries, count);
		sort(symbols->entries, symbols->count);
	}
	if (entries)
		munmap(entries, table->sh_size + 1);
	return symbols->entries != NULL;
}

/* @type: SHT_SYMTAB or SHT_DYNSYM */
static bool read_symbols(struct call_symbols *symbols, const struct reading *file, const struct reading *from,
			 uint32_t type)
{
	const uint64_t bytes = (uint64_t)file->header.e_shnum * sizeof(ElfW(Shdr));
	ElfW(Shdr) *sections = (ElfW(Shdr) *)read_part(file, file->header.e_shoff, bytes);
	bool found = false;

	for (unsigned n = 0; sections && !found && n < file->header.e_shnum; n++)
		if (sections[n].sh_type == type && sections[n].sh_link < file->header.e_shnum)
			found = read_table(symbols, file, from, &sections[n], &sections[sections[n].sh_link]);
	if (sections)
		munmap(sections, bytes + 1);
	return found;
}

/* From the debug file that a distribution's package installs. */
static bool read_debug(struct call_symbols *symbols, const struct reading *from,
		       const struct wire_call_image *image)
{
	char path[64 + 2 * WIRE_CALL_BUILD_ID_MAX];
	struct nolibc_string out = { path, sizeof(path), 0, false };
	struct reading file;
	bool found;

	if (!image->build_id_bytes || image->build_id_bytes > WIRE_CALL_BUILD_ID_MAX)
		return false;
	nolibc_text(&out, "/usr/lib/debug/.build-id/");
	for (uint32_t n = 0; n < image->build_id_bytes; n++) {
		static const char digits[] = "0123456789abcdef";
		const char text[] = { digits[image->build_id[n] >> 4], digits[image->build_id[n] & 15],
				      n ? 0 : '/', 0 };

		nolibc_text(&out, text);
	}
	nolibc_text(&out, ".debug");
	if (!open_file(&file, path, NULL))
		return false;
	found = read_symbols(symbols, &file, from, SHT_SYMTAB);
	close(file.fd);
	return found;
}

const char *call_symbols_path(const struct call_image *image)
{
	const struct session_calls *calls = &tracepoint_session.calls;
	const uint32_t at =
		image->number - 1 < WIRE_CALL_IMAGES_MAX ? calls->images[image->number - 1].path : 0;

	return at < WIRE_CALL_TEXT && memchr(calls->text + at, 0, WIRE_CALL_TEXT - at) ? calls->text + at
										       : "";
}

static void read_image(struct call_symbols *symbols, const struct call_image *image)
{
	const struct wire_call_image *entry = &tracepoint_session.calls.images[image->number - 1];
	const char *path = call_symbols_path(image);
	struct reading file;

	if (*path != '/' || !open_file(&file, path, entry))
		return;
	if (read_segments(&file) && !read_symbols(symbols, &file, &file, SHT_SYMTAB) &&
	    !read_debug(symbols, &file, entry))
		read_symbols(symbols, &file, &file, SHT_DYNSYM);
	close(file.fd);
}

const struct call_symbols *call_symbols_of(const struct call_image *image)
{
	struct call_symbols *symbols = all;

	while (symbols && symbols->image != image->number)
		symbols = symbols->next;
	if (symbols || image->number - 1 >= WIRE_CALL_IMAGES_MAX)
		return symbols;
	symbols = get(sizeof(*symbols));
	if (!symbols)
		return NULL;
	symbols->image = image->number;
	symbols->next = all;
	read_image(symbols, image);
	all = symbols;
	return symbols;
}

/* The first entry behind an offset. */
static uint64_t position(const struct call_symbols *symbols, uint64_t offset)
{
	uint64_t low = 0, high = symbols->count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *call_symbols_name(const struct call_symbols *symbols, uint64_t offset, unsigned n)
{
	const uint64_t end = symbols ? position(symbols, offset) : 0;
	const struct symbol_entry *entry;

	if (n >= end)
		return NULL;
	entry = &symbols->entries[end - 1 - n];
	return entry->offset == symbols->entries[end - 1].offset && offset - entry->offset < entry->bytes
		       ? symbols->strings + entry->name
		       : NULL;
}

/* ---- C++ */

struct demangling {
	const char *name;
	char *stack; /* NULL: none yet */
	char text[DEMANGLED_MAX];
	struct nolibc_string out;
	int result;
};

static struct demangling demangling;

#ifdef CALLS_STATIC
/* A program that does not link libiberty goes without: functions of C++ have their mangled names in rules. */
#pragma weak cplus_demangle_v3_callback
#define HAS_DEMANGLER (cplus_demangle_v3_callback != NULL)
#else
#define HAS_DEMANGLER true
#endif

static void append(const char *text, size_t bytes, void *data)
{
	nolibc_bytes(data, text, bytes);
}

static __attribute__((used)) void demangle_here(void)
{
	/* As in image/names/demangle.c, so that `burin calls` finds the same functions. It allocates nothing. */
	demangling.result = cplus_demangle_v3_callback(
		demangling.name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, append, &demangling.out);
}

/* The thread's stack may be small, and demangling takes much: it has a stack of its own. */
static void demangle_aside(void)
{
#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %0, %%rsp\n\t"
			 "call *%1\n\t"
			 "movq %%rbx, %%rsp"
			 :
			 : "r"(demangling.stack + DEMANGLE_STACK), "r"(demangle_here)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#else
	demangle_here();
#endif
}

const char *call_symbols_demangle(const char *name)
{
	if (!HAS_DEMANGLER || name[0] != '_' || name[1] != 'Z' || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	if (!demangling.stack)
		demangling.stack = get(DEMANGLE_STACK);
	if (!demangling.stack)
		return NULL;
	demangling.name = name;
	demangling.out = (struct nolibc_string){ demangling.text, sizeof(demangling.text), 0, false };
	demangling.text[0] = 0;
	demangle_aside();
	return demangling.result != 0 && !demangling.out.truncated ? demangling.text : NULL;
}
