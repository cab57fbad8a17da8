/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls of library functions; see call_slots.h.
 *
 * An object calls a function of a library through a slot, a word with its address. The word becomes the address of a
 * stub, which opens a call. The store is one aligned word, so a thread that calls at this moment takes the old way or
 * the new one; both are right. The stub is code before the slot leads to it: seal() makes pages executable, and never
 * writable again.
 *
 * A slot that the dynamic linker has not resolved yet would be overwritten by it at the first call. So it is resolved
 * here (call_bind()), as the linker does.
 *
 * A slot may be data, too: the address of a function that is compared or stored. A stub there would be another
 * address for one function. Relocations of calls only (JUMP_SLOT) are safe; of others the code is searched for what
 * it does with the slot (find_uses()), and one that is read anywhere is left as it is.
 *
 * Functions that look at their return address, return twice, or change stacks would not work behind a stub:
 * left_out[]. Objects that unwind with an unwinder of their own would meet our addresses: their slots stay.
 *
 * Areas and stubs are never freed, since a thread may return to them after the object of the function is gone.
 * `targets` keeps its place with the address 1, so that a search goes on behind it.
 */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "source/calls/patch/call_area.h"
#include "source/calls/patch/call_bind.h"
#include "source/calls/functions/call_functions.h"
#include "source/calls/functions/call_images.h"
#include "source/calls/patch/call_slots.h"
#include "source/calls/stack/call_thread.h"

enum {
	PAGE = 4096,
	STUB = 48,
	STUB_TARGET = 40, /* where in a stub the target's address is */
	TARGETS = 1 << 16,
	AREA = 1 << 20, /* bytes */
	AREAS = 64,
	GLOBALS_MAX = 1 << 20, /* slots that are looked for in the code */
	ENDBR = 4,
};

/* ---- functions that have no stub */

static const char *const left_out[] = {
	/* They return twice, or on another stack, or share the stack with a child. */
	"setjmp",
	"_setjmp",
	"__setjmp",
	"sigsetjmp",
	"__sigsetjmp",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp_chk",
	"getcontext",
	"setcontext",
	"swapcontext",
	"makecontext",
	"vfork",
	"__vfork",
	"_Fork",
	"clone",
	"__clone",
	"syscall",
	"jump_fcontext",
	"make_fcontext",
	"ontop_fcontext",
	"__morestack",
	/* They find their caller by the return address. */
	"dlopen",
	"dlmopen",
	"dlclose",
	"dlsym",
	"dlvsym",
	/* Their callers do not follow the usual rules for registers, or they are hooks themselves. */
	"__tls_get_addr",
	"___tls_get_addr",
	"__fentry__",
	"mcount",
	"_mcount",
	"__gmon_start__",
	"__monstartup",
	"_mcleanup",
	/* The call of main(), below which everything happens; and one of an object's destructors. */
	"__libc_start_main",
	"__cxa_finalize",
};

static const char *const left_out_prefixes[] = {
	"_Unwind_", "__asan_",	    "__tsan_", "__msan_",	 "__hwasan_", "__lsan_",
	"__ubsan_", "__sanitizer_", "_dl_",    "__cyg_profile_", "__xray_",   "burin_",
};

static bool is_left_out(const char *name)
{
	for (size_t n = 0; n < sizeof(left_out) / sizeof(*left_out); n++)
		if (strcmp(name, left_out[n]) == 0)
			return true;
	for (size_t n = 0; n < sizeof(left_out_prefixes) / sizeof(*left_out_prefixes); n++)
		if (strncmp(name, left_out_prefixes[n], strlen(left_out_prefixes[n])) == 0)
			return true;
	return false;
}

/* ---- stubs */

/* Areas stay for good: a call may return to them. */
static struct area {
	uint64_t begin;
	uint64_t used;	 /* bytes */
	uint64_t sealed; /* bytes that are code, and change no more */
	struct hook_near near;
} areas[AREAS];
static unsigned area_count;

/* The stub of each function: open addressing, by identity_of() the function. */
static struct target {
	uint64_t address; /* 0: the place is free; 1: its function was unloaded */
	uint64_t stub;
} targets[TARGETS];
static unsigned target_count;

bool call_slots_is_stub(uint64_t address)
{
	const unsigned count = __atomic_load_n(&area_count, __ATOMIC_ACQUIRE);

	for (unsigned n = 0; n < count; n++)
		if (address - areas[n].begin < AREA)
			return true;
	return false;
}

static struct area *area_with_room(void)
{
	struct area *area = area_count ? &areas[area_count - 1] : NULL;
	void *memory;

