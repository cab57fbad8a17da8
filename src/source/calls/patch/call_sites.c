/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Room for hooks in a loaded object; see call_sites.h. The object's file is input: nothing in it is trusted. */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/loaded_object.h"
#include "source/calls/functions/call_frames.h"
#include "source/calls/patch/call_sites.h"
#include "source/calls/hooks/hook_near.h"

enum {
	SECTIONS_MAX = 1 << 16,
	TABLE_MAX = 1 << 28, /* bytes of a table that is read from the file */
	RANGES = 8,	     /* executable parts of an object */
	PARTS = 64,	     /* program headers that are compared */
	ENDBR = 4,	     /* bytes of endbr64 */
	NOPS_MAX = 4096,     /* bytes of NOPs at an entry */
};

struct range {
	uint64_t begin, end;
};

struct object {
	struct loaded_object loaded;
	struct range code[RANGES];
	unsigned codes;
	struct call_frames frames;
	int file;
	struct call_sites sites;
};

/* An entry of xray_instr_map, version 2: both addresses are relative to their own place. */
struct sled {
	uint64_t address, function;
	uint8_t kind, always, version, padding[13];
};

/* ---- memory */

static void *take(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void add(struct call_sites *sites, const struct call_found *found)
{
	if (sites->count == sites->room) {
		const size_t room = sites->room ? 2 * sites->room : 4096;
		void *more = sites->room ? mremap(sites->found, sites->room * sizeof(*found),
						  room * sizeof(*found), MREMAP_MAYMOVE)
					 : take(room * sizeof(*found));

		if (!more || more == MAP_FAILED) {
			sites->refused++;
			return;
		}
		sites->found = more;
		sites->room = room;
	}
	sites->found[sites->count++] = *found;
}

void call_sites_free(struct call_sites *sites)
{
	if (sites->room)
		munmap(sites->found, sites->room * sizeof(*sites->found));
	*sites = (struct call_sites){ 0 };
}

/* Whether bytes can be read. Between the parts of an object there may be no memory. */
static bool is_readable(const struct object *object, uint64_t begin, uint64_t bytes)
{
	for (unsigned n = 0; n < object->loaded.info.dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &object->loaded.info.dlpi_phdr[n];
		const uint64_t at = begin - (object->loaded.info.dlpi_addr + part->p_vaddr);

		if (part->p_type == PT_LOAD && (part->p_flags & PF_R) && at <= part->p_memsz &&
		    bytes <= part->p_memsz - at)
			return true;
	}
	return false;
}

/* Whether an address is in the object's code, with some bytes behind it. */
static bool is_code(const struct object *object, uint64_t address, uint64_t bytes)
{
	for (unsigned n = 0; n < object->codes; n++)
		if (address >= object->code[n].begin && address < object->code[n].end &&
		    object->code[n].end - address >= bytes)
			return true;
	return false;
}

static const uint8_t *code_at(uint64_t address)
{
	return (const uint8_t *)(uintptr_t)address;
}

static bool is_endbr(const struct object *object, uint64_t address)
{
	static const uint8_t endbr[ENDBR] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return is_code(object, address, ENDBR) && memcmp(code_at(address), endbr, ENDBR) == 0;
}

/* ---- the begin of a function */

/* The last function that begins at or before an address; 0: there is none. */
static uint64_t function_before(const struct object *object, uint64_t address)
{
	struct call_frames_found found;

	return call_frames_before(&object->frames, address, &found) ? found.function : 0;
}

/* A place whose code cannot be changed; its function may have another one. */
static void refuse(struct object *object, uint64_t address, uint64_t function)
{
	add(&object->sites,
	    &(struct call_found){ .function = function, .address = address, .kind = CALL_SITE_REFUSED });
}

/* ---- NOPs */

/* Bytes of the NOP at an address; 0: it is none. */
static unsigned nop_bytes(const struct object *object, uint64_t address)
{
	unsigned prefixes = 0, bytes;
	const uint8_t *at;

	while (is_code(object, address + prefixes, 1) &&
	       (*code_at(address + prefixes) == 0x66 || *code_at(address + prefixes) == 0x2e) &&
	       prefixes < 11)
		prefixes++;
	if (!is_code(object, address + prefixes, 1))
		return 0;
	at = code_at(address + prefixes);
	if (*at == 0x90)
		return prefixes + 1;
	if (!is_code(object, address + prefixes, 4) || at[0] != 0x0f || at[1] != 0x1f || (at[2] & 0x38) != 0)
		return 0;
	switch (at[2] >> 6) { /* how the operand is addressed */
	case 0:
		bytes = 3;
		break;
	case 1:
		bytes = 4;
		break;
	case 2:
		bytes = 7;
		break;
	default:
		return 0;
	}
	bytes += (at[2] & 7) == 4;
	return is_code(object, address + prefixes, bytes) ? prefixes + bytes : 0;
}

static unsigned nops_bytes(const struct object *object, uint64_t address)
{
	unsigned all = 0, one;

	while (all < NOPS_MAX && (one = nop_bytes(object, address + all)) != 0)
		all += one;
	return all;
}

/*
 * A function with NOPs at its begin, and perhaps before it. @address: of the first NOP, before the function if there are
 * some; or of the function; or behind its endbr64
 */
static void add_nops(struct object *object, uint64_t address)
{
	const unsigned before = nops_bytes(object, address);
	uint64_t function = function_before(object, address + before), entry;
	struct call_found found = { .kind = CALL_SITE_ENTRY };
	unsigned after;

	if (function < address && !(function + ENDBR == address && is_endbr(object, function)))
		function = 0; /* nothing is known of this function */
	entry = function && is_endbr(object, function) ? function + ENDBR : function;
	after = entry ? nops_bytes(object, entry) : 0;
	found.function = function;
	found.address = entry;
	found.body = entry + after;
	found.bytes = (uint8_t)(after < CALL_SITE_NOP_MAX ? after : CALL_SITE_NOP_MAX);
	if (after < CALL_SITE_JUMP) {
		/* A short jump reaches a long one before the function. */
		found.kind = CALL_SITE_SHORT;
		if (after < 2 || entry != function || function - address < CALL_SITE_JUMP ||
		    before < CALL_SITE_JUMP) {
			refuse(object, address, function_before(object, address + before));
			return;
		}
	}
	add(&object->sites, &found);
}

/* ---- calls of __fentry__ */

/* Whether an instruction is the first of a function. Return: the function's address; 0: it is not. */
static uint64_t function_of_first(const struct object *object, uint64_t address)
{
	const uint64_t function = function_before(object, address);

	if (object->frames.header && function != address &&
	    !(function + ENDBR == address && is_endbr(object, function)))
		return 0;
	return is_endbr(object, address - ENDBR) ? address - ENDBR : address;
}

/* gcc saves the pointer of a nested function around the call. Without the call both instructions are in vain, too. */
static bool is_between_saves(const struct object *object, uint64_t address, unsigned bytes)
{
	static const uint8_t push[] = { 0x41, 0x52 }, pop[] = { 0x41, 0x5a };

	return is_code(object, address - sizeof(push), sizeof(push) + bytes + sizeof(pop)) &&
	       memcmp(code_at(address - sizeof(push)), push, sizeof(push)) == 0 &&
	       memcmp(code_at(address + bytes), pop, sizeof(pop)) == 0;
}

static void add_call(struct object *object, uint64_t address, unsigned bytes)
{
	const unsigned saves = is_between_saves(object, address, bytes) ? 2 : 0;
	const uint64_t begin = address - saves, end = address + bytes + saves,
		       function = function_of_first(object, begin);

	if (!function)
		refuse(object, begin, function_before(object, begin));
	else
		add(&object->sites, &(struct call_found){ .function = function,
							  .address = begin,
							  .body = end,
							  .bytes = (uint8_t)(end - begin < CALL_SITE_NOP_MAX
										     ? end - begin
										     : CALL_SITE_NOP_MAX) });
}

/* The slot through which the object calls a function; 0: it does not. */
static uint64_t slot_in(const struct object *object, int64_t table, int64_t bytes, const char *name)
{
	const struct loaded_object *loaded = &object->loaded;
	const ElfW(Rela) *at = loaded_object_pointer(loaded, table);

	if (!at || !loaded->symbols)
		return 0;
	for (uint64_t n = loaded_object_value(loaded, bytes) / sizeof(*at); n-- > 0; at++) {
		const uint32_t type = ELF64_R_TYPE(at->r_info);

		if ((type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) &&
		    strcmp(loaded->names + loaded->symbols[ELF64_R_SYM(at->r_info)].st_name, name) == 0)
			return object->loaded.info.dlpi_addr + at->r_offset;
	}
	return 0;
}

/* What `ff 15` (call) or `ff 25` (jump) at an address, 6 bytes, goes through; 0: it is another instruction. */
static uint64_t through(uint64_t address, uint8_t kind)
{
	const uint8_t *at = code_at(address);
	int32_t distance;

	if (at[0] != 0xff || at[1] != kind)
		return 0;
	memcpy(&distance, at + 2, sizeof(distance));
	return address + 6 + (uint64_t)(int64_t)distance;
}

static void scan(struct object *object, const struct range *code, const uint64_t *slots,
		 const uint64_t *jumps)
{
	for (uint64_t at = code->begin; at + 6 <= code->end; at++) {
		const uint8_t first = *code_at(at);
		uint64_t target;
		int32_t distance;

		if (first == 0xff) {
			target = through(at, 0x15);
			if (target && (target == slots[0] || target == slots[1]))
				add_call(object, at, 6);
		} else if (first == 0xe8) {
			memcpy(&distance, code_at(at) + 1, sizeof(distance));
			target = at + 5 + (uint64_t)(int64_t)distance;
			if (target && (target == jumps[0] || target == jumps[1] || target == jumps[2] ||
				       target == jumps[3]))
				add_call(object, at, 5);
		}
	}
}

/* Calls go through a slot, or to a stub of the linker, which jumps through it; the stub may begin with endbr64. */
static void add_fentry(struct object *object)
{
	const uint64_t slots[2] = { slot_in(object, DT_JMPREL, DT_PLTRELSZ, "__fentry__"),
				    slot_in(object, DT_RELA, DT_RELASZ, "__fentry__") };
	uint64_t jumps[4] = { 0 };
	unsigned count = 0;

	if (!slots[0] && !slots[1])
		return;
	for (unsigned n = 0; n < object->codes; n++)
		for (uint64_t at = object->code[n].begin; count < 4 && at + 6 <= object->code[n].end; at++) {
			const uint64_t target = *code_at(at) == 0xff ? through(at, 0x25) : 0;

			if (!target || (target != slots[0] && target != slots[1]))
				continue;
			jumps[count++] = at;
			if (count < 4 && is_endbr(object, at - ENDBR))
				jumps[count++] = at - ENDBR;
		}
	for (unsigned n = 0; n < object->codes; n++)
		scan(object, &object->code[n], slots, jumps);
}

/* ---- calls of __cyg_profile_func_enter() and _exit() */

/* Where the linker puts a jump through a slot: 16-aligned, perhaps behind an endbr64 and a prefix. */
static bool is_linkers(const struct object *object, uint64_t address)
{
	const uint64_t begin = address & ~(uint64_t)15;

	return address == begin || (is_endbr(object, begin) && address - begin <= ENDBR + 1);
}

static void add_jumps(struct object *object, const char *name, const void *hook, enum call_site_kind kind)
{
	const uint64_t slots[2] = { slot_in(object, DT_JMPREL, DT_PLTRELSZ, name),
				    slot_in(object, DT_RELA, DT_RELASZ, name) };

	/* The program may have such a function of its own. */
	if ((!slots[0] && !slots[1]) || dlsym(RTLD_DEFAULT, name) != hook)
		return;
	for (unsigned n = 0; n < object->codes; n++)
		for (uint64_t at = object->code[n].begin; at + CALL_SITE_INDIRECT <= object->code[n].end;
		     at++) {
			const uint64_t target = *code_at(at) == 0xff ? through(at, 0x25) : 0;

			if (target && (target == slots[0] || target == slots[1]) && is_linkers(object, at))
				add(&object->sites, &(struct call_found){ .function = at,
									  .address = at,
									  .kind = (uint8_t)kind,
									  .bytes = CALL_SITE_INDIRECT });
		}
}

static void add_instrument(struct object *object)
{
	add_jumps(object, "__cyg_profile_func_enter", (const void *)__cyg_profile_func_enter,
		  CALL_SITE_ENTER);
	add_jumps(object, "__cyg_profile_func_exit", (const void *)__cyg_profile_func_exit, CALL_SITE_EXIT);
}

/* ---- sections */

static void add_mcount(struct object *object, uint64_t address)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	/* A call is found by add_fentry(), if it is one of __fentry__. */
	if (memcmp(code_at(address), nop, sizeof(nop)) == 0)
		add_call(object, address, sizeof(nop));
}

