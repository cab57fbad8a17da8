/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Places for probes; see probe_file.h.
 *
 * Two processes. The child has the file, a pipe, and no rights (confine.h); it parses symbols, notes and code, which
 * may be made to attack it. The parent reads places from the pipe. Taken over by a file, the child could only send
 * wrong places. So is_sound() checks all that the parent uses as a number, a text or an index. A wrong offset hurts
 * programs of this file only: a breakpoint is a place in it, where the kernel permits one.
 *
 * Work in the child is bounded by time and memory (FILE_SECONDS, FILE_MEMORY), results by PROBE_PLACES_MAX on both
 * sides.
 *
 * Both sides keep only the best places. The child sends what fits as well as the best so far; if a better one comes,
 * both start again from there (probe_file_put_place(), probe_file_receive()). So nothing has to be sorted, and the pipe needs no end mark
 * but its close.
 *
 * Where a probe must not be: inside an instruction, where a breakpoint would change another one. Symbols are begins.
 * A note counts if its NOP is there, an offset or an address if decoding the function from its begin meets it. Where
 * decoding fails at any instruction, there is no place: a wrong one would crash the probed program.
 *
 * Returns of functions that may be unwound are probed at their return instructions (0097). All of them must be known:
 * a function that jumps out of its code, except to its cold part, might return elsewhere, and is refused.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/glob.h"
#include "image/elf/image.h"
#include "image/symbolize/confine.h"
#include "image/unwind/unwind_table.h"
#include "source/kernel/probes/probe_file.h"
#include "source/kernel/probes/probe_instruction.h"

enum {
	NOTES_MAX = 4 << 20,   /* bytes of the section of notes */
	NAMES_MAX = 256 << 20, /* of the names of symbols */
	SYMBOLS_MAX = 1 << 24,
	FILE_SECONDS = 20,
	FILE_MEMORY = 512 << 20,
	NOTE_TYPE = 3,
};

/* The code that <sys/sdt.h> puts where a probe is. Elsewhere a breakpoint might hit the middle of an instruction. */
#ifdef __x86_64__
static const uint16_t machine = EM_X86_64;
static const uint8_t nop[] = { 0x90 };
#else
static const uint16_t machine = EM_AARCH64;
static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
#endif

/* The child's file, and where the places go. */
struct finder {
	struct image image;
	const struct probe_search *search;
	int out;
	unsigned count;
	/* The symbols, and their names. */
	struct image_section table;
	const char *names;
	size_t names_bytes;
	bool unwound; /* something may unwind the file's functions */
	bool is_go;
	enum probe_match best; /* of the functions so far */
	struct probe_wanted wanted;
	struct probe_function function; /* the one that is looked at */
	uint64_t address;		/* that is looked for */
	Elf64_Sym around;		/* of an address: the function that has it; 0 bytes: none is known */
};

/* ---- in the child */

/* Places that fit better replace the others, and so does a name that is nearer. */
static int probe_file_put_place(struct finder *finder, const struct probe_place *place)
{
	if (place->match > finder->best || place->match == PROBE_NEAR)
		finder->count = 0;
	finder->best = place->match;
	if (finder->count++ == PROBE_PLACES_MAX)
		return place->match < PROBE_BY_GLOB ? 0 : -E2BIG;
	return write(finder->out, place, sizeof(*place)) == (ssize_t)sizeof(*place) ? 0 : -EPIPE;
}

/* The bytes of a section, which the caller frees; NULL: it is not there, or too large. */
static char *probe_file_load(const struct image *image, const char *name, uint64_t most, size_t *bytes)
{
	struct image_section section;
	char *data;

	if (image_section(image, name, &section) != 0 || section.bytes > most)
		return NULL;
	data = malloc(section.bytes + 1);
	*bytes = data ? image_read(image, section.offset, data, section.bytes) : 0;
	if (data)
		data[*bytes] = 0;
	return data;
}

