/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that code compiled with -finstrument-functions calls at the begin and end of each function.
 *
 * gcc also calls the second when an exception leaves a function, clang does not; then, and after a longjmp, the next end
 * below closes the calls (call_end_slow()).
 *
 * Usually the calls are led to the code of hook_near.h, which comes here in rare cases.
 */
#include <unistd.h>

#include "source/calls/stack/call_segment.h"
#include "source/calls/hooks/hook_near.h"

#define HOOK __attribute__((visibility("default")))

HOOK void __cyg_profile_func_enter(void *function, void *caller);
HOOK void __cyg_profile_func_exit(void *function, void *caller);

#ifdef CALLS_STATIC
/* Brings call_process.c, and with it the constructor, from the archive. */
void __gmon_start__(void);
static __attribute__((used)) void (*const process)(void) = __gmon_start__;
#endif

/* Of the caller of the hook that this is inlined into. */
static inline __attribute__((always_inline)) uint64_t stack_pointer(void)
{
	return (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
}

/* Once. The registers of the arguments may have been used again before these hooks. */
static __attribute__((cold)) void refuse_arguments(void)
{
	static const char message[] = "burin: --args, --auto-args: -finstrument-functions leaves no "
				      "arguments at its hooks; build with "
				      "-fpatchable-function-entry=5\n";
	static bool reported;

	if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED) &&
	    write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		return;
}

/* All but the usual case: a new address, a full segment, a function that is neither on nor off. */
static __attribute__((noinline, cold)) void begin_slow(uint64_t address, uint64_t sp)
{
	uint32_t number;
	unsigned state;

	if (call_thread.stopped) { /* the function may not be known yet */
		call_lose_stopped();
		return;
	}
	number = call_function_find(address);
	state = call_switches[number] & ~WIRE_CALL_ARGUMENTS;
	if (call_switches[number] & WIRE_CALL_ARGUMENTS)
		refuse_arguments();
	if (state == WIRE_CALL_ON || (state != WIRE_CALL_OFF && call_is_permitted(number, state)))
		call_begin_slow(number, address, sp);
}

/* Calls seem to be off. */
static __attribute__((noinline)) bool is_on_in_child(void)
{
	if (!call_is_new())
		return false;
	call_notice(0);
	return *call_site->state != WIRE_OFF;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	const uint64_t address = (uint64_t)(uintptr_t)function;
	const struct call_function *known;
	struct wire_call_frame *frame;
	unsigned state;

	(void)caller;
	if (call_switch() == WIRE_OFF && !is_on_in_child())
		return;
	known = call_function_peek(address);
	frame = call_thread.top;
	if (__builtin_expect(known->address != address || call_is_segment_end(frame), 0))
		state = WIRE_CALL_SLOW;
	else
		state = call_switches[known->number];
	if (__builtin_expect(state == WIRE_CALL_ON, 1))
		call_begin(frame, known->number, address, stack_pointer());
	else if (state != WIRE_CALL_OFF)
		begin_slow(address, stack_pointer());
}

static uint64_t end_slow(uint64_t exit, uint64_t unused)
{
	(void)unused;
	call_end_exit((const struct call_exit *)(uintptr_t)exit); // NOLINT: the value is an address
	return 0;
}

/* The rest takes many registers, which __cyg_profile_func_exit() must not save where calls are off. */
static __attribute__((noinline)) bool end(struct wire_call_frame *frame)
{
	return call_end(frame);
}

static __attribute__((noinline)) void end_other(const struct call_exit *exit)
{
	if (call_cpu_is_fast()) /* few ends are slow: those for which a ring needs another packet */
		call_apart(end_slow, (uint64_t)(uintptr_t)exit, 0);
	else
		call_end_exit(exit);
}

/* Whether the innermost frame is that of the function that ends. The one below has no sp if it is a segment's head. */
static inline __attribute__((always_inline)) bool is_top(const struct wire_call_frame *frame,
							 const struct call_exit *exit)
{
	if (frame->match != exit->match)
		return false;
	return frame->sp == exit->sp ||
	       (exit->jumped && frame->sp < exit->sp && (!frame[-1].sp || frame[-1].sp >= exit->sp));
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	const uint64_t *frame_pointer = __builtin_frame_address(0);
	const struct call_exit exit = { .match = (uint64_t)(uintptr_t)function,
					.sp = stack_pointer(),
					.jumped = __builtin_return_address(0) == caller,
					.frame_pointer = *frame_pointer,
					.caller = (uint64_t)(uintptr_t)caller };
	struct wire_call_frame *frame;

	if (call_is_new())
		call_notice(0);
	frame = call_thread.top - 1;
	if (__builtin_expect(is_top(frame, &exit), 1)) {
		if (!end(frame))
			end_other(&exit);
	} else if (frame->match == exit.match ||
		   (call_switch() != WIRE_OFF &&
		    (frame->sp < exit.sp || (frame->sp == exit.sp && !exit.jumped)))) {
		/* Otherwise the innermost open call is that of a caller: the function that ends is off. */
		end_other(&exit);
	}
}