/* A table of addresses, in memory. */
static void each_address(struct object *object, uint64_t begin, uint64_t bytes,
			 void (*each)(struct object *, uint64_t))
{
	for (uint64_t n = 0; n < bytes / 8; n++) {
		const uint64_t address = *(const uint64_t *)(uintptr_t)(begin + 8 * n);

		if (is_code(object, address, CALL_SITE_JUMP))
			each(object, address);
	}
}

static void add_sleds(struct object *object, uint64_t begin, uint64_t bytes)
{
	static const uint8_t kinds[] = { CALL_SITE_SLED, CALL_SITE_SLED_END, CALL_SITE_SLED_TAIL,
					 CALL_SITE_SLED };

	for (uint64_t at = begin; at + sizeof(struct sled) <= begin + bytes; at += sizeof(struct sled)) {
		const struct sled *sled = (const struct sled *)(uintptr_t)at;
		const uint64_t address = at + sled->address, function = at + 8 + sled->function;
		const bool is_end = sled->kind == 1;

		if (sled->version != 2 || sled->kind >= sizeof(kinds) ||
		    !is_code(object, address, CALL_SITE_SLED_BYTES) || !is_code(object, function, 1))
			continue;
		if (*code_at(address) != (is_end ? 0xc3 : 0xeb)) {
			refuse(object, address, function);
			continue;
		}
		add(&object->sites, &(struct call_found){ .function = function,
							  .address = address,
							  .kind = kinds[sled->kind],
							  .bytes = CALL_SITE_SLED_BYTES });
	}
}

