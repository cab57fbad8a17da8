/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The child for an ELF image: names from its symbols, lines and parameters from its debug information. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/elf/debugfile.h"
#include "image/elf/inflate.h"
#include "image/names/go_names.h"
#include "image/names/dwarf_text.h"
#include "image/names/lines.h"
#include "image/names/line_places.h"
#include "image/names/parameters.h"
#include "image/names/plt.h"
#include "image/elf/section.h"
#include "image/symbolize/symbolize_confine.h"
#include "image/symbolize/symbolize_elf.h"
#include "image/unwind/unwind_table.h"

struct location {
	uint64_t address, offset;
};

struct elf {
	struct child *child;
	struct image image;
	struct debugfiles files;
	Elf *image_elf, *debug_elf,
		*alternate_elf;	 /* the same files in libelf, opened after the child is confined */
	const char *dwarf_error; /* why there are no lines in spite of debug information; NULL: no error */
	Dwarf *dwarf, *alternate_dwarf;
	struct inflated inflated; /* the sections of both */
	struct symbols symbols;
	struct location *locations; /* by address */
	size_t count;
	struct unwind_table *tables; /* NULL: there are none, or they have not been opened yet */
	bool tried_tables;
};

static int compare_locations(const void *one, const void *other)
{
	const struct location *a = one, *b = other;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The begin of a function, as an offset, and its size; 0, 0: unknown. */
struct extent {
	uint64_t begin, bytes;
};

/* From the symbol, or else the debug information, or else, for code without both, the unwind tables. */
static struct extent symbolize_elf_find_extent(struct elf *elf, uint64_t address, const struct symbol *symbol,
					       const struct lines_location *lines)
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

static bool symbolize_elf_mangled(const char *name, size_t bytes)
{
	return bytes > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/*
 * Whether gcc has made a function of a part of another one, whose begin is in their callers. Such a call is not one of the other function, of
 * which debug information has the name.
 */
static bool symbolize_elf_is_part(const struct symbol *symbol)
{
	return memmem(symbol->name, symbol->bytes, ".part.", 6) != NULL;
}

/*
 * The name of the outermost function. Debug information has `f` where the symbols have `f.cold` or `f.constprop.0`. But
 * callers use the name of the symbol (malloc, in the source: __libc_malloc). And for a function that is local to its
 * file, g++ writes a bare `operator()` into the debug information, without its class.
 */
static uint32_t symbolize_elf_outermost(struct elf *elf, const struct symbol *symbol,
					const struct lines_location *lines)
{
	const char *name = lines->count ? lines->frames[lines->count - 1].function : NULL;

	if (!name ||
	    (symbol && symbol->address == lines->begin && (!symbol->local || symbolize_elf_is_part(symbol))))
		return symbol ? child_symbol(elf->child, symbol) : 0;
	if (symbol && symbol->address == lines->begin && symbolize_elf_mangled(symbol->name, symbol->bytes) &&
	    !symbolize_elf_mangled(name, strlen(name))) {
		const char *suffix = memchr(symbol->name, '.', symbol->bytes);
		struct symbol whole = *symbol;

		whole.bytes = suffix ? (uint32_t)(suffix - symbol->name) : symbol->bytes;
		return child_symbol(elf->child, &whole);
	}
	return child_text(elf->child, name, strlen(name), true);
}

static void send_location(struct elf *elf, const struct location *location,
			  const struct lines_location *lines)
{
	const struct symbol *symbol = symbols_find(&elf->symbols, location->address);
	const unsigned count = lines->count ? lines->count : symbol ? 1 : 0;
	const struct extent extent = symbolize_elf_find_extent(elf, location->address, symbol, lines);
	struct child *child = elf->child;
	uint32_t numbers[LINES_FRAMES_MAX][2];

	/* Texts first: their messages cannot be inside that of the location. */
	for (unsigned n = 0; n < count; n++) {
		const char *function = n < lines->count ? lines->frames[n].function : NULL;
		const char *file = n < lines->count ? lines->frames[n].file : NULL;

		numbers[n][0] = n + 1 == count ? symbolize_elf_outermost(elf, symbol, lines)
				: function     ? child_text(child, function, strlen(function), true)
					       : 0;
		numbers[n][1] = file ? child_text(child, file, strlen(file), false) : 0;
	}
	if (count || extent.bytes) {
		child_begin(child, CHILD_LOCATION);
		child_put(child, location->offset);
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

static void on_lines(void *data, size_t number, const struct lines_location *lines)
{
	struct elf *elf = data;

	send_location(elf, &elf->locations[number], lines);
}

static int find_locations(struct elf *elf)
{
	const struct child_task *task = elf->child->task;

	elf->locations = calloc(task->count + 1, sizeof(*elf->locations));
	if (!elf->locations)
		return -ENOMEM;
	for (size_t n = 0; n < task->count; n++) {
		uint64_t address;

		if (image_address(&elf->image, task->offsets[n], &address) != 0)
			child_done(elf->child); /* not in the file's code */
		else
			elf->locations[elf->count++] = (struct location){ address, task->offsets[n] };
	}
	qsort(elf->locations, elf->count, sizeof(*elf->locations), compare_locations);
	return 0;
}

static int send_locations(struct elf *elf)
{
	uint64_t *addresses = calloc(elf->count + 1, sizeof(*addresses));
	int error = addresses ? 0 : -ENOMEM;

	for (size_t n = 0; n < elf->count && !error; n++) {
		addresses[n] = elf->locations[n].address;
		if (!elf->dwarf)
			send_location(elf, &elf->locations[n], &(struct lines_location){ 0 });
	}
	if (elf->dwarf && !error)
		error = lines_find(elf->dwarf, addresses, elf->count, on_lines, elf);
	free(addresses);
	return error;
}

/* ---- parameters */

static bool is_executable(const struct image *image, uint64_t offset)
{
	for (unsigned n = 0; n < image->segment_count; n++)
		if (image->segments[n].executable &&
		    offset - image->segments[n].offset < image->segments[n].bytes)
			return true;
	return false;
}

static void symbolize_elf_on_parameters(void *data, uint64_t address, const char *spec, const char *file)
{
	const struct elf *elf = data;
	struct child *child = elf->child;
	uint64_t offset;

	/* The linker leaves functions that it dropped in the debug information, at addresses without code. */
	if (image_offset(&elf->image, address, &offset) != 0 || !is_executable(&elf->image, offset))
		return;
	child_begin(child, CHILD_PARAMETERS);
	child_put(child, offset);
	child_put(child, spec != NULL);
	child_put_text(child, spec ?: "", spec ? strlen(spec) : 0);
	child_put_text(child, file ?: "", file && strlen(file) < PATH_MAX ? strlen(file) : 0);
	child_end(child);
}

/* Places of arguments are known of x86-64 only, and there not of its form with short pointers. */
static int send_parameters(struct elf *elf)
{
	if (elf->dwarf)
		parameters_find(elf->dwarf, &elf->symbols, elf->image.wide && elf->image.machine == EM_X86_64,
				symbolize_elf_on_parameters, elf);
	return 0;
}

/* ---- places of a line */

static bool symbolize_elf_is_code(void *data, uint64_t address)
{
	const struct elf *elf = data;
	uint64_t offset;

	return image_offset(&elf->image, address, &offset) == 0 && is_executable(&elf->image, offset);
}

static void symbolize_elf_on_place(void *data, uint64_t address, uint32_t line)
{
	const struct elf *elf = data;

	child_begin(elf->child, CHILD_PLACE);
	child_put(elf->child, address);
	child_put(elf->child, line);
	child_end(elf->child);
}

static int send_places(struct elf *elf)
{
	const struct child_task *task = elf->child->task;

	if (elf->dwarf)
		line_places_find(elf->dwarf, &(struct line_places){ .file = task->source,
								    .line = task->source_line,
								    .is_code = symbolize_elf_is_code,
								    .found = symbolize_elf_on_place,
								    .data = elf });
	return 0;
}

/*
 * The libraries for ELF and DWARF, and image_read(), treat data that cannot be read, or for which there is no memory, as
 * missing. Only errno shows the error of the call that failed.
 */
static int hidden_error(void)
{
	return errno == ENOMEM || errno == EIO ? -errno : 0;
}

static bool has_texts(const char *name)
{
	return !strcmp(name, ".debug_str") || !strcmp(name, ".debug_line_str");
}

/*
 * Loads the sections of debug information before libdw does, so that libdw cannot miss one. It would also inflate the
 * locations of variables, up to 50 MB. Unless they are needed, these sections are marked in memory as having no bytes.
 * Return: 0, or as hidden_error().
 */
static int load_sections(struct inflated *inflated, Elf *elf, bool located)
{
	Elf_Scn *section = NULL;
	size_t names;
	int error = 0;

	if (elf_getshdrstrndx(elf, &names))
		return hidden_error();
	while (!error && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		errno = 0;
		if (!name || strncmp(name, ".debug_", 7) != 0)
			continue;
		if (!located && (strcmp(name, ".debug_loc") == 0 || strcmp(name, ".debug_loclists") == 0)) {
			header.sh_type = SHT_NOBITS;
			gelf_update_shdr(section, &header);
		} else if (inflate_section(inflated, elf, section) != 0 || !elf_getdata(section, NULL) ||
			   (has_texts(name) && inflate_terminate(inflated, section) != 0)) {
			error = hidden_error();
		}
	}
	return error;
}

/* Whether a debug file would give more than the names of exported functions. */
static bool lacks_names(const struct elf *elf)
{
	struct image_section section;

	return !elf->files.has_debug && !debugfiles_has_lines(&elf->image) &&
	       image_section(&elf->image, ".symtab", &section) &&
	       image_section(&elf->image, ".gnu_debugdata", &section);
}

static Elf *begin_elf(const struct image *image)
{
	elf_version(EV_CURRENT);
	/* Not mapped, since its owner may truncate the file. libelf takes a pointer that is not const, but does not write. */
	return image->memory ? elf_memory((char *)(uintptr_t)image->memory, image->memory_bytes)
			     : elf_begin(image->fd, ELF_C_READ, NULL);
}

/* Confines the child; from here on, files are read without rights. Return: 0, or -ENOEXEC. */
static int begin_elves(struct elf *elf)
{
	int files[3], count = 0;

	if (elf->image.fd >= 0)
		files[count++] = elf->image.fd;
	if (elf->files.has_debug)
		files[count++] = elf->files.debug.fd;
	if (elf->files.has_alternate)
		files[count++] = elf->files.alternate.fd;
	child_confine(elf->child, files, (unsigned)count);
	elf->image_elf = begin_elf(&elf->image);
	elf->debug_elf = elf->files.has_debug ? begin_elf(&elf->files.debug) : NULL;
	elf->alternate_elf = elf->files.has_alternate ? begin_elf(&elf->files.alternate) : NULL;
	return elf->image_elf && elf_kind(elf->image_elf) == ELF_K_ELF ? 0 : -ENOEXEC;
}

/* Opens the debug information, in the image or its debug file. Return: 0, or a negative errno: it may succeed later. */
static int open_debug(struct elf *elf)
{
	Elf *with = debugfiles_has_lines(&elf->image)				? elf->image_elf
		    : elf->debug_elf && debugfiles_has_lines(&elf->files.debug) ? elf->debug_elf
										: NULL;

	int error;

	if (!with || elf->child->task->level != CHILD_LINES || elf->child->task->functions)
		return 0;
	error = load_sections(&elf->inflated, with, elf->child->task->parameters);
	if (!error && elf->alternate_elf)
		error = load_sections(&elf->inflated, elf->alternate_elf, false);
	if (error)
		return error;
	elf->dwarf = dwarf_begin_elf(with, DWARF_C_READ, NULL);
	if (!elf->dwarf)
		elf->dwarf_error = dwarf_errmsg(-1);
	if (!elf->dwarf || !elf->alternate_elf)
		return hidden_error();
	elf->alternate_dwarf = dwarf_begin_elf(elf->alternate_elf, DWARF_C_READ, NULL);
	if (elf->alternate_dwarf)
		dwarf_setalt(elf->dwarf, elf->alternate_dwarf);
	return hidden_error();
}

static void send_state(struct elf *elf)
{
	const unsigned char *id = elf->image.build_id;
	/* The kernel brings its vdso along: neither a package nor a build of the user's has more of its names. */
	const bool missing = !elf->dwarf_error && !elf->child->task->functions &&
			     elf->child->task->image->kind != WIRE_IMAGE_VDSO;
	char path[PATH_MAX] = "";

	if (elf->dwarf) {
		child_send_image(elf->child, WIRE_SYMBOLS_LINES, false, "");
		return;
	}
	if (elf->dwarf_error)
		snprintf(path, sizeof(path),
			 "its debug information is damaged, or needs too much memory (%s)", elf->dwarf_error);
	else if (elf->child->task->image->kind != WIRE_IMAGE_VDSO)
		debugfile_path(path, id, elf->image.build_id_bytes);
	child_send_image(elf->child,
			 elf->symbols.full    ? WIRE_SYMBOLS_TABLE
			 : elf->symbols.count ? WIRE_SYMBOLS_DYNAMIC
					      : WIRE_SYMBOLS_NONE,
			 missing, path);
}

/* To name that table takes all relocations, of which a large library has some hundred thousand. */
static bool needs_plt(const struct elf *elf)
{
	GElf_Shdr parts[PLT_PARTS];
	bool needed = false;

	for (unsigned part = plt_parts(elf->image_elf, parts); part--;)
		for (size_t n = 0; n < elf->count; n++)
			needed |= elf->locations[n].address - parts[part].sh_addr < parts[part].sh_size;
	return needed;
}

/* Return: 0, or a negative errno: it may succeed later. */
static int send_names(struct elf *elf)
{
	int error = go_names_read(&elf->symbols, elf->image_elf);

	if (!error)
		error = find_locations(elf);
	if (!error && needs_plt(elf))
		error = plt_read(&elf->symbols, elf->image_elf);
	if (!error)
		error = hidden_error();
	return error ? error : send_locations(elf);
}

/* An error that is not the file's fault: later, or with more memory, it may succeed. */
static bool is_temporary(int error)
{
	return error == -ENOMEM || error == -EIO || error == -EMFILE || error == -ENFILE;
}

static int symbolize_elf_open_image(const struct child_task *task, struct image *image)
{
	const struct symbolize_image *of = task->image;

	if (of->file >= 0)
		return image_open(image, dup(of->file));
	if (of->kind == WIRE_IMAGE_VDSO)
		return image_open_vdso(image); /* its build id is compared below */
	return *of->path == '/' ? debugfile_open(image, of->path, task->root) : -ENOENT;
}

static bool has_other_id(const struct symbolize_image *of, const struct image *image)
{
	return of->build_id_bytes && (of->build_id_bytes != image->build_id_bytes ||
				      memcmp(of->build_id, image->build_id, of->build_id_bytes) != 0);
}

int child_elf(struct child *child)
{
	struct elf elf = { .child = child };
	int error;

	errno = 0; /* for hidden_error() */
	error = symbolize_elf_open_image(child->task, &elf.image);
	if (hidden_error())
		error = hidden_error();
	if (is_temporary(error))
		return error;
	if (error) {
		child_send_unreadable(child,
				      error == -ENOEXEC ? "it is not a valid ELF file" : strerror(-error));
		return 0;
	}
	if (has_other_id(child->task->image, &elf.image)) {
		child_send_unreadable(child, "it is another file now, with another build id");
		return 0;
	}
	/* Opens all files that may be needed, before the child is confined; only our own code reads them here. */
	debugfiles_open(&elf.files, &elf.image, child->task->image->path, child->task->root,
			child->task->level == CHILD_LINES, child->task->debug);
	if (child->task->may_want && elf.image.build_id_bytes && lacks_names(&elf)) {
		child_begin(child, CHILD_WANT);
		child_end(child);
		image_close(&elf.image);
		return 0;
	}
	errno = 0; /* missing debug files have set it */
	error = begin_elves(&elf);
	if (error && hidden_error())
		return hidden_error();
	if (error) {
		child_send_unreadable(child, "it is not a valid ELF file");
		return 0;
	}
	error = open_debug(&elf);
	if (!error)
		error = symbols_read(&elf.symbols, elf.image_elf, elf.debug_elf);
	if (!error)
		error = child->task->source	  ? send_places(&elf)
			: child->task->parameters ? send_parameters(&elf)
						  : send_names(&elf);
	if (!error)
		error = hidden_error();
	if (!error && child->task->level == CHILD_LINES && !elf.dwarf_error)
		child_send_lasting(child);
	if (!error)
		send_state(&elf);
	free(elf.locations);
	symbols_free(&elf.symbols);
	unwind_table_close(elf.tables);
	dwarf_text_forget();
	dwarf_end(elf.dwarf);
	dwarf_end(elf.alternate_dwarf);
	elf_end(elf.alternate_elf);
	elf_end(elf.debug_elf);
	elf_end(elf.image_elf);
	inflated_free(&elf.inflated);
	debugfiles_close(&elf.files);
	image_close(&elf.image);
	return error;
}
