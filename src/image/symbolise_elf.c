/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A child with an ELF image: names by its symbols, lines by its debug information. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/debugfile.h"
#include "image/lines.h"
#include "image/plt.h"
#include "image/section.h"
#include "image/symbolise_say.h"
#include "image/unwind.h"

struct place {
	uint64_t address, offset;
};

struct elf {
	struct child *child;
	struct image image, debug, alternate;
	char debug_path[PATH_MAX];
	bool has_debug, has_alternate;
	Dwarf *dwarf, *alternate_dwarf;
	struct symbols symbols;
	struct place *places; /* by address */
	size_t count;
	struct unwind_table *tables; /* NULL: there are none, or nobody has asked yet */
	bool tried_tables;
};

static int compare_places(const void *one, const void *other)
{
	const struct place *a = one, *b = other;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Where a function begins, and how long it is, as offsets; 0, 0: nobody knows. */
struct extent {
	uint64_t begin, bytes;
};

/* From the name's or else the debug information's point of view; of code that has neither, from the unwinding tables'. */
static struct extent find_extent(struct elf *elf, uint64_t address, const struct symbol *symbol,
				 const struct lines_place *lines)
{
	uint64_t begin_address = symbol ? symbol->address : lines->begin;
	const uint64_t end_address = symbol ? symbol->end : lines->end;
	struct extent extent = { .bytes = end_address - begin_address };

	if (!symbol && !lines->count) {
		if (!elf->tried_tables && unwind_table_open(&elf->tables, &elf->image))
			elf->tables = NULL;
		elf->tried_tables = true;
		if (!elf->tables ||
		    unwind_table_extent(elf->tables, address, &begin_address, &extent.bytes) != 0)
			return (struct extent){ 0 };
	} else if (end_address <= begin_address) {
		return (struct extent){ 0 };
	}
	return image_offset(&elf->image, begin_address, &extent.begin) ? (struct extent){ 0 } : extent;
}

static bool mangled(const char *name, size_t bytes)
{
	return bytes > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/*
 * What the outermost function is called. The debug information knows `f` where the symbols have `f.cold` or `f.part.0`;
 * but the name that others call a function by is that of its symbol (malloc, in the source: __libc_malloc). And of a
 * function that is local to its file g++ tells no more than `operator()`, without what that belongs to.
 */
static uint32_t outermost(struct elf *elf, const struct symbol *symbol, const struct lines_place *lines)
{
	const char *name = lines->count ? lines->frames[lines->count - 1].function : NULL;

	if (!name || (symbol && !symbol->local && symbol->address == lines->begin))
		return symbol ? child_symbol(elf->child, symbol) : 0;
	if (symbol && symbol->address == lines->begin && mangled(symbol->name, symbol->bytes) &&
	    !mangled(name, strlen(name))) {
		const char *suffix = memchr(symbol->name, '.', symbol->bytes);
		struct symbol whole = *symbol;

		whole.bytes = suffix ? (uint32_t)(suffix - symbol->name) : symbol->bytes;
		return child_symbol(elf->child, &whole);
	}
	return child_text(elf->child, name, strlen(name), true);
}

static void say_place(struct elf *elf, const struct place *place, const struct lines_place *lines)
{
	const struct symbol *symbol = symbols_find(&elf->symbols, place->address);
	const unsigned count = lines->count ? lines->count : symbol ? 1 : 0;
	const struct extent extent = find_extent(elf, place->address, symbol, lines);
	struct child *child = elf->child;
	uint32_t numbers[LINES_FRAMES_MAX][2];

	/* The texts first: their messages cannot come within that of the place. */
	for (unsigned n = 0; n < count; n++) {
		const char *function = n < lines->count ? lines->frames[n].function : NULL;
		const char *file = n < lines->count ? lines->frames[n].file : NULL;

		numbers[n][0] = n + 1 == count ? outermost(elf, symbol, lines)
				: function     ? child_text(child, function, strlen(function), true)
					       : 0;
		numbers[n][1] = file ? child_text(child, file, strlen(file), false) : 0;
	}
	if (count || extent.bytes) {
		child_begin(child, CHILD_PLACE);
		child_put(child, place->offset);
		child_put(child, extent.begin);
		child_put(child, extent.bytes);
		child_put(child, count);
		for (unsigned n = 0; n < count; n++) {
			child_put(child, numbers[n][0]);
			child_put(child, numbers[n][1]);
			child_put(child, n < lines->count ? lines->frames[n].line : 0);
		}
		child_end(child);
	}
	child_done(child);
}

static void told_lines(void *data, size_t number, const struct lines_place *lines)
{
	struct elf *elf = data;

	say_place(elf, &elf->places[number], lines);
}

static int find_places(struct elf *elf)
{
	const struct child_task *task = elf->child->task;

	elf->places = calloc(task->count + 1, sizeof(*elf->places));
	if (!elf->places)
		return -ENOMEM;
	for (size_t n = 0; n < task->count; n++) {
		uint64_t address;

		if (image_address(&elf->image, task->offsets[n], &address) != 0)
			child_done(elf->child); /* nowhere in the file's code */
		else
			elf->places[elf->count++] = (struct place){ address, task->offsets[n] };
	}
	qsort(elf->places, elf->count, sizeof(*elf->places), compare_places);
	return 0;
}

static int say_places(struct elf *elf)
{
	uint64_t *addresses = calloc(elf->count + 1, sizeof(*addresses));
	int error = addresses ? 0 : -ENOMEM;

	for (size_t n = 0; n < elf->count && !error; n++) {
		addresses[n] = elf->places[n].address;
		if (!elf->dwarf)
			say_place(elf, &elf->places[n], &(struct lines_place){ 0 });
	}
	if (elf->dwarf && !error)
		error = lines_find(elf->dwarf, addresses, elf->count, told_lines, elf);
	free(addresses);
	return error;
}

static bool has_lines(struct image *image)
{
	GElf_Shdr header;

	return section_data(image->elf, ".debug_info", &header) ||
	       section_data(image->elf, ".zdebug_info", &header);
}

/*
 * Where variables lie is not asked here, but opening the DWARF inflates all of it, sections of up to 50 MB: what libdw shall
 * leave out says, in our memory, that it has no bytes.
 */
static void leave_out_variables(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (!name || (strcmp(name, ".debug_loc") != 0 && strcmp(name, ".debug_loclists") != 0))
			continue;
		header.sh_type = SHT_NOBITS;
		gelf_update_shdr(section, &header);
	}
}

/* The debug information, wherever it is. */
static void open_debug(struct elf *elf)
{
	const struct child_task *task = elf->child->task;
	struct image *with = &elf->image;

	if (!has_lines(with)) {
		elf->has_debug = !debugfile_find(&elf->debug, elf->debug_path, &elf->image, task->image->path,
						 task->root);
		with = elf->has_debug && has_lines(&elf->debug) ? &elf->debug : NULL;
	}
	if (!with || task->level != CHILD_LINES)
		return;
	leave_out_variables(with->elf);
	elf->dwarf = dwarf_begin_elf(with->elf, DWARF_C_READ, NULL);
	if (elf->dwarf)
		elf->has_alternate = debugfile_alternate(
			&elf->alternate, &elf->alternate_dwarf, elf->dwarf,
			with == &elf->image ? task->image->path : elf->debug_path, task->root);
}

static void say_state(struct elf *elf)
{
	const unsigned char *id = elf->image.build_id;
	char path[PATH_MAX] = "";

	if (elf->dwarf) {
		child_say_image(elf->child, WIRE_SYMBOLS_LINES, false, "");
		return;
	}
	debugfile_path(path, id, elf->image.build_id_bytes);
	child_say_image(elf->child,
			elf->symbols.full    ? WIRE_SYMBOLS_TABLE
			: elf->symbols.count ? WIRE_SYMBOLS_DYNAMIC
					     : WIRE_SYMBOLS_NONE,
			true, path);
}

static int open_image(const struct child_task *task, struct image *image)
{
	const struct symbolise_image *of = task->image;

	if (of->file >= 0)
		return image_open(image, dup(of->file));
	if (of->kind == WIRE_IMAGE_VDSO)
		return image_open_vdso(image); /* its build id says whether it is the same */
	return *of->path == '/' ? debugfile_open(image, of->path, task->root) : -ENOENT;
}

static bool is_other(const struct symbolise_image *of, const struct image *image)
{
	return of->build_id_bytes && (of->build_id_bytes != image->build_id_bytes ||
				      memcmp(of->build_id, image->build_id, of->build_id_bytes) != 0);
}

int child_elf(struct child *child)
{
	struct elf elf = { .child = child };
	int error = open_image(child->task, &elf.image);

	if (error) {
		child_say_unreadable(child, error == -ENOEXEC ? "it is no sound ELF file" : strerror(-error));
		return 0;
	}
	if (is_other(child->task->image, &elf.image)) {
		child_say_unreadable(child, "it is another file now, with another build id");
		return 0;
	}
	open_debug(&elf);
	error = symbols_read(&elf.symbols, elf.image.elf, elf.has_debug ? elf.debug.elf : NULL);
	if (!error)
		error = plt_read(&elf.symbols, elf.image.elf);
	if (!error)
		error = find_places(&elf);
	if (!error)
		error = say_places(&elf);
	if (!error)
		say_state(&elf);
	free(elf.places);
	symbols_free(&elf.symbols);
	unwind_table_close(elf.tables);
	dwarf_end(elf.dwarf);
	if (elf.has_alternate) {
		dwarf_end(elf.alternate_dwarf);
		image_close(&elf.alternate);
	}
	if (elf.has_debug)
		image_close(&elf.debug);
	image_close(&elf.image);
	return error;
}