/* A part of the file in memory of our own, followed by a NUL. */
static char *read_part(int file, uint64_t offset, uint64_t bytes)
{
	char *part = bytes && bytes < TABLE_MAX ? take(bytes + 1) : NULL;

	for (uint64_t done = 0; part && done < bytes;) {
		const ssize_t got = pread(file, part + done, bytes - done, (off_t)(offset + done));

		if (got <= 0) {
			munmap(part, bytes + 1);
			return NULL;
		}
		done += (uint64_t)got;
	}
	return part;
}

/* Whether a table of symbols has a name that begins with a text, defined or not. */
static bool has_symbol(int file, const ElfW(Shdr) * table, const ElfW(Shdr) * texts, const char *text,
		       bool defined)
{
	ElfW(Sym) *symbols = (ElfW(Sym) *)read_part(file, table->sh_offset, table->sh_size);
	char *names = symbols ? read_part(file, texts->sh_offset, texts->sh_size) : NULL;
	bool found = false;

	for (uint64_t n = 0; names && !found && n < table->sh_size / sizeof(*symbols); n++)
		found = (symbols[n].st_shndx != SHN_UNDEF) == defined &&
			symbols[n].st_name < texts->sh_size &&
			strncmp(names + symbols[n].st_name, text, strlen(text)) == 0;
	if (names)
		munmap(names, texts->sh_size + 1);
	if (symbols)
		munmap(symbols, table->sh_size + 1);
	return found;
}

