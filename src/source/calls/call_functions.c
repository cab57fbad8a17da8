/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The table of functions by address; see call_functions.h. */
#include <sched.h>
#include <sys/mman.h>

#include "ring/lock.h"
#include "source/calls/call_functions.h"
#include "source/calls/call_images.h"
#include "source/calls/call_rules.h"
#include "source/tracepoint/thread.h"

enum {
	FUNCTIONS_FIRST = 1 << 14, /* places of the first table */
};

/* Of a process that has no session, or whose session has no calls: everything is off. */
static struct {
	struct call_functions head;
	struct call_function entries[1];
} none;
static const uint8_t off[1];

struct call_functions *call_functions = &none.head;
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

	while (functions->entries[at].address && functions->entries[at].address != address)
		at = (at + 1) & functions->mask;
	functions->count += !functions->entries[at].address;
	functions->entries[at].number = number;
	/* Release: a thread that sees the address sees the number. Pairs with the acquire in call_function_find(). */
	__atomic_store_n(&functions->entries[at].address, address, __ATOMIC_RELEASE);
}

/* A larger table. The old one stays: other threads may be reading it. */
static struct call_functions *grow(const struct call_functions *old)
{
	struct call_functions *made = make(old == &none.head ? FUNCTIONS_FIRST : 4 * (old->mask + 1));

	for (uint64_t n = 0; made && n <= old->mask; n++)
		if (old->entries[n].address)
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
	uint32_t generation = call_rules_generation(), now;
	enum wire_call_switch state = call_rules_state(image);
	const uint32_t number =
		state == WIRE_CALL_SWITCHES
			? 0
			: session_call_function(&tracepoint_session, image->number, image->offset, 0, state,
						tracepoint_thread_self());

	/* Either this thread sees the new generation, or the command sees the function. Pairs with the fence in
	 * call_change() (control/call_listing.c). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; number && (now = call_rules_generation()) != generation && !(now & 1); generation = now) {
		state = call_rules_state(image);
		if (state != WIRE_CALL_SWITCHES)
			__atomic_store_n(&tracepoint_session.calls.switches[number], (uint8_t)state,
					 __ATOMIC_RELAXED);
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

uint32_t call_function_add(uint64_t address)
{
	const uint32_t self = tracepoint_thread_self();
	struct call_image image;
	uint32_t number = 0;

	if (call_switches == off)
		return 0;
	if (tracepoint_session.calls.header->sources & WIRE_CALL_NO_HOOKS) {
		if (lock_take(&lock, self)) {
			add(address, 0);
			lock_drop(&lock);
		}
		return 0;
	}
	if (call_image_find(address, &image))
		number = number_of(&image);
	if (!number) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_FUNCTION, 1);
		return 0;
	}
	if (lock_take(&lock, self)) {
		add(address, number);
		lock_drop(&lock);
	}
	return number;
}

void call_functions_forget(void)
{
	const uint32_t self = tracepoint_thread_self();

	while (!lock_take(&lock, self))
		sched_yield();
	if (call_functions != &none.head)
		__atomic_store_n(&call_functions, make(call_functions->mask + 1) ?: &none.head,
				 __ATOMIC_RELEASE);
	lock_drop(&lock);
}
