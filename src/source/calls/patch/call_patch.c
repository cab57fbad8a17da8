/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Patching code; see call_patch.h.
 *
 * An object's entry in call_patches is free (end 0), known (end set, area_bytes 0: nothing in it can be changed), or
 * prepared (area_bytes set: stubs and patches are complete, and stay). Only call_patch_load() changes entries, under
 * `lock`. Other threads and signal handlers look into them without it (is_patched(), call_patch_is_stub()); the
 * release of area_bytes is the last store of an entry.
 *
 * At the start our constructor patches all objects; later ones call us from their startup code, before their
 * constructors. No other thread runs their code then. In a program that runs already (`attaching`) only bytes before
 * functions are written, which no thread executes. The library writes a text once, at the load. Afterwards commands
 * do, from outside (decision 0043). They change code first, then the table, and may be killed between: so `now` may
 * be old, and is_intact() accepts each byte of each text.
 *
 * Order: stubs are written while their area is writable; the area becomes executable; then code leads there. A policy
 * that refuses executable memory is met at the second step, when all code is still the compiler's.
 */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/lock.h"
#include "ring/ring_deps.h"
#include "source/calls/patch/call_area.h"
#include "source/calls/patch/call_far.h"
#include "source/calls/functions/call_functions.h"
#include "source/calls/functions/call_images.h"
#include "source/calls/patch/call_patch.h"
#include "source/calls/patch/call_sites.h"
#include "source/calls/patch/call_slots.h"
#include "source/calls/hooks/hook_entry.h"
#include "source/calls/hooks/hook_near.h"
#include "source/tracepoint/thread.h"

enum {
	PAGE = 4096,
	NEAR = 0x7f000000, /* bytes that a jump can reach, less some */
	NEAR_STEP = 1 << 20,
	NEAR_LOWEST = 1 << 16, /* the kernel permits no lower address */
	JUMP = CALL_SITE_JUMP,
};

struct wire_patches call_patches = { .version = WIRE_PATCH_VERSION };

static uint64_t lock;
static bool call_patches_stale; /* objects were unloaded */
static bool attaching;		/* threads may be inside the code of all objects */

static struct wire_patch *patches_of(const struct wire_patch_object *object)
{
	return (struct wire_patch *)(uintptr_t)object->patches;
}

/* ---- texts */