/* ---- return instructions */

static bool probe_file_is_go(const struct image *image)
{
	struct image_section section;

	return image_section(image, ".gopclntab", &section) == 0 ||
	       image_section(image, ".go.buildinfo", &section) == 0;
}

/* The runtimes of languages whose functions are unwound. Their names are in the file, also if it is stripped. */
static bool may_be_unwound(const struct image *image)
{
	static const char *const marks[] = { "_Unwind_Resume", "_Unwind_RaiseException",
					     "__gxx_personality_v0", "__cxa_throw", "rust_eh_personality" };
	static const char *const tables[] = { ".dynstr", ".strtab" };
	bool found = probe_file_is_go(image);

	for (unsigned n = 0; n < 2 && !found; n++) {
		size_t bytes = 0;
		char *names = probe_file_load(image, tables[n], NAMES_MAX, &bytes);

		for (unsigned m = 0; m < sizeof(marks) / sizeof(marks[0]) && names; m++)
			found |= memmem(names, bytes, marks[m], strlen(marks[m]) + 1) != NULL;
		free(names);
	}
	return found;
}

/* Whether a symbol is the cold part of a function, which compilers put elsewhere: "NAME.cold", "NAME.cold.3". */
static bool probe_file_is_part(const struct finder *finder, const Elf64_Sym *symbol, const char *name)
{
	static const char cold[] = ".cold";
	const size_t bytes = strlen(name);
	const char *its = symbol->st_name < finder->names_bytes ? finder->names + symbol->st_name : "";

	return !strncmp(its, name, bytes) && !strncmp(its + bytes, cold, sizeof(cold) - 1);
}

/* The part of a function that has an address. Return: whether there is one. */
static bool find_part(const struct finder *finder, const char *name, uint64_t address, Elf64_Sym *part)
{
	Elf64_Sym symbols[256];
	uint64_t at = finder->table.offset, left = finder->table.bytes / sizeof(symbols[0]);

	left = left < SYMBOLS_MAX ? left : SYMBOLS_MAX;
	while (left) {
		const size_t wanted = left < 256 ? left : 256,
			     got = image_read(&finder->image, at, symbols, wanted * sizeof(symbols[0])) /
				   sizeof(symbols[0]);

		for (size_t n = 0; n < got; n++) {
			*part = symbols[n];
			if (address - part->st_value < part->st_size &&
			    probe_file_is_part(finder, part, name))
				return true;
		}
		at += got * sizeof(symbols[0]);
		left = got == wanted ? left - got : 0;
	}
	return false;
}

static enum probe_refusal read_returns(const struct finder *finder, const Elf64_Sym *symbol,
				       struct probe_returns *out)
{
	uint8_t *code;
	uint64_t offset;
	enum probe_refusal refusal = PROBE_CODE_UNKNOWN;

	if (!symbol->st_size || symbol->st_size > PROBE_CODE_MAX)
		return PROBE_WITHOUT_SIZE;
	code = malloc(symbol->st_size);
	if (code && image_offset(&finder->image, symbol->st_value, &offset) == 0 &&
	    image_read(&finder->image, offset, code, symbol->st_size) == symbol->st_size)
		refusal = probe_returns_find(code, symbol->st_size, out);
	free(code);
	return refusal;
}

/* Whether all jumps out of a cold part lead into the function, or stay. */
static bool jumps_back(const struct probe_returns *part, const Elf64_Sym *of, const Elf64_Sym *function)
{
	for (unsigned n = 0; n < part->jump_count; n++)
		if (of->st_value + (uint64_t)part->jumps[n] - function->st_value >= function->st_size)
			return false;
	return true;
}

static int put_instructions(struct finder *finder, const Elf64_Sym *symbol,
			    const struct probe_returns *returns, struct probe_place *place)
{
	int error = 0;

	for (unsigned n = 0; n < returns->count && !error; n++)
		if (image_offset(&finder->image, symbol->st_value + returns->returns[n], &place->offset) == 0)
			error = probe_file_put_place(finder, place);
	return error;
}

