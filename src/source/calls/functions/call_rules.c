/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's choice of functions; see call_rules.h. */
#include <sched.h>

#include "base/nolibc.h"
#include "ring/lock.h"
#include "session/calls/call_arguments.h"
#include "session/calls/call_known.h"
#include "source/calls/functions/call_rules.h"
#include "source/calls/functions/call_symbols.h"
#include "source/tracepoint/thread.h"

/* For the names, which are read once, and the text of a demangled name. */
static uint64_t lock;

struct naming {
	const struct call_image *image;
	const struct call_symbols *symbols;
};

/* Each symbol of the function has three names: as it is, demangled, and that without parameters. */
static const char *nth_name(void *data, unsigned n)
{
	static char bare[CALL_NAME_BARE_MAX];
	struct naming *naming = data;
	const char *name, *readable;

	if (!naming->symbols)
		naming->symbols = call_symbols_of(naming->image);
	name = call_symbols_name(naming->symbols, naming->image->offset, n / 3);
	if (!name || n % 3 == 0)
		return name;
	readable = call_symbols_demangle(name);
	if (!readable)
		return name;
	return n % 3 == 2 && call_selection_bare(bare, readable) ? bare : readable;
}

/* Return: false: a signal handler interrupted the owner. */
static bool take_lock(void)
{
	const uint32_t self = tracepoint_thread_self();

	while (!lock_take(&lock, self)) {
		if ((uint32_t)__atomic_load_n(&lock, __ATOMIC_RELAXED) == self)
			return false;
		sched_yield();
	}
	return true;
}

static struct call_subject subject_of(struct naming *naming)
{
	return (struct call_subject){ .image = call_symbols_path(naming->image),
				      .offset = naming->image->offset,
				      .known = call_known_find(&tracepoint_session, naming->image->number,
							       naming->image->offset),
				      .name = nth_name,
				      .data = naming };
}

uint8_t call_rules_state(const struct call_image *image)
{
	const struct wire_calls *calls = tracepoint_session.calls.header;
	struct naming naming = { .image = image };
	const struct call_subject subject = subject_of(&naming);
	uint8_t state;

	if (!calls->rules[0])
		return (uint8_t)call_selection_state(calls, &subject);
	if (!take_lock())
		return WIRE_CALL_SWITCHES;
	state = call_arguments_state(calls, &subject, call_selection_state(calls, &subject));
	lock_drop(&lock);
	return state;
}

bool call_rules_arguments(const struct call_image *image, char *spec, size_t spec_bytes, char *name,
			  size_t name_bytes)
{
	struct nolibc_string specified = { spec, spec_bytes, 0, false },
			     named = { name, name_bytes, 0, false };
	struct naming naming = { .image = image };
	const struct call_subject subject = subject_of(&naming);
	const char *found;

	if (!take_lock())
		return false;
	nolibc_text(&specified, call_arguments_of(tracepoint_session.calls.header, &subject));
	found = nth_name(&naming, 2) ?: "function"; /* without parameters */
	nolibc_text(&named, found);
	lock_drop(&lock);
	return *spec && !specified.truncated;
}

uint32_t call_rules_generation(void)
{
	return __atomic_load_n(&tracepoint_session.calls.header->generation, __ATOMIC_ACQUIRE);
}