static const uint8_t nops[CALL_SITE_NOP_MAX][CALL_SITE_NOP_MAX] = {
	{ 0x90 },
	{ 0x66, 0x90 },
	{ 0x0f, 0x1f, 0x00 },
	{ 0x0f, 0x1f, 0x40, 0x00 },
	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
	{ 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	{ 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
};

static void put_nops(uint8_t *text, uint64_t bytes)
{
	while (bytes) {
		const uint64_t one = bytes < CALL_SITE_NOP_MAX ? bytes : CALL_SITE_NOP_MAX;

		memcpy(text, nops[one - 1], one);
		text += one;
		bytes -= one;
	}
}

static void put_number(uint8_t *text, uint32_t number)
{
	memcpy(text, &number, sizeof(number));
}

/* A distance, counted from the end of its 4 bytes. @at: where the text will be */
static void put_distance(uint8_t *text, uint64_t at, uint64_t target)
{
	put_number(text, (uint32_t)(target - (at + 4)));
}

static void put_stub(uint8_t *stub, uint32_t number, uint64_t body, const struct hook_near *near)
{
	const uint64_t at = (uint64_t)(uintptr_t)stub;

	stub[0] = 0x41; /* movl $number, %r11d */
	stub[1] = 0xbb;
	put_number(stub + 2, number);
	stub[6] = 0xe8; /* call begin */
	put_distance(stub + 7, at + 7, near->begin);
	stub[11] = 0x0f; /* jc body */
	stub[12] = 0x82;
	put_distance(stub + 13, at + 13, body);
	stub[17] = 0xe8; /* call body */
	put_distance(stub + 18, at + 18, body);
	stub[22] = 0xe9; /* jmp end */
	put_distance(stub + 23, at + 23, near->end);
	memset(stub + 27, 0xcc, CALL_PATCH_STUB - 27);
}

/* The way from a sled to its code: movl $number, %r11d, and a jump, or a call. */
static void put_way(uint8_t *text, uint64_t at, uint8_t instruction, uint32_t number, uint64_t way)
{
	text[0] = 0x41;
	text[1] = 0xbb;
	put_number(text + 2, number);
	text[6] = instruction;
	put_distance(text + 7, at + 7, way);
}

/* Both texts of a sled. Only their first two bytes differ: off, these jump over the rest, or return. */
static void put_sled(struct wire_patch *patch, const struct call_found *found, uint64_t way)
{
	put_way(patch->on_text, patch->address, found->kind == CALL_SITE_SLED_END ? 0xe9 : 0xe8,
		patch->function, way);
	memcpy(patch->off_text, patch->on_text, CALL_SITE_SLED_BYTES);
	memcpy(patch->off_text, (const void *)(uintptr_t)found->address,
	       found->kind == CALL_SITE_SLED_END ? 1 : 2);
}

/* The same if threads may be inside: both jump, and the distance differs. */
static void put_running_sled(struct wire_patch *patch, const struct call_found *found, uint64_t stub,
			     uint64_t way)
{
	static const uint8_t jump[2] = { 0xeb, CALL_SITE_SLED_BYTES - 2 };

	put_sled(patch, found, way);
	if (found->kind == CALL_SITE_SLED_END || memcmp(patch->off_text, jump, sizeof(jump)) != 0)
		return;
	put_way((uint8_t *)(uintptr_t)stub, stub, 0xe9, patch->function, way);
	patch->on_text[0] = 0xeb;
	patch->on_text[1] = 0;
	patch->on_text[2] = 0xe8;
	put_distance(patch->on_text + 3, patch->address + 3, stub);
	put_nops(patch->on_text + 2 + JUMP, CALL_SITE_SLED_BYTES - 2 - JUMP);
	memcpy(patch->off_text, patch->on_text, CALL_SITE_SLED_BYTES);
	patch->off_text[1] = jump[1];
}

/* The linker's jump becomes a direct one. */
static void put_jump(struct wire_patch *patch, const struct call_found *found, const struct hook_near *near)
{
	patch->on_text[0] = 0xe9;
	put_distance(patch->on_text + 1, patch->address + 1,
		     found->kind == CALL_SITE_ENTER ? near->enter : near->exit);
	put_nops(patch->on_text + JUMP, patch->bytes - JUMP);
	memcpy(patch->off_text, patch->on_text, patch->bytes);
}

/* A call through a slot: its last byte becomes a NOP, before the others become a jump. */
static void put_call(struct wire_patch *patch, struct call_far *far)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)patch->address;
	int32_t distance;
	uint8_t last;

	if (patch->bytes != CALL_SITE_INDIRECT || code[0] != 0xff || code[1] != 0x15 || code[JUMP])
		return;
	memcpy(&distance, code + 2, sizeof(distance));
	if (call_far_slot(far, patch->address + CALL_SITE_INDIRECT + (uint64_t)distance, &last))
		patch->on_text[JUMP] = patch->off_text[JUMP] = last;
}

/* The compiler's NOPs, one byte each. A jump that threads inside them may meet; the text without it jumps nowhere. */
static bool put_far(struct wire_patch *patch, const struct call_found *found, struct call_far *far)
{
	static const uint8_t single[JUMP] = { 0x90, 0x90, 0x90, 0x90, 0x90 };

	if (found->kind != CALL_SITE_ENTRY || patch->bytes < JUMP ||
	    memcmp((const void *)(uintptr_t)patch->address, single, JUMP) != 0 ||
	    !call_far_put(far, patch->address, patch->stub, patch->on_text + 1))
		return false;
	patch->bytes = JUMP;
	memcpy(patch->off_text + 1, patch->on_text + 1, JUMP - 1);
	patch->on_text[0] = 0xe9;
	patch->off_text[0] = WIRE_PATCH_TEST_LONG;
	return true;
}