/* Find the cold part to which a function jumps; there is one at most. Return: PROBE_LEAVES: it jumps elsewhere. */
static enum probe_refusal probe_file_read_part(const struct finder *finder, const Elf64_Sym *symbol,
					       const char *name, const struct probe_returns *own,
					       Elf64_Sym *part, struct probe_returns *of_part)
{
	enum probe_refusal refusal = PROBE_TAKEN;

	*part = (Elf64_Sym){ .st_size = 0 };
	of_part->count = of_part->jump_count = 0;
	for (unsigned n = 0; n < own->jump_count; n++) {
		const uint64_t target = symbol->st_value + (uint64_t)own->jumps[n];

		if (target - part->st_value < part->st_size)
			continue;
		if (part->st_size || !find_part(finder, name, target, part))
			return PROBE_LEAVES;
		refusal = read_returns(finder, part, of_part);
		if (refusal || !jumps_back(of_part, part, symbol))
			return refusal ? refusal : PROBE_LEAVES;
	}
	return refusal;
}

/* The return instructions of a function; or why they are not to be had. */
static int put_returns(struct finder *finder, const Elf64_Sym *symbol, struct probe_place *place)
{
	static struct probe_returns own, of_part;
	enum probe_refusal refusal = read_returns(finder, symbol, &own);
	Elf64_Sym part;
	int error;

	if (!refusal)
		refusal =
			probe_file_read_part(finder, symbol, finder->function.symbol, &own, &part, &of_part);
	if (!refusal && !own.count && !of_part.count)
		refusal = PROBE_NEVER_RETURNS;
	place->is_return = false;
	place->refused = refusal;
	if (refusal)
		return probe_file_put_place(finder, place);
	error = put_instructions(finder, symbol, &own, place);
	return error ? error : put_instructions(finder, &part, &of_part, place);
}

/* ---- places within functions */

/* The code around an address by the unwind tables, for functions without a size or a symbol. */
static bool probe_file_find_extent(const struct finder *finder, uint64_t address, uint64_t *begin,
				   uint64_t *bytes)
{
	struct unwind_table *table;
	bool found;

	if (unwind_table_open_file(&table, &finder->image, NULL) != 0)
		return false;
	found = unwind_table_extent(table, address, begin, bytes) == 0;
	unwind_table_close(table);
	return found;
}

/* Set a place's offset to that of an address in a function; or why there is none. */
static enum probe_refusal place_within(const struct finder *finder, uint64_t begin, uint64_t bytes,
				       uint64_t address, struct probe_place *place)
{
	enum probe_refusal refusal = PROBE_CODE_UNKNOWN;
	uint64_t offset;
	uint8_t *code;

	if (!bytes && !probe_file_find_extent(finder, begin, &begin, &bytes))
		return PROBE_WITHOUT_SIZE;
	if (bytes > PROBE_CODE_MAX || image_offset(&finder->image, begin, &offset) != 0)
		return PROBE_CODE_UNKNOWN;
	code = malloc(bytes);
	if (code && image_read(&finder->image, offset, code, bytes) == bytes)
		refusal = probe_instruction_find(code, bytes, address - begin, &place->before, &place->next);
	free(code);
	place->offset = offset + (address - begin);
	place->function = place->offset == offset ? offset : 0;
	if (refusal == PROBE_BEHIND)
		place->before = bytes;
	else if (finder->search->addresses) {
		place->before += begin;
		place->next += begin;
	}
	return refusal;
}

static bool probe_file_is_code(const struct finder *finder, uint64_t address)
{
	const struct image *image = &finder->image;

	for (unsigned n = 0; n < image->segment_count; n++)
		if (image->segments[n].executable &&
		    address - image->segments[n].address < image->segments[n].bytes)
			return true;
	return false;
}