/*
 * Whether an object has an unwinder of its own, by -static-libgcc: it defines its second function (a sanitizer defines the first, and goes
 * on to ours); or, if it is stripped, has
 * tables of exceptions, but asks no other object for an unwinder. A dynamic definition is no matter: ours stands before it.
 */
static bool has_unwinder(int file, const ElfW(Shdr) * sections, unsigned count, const char *names,
			 uint64_t names_bytes)
{
	bool asks = false, stripped = true, exceptions = false;

	for (unsigned n = 0; n < count; n++) {
		const ElfW(Shdr) *texts = &sections[sections[n].sh_link < count ? sections[n].sh_link : 0];

		if (sections[n].sh_type == SHT_SYMTAB) {
			stripped = false;
			if (has_symbol(file, &sections[n], texts, "_Unwind_Resume", true))
				return true;
		}
		if (sections[n].sh_type == SHT_DYNSYM)
			asks |= has_symbol(file, &sections[n], texts, "_Unwind_", false);
		exceptions |= sections[n].sh_name < names_bytes &&
			      strcmp(names + sections[n].sh_name, ".gcc_except_table") == 0;
	}
	return stripped && exceptions && !asks;
}

static void visit_section(struct object *object, const char *name, const ElfW(Shdr) * section)
{
	const uint64_t begin = object->loaded.info.dlpi_addr + section->sh_addr, bytes = section->sh_size;

	if (!(section->sh_flags & SHF_ALLOC) || !is_readable(object, begin, bytes))
		return;
	if (strcmp(name, "__patchable_function_entries") == 0)
		each_address(object, begin, bytes, add_nops);
	else if (strcmp(name, "__mcount_loc") == 0)
		each_address(object, begin, bytes, add_mcount);
	else if (strcmp(name, "xray_instr_map") == 0)
		add_sleds(object, begin, bytes);
}