static void put_entry(struct wire_patch *patch, const struct call_found *found)
{
	if (found->kind == CALL_SITE_SHORT) {
		put_nops(patch->off_text, patch->bytes);
		patch->on_text[0] = 0xeb;
		patch->on_text[1] = (uint8_t) - (JUMP + 2);
		return;
	}
	/* The jump replaces one instruction, and what is behind it stays. */
	put_nops(patch->off_text, JUMP);
	put_nops(patch->off_text + JUMP, patch->bytes - JUMP);
	memcpy(patch->on_text, patch->off_text, patch->bytes);
	patch->on_text[0] = 0xe9;
	put_distance(patch->on_text + 1, patch->address + 1, patch->stub);
}

/* ---- memory */

static void *map_at(uint64_t address, size_t bytes)
{
	void *hint = (void *)(uintptr_t)address,
	     *area = mmap(hint, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (area == hint)
		return area;
	if (area != MAP_FAILED) /* a kernel that does not know the flag */
		munmap(area, bytes);
	return NULL;
}

/* Memory from which a jump reaches all of an object, and back. Rather below it: the heap of a program grows above it. */
static uint8_t *map_near(uint64_t begin, uint64_t end, size_t bytes)
{
	const uint64_t reach = NEAR > end - begin + bytes ? NEAR - (end - begin) - bytes : 0;
	uint64_t first = begin & ~(uint64_t)(PAGE - 1);
	void *area = NULL;

	for (uint64_t step = 0; !area && step < reach && first > bytes + step + NEAR_LOWEST;
	     step += NEAR_STEP)
		area = map_at(first - step - bytes, bytes);
	/* Programs that are not position-independent begin at 4 MiB. */
	for (uint64_t step = 0;
	     !area && step < reach && first > bytes + step + NEAR_LOWEST && step < NEAR_STEP * 4;
	     step += PAGE * 16)
		area = map_at(first - step - bytes, bytes);
	first = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	for (uint64_t step = reach & ~(uint64_t)(NEAR_STEP - 1); !area && step; step -= NEAR_STEP)
		area = map_at(first + step, bytes);
	return area;
}

/*
 * Areas of unloaded objects. They stay mapped: the kernel looks into the one where a thread's last restartable sequence
 * was (hook_near.c), until that thread has another.
 */
static struct retired {
	uint64_t begin, bytes;
} retired[WIRE_PATCH_OBJECTS];

static void retire(uint64_t area, size_t bytes)
{
	for (unsigned n = 0; n < WIRE_PATCH_OBJECTS; n++)
		if (!retired[n].bytes) {
			retired[n] = (struct retired){ area, bytes };
			return;
		}
}

static bool is_near(uint64_t one, uint64_t other)
{
	return (one < other ? other - one : one - other) < NEAR;
}

/* A retired area in reach, or a new one. @bytes: receives its size */
static uint8_t *take_area(uint64_t begin, uint64_t end, size_t *bytes)
{
	for (unsigned n = 0; n < WIRE_PATCH_OBJECTS && retired[n].bytes; n++) {
		const struct retired area = retired[n];

		if (area.bytes < *bytes || !is_near(area.begin, end) ||
		    !is_near(area.begin + area.bytes, begin) ||
		    mprotect((void *)(uintptr_t)area.begin, area.bytes, PROT_READ | PROT_WRITE) != 0)
			continue;
		*bytes = area.bytes;
		for (; n + 1 < WIRE_PATCH_OBJECTS; n++)
			retired[n] = retired[n + 1];
		retired[n].bytes = 0;
		return (uint8_t *)(uintptr_t)area.begin;
	}
	return map_near(begin, end, *bytes);
}

/* How code is written: in place, or by the kernel, where a filter or a policy refuses memory that is writable code. */
struct writing {
	uint64_t begin, end;
	int memory; /* /proc/self/mem; -1: in place */
};

static bool writing_begin(struct writing *writing, uint64_t begin, uint64_t end)
{
	*writing = (struct writing){ begin & ~(uint64_t)(PAGE - 1), (end + PAGE - 1) & ~(uint64_t)(PAGE - 1),
				     -1 };
	if (mprotect((void *)(uintptr_t)writing->begin, writing->end - writing->begin,
		     PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
		return true;
	writing->memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	return writing->memory >= 0;
}

static void writing_end(const struct writing *writing)
{
	if (writing->memory >= 0)
		close(writing->memory);
	else
		mprotect((void *)(uintptr_t)writing->begin, writing->end - writing->begin,
			 PROT_READ | PROT_EXEC);
}

static bool write_code(const struct writing *writing, uint64_t address, const void *text, size_t bytes)
{
	if (writing->memory >= 0)
		return pwrite(writing->memory, text, bytes, (off_t)address) == (ssize_t)bytes;
	memcpy((void *)(uintptr_t)address, text, bytes);
	return true;
}

/* ---- objects */

static void lose(size_t count)
{
	if (count)
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_PATCH, count);
}

/* The functions of one object that can be patched: their numbers, texts and stubs. */
struct preparation {
	const struct dl_phdr_info *info;
	struct call_sites sites;
	struct wire_patch_object *object;
	struct hook_near near;	 /* addresses */
	struct call_image image; /* of the address at which the object begins */
	bool runs;		 /* threads may be inside its code ... */
	struct call_far *far;	 /* ... and its functions are reached by these jumps */
};

/* The offset of an address in the object's file. */
static uint64_t offset_of(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[n];

		if (part->p_type == PT_LOAD && address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return address - (info->dlpi_addr + part->p_vaddr) + part->p_offset;
	}
	return 0;
}

static void prepare_one(struct preparation *preparation, size_t n)
{
	const struct call_found *found = &preparation->sites.found[n];
	struct wire_patch_object *object = preparation->object;
	struct wire_patch *patch = &patches_of(object)[object->count];
	const struct call_image image = { preparation->image.number,
					  offset_of(preparation->info, found->function) };
	const uint32_t number = found->kind >= CALL_SITE_ENTER ? 0 : call_function_number(&image);
	const uint64_t stub = object->area + CALL_PATCH_STUBS + object->count * CALL_PATCH_STUB,
		       way = object->area + 64 + 8 * (found->kind - CALL_SITE_SLED);

	if (!number && found->kind < CALL_SITE_ENTER)
		return;
	*patch = (struct wire_patch){ .address = found->address, .function = number, .bytes = found->bytes };
	if (found->kind >= CALL_SITE_ENTER) {
		put_jump(patch, found, &preparation->near);
	} else if (found->kind >= CALL_SITE_SLED) {
		(preparation->runs ? put_running_sled(patch, found, stub, way) : put_sled(patch, found, way));
	} else {
		patch->stub = stub;
		put_stub((uint8_t *)(uintptr_t)patch->stub, number, found->body, &preparation->near);
		if (!preparation->runs || !put_far(patch, found, preparation->far))
			put_entry(patch, found);
		if (preparation->runs)
			put_call(patch, preparation->far);
		patch->raw = true;
	}
	memcpy(patch->now, (const void *)(uintptr_t)patch->address, patch->bytes);
	object->count++;
}

/* Far jumps of each object, as call_patches.object. */
static struct call_far far_jumps[WIRE_PATCH_OBJECTS];

static void begin_far(struct preparation *preparation)
{
	const struct call_sites *sites = &preparation->sites;
	uint64_t first = UINT64_MAX, last = 0;

	preparation->far = &far_jumps[preparation->object - call_patches.object];
	for (size_t n = 0; preparation->runs && n < sites->count; n++) {
		if (sites->found[n].kind != CALL_SITE_ENTRY)
			continue;
		first = sites->found[n].address < first ? sites->found[n].address : first;
		last = sites->found[n].address > last ? sites->found[n].address : last;
	}
	call_far_begin(preparation->far, first, last);
}

static bool prepare(struct preparation *preparation)
{
	struct wire_patch_object *object = preparation->object;
	const size_t count = preparation->sites.count;
	size_t bytes = (CALL_PATCH_STUBS + count * CALL_PATCH_STUB + PAGE - 1) & ~(size_t)(PAGE - 1);
	uint8_t *area = take_area(object->begin, object->end, &bytes);
	void *patches;

	if (!area)
		return false;
	patches = mmap(NULL, count * sizeof(struct wire_patch), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (patches == MAP_FAILED) {
		retire((uint64_t)(uintptr_t)area,
		       bytes); /* a thread may still be in one that was retired before */
		return false;
	}
	preparation->near = call_area_head(area);
	object->area = (uint64_t)(uintptr_t)area;
	object->patches = (uint64_t)(uintptr_t)patches;
	begin_far(preparation);
	for (size_t n = 0; n < count; n++)
		prepare_one(preparation, n);
	/* Before code leads there; a policy may refuse to make memory executable. */
	if (!call_far_end(preparation->far) || mprotect(area, bytes, PROT_READ | PROT_EXEC) != 0) {
		call_far_free(preparation->far);
		munmap(patches, count * sizeof(struct wire_patch));
		retire(object->area, bytes);
		object->count = 0;
		return false;
	}
	__atomic_store_n(&object->area_bytes, bytes, __ATOMIC_RELEASE);
	return true;
}

/* NOPs behind the instruction, up to the body, and the long jump before a function. */
static bool write_rest(const struct writing *writing, const struct call_found *found,
		       const struct wire_patch *patch)
{
	const uint64_t behind = found->address + found->bytes;
	uint8_t text[CALL_SITE_NOP_MAX];

	if (found->kind == CALL_SITE_SHORT) {
		text[0] = 0xe9;
		put_distance(text + 1, found->address - JUMP + 1, patch->stub);
		return write_code(writing, found->address - JUMP, text, JUMP);
	}
	for (uint64_t at = behind; at < found->body;) {
		const uint64_t one =
			found->body - at < CALL_SITE_NOP_MAX ? found->body - at : CALL_SITE_NOP_MAX;

		put_nops(text, one);
		if (!write_code(writing, at, text, one))
			return false;
		at += one;
	}
	return true;
}

static bool write_first(const struct writing *writing, struct wire_patch *patch)
{
	patch->on = call_switches[patch->function] != WIRE_CALL_OFF;
	patch->raw = false;
	memcpy(patch->now, patch->on ? patch->on_text : patch->off_text, patch->bytes);
	return write_code(writing, patch->address, patch->now, patch->bytes);
}

/*
 * The first patch of all functions of an object, before any thread runs its code. If threads do, only what lies before
 * functions is written.
 */
static bool write_all(struct preparation *preparation)
{
	struct wire_patch_object *object = preparation->object;
	uint64_t begin = UINT64_MAX, end = 0;
	struct writing writing;
	size_t at = 0;
	bool done = true;

	for (size_t n = 0; n < preparation->sites.count; n++) {
		const struct call_found *found = &preparation->sites.found[n];

		if (found->address - JUMP < begin)
			begin = found->address - JUMP;
		if (found->address + found->bytes > end)
			end = found->body > found->address + found->bytes ? found->body
									  : found->address + found->bytes;
	}
	if (!writing_begin(&writing, begin, end))
		return false;
	for (size_t n = 0; n < preparation->sites.count && at < object->count; n++) {
		const struct call_found *found = &preparation->sites.found[n];
		struct wire_patch *patch = &patches_of(object)[at];

		if (patch->address != found->address) /* it has no number */
			continue;
		at++;
		if (!preparation->runs || found->kind == CALL_SITE_SHORT)
			done &= found->kind >= CALL_SITE_SLED || write_rest(&writing, found, patch);
		if (!preparation->runs)
			done &= write_first(&writing, patch);
	}
	writing_end(&writing);
	return done;
}

/* Hooks that replace return addresses are refused where the addresses could not be restored. */
static void leave_out_entries(struct call_sites *sites)
{
	size_t kept = 0;

	for (size_t n = 0; n < sites->count; n++)
		if (sites->found[n].kind >= CALL_SITE_SLED)
			sites->found[kept++] = sites->found[n];
	sites->refused += sites->count - kept;
	sites->count = kept;
}

/* Functions whose calls are not recorded without a patch. */
static size_t count_functions(const struct call_sites *sites)
{
	size_t count = 0;

	for (size_t n = 0; n < sites->count; n++)
		count += sites->found[n].kind < CALL_SITE_ENTER;
	return count;
}

static void load_object(const struct dl_phdr_info *info, struct wire_patch_object *object)
{
	struct preparation preparation = {
		.info = info, .sites = call_sites_find(info), .object = object, .runs = attaching
	};
	struct call_sites *sites = &preparation.sites;

	object->begin = sites->begin;
	object->end = sites->end;
	if (sites->own_unwinder) {
		leave_out_entries(sites);
		call_area_report(info, " has its own unwinder, so calls are not recorded",
				 "; link it without -static-libgcc");
	}
	if (sites->refused)
		call_area_report(info, " has functions without room for a jump, which are not recorded",
				 "; build with -fpatchable-function-entry=5");
	if (sites->count && (!call_image_find(sites->found[0].function, &preparation.image) ||
			     !prepare(&preparation) || !write_all(&preparation))) {
		sites->refused += count_functions(sites);
		if (count_functions(sites))
			call_area_report(info,
					 ": the system refuses to change its code, so calls are not recorded",
					 "");
	}
	lose(sites->refused);
	call_sites_free(sites);
}

/* ---- loading and unloading */

static bool has_address(const struct dl_phdr_info *info, const void *address)
{
	for (unsigned n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[n];

		if (part->p_type == PT_LOAD &&
		    (uint64_t)(uintptr_t)address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return true;
	}
	return false;
}

/* Whether the hooks themselves need an object: the C library, and ours. */
static bool is_needed(const struct dl_phdr_info *info)
{
	return has_address(info, (const void *)&write) || has_address(info, &call_patches) ||
	       has_address(info, &tracepoint_session);
}

static uint64_t begin_of(const struct dl_phdr_info *info)
{
	uint64_t begin = UINT64_MAX;

	for (unsigned n = 0; n < info->dlpi_phnum; n++)
		if (info->dlpi_phdr[n].p_type == PT_LOAD &&
		    info->dlpi_addr + info->dlpi_phdr[n].p_vaddr < begin)
			begin = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr;
	return begin;
}

static uint64_t end_of(const struct dl_phdr_info *info)
{
	uint64_t end = 0;

	for (unsigned n = 0; n < info->dlpi_phnum; n++)
		if (info->dlpi_phdr[n].p_type == PT_LOAD &&
		    info->dlpi_addr + info->dlpi_phdr[n].p_vaddr + info->dlpi_phdr[n].p_memsz > end)
			end = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr + info->dlpi_phdr[n].p_memsz;
	return end;
}

static struct wire_patch_object *object_at(uint64_t begin)
{
	for (uint64_t n = 0; n < call_patches.objects; n++)
		if (call_patches.object[n].end && call_patches.object[n].begin == begin)
			return &call_patches.object[n];
	return NULL;
}

static struct wire_patch_object *free_object(void)
{
	for (uint64_t n = 0; n < call_patches.objects; n++)
		if (!call_patches.object[n].end)
			return &call_patches.object[n];
	if (call_patches.objects == WIRE_PATCH_OBJECTS)
		return NULL;
	__atomic_store_n(&call_patches.objects, call_patches.objects + 1, __ATOMIC_RELEASE);
	return &call_patches.object[call_patches.objects - 1];
}

/* Whether code is as we left it: if not, another object has been loaded where one was. */
static bool is_intact(const struct wire_patch_object *object)
{
	for (uint64_t n = 0; n < object->count; n++) {
		const struct wire_patch *patch = &patches_of(object)[n];

		/* A command changes the code first, then the table. */
		if (!wire_patch_is_text(patch, (const uint8_t *)(uintptr_t)patch->address))
			return false;
	}
	return object->count != 0;
}

/* An object was unloaded. No call returns to its stubs, which would return to it. */
static void forget(struct wire_patch_object *object)
{
	if (object->area_bytes) {
		munmap(patches_of(object), object->count * sizeof(struct wire_patch));
		retire(object->area, object->area_bytes);
		call_far_free(&far_jumps[object - call_patches.object]);
	}
	call_slots_forget(object->begin, object->end);
	*object = (struct wire_patch_object){ 0 };
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *data)
{
	static uint64_t unloads;
	const uint64_t begin = begin_of(info);
	uint8_t *seen = data;
	struct wire_patch_object *object;

	(void)bytes;
	if (unloads != info->dlpi_subs) {
		unloads = info->dlpi_subs;
		call_patches_stale = true;
	}
	object = object_at(begin);
	if (object && call_patches_stale && !seen[object - call_patches.object] && !is_needed(info) &&
	    !is_intact(object)) {
		forget(object);
		object = NULL;
	}
	if (!object && begin != UINT64_MAX) {
		object = free_object();
		if (!object)
			return 0;
		if (is_needed(info) || (tracepoint_session.calls.header->sources & WIRE_CALL_NO_HOOKS)) {
			object->begin = begin;
			object->end = end_of(info);
		} else {
			load_object(info, object);
		}
	}
	if (object)
		seen[object - call_patches.object] = 1;
	return 0;
}

/* Patches are in the order of their addresses. */
static bool has_patch(const struct wire_patch_object *object, uint64_t function, uint32_t number)
{
	const struct wire_patch *patches = patches_of(object);
	uint64_t low = 0, high = object->count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (patches[middle].address < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low < object->count && patches[low].function == number;
}

/* Whether the function has a hook of its own, which records its calls already. Context: any. */
static bool is_patched(uint64_t function, uint32_t number)
{
	const uint64_t objects = __atomic_load_n(&call_patches.objects, __ATOMIC_ACQUIRE);

	for (uint64_t n = 0; n < objects; n++) {
		const struct wire_patch_object *object = &call_patches.object[n];

		/* Acquire: the patches are complete. Pairs with the release in prepare(). */
		if (__atomic_load_n(&object->area_bytes, __ATOMIC_ACQUIRE) &&
		    function - object->begin < object->end - object->begin)
			return has_patch(object, function, number);
	}
	return false;
}

/* After all hooks are known: a function that has one needs no stub for those who call it. */
static int visit_slots(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	struct wire_patch_object *object = object_at(begin_of(info));

	(void)bytes;
	(void)unused;
	if (object && !object->has_slots) {
		object->has_slots = true;
		if (!is_needed(info))
			call_slots_load(info, is_patched);
	}
	return 0;
}

static bool take_lock(void)
{
	const uint32_t self = tracepoint_thread_self();

	while (!lock_take(&lock, self)) {
		if ((uint32_t)__atomic_load_n(&lock, __ATOMIC_RELAXED) == self)
			return false; /* the dynamic linker loads for us */
		sched_yield();
	}
	return true;
}

void call_patch_startup(const void *ours)
{
	uint8_t jump[14] = { 0xff, 0x25 }; /* jmp *0(%rip); the address follows */
	const ElfW(Sym) *symbol = NULL;
	const void *found = dlsym(RTLD_DEFAULT, "__gmon_start__");
	const uint64_t at = (uint64_t)(uintptr_t)found;
	struct writing writing;
	Dl_info own, its;

	memcpy(jump + 6, &ours, sizeof(ours));
	if (!found || !dladdr(ours, &own) ||
	    !dladdr1(found, &its, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) ||
	    its.dli_fbase == own.dli_fbase || !symbol || symbol->st_size < sizeof(jump) ||
	    !writing_begin(&writing, at, at + sizeof(jump)))
		return;
	write_code(&writing, at, jump, sizeof(jump));
	writing_end(&writing);
}

void call_patch_load(void)
{
	static uint8_t seen[WIRE_PATCH_OBJECTS];
	const int saved = errno;

	if (!tracepoint_session.calls.header || !take_lock())
		return;
	call_function_is_patched = is_patched;
	memset(seen, 0, sizeof(seen));
	dl_iterate_phdr(visit, seen);
	for (uint64_t n = 0; n < call_patches.objects; n++)
		if (call_patches.object[n].end && !seen[n])
			forget(&call_patches.object[n]);
	if (tracepoint_session.calls.header->sources & WIRE_CALL_LIBRARIES)
		dl_iterate_phdr(visit_slots, NULL);
	call_patches_stale = false;
	lock_drop(&lock);
	errno = saved;
}

void call_patch_attaching(bool runs)
{
	attaching = runs;
}

bool call_patch_is_stub(uint64_t address)
{
	const uint64_t objects = __atomic_load_n(&call_patches.objects, __ATOMIC_ACQUIRE);

	for (uint64_t n = 0; n < objects; n++)
		if (address - call_patches.object[n].area < call_patches.object[n].area_bytes)
			return true;
	return false;
}

#endif