/* Keep the function that has the address. */
static int take_around(struct finder *finder, const Elf64_Sym *symbol)
{
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	    finder->address - symbol->st_value < symbol->st_size)
		finder->around = *symbol;
	return 0;
}

static int put_address(struct finder *finder)
{
	const uint64_t address = finder->address;
	struct probe_place place = { .match = PROBE_BY_NAME, .refused = PROBE_NO_CODE };
	uint64_t begin = finder->around.st_value, bytes = finder->around.st_size;

	snprintf(place.name, sizeof(place.name), "%.*s", PROBE_NAME - 1, finder->search->name);
	place.bare = (uint32_t)strlen(place.name);
	if (probe_file_is_code(finder, address) &&
	    (bytes || probe_file_find_extent(finder, address, &begin, &bytes)))
		place.refused = place_within(finder, begin, bytes, address, &place);
	return probe_file_put_place(finder, &place);
}

/* ---- symbols and notes */

/* Symbols of the user's own form are printed as such; see probe_names.h. */
static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

static void name_place(const struct finder *finder, struct probe_place *place)
{
	const struct probe_function *function = &finder->function;
	const char *name = is_mangled(finder->search->name) ? function->symbol : function->text;
	const size_t bare = name == function->text ? strlen(function->bare) : strlen(name);

	snprintf(place->name, sizeof(place->name), "%.*s", PROBE_NAME - 1, name);
	place->bare = (uint32_t)(bare < sizeof(place->name) ? bare : sizeof(place->name) - 1);
}

static int probe_file_take_symbol(struct finder *finder, const Elf64_Sym *symbol)
{
	struct probe_place place = { .counter = 0 };
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);
	const char *name = finder->names + symbol->st_name;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_name >= finder->names_bytes ||
	    image_offset(&finder->image, symbol->st_value, &place.offset) != 0)
		return 0;
	place.match = probe_names_match(&finder->wanted, &finder->function, name);
	if (!place.match || place.match < (uint32_t)finder->best)
		return 0;
	name_place(finder, &place);
	place.function = place.offset;
	place.is_return = finder->search->returns;
	place.is_go = finder->is_go && strchr(name, '.'); /* not C's, by cgo */
	place.refused = type == STT_GNU_IFUNC ? PROBE_CHOSEN_AT_LOAD : PROBE_TAKEN;
	if (finder->search->is_shifted && place.match >= PROBE_BY_GLOB)
		place.refused = place_within(finder, symbol->st_value, symbol->st_size,
					     symbol->st_value + finder->search->number, &place);
	return place.is_return && finder->unwound && !place.refused ? put_returns(finder, symbol, &place)
								    : probe_file_put_place(finder, &place);
}

/* The symbols of a table. Return: 0, also if there is no table; -errno. */
static int each_symbol(struct finder *finder, const char *table, const char *texts,
		       int (*take)(struct finder *, const Elf64_Sym *))
{
	Elf64_Sym symbols[256];
	char *names = probe_file_load(&finder->image, texts, NAMES_MAX, &finder->names_bytes);
	uint64_t left = 0, at = 0;
	int error = 0;

	finder->names = names;
	if (names && image_section(&finder->image, table, &finder->table) == 0) {
		left = finder->table.bytes / sizeof(symbols[0]);
		at = finder->table.offset;
	}
	if (left > SYMBOLS_MAX)
		left = SYMBOLS_MAX;
	while (left && !error) {
		const size_t wanted = left < 256 ? left : 256;
		const size_t got = image_read(&finder->image, at, symbols, wanted * sizeof(symbols[0])) /
				   sizeof(symbols[0]);

		for (size_t n = 0; n < got && !error; n++)
			error = take(finder, &symbols[n]);
		at += got * sizeof(symbols[0]);
		left = got == wanted ? left - got : 0;
	}
	free(names);
	return error;
}

