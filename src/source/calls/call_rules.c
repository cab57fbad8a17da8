/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's choice of functions; see call_rules.h. */
#include <sched.h>

#include "ring/lock.h"
#include "session/call_selection.h"
#include "source/calls/call_rules.h"
#include "source/calls/call_symbols.h"
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

enum wire_call_switch call_rules_state(const struct call_image *image)
{
	const uint32_t self = tracepoint_thread_self();
	const struct wire_calls *calls = tracepoint_session.calls.header;
	struct naming naming = { .image = image };
	const struct call_subject subject = {
		.image = call_symbols_path(image), .offset = image->offset, .name = nth_name, .data = &naming
	};
	enum wire_call_switch state;

	if (!calls->rules[0])
		return call_selection_state(calls, &subject);
	while (!lock_take(&lock, self)) {
		if ((uint32_t)__atomic_load_n(&lock, __ATOMIC_RELAXED) == self)
			return WIRE_CALL_SWITCHES;
		sched_yield();
	}
	state = call_selection_state(calls, &subject);
	lock_drop(&lock);
	return state;
}

uint32_t call_rules_generation(void)
{
	return __atomic_load_n(&tracepoint_session.calls.header->generation, __ATOMIC_ACQUIRE);
}
