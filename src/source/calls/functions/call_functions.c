/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The table of functions by address; see call_functions.h. */
#include <link.h>
#include <sched.h>
#include <sys/mman.h>

#include "ring/lock.h"
#include "source/calls/functions/call_facts.h"
#include "source/calls/functions/call_functions.h"
#include "source/calls/functions/call_images.h"
#include "source/calls/functions/call_rules.h"
#include "source/tracepoint/thread.h"

enum {
	FUNCTIONS_FIRST = 1 << 14, /* places of the first table */
	OBJECTS_ROOM = 4096,	   /* parts of loaded objects that are looked at when one is unloaded */
};

/* The address of a place whose function was unloaded: searches go on behind it. */
static const uint64_t forgotten = UINT64_MAX;

/* Of a process that has no session, or whose session has no calls: everything is off. */
static struct call_functions none = { .entries = { { 0 } } };
static const uint8_t off[1];

struct call_functions *call_functions = &none;
bool (*call_function_is_patched)(uint64_t function, uint32_t number);
const uint8_t *call_switches = off;

static uint64_t lock; /* for changes; as that of a ring, since a signal handler may find it taken */

static struct call_functions *make(uint64_t places)
{
	struct call_functions *made = mmap(NULL, sizeof(*made) + places * sizeof(struct call_function),
					   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return NULL;
	made->mask = places - 1;
	return made;
}

static void put(struct call_functions *functions, uint64_t address, uint32_t number)
{
	uint64_t at = call_function_place(functions, address);

	while (functions->entries[at].address && functions->entries[at].address != address &&
	       functions->entries[at].address != forgotten)
		at = (at + 1) & functions->mask;
	functions->count += !functions->entries[at].address;
	functions->entries[at].number = number;
	/* Release: a thread that sees the address sees the number. Pairs with the acquire in call_function_find(). */
	__atomic_store_n(&functions->entries[at].address, address, __ATOMIC_RELEASE);
}

/* A larger table. The old one stays: other threads may be reading it. */
static struct call_functions *grow(const struct call_functions *old)
{
	struct call_functions *made = make(old == &none ? FUNCTIONS_FIRST : 4 * (old->mask + 1));

	for (uint64_t n = 0; made && n <= old->mask; n++)
		if (old->entries[n].address && old->entries[n].address != forgotten)
			put(made, old->entries[n].address, old->entries[n].number);
	if (made)
		__atomic_store_n(&call_functions, made, __ATOMIC_RELEASE);
	return made;
}

static void add(uint64_t address, uint32_t number)
{
	struct call_functions *functions = call_functions;

	if (2 * functions->count >= functions->mask)
		functions = grow(functions);
	if (functions)
		put(functions, address, number);
}

/*
 * Number a function in the session. A command first changes the rules, while the generation is odd, and then the switches
 * of all functions that it finds. If it was too early to find this one, the generation has changed, and the rules are
 * asked again.
 */
static uint32_t number_of(const struct call_image *image)
{
	uint32_t generation, now;
	uint8_t state;
	uint32_t number;

	call_facts_wait(image->number);
	generation = call_rules_generation();
	state = call_rules_state(image);
	number = state == WIRE_CALL_SWITCHES
			 ? 0
			 : session_call_function(&tracepoint_session, image->number, image->offset, 0, state,
						 tracepoint_thread_self());

	/* Either this thread sees the new generation, or the command sees the function. Pairs with the fence in
	 * call_change() (control/call_listing.c). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; number && (now = call_rules_generation()) != generation && !(now & 1); generation = now) {
		state = call_rules_state(image);
		if (state != WIRE_CALL_SWITCHES)
			__atomic_store_n(&tracepoint_session.calls.switches[number], state, __ATOMIC_RELAXED);
	}
	return number;
}

uint32_t call_function_number(const struct call_image *image)
{
	const uint32_t number = number_of(image);

	if (!number)
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_FUNCTION, 1);
	return number;
}

/*
 * A function may have several kinds of hooks. The first one of these is used: that of the patched entry, mcount, which lies inside the
 * function, and __cyg_profile_func_enter(), whose place is the function's begin.
 */
uint64_t call_function_add(uint64_t address, uint64_t unused)
{
	const uint64_t function = call_image_function(address);
	const uint32_t self = tracepoint_thread_self();
	struct call_image image;
	uint32_t number = 0;

	(void)unused;
	if (call_switches == off)
		return 0;
	if (tracepoint_session.calls.header->sources & WIRE_CALL_NO_HOOKS) {
		if (lock_take(&lock, self)) {
			add(address, 0);
			lock_drop(&lock);
		}
		return 0;
	}
	if (call_image_find(function, &image))
		number = number_of(&image);
	if (!number) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_FUNCTION, 1);
		return 0;
	}
	if (call_function_is_patched && call_function_is_patched(function, number))
		number = 0;
	if (lock_take(&lock, self)) {
		add(address, number);
		if (function != address)
			add(function, 0);
		lock_drop(&lock);
	}
	return number;
}

/* The code of the loaded objects. */
struct objects {
	unsigned long long unloaded; /* how many objects were ever unloaded */
	size_t count;
	struct {
		uint64_t begin, end;
	} code[OBJECTS_ROOM];
};

static int visit(struct dl_phdr_info *object, size_t bytes, void *data)
{
	struct objects *objects = data;

	(void)bytes;
	objects->unloaded = object->dlpi_subs;
	for (unsigned n = 0; n < object->dlpi_phnum && objects->count < OBJECTS_ROOM; n++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[n];
		const uint64_t begin = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		objects->code[objects->count].begin = begin;
		objects->code[objects->count].end = begin + part->p_memsz;
		objects->count++;
	}
	return 0;
}

static bool is_loaded(const struct objects *objects, uint64_t address)
{
	for (size_t n = 0; n < objects->count; n++)
		if (address - objects->code[n].begin < objects->code[n].end - objects->code[n].begin)
			return true;
	return false;
}

/* Under the lock. Functions of more objects than there is room for are forgotten, too, and looked up again. */
static void forget(const struct objects *objects)
{
	struct call_functions *functions = call_functions;

	if (functions == &none)
		return;
	for (uint64_t n = 0; n <= functions->mask; n++) {
		const uint64_t address = functions->entries[n].address;

		if (address && address != forgotten && !is_loaded(objects, address))
			__atomic_store_n(&functions->entries[n].address, forgotten, __ATOMIC_RELEASE);
	}
}

void call_functions_forget(void)
{
	static unsigned long long unloaded;
	const uint32_t self = tracepoint_thread_self();
	struct objects *objects =
		mmap(NULL, sizeof(*objects), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (objects == MAP_FAILED)
		return;
	dl_iterate_phdr(visit, objects);
	while (!lock_take(&lock, self))
		sched_yield();
	if (objects->unloaded != unloaded)
		forget(objects);
	unloaded = objects->unloaded;
	lock_drop(&lock);
	munmap(objects, sizeof(*objects));
}

void call_functions_fork(void)
{
	lock = 0;
}