/* Copy a text of a note. Return: the text behind it; NULL: it does not end in the note, or is too long. */
static const char *probe_file_copy_text(const char *at, const char *end, char *out, size_t bytes)
{
	const size_t length = strnlen(at, (size_t)(end - at));

	if (length == (size_t)(end - at) || length >= bytes)
		return NULL;
	memcpy(out, at, length + 1);
	return at + length + 1;
}

/* A note: three addresses, then provider, name and arguments. @base: of the section that prelinking moves, as it is now */
static int probe_file_take_note(struct finder *finder, const char *at, const char *end, uint64_t base)
{
	struct probe_place place = { .match = PROBE_BY_GLOB };
	uint64_t addresses[3]; /* of the probe, of the base when it was linked, of the counter */
	uint8_t code[sizeof(nop)];

	if (end - at < (ptrdiff_t)sizeof(addresses))
		return 0;
	memcpy(addresses, at, sizeof(addresses));
	at = probe_file_copy_text(at + sizeof(addresses), end, place.provider, sizeof(place.provider));
	if (at)
		at = probe_file_copy_text(at, end, place.name, sizeof(place.name));
	if (at)
		at = probe_file_copy_text(at, end, place.arguments, sizeof(place.arguments));
	if (!at || !glob_match(finder->search->provider, place.provider) ||
	    !glob_match(finder->search->name, place.name))
		return 0;
	if (base)
		addresses[0] += base - addresses[1];
	if (base && addresses[2])
		addresses[2] += base - addresses[1];
	if (image_offset(&finder->image, addresses[0], &place.offset) != 0 ||
	    (addresses[2] && image_offset(&finder->image, addresses[2], &place.counter) != 0))
		return 0;
	if (image_read(&finder->image, place.offset, code, sizeof(code)) != sizeof(code) ||
	    memcmp(code, nop, sizeof(code)) != 0)
		return 0;
	return probe_file_put_place(finder, &place);
}

static int find_notes(struct finder *finder)
{
	static const char owner[] = "stapsdt";
	struct image_section base = { .address = 0 };
	size_t bytes = 0;
	char *notes = probe_file_load(&finder->image, ".note.stapsdt", NOTES_MAX, &bytes);
	const char *at = notes;
	int error = 0;

	if (image_section(&finder->image, ".stapsdt.base", &base) != 0)
		base.address = 0;
	while (at && !error && bytes - (size_t)(at - notes) >= sizeof(Elf64_Nhdr)) {
		const size_t left = bytes - (size_t)(at - notes) - sizeof(Elf64_Nhdr);
		Elf64_Nhdr header;
		size_t name, data;

		memcpy(&header, at, sizeof(header));
		name = ((size_t)header.n_namesz + 3) & ~(size_t)3;
		data = ((size_t)header.n_descsz + 3) & ~(size_t)3;
		if (name > left || header.n_descsz > left - name)
			break;
		at += sizeof(header);
		if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof(owner) &&
		    !memcmp(at, owner, sizeof(owner)))
			error = probe_file_take_note(finder, at + name, at + name + header.n_descsz,
						     base.address);
		at += name + (data < left - name ? data : left - name);
	}
	free(notes);
	return error;
}

static int probe_file_find_addresses(struct finder *finder)
{
	int error = 0;

	for (unsigned n = 0; n < finder->search->address_count && !error; n++) {
		finder->address = finder->search->addresses[n];
		finder->around.st_size = 0;
		error = each_symbol(finder, ".symtab", ".strtab", take_around);
		if (!error && !finder->around.st_size)
			error = each_symbol(finder, ".dynsym", ".dynstr", take_around);
		if (!error)
			error = put_address(finder);
	}
	return error;
}