	if (area && AREA - area->used >= STUB)
		return area;
	if (area_count == AREAS)
		return NULL;
	memory = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	area = &areas[area_count];
	*area = (struct area){ .begin = (uint64_t)(uintptr_t)memory,
			       .used = CALL_PATCH_STUBS,
			       .near = call_area_head(memory) };
	__atomic_store_n(&area_count, area_count + 1, __ATOMIC_RELEASE);
	return area;
}

static void put_distance(uint8_t *text, uint64_t target)
{
	const uint32_t distance = (uint32_t)(target - ((uint64_t)(uintptr_t)text + 4));

	memcpy(text, &distance, sizeof(distance));
}

static uint64_t put_stub(struct area *area, uint32_t number, uint64_t target)
{
	const uint64_t at = area->begin + area->used;
	uint8_t *stub = (uint8_t *)(uintptr_t)at;

	memset(stub, 0xcc, STUB);
	stub[0] = 0x41; /* movl $number, %r11d */
	stub[1] = 0xbb;
	memcpy(stub + 2, &number, sizeof(number));
	stub[6] = 0xe8; /* call begin */
	put_distance(stub + 7, area->near.begin);
	stub[11] = 0x0f; /* jc */
	stub[12] = 0x82;
	put_distance(stub + 13, at + 28);
	stub[17] = 0xff; /* call *target */
	stub[18] = 0x15;
	put_distance(stub + 19, at + STUB_TARGET);
	stub[23] = 0xe9; /* jmp end */
	put_distance(stub + 24, area->near.end);
	stub[28] = 0xff; /* jmp *target */
	stub[29] = 0x25;
	put_distance(stub + 30, at + STUB_TARGET);
	memcpy(stub + STUB_TARGET, &target, sizeof(target));
	area->used += STUB;
	return at;
}

/* Make the new stubs code. A page with stubs that are in use is never written again. */
static bool seal(void)
{
	bool done = true;

	for (unsigned n = 0; n < area_count; n++) {
		struct area *area = &areas[n];
		const uint64_t end = (area->used + PAGE - 1) & ~(uint64_t)(PAGE - 1);

		if (area->sealed < area->used)
			done &= mprotect((void *)(uintptr_t)(area->begin + area->sealed), end - area->sealed,
					 PROT_READ | PROT_EXEC) == 0;
		area->used = area->sealed = end;
	}
	return done;
}

static struct target *target_at(uint64_t address)
{
	uint64_t at = (address >> 4 ^ address >> 16) & (TARGETS - 1);

	while (targets[at].address && targets[at].address != address)
		at = (at + 1) & (TARGETS - 1);
	return &targets[at];
}

void call_slots_forget(uint64_t begin, uint64_t end)
{
	for (unsigned n = 0; n < TARGETS && target_count; n++)
		if (targets[n].address >= begin && targets[n].address < end)
			targets[n].address = 1;
}

/* ---- what a slot leads to */

static bool has_name(const struct dl_phdr_info *info, const char *prefix)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	return strncmp(slash ? slash + 1 : info->dlpi_name, prefix, strlen(prefix)) == 0;
}

struct slots {
	struct loaded_object object;
	struct slot {
		uint64_t address, stub;
	} * found;
	uint64_t count, refused;
	const uint8_t *uses; /* of slots that may be data: enum slot_use */
	uint64_t uses_begin, uses_count;
	call_slots_patched *is_patched;
	struct loaded_object last; /* most functions are in the same library */
};

enum slot_use {
	SLOT_CALLED = 1,
	SLOT_READ = 2,
};

/* Whether a slot still leads to the code that calls the dynamic linker: it pushes the slot's number. */
static bool is_unresolved(const struct slots *slots, uint64_t value, uint64_t n)
{
	static const uint8_t endbr[ENDBR] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *code = (const uint8_t *)(uintptr_t)value;
	uint32_t number;

	if (!loaded_object_has(&slots->object, value, 16, PF_X | PF_R))
		return false;
	if (memcmp(code, endbr, ENDBR) == 0)
		code += ENDBR;
	memcpy(&number, code + 1, sizeof(number));
	return code[0] == 0x68 && number == n;
}

/*
 * A function whose address is computed at load (an IFUNC) has a name only where that is done. Return: the address there; 0:
 * it is none.
 */
static uint64_t chooser_of(const struct loaded_object *object, const char *name)
{
	const ElfW(Sym) *symbol = NULL;

	while ((symbol = loaded_object_definition(object, name, symbol)) != NULL)
		if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
			return object->info.dlpi_addr + symbol->st_value;
	return 0;
}

struct chooser {
	const char *name;
	uint64_t found;
};

static int chooser_visit(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct chooser *chooser = data;
	struct loaded_object object;

	(void)bytes;
	loaded_object_read(&object, info);
	chooser->found = chooser_of(&object, chooser->name);
	return chooser->found != 0;
}