/* Whether the file is the one that was loaded: another version may have its name by now. */
static bool is_loaded(const struct object *object, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) parts[PARTS];
	const unsigned count = header->e_phnum < PARTS ? header->e_phnum : PARTS;
	const size_t bytes = count * sizeof(*parts);

	return header->e_phnum == object->loaded.info.dlpi_phnum && header->e_phentsize == sizeof(*parts) &&
	       pread(object->file, parts, bytes, (off_t)header->e_phoff) == (ssize_t)bytes &&
	       memcmp(parts, object->loaded.info.dlpi_phdr, bytes) == 0;
}

static void visit_sections(struct object *object)
{
	ElfW(Ehdr) header;
	ElfW(Shdr) *sections = NULL;
	char *names = NULL;

	if (pread(object->file, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(*sections) ||
	    header.e_shstrndx >= header.e_shnum || !is_loaded(object, &header))
		return;
	sections = (ElfW(Shdr) *)read_part(object->file, header.e_shoff, header.e_shnum * sizeof(*sections));
	if (sections)
		names = read_part(object->file, sections[header.e_shstrndx].sh_offset,
				  sections[header.e_shstrndx].sh_size);
	for (unsigned n = 0; names && n < header.e_shnum; n++)
		if (sections[n].sh_name < sections[header.e_shstrndx].sh_size)
			visit_section(object, names + sections[n].sh_name, &sections[n]);
	if (names && object->sites.count)
		object->sites.own_unwinder = has_unwinder(object->file, sections, header.e_shnum, names,
							  sections[header.e_shstrndx].sh_size);
	if (names)
		munmap(names, sections[header.e_shstrndx].sh_size + 1);
	if (sections)
		munmap(sections, header.e_shnum * sizeof(*sections) + 1);
}

static void visit_segments(struct object *object)
{
	const struct dl_phdr_info *info = &object->loaded.info;

	object->sites.begin = UINT64_MAX;
	for (unsigned n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[n];
		const uint64_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;

		if (part->p_type != PT_LOAD)
			continue;
		if (begin < object->sites.begin)
			object->sites.begin = begin;
		if (end > object->sites.end)
			object->sites.end = end;
		/* Code that cannot be read cannot be checked. */
		if ((part->p_flags & (PF_X | PF_R)) == (PF_X | PF_R) && object->codes < RANGES)
			object->code[object->codes++] = (struct range){ begin, begin + part->p_filesz };
	}
}

/* Sort by address. Compilers write tables in order, mostly, so one pass is enough. No qsort(): it may call malloc. */
static void sort(struct call_sites *sites)
{
	for (size_t gap = sites->count; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (size_t n = gap; n < sites->count; n++) {
			const struct call_found one = sites->found[n];
			size_t at = n;

			for (; at >= gap && sites->found[at - gap].address > one.address; at -= gap)
				sites->found[at] = sites->found[at - gap];
			sites->found[at] = one;
		}
}

/* A table may have an address twice, or one inside of another's NOPs: code is changed in one way only. */
static void remove_overlaps(struct call_sites *sites)
{
	size_t kept = 0;

	sort(sites);
	for (size_t n = 0; n < sites->count; n++) {
		const struct call_found one = sites->found[n];

		if (!kept || one.address >= sites->found[kept - 1].address + sites->found[kept - 1].bytes)
			sites->found[kept++] = one;
	}
	sites->count = kept;
}

/* The sites of one function: the first behind them. */
static size_t end_of_function(const struct call_sites *sites, size_t begin)
{
	size_t end = begin + 1;

	while (end < sites->count && sites->found[begin].function &&
	       sites->found[end].function == sites->found[begin].function)
		end++;
	return end;
}

/* The one that is used, if there are several kinds: that at the entry has arguments. */
static size_t find_entry(const struct call_sites *sites, size_t begin, size_t end)
{
	while (begin < end && sites->found[begin].kind != CALL_SITE_ENTRY &&
	       sites->found[begin].kind != CALL_SITE_SHORT)
		begin++;
	return begin;
}

/* Options of compilers can be combined, so a function may have several kinds of hooks, some without room: its calls are recorded once. */
static void choose_kinds(struct call_sites *sites)
{
	size_t kept = 0;

	for (size_t begin = 0, end; begin < sites->count; begin = end) {
		const size_t before = kept;
		size_t entry;

		end = end_of_function(sites, begin);
		entry = find_entry(sites, begin, end);
		for (size_t n = begin; n < end; n++)
			if (sites->found[n].kind != CALL_SITE_REFUSED && (entry == end || n == entry))
				sites->found[kept++] = sites->found[n];
		sites->refused += kept == before;
	}
	sites->count = kept;
}

struct call_sites call_sites_find(const struct dl_phdr_info *info)
{
	struct object object = { .codes = 0 };

	loaded_object_read(&object.loaded, info);
	object.frames = call_frames_of(info);
	visit_segments(&object);
	object.file = open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	add_fentry(&object);
	add_instrument(&object);
	if (object.file >= 0) {
		visit_sections(&object);
		close(object.file);
	}
	remove_overlaps(&object.sites);
	choose_kinds(&object.sites);
	return object.sites;
}

#endif