static int probe_file_find_places(struct finder *finder, int file)
{
	int error = image_open(&finder->image, file);

	if (error)
		return error;
	if (!finder->image.wide || finder->image.machine != machine)
		return -ENOEXEC;
	if (finder->search->provider)
		return find_notes(finder);
	if (finder->search->addresses)
		return probe_file_find_addresses(finder);
	finder->unwound = finder->search->returns && may_be_unwound(&finder->image);
	finder->is_go = probe_file_is_go(&finder->image);
	probe_names_want(&finder->wanted, finder->search->name, finder->search->whole);
	error = each_symbol(finder, ".symtab", ".strtab", probe_file_take_symbol);
	/* The second table has none of the cold parts, so its functions would seem to leave. */
	if (error || (finder->unwound && finder->table.bytes))
		return error;
	return each_symbol(finder, ".dynsym", ".dynstr", probe_file_take_symbol);
}

static _Noreturn void run_child(int file, int out, const struct probe_search *search)
{
	static struct finder finder;
	const int keep[2] = { file < out ? file : out, file < out ? out : file };
	int error;

	finder.search = search;
	finder.out = out;
	confine_process(&(struct confine){
		.memory = FILE_MEMORY, .seconds = FILE_SECONDS, .keep = keep, .keep_count = 2, .asks = -1 });
	error = probe_file_find_places(&finder, file);
	_exit(-error);
}

/* ---- in the parent */

/* The child may have been taken over by the file. */
static bool is_sound(struct probe_place *place, const struct probe_search *search)
{
	place->provider[PROBE_NAME - 1] = place->name[PROBE_NAME - 1] = 0;
	place->arguments[PROBE_ARGUMENTS - 1] = 0;
	return place->offset <= INT64_MAX && place->function <= INT64_MAX && place->counter <= UINT32_MAX &&
	       *place->name && place->bare <= strlen(place->name) && place->match < PROBE_MATCHES &&
	       place->refused < PROBE_REFUSALS && (!search->provider || *place->provider);
}

static bool probe_file_is_known(const struct probe_place *places, unsigned count,
				const struct probe_place *one)
{
	for (unsigned n = 0; n < count; n++)
		if (places[n].offset == one->offset && places[n].function == one->function &&
		    !strcmp(places[n].provider, one->provider) &&
		    (*one->provider == 0 || !strcmp(places[n].name, one->name)))
			return true;
	return false;
}

static bool read_place(int in, struct probe_place *place)
{
	size_t bytes = 0;
	ssize_t got = 1;

	while (bytes < sizeof(*place) && got > 0) {
		got = read(in, (char *)place + bytes, sizeof(*place) - bytes);
		bytes += got > 0 ? (size_t)got : 0;
		got = got < 0 && errno == EINTR ? 1 : got;
	}
	return bytes == sizeof(*place);
}

/* Several names of one function are one place. */
static void probe_file_receive(int in, const struct probe_search *search, struct probe_place *places,
			       unsigned *count)
{
	struct probe_place place;

	while (*count < PROBE_PLACES_MAX && read_place(in, &place)) {
		if (!is_sound(&place, search))
			continue;
		if (*count && (place.match > places->match || place.match == PROBE_NEAR))
			*count = 0; /* as probe_file_put_place() */
		if (!probe_file_is_known(places, *count, &place))
			places[(*count)++] = place;
	}
}

int probe_file_find(int file, const struct probe_search *search, struct probe_place **places, unsigned *count)
{
	int pipe[2], status = 0;
	pid_t child;

	*count = 0;
	*places = calloc(PROBE_PLACES_MAX, sizeof(**places));
	if (!*places)
		return -ENOMEM;
	if (pipe2(pipe, O_CLOEXEC) != 0)
		return -errno;
	child = fork();
	if (child == 0) {
		close(pipe[0]);
		run_child(file, pipe[1], search);
	}
	close(pipe[1]);
	if (child > 0)
		probe_file_receive(pipe[0], search, *places, count);
	close(pipe[0]);
	if (child < 0)
		return -EAGAIN;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	/* A child that was killed found what it sent. */
	return WIFEXITED(status) ? -WEXITSTATUS(status) : *count ? 0 : -EBADMSG;
}