/* The address that identifies a function has its name. The C library may have chosen one of the kernel's code in every process. */
static uint64_t identity_of(const struct loaded_object *object, uint64_t target, const char *name)
{
	struct chooser chooser = { name, chooser_of(object, name) };

	if (!chooser.found && object->info.dlpi_addr == getauxval(AT_SYSINFO_EHDR))
		dl_iterate_phdr(chooser_visit, &chooser);
	return chooser.found ?: target;
}

static uint64_t make_stub(const struct slots *slots, uint64_t target, const char *name)
{
	const uint64_t identity = identity_of(&slots->last, target, name);
	struct target *known = target_at(identity);
	struct area *area;
	struct call_image image;
	uint32_t number;

	if (known->address)
		return known->stub;
	if (target_count >= TARGETS / 2 || !call_image_find(identity, &image))
		return 0;
	number = call_function_number(&image);
	area = number ? area_with_room() : NULL;
	if (!area)
		return 0;
	*known = (struct target){ identity, slots->is_patched(target, number)
						    ? target
						    : put_stub(area, number, target) };
	target_count++;
	return known->stub;
}

/* ---- slots */

static unsigned use_of(const struct slots *slots, uint64_t address)
{
	const uint64_t n = (address - slots->uses_begin) / 8;

	return slots->uses && n < slots->uses_count ? slots->uses[n] : 0;
}

static void add_slot(struct slots *slots, const ElfW(Rela) * relocation, uint64_t n)
{
	const uint64_t address = slots->object.info.dlpi_addr + relocation->r_offset,
		       index = ELF64_R_SYM(relocation->r_info);
	const bool is_jump = ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT;
	const ElfW(Sym) *symbol = &slots->object.symbols[index];
	const char *name = slots->object.names + symbol->st_name;
	const unsigned use = is_jump ? SLOT_CALLED : use_of(slots, address);
	uint64_t target, stub;

	if (!index || !(use & SLOT_CALLED) || is_left_out(name) ||
	    !loaded_object_has(&slots->object, address, 8, PF_W) || address % 8)
		return;
	target = *(const uint64_t *)(uintptr_t)address;
	if (is_jump && is_unresolved(slots, target, n)) {
		target = call_bind(&slots->object, index);
		slots->refused += !target && ELF64_ST_BIND(symbol->st_info) != STB_WEAK;
	}
	if (!target || loaded_object_has(&slots->object, target, 1, 0))
		return;
	if (!loaded_object_has(&slots->last, target, 1, PF_X) && !loaded_object_find(&slots->last, target))
		return;
	if (has_name(&slots->last.info, "libburin"))
		return;
	stub = use & SLOT_READ ? 0 : make_stub(slots, target, name);
	slots->refused += !stub;
	if (stub && stub != target)
		slots->found[slots->count++] = (struct slot){ address, stub };
}

static void add_slots(struct slots *slots, const ElfW(Rela) * relocations, uint64_t count, uint32_t type)
{
	for (uint64_t n = 0; relocations && n < count; n++)
		if (ELF64_R_TYPE(relocations[n].r_info) == type)
			add_slot(slots, &relocations[n], n);
}

/* Find how code uses a slot. Wrong hits are possible, and rare: they need the right distance by chance. */
static void scan(struct slots *slots, uint8_t *uses, uint64_t begin, uint64_t end)
{
	for (uint64_t at = begin; at + 6 <= end; at++) {
		const uint8_t *code = (const uint8_t *)(uintptr_t)at;
		unsigned use = 0;
		int32_t distance;
		uint64_t place;

		if (code[0] == 0xff && (code[1] == 0x15 || code[1] == 0x25)) /* call, jmp */
			use = SLOT_CALLED;
		else if ((code[0] == 0x8b || code[0] == 0x3b || code[0] == 0x39) &&
			 (code[1] & 0xc7) == 5) /* mov, cmp */
			use = SLOT_READ;
		else if (code[0] == 0xff && code[1] == 0x35) /* push */
			use = SLOT_READ;
		if (!use)
			continue;
		memcpy(&distance, code + 2, sizeof(distance));
		place = at + 6 + (uint64_t)(int64_t)distance - slots->uses_begin;
		if (place < slots->uses_count * 8 && place % 8 == 0)
			uses[place / 8] |= (uint8_t)use;
	}
}

