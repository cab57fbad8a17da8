/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One image, in a process of its own; see symbolise_child.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/leb128.h"
#include "image/debugfile.h"
#include "image/demangle.h"
#include "image/jitmap.h"
#include "image/kernel_names.h"
#include "image/lines.h"
#include "image/plt.h"
#include "image/section.h"
#include "image/symbolise_child.h"
#include "image/symbols.h"
#include "image/texts.h"
#include "image/unwind.h"

enum {
	OUT_MAX = 1 << 18,
	REMEDY_MAX = PATH_MAX + 256,
};

struct child {
	const struct child_task *task;
	int pipe;
	int error;		     /* the first of writing or of memory */
	uint64_t done;		     /* places */
	size_t filled;		     /* of out */
	unsigned char *message, *at; /* the one that is being written: its begin, its end so far */
	struct texts texts;
	unsigned char out[OUT_MAX];
};

/* ---- messages */

static void flush(struct child *child)
{
	for (size_t at = 0; at < child->filled && !child->error;) {
		ssize_t wrote = write(child->pipe, child->out + at, child->filled - at);

		if (wrote > 0)
			at += (size_t)wrote;
		else if (errno != EINTR)
			child->error = -errno;
	}
	child->filled = 0;
}

static void begin(struct child *child, enum child_message kind)
{
	if (child->filled + CHILD_MESSAGE_MAX + sizeof(uint32_t) > OUT_MAX)
		flush(child);
	child->message = child->out + child->filled;
	child->at = leb128_put(child->message + sizeof(uint32_t), kind);
}

static void put(struct child *child, uint64_t number)
{
	child->at = leb128_put(child->at, number);
}

static void put_text(struct child *child, const char *text, size_t bytes)
{
	bytes = bytes < WIRE_TEXT_MAX ? bytes : WIRE_TEXT_MAX;
	put(child, bytes);
	child->at = (unsigned char *)memcpy(child->at, text, bytes) + bytes;
}

static void end(struct child *child)
{
	const uint32_t bytes = (uint32_t)(child->at - child->message - sizeof(uint32_t));

	memcpy(child->message, &bytes, sizeof(bytes));
	child->filled = (size_t)(child->at - child->out);
}

/* Says now and then how far it is, which also says that it lives. */
static void done(struct child *child)
{
	child->done++;
	if (child->done % 64 && child->done != child->task->count)
		return;
	begin(child, CHILD_DONE);
	put(child, child->done);
	end(child);
	flush(child);
}

static void say_image(struct child *child, enum wire_symbols_state state, bool missing, const char *remedy)
{
	begin(child, CHILD_IMAGE);
	put(child, state);
	put(child, missing);
	put_text(child, remedy, strlen(remedy));
	end(child);
}

/* ---- texts */

/* Return: 0: none. A text is said when it comes first; the number of a name is that of how it was written. */
static uint32_t number_of(struct child *child, const char *text, size_t bytes, bool mangled)
{
	char readable[DEMANGLE_OUT_MAX];
	size_t readable_bytes;
	uint32_t number;
	bool fresh;

	if (!bytes)
		return 0;
	number = texts_number(&child->texts, text, bytes, &fresh);
	if (!number)
		child->error = -ENOMEM;
	if (!fresh)
		return number;
	readable_bytes = mangled ? demangle(readable, child->texts.all[number - 1].text) : 0;
	begin(child, CHILD_TEXT);
	put_text(child, readable_bytes ? readable : text, readable_bytes ? readable_bytes : bytes);
	end(child);
	return number;
}

static uint32_t number_of_symbol(struct child *child, const struct symbol *symbol)
{
	char name[DEMANGLE_IN_MAX], readable[DEMANGLE_OUT_MAX + sizeof("@plt")];
	size_t bytes = symbol->bytes < sizeof(name) - 1 ? symbol->bytes : sizeof(name) - 1;

	memcpy(name, symbol->name, bytes);
	name[bytes] = 0;
	if (!symbol->plt)
		return number_of(child, name, bytes, true);
	bytes = demangle(readable, name);
	if (!bytes)
		bytes = (size_t)snprintf(readable, DEMANGLE_OUT_MAX, "%.*s", DEMANGLE_OUT_MAX - 1, name);
	bytes = strlen(readable);
	memcpy(readable + bytes, "@plt", sizeof("@plt"));
	return number_of(child, readable, bytes + 4, false);
}

