/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of this process: from an address to its number in the session.
 *
 * The session numbers functions by image and offset. Each process has a private table by address, which a begin searches
 * without a lock. An address that is not there is looked up among the loaded objects, once.
 */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_FUNCTIONS_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/calls/session_calls.h"
#include "source/calls/functions/call_apart.h"
#include "source/calls/functions/call_images.h"

struct call_function {
	uint64_t address; /* of its first instruction; 0: the place is free */
	uint32_t number;  /* in the session; 0: its calls are not recorded */
	uint32_t reserved;
};

struct call_functions {
	uint64_t mask;
	uint64_t count;
	struct call_function entries[];
};

/* Never freed while a thread might read it. */
extern struct call_functions *call_functions;

/* The session's switches of functions, by number. [0] is off. */
extern const uint8_t *call_switches;

/* Whether the entry of a function is patched, which call_patch.c knows; NULL: no code is. Context: any, in that function. */
extern bool (*call_function_is_patched)(uint64_t function, uint32_t number);

/*
 * call_function_add - look an address up among the loaded objects, and add it; for call_apart().
 * Context: any thread, signal handlers. Return: its number; 0: its calls are not recorded.
 */
uint64_t call_function_add(uint64_t address, uint64_t unused);

/* call_function_number - the number in the session of a function of an image; 0: there is no room, which is counted. */
uint32_t call_function_number(const struct call_image *image);

/* call_functions_forget - objects were unloaded: other functions may come to lie at their addresses. Context: any thread. */
void call_functions_forget(void);

/* call_functions_fork - in the child of a fork, which has none of the other threads. */
void call_functions_fork(void);

static inline uint64_t call_function_place(const struct call_functions *functions, uint64_t address)
{
	return ((address >> 2) ^ (address >> 14)) & functions->mask;
}

/* call_function_peek - the first place where the function at an address can be; other functions may be there. */
static inline const struct call_function *call_function_peek(uint64_t address)
{
	const struct call_functions *functions = __atomic_load_n(&call_functions, __ATOMIC_ACQUIRE);

	return &functions->entries[call_function_place(functions, address)];
}

/* call_function_find - the number of the function at an address; 0: its calls are not recorded. */
static inline __attribute__((always_inline)) uint32_t call_function_find(uint64_t address)
{
	const struct call_functions *functions = __atomic_load_n(&call_functions, __ATOMIC_ACQUIRE);
	uint64_t at = call_function_place(functions, address);

	for (;;) {
		const uint64_t found = __atomic_load_n(&functions->entries[at].address, __ATOMIC_ACQUIRE);

		if (__builtin_expect(found == address, 1))
			return functions->entries[at].number;
		if (!found)
			return (uint32_t)call_apart(call_function_add, address, 0);
		at = (at + 1) & functions->mask;
	}
}

#endif