/* Slots of -fno-plt, which are also those of pointers to functions. Only the code shows the difference. */
static uint8_t *find_uses(struct slots *slots, const ElfW(Rela) * relocations, uint64_t count)
{
	const struct dl_phdr_info *info = &slots->object.info;
	uint64_t begin = UINT64_MAX, end = 0;
	uint8_t *uses;

	for (uint64_t n = 0; relocations && n < count; n++) {
		const uint64_t address = info->dlpi_addr + relocations[n].r_offset;

		if (ELF64_R_TYPE(relocations[n].r_info) != R_X86_64_GLOB_DAT)
			continue;
		begin = address < begin ? address : begin;
		end = address + 8 > end ? address + 8 : end;
	}
	if (begin >= end || (end - begin) / 8 > GLOBALS_MAX)
		return NULL;
	slots->uses_begin = begin;
	slots->uses_count = (end - begin) / 8;
	uses = mmap(NULL, slots->uses_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (uses == MAP_FAILED)
		return NULL;
	for (unsigned n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[n];
		const uint64_t code = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && (part->p_flags & (PF_X | PF_R)) == (PF_X | PF_R))
			scan(slots, uses, code, code + part->p_filesz);
	}
	return uses;
}

static void write_slots(struct slots *slots)
{
	const uint64_t begin = slots->object.fixed, bytes = slots->object.fixed_bytes;
	const bool writable = bytes && mprotect((void *)(uintptr_t)begin, bytes, PROT_READ | PROT_WRITE) == 0;

	for (uint64_t n = 0; n < slots->count; n++) {
		const struct slot *slot = &slots->found[n];

		if (slot->address - begin < bytes && !writable)
			slots->refused++;
		else
			__atomic_store_n((uint64_t *)(uintptr_t)slot->address, slot->stub, __ATOMIC_RELEASE);
	}
	if (writable)
		mprotect((void *)(uintptr_t)begin, bytes, PROT_READ);
}

/* ---- an object */

/*
 * Whether the object contains an unwinder, by -static-libgcc: it calls what an unwinder needs, and no other unwinder. It would
 * find our stubs on the stack, and not know them.
 */
static bool has_unwinder(const struct slots *slots, const ElfW(Rela) *const relocations[],
			 const uint64_t counts[])
{
	bool needs = false;

	for (unsigned table = 0; table < 2; table++)
		for (uint64_t n = 0; relocations[table] && n < counts[table]; n++) {
			const uint32_t symbol = (uint32_t)ELF64_R_SYM(relocations[table][n].r_info);
			const char *name = slots->object.names + slots->object.symbols[symbol].st_name;

			if (strncmp(name, "_Unwind_", 8) == 0)
				return false;
			needs |= strcmp(name, "dl_iterate_phdr") == 0 || strcmp(name, "_dl_find_object") == 0;
		}
	return needs;
}

static bool is_chosen(const struct dl_phdr_info *info)
{
	if (!*info->dlpi_name)
		return true;
	/* The dynamic linker, and what unwinds stacks with return addresses that are not ours meanwhile. */
	return (tracepoint_session.calls.header->sources & WIRE_CALL_NESTED) &&
	       info->dlpi_addr != getauxval(AT_BASE) && info->dlpi_addr != getauxval(AT_SYSINFO_EHDR) &&
	       !has_name(info, "libgcc_s") && !has_name(info, "libunwind") && !has_name(info, "libburin");
}

void call_slots_load(const struct dl_phdr_info *info, call_slots_patched *is_patched)
{
	struct slots slots = { .is_patched = is_patched };
	const struct loaded_object *object = &slots.object;
	const ElfW(Rela) * tables[2];
	uint64_t counts[2], bytes;
	uint8_t *uses;

	loaded_object_read(&slots.object, info);
	tables[0] = loaded_object_pointer(object, DT_JMPREL);
	tables[1] = loaded_object_pointer(object, DT_RELA);
	counts[0] = loaded_object_value(object, DT_PLTRELSZ) / sizeof(**tables);
	counts[1] = loaded_object_value(object, DT_RELASZ) / sizeof(**tables);
	bytes = (counts[0] + counts[1]) * sizeof(struct slot);
	if (!is_chosen(info) || !object->symbols || !bytes)
		return;
	if (has_unwinder(&slots, tables, counts)) {
		call_area_report(info, " has its own unwinder, so its library calls are not recorded",
				 "; link it without -static-libgcc");
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_PATCH, counts[0]);
		return;
	}
	slots.found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots.found == MAP_FAILED) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_PATCH, counts[0]);
		return;
	}
	uses = find_uses(&slots, tables[1], counts[1]);
	slots.uses = uses;
	add_slots(&slots, tables[0], counts[0], R_X86_64_JUMP_SLOT);
	add_slots(&slots, tables[1], counts[1], R_X86_64_GLOB_DAT);
	if (seal()) {
		write_slots(&slots);
	} else {
		slots.refused += slots.count;
		call_area_report(info, ": the system refuses to add code, so calls are not recorded", "");
	}
	if (slots.refused)
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_PATCH, slots.refused);
	if (uses)
		munmap(uses, slots.uses_count);
	munmap(slots.found, bytes);
}

#endif