/* ---- ELF images */

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
		return symbol ? number_of_symbol(elf->child, symbol) : 0;
	if (symbol && symbol->address == lines->begin && mangled(symbol->name, symbol->bytes) &&
	    !mangled(name, strlen(name))) {
		const char *suffix = memchr(symbol->name, '.', symbol->bytes);
		struct symbol whole = *symbol;

		whole.bytes = suffix ? (uint32_t)(suffix - symbol->name) : symbol->bytes;
		return number_of_symbol(elf->child, &whole);
	}
	return number_of(elf->child, name, strlen(name), true);
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
				: function     ? number_of(child, function, strlen(function), true)
					       : 0;
		numbers[n][1] = file ? number_of(child, file, strlen(file), false) : 0;
	}
	if (count || extent.bytes) {
		begin(child, CHILD_PLACE);
		put(child, place->offset);
		put(child, extent.begin);
		put(child, extent.bytes);
		put(child, count);
		for (unsigned n = 0; n < count; n++) {
			put(child, numbers[n][0]);
			put(child, numbers[n][1]);
			put(child, n < lines->count ? lines->frames[n].line : 0);
		}
		end(child);
	}
	done(child);
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
			done(elf->child); /* nowhere in the file's code */
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
		say_image(elf->child, WIRE_SYMBOLS_LINES, false, "");
		return;
	}
	debugfile_path(path, id, elf->image.build_id_bytes);
	say_image(elf->child,
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

static void say_unreadable(struct child *child, const char *why)
{
	char text[REMEDY_MAX];

	snprintf(text, sizeof(text), "%s: %s", child->task->image->path, why);
	say_image(child, WIRE_SYMBOLS_NONE, false, text);
}

static int child_elf(struct child *child)
{
	struct elf elf = { .child = child };
	int error = open_image(child->task, &elf.image);

	if (error) {
		say_unreadable(child, error == -ENOEXEC ? "it is no sound ELF file" : strerror(-error));
		return 0;
	}
	if (is_other(child->task->image, &elf.image)) {
		say_unreadable(child, "it is another file now, with another build id");
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

/* ---- the kernel, and code made at run time */

static void say_simple(struct child *child, uint64_t offset, uint64_t from, uint64_t size, uint32_t name,
		       uint32_t file, uint32_t line)
{
	begin(child, CHILD_PLACE);
	put(child, offset);
	put(child, size ? from : 0);
	put(child, size);
	put(child, 1);
	put(child, name);
	put(child, file);
	put(child, line);
	end(child);
}

static bool is_running(const struct child_task *task)
{
	const struct symbolise_image *of = task->image;
	unsigned char id[IMAGE_BUILD_ID_MAX];
	const size_t bytes = kernel_build_id(of->kind == WIRE_IMAGE_MODULE ? of->path : "", id, sizeof(id));

	return !*task->root && (!of->build_id_bytes || !bytes ||
				(bytes == of->build_id_bytes && !memcmp(id, of->build_id, bytes)));
}

static int child_kernel(struct child *child)
{
	const struct child_task *task = child->task;
	struct kernel_names names;
	int error;

	if (!is_running(task)) {
		say_image(child, WIRE_SYMBOLS_NONE, false,
			  "another kernel runs now; only a running kernel is asked");
		return 0;
	}
	error = kernel_names_read(&names, "/proc/kallsyms", "/proc/modules");
	if (error) {
		say_image(child, WIRE_SYMBOLS_NONE, false,
			  error == -EPERM
				  ? "root, or sysctl kernel.kptr_restrict=0: the kernel hides its addresses"
				  : "/proc/kallsyms");
		return error == -ENOMEM ? error : 0;
	}
	for (size_t n = 0; n < task->count; n++) {
		const char *module = task->image->kind == WIRE_IMAGE_MODULE ? task->image->path : NULL;
		uint64_t from, size;
		const char *name = kernel_names_find(&names, module, task->offsets[n], &from, &size);

		if (name)
			say_simple(child, task->offsets[n], from, size,
				   number_of(child, name, strlen(name), true), 0, 0);
		done(child);
	}
	say_image(child, WIRE_SYMBOLS_TABLE, false, "");
	kernel_names_free(&names);
	return 0;
}

static int child_jit(struct child *child)
{
	const struct child_task *task = child->task;
	struct jitmap_name *names = calloc(task->count + 1, sizeof(*names));
	struct jitmap map;
	const int file = task->image->file >= 0 ? dup(task->image->file)
						: debugfile_descriptor(task->image->path, task->root);
	bool lines = false;
	int error = file < 0 ? file : names ? jitmap_read(&map, file) : -ENOMEM;

	if (error)
		say_unreadable(child, strerror(-error));
	else if (task->image->kind == WIRE_IMAGE_JITDUMP)
		jitdump_find(&map, task->offsets, task->count, names);
	else
		jitmap_find(&map, task->offsets, task->count, names);
	for (size_t n = 0; n < task->count && !error; n++) {
		const struct jitmap_name *name = &names[n];

		if (name->name) {
			const uint32_t text = number_of(child, name->name, name->bytes, true);
			const uint32_t source =
				name->file ? number_of(child, name->file, strlen(name->file), false) : 0;

			say_simple(child, task->offsets[n], name->begin, name->size, text, source,
				   name->line);
			lines |= source != 0;
		}
		done(child);
	}
	if (!error) {
		say_image(child, lines ? WIRE_SYMBOLS_LINES : WIRE_SYMBOLS_TABLE, false, "");
		jitmap_free(&map);
	}
	free(names);
	if (file >= 0)
		close(file);
	return error == -ENOMEM ? error : 0;
}

/* Memory without a file. If its maker has told of it after all, that is good for the code before, too. */
static int child_memory(struct child *child)
{
	if (child->task->image->file >= 0)
		return child_jit(child);
	say_image(child, WIRE_SYMBOLS_NONE, false,
		  *child->task->image->path
			  ? ""
			  : "what makes code at run time has to tell of it: /tmp/perf-PID.map, or a jitdump");
	return 0;
}

int symbolise_child(const struct child_task *task, int pipe)
{
	struct child *child = calloc(1, sizeof(*child));
	int error = 0;

	if (!child)
		return -ENOMEM;
	child->task = task;
	child->pipe = pipe;
	switch (task->image->kind) {
	case WIRE_IMAGE_FILE:
	case WIRE_IMAGE_VDSO:
		error = child_elf(child);
		break;
	case WIRE_IMAGE_KERNEL:
	case WIRE_IMAGE_MODULE:
		error = child_kernel(child);
		break;
	case WIRE_IMAGE_JIT:
	case WIRE_IMAGE_JITDUMP:
		error = child_jit(child);
		break;
	case WIRE_IMAGE_ANONYMOUS:
		error = child_memory(child);
		break;
	default:
		say_image(child, WIRE_SYMBOLS_NONE, false, "");
		break;
	}
	flush(child);
	error = error ? error : child->error;
	texts_free(&child->texts);
	free(child);
	return error;
}
