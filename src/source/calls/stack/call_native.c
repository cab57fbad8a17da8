/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Native stacks; see call_native.h.
 *
 * Those that were made are in a table, ordered by address. They are never unmade: the memory may serve other purposes later,
 * which shows when a thread that is at home finds itself on one.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "ring/lock.h"
#include "source/calls/stack/call_native.h"
#include "source/calls/stack/call_segment.h"
#include "source/tracepoint/thread.h"
#include "wire/wire_event.h"

enum {
	NATIVES_FIRST = 128, /* places of the first table */
};

static struct {
	struct call_native **order; /* by address */
	size_t count, room;
	struct call_native *unused;
	size_t unused_count;
} natives;

static uint64_t lock; /* as that of call_functions.c */

static const unsigned char off;

static struct burin_site stack_site = {
	.state = &off,
	.name = WIRE_CALL_STACK_EVENT,
	.format = WIRE_CALL_STACK_FORMAT,
	.file = __FILE__,
	.types = WIRE_U32 | WIRE_U32 << 4,
	.line = __LINE__,
};

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* The index of the first native stack that ends above an address. */
static size_t first_above(uint64_t address)
{
	size_t low = 0, high = natives.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (natives.order[middle]->high > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Under the lock. Return: the native stack that has an address; NULL: none, it is a thread's home. */
static struct call_native *find(uint64_t address)
{
	const size_t at = first_above(address);

	return at < natives.count && natives.order[at]->low <= address ? natives.order[at] : NULL;
}

static bool grow(void)
{
	const size_t room = natives.room ? 2 * natives.room : NATIVES_FIRST;
	struct call_native **order = map(room * sizeof(struct call_native *));

	if (!order)
		return false;
	if (natives.order) {
		memcpy(order, natives.order, natives.count * sizeof(struct call_native *));
		munmap(natives.order, natives.room * sizeof(struct call_native *));
	}
	natives.order = order;
	natives.room = room;
	return true;
}

static struct call_native *unused(void)
{
	if (!natives.unused_count) {
		natives.unused = map(NATIVES_FIRST * sizeof(*natives.unused));
		natives.unused_count = natives.unused ? NATIVES_FIRST : 0;
	}
	return natives.unused_count ? &natives.unused[--natives.unused_count] : NULL;
}

static void remove_at(size_t at)
{
	natives.count--;
	memmove(&natives.order[at], &natives.order[at + 1],
		(natives.count - at) * sizeof(struct call_native *));
}

/* The native stack of this memory. Others that overlap are of memory that has been given back since. */
static struct call_native *add(uint64_t low, uint64_t high)
{
	size_t at = first_above(low);
	struct call_native *native = NULL;

	while (at < natives.count && natives.order[at]->low < high) {
		if (!native)
			native = natives.order[at];
		else
			call_stack_free(natives.order[at]->top);
		remove_at(at);
	}
	if (native)
		call_stack_free(native->top);
	if (natives.count == natives.room && !grow())
		return NULL;
	native = native ? native : unused();
	if (!native)
		return NULL;
	memmove(&natives.order[at + 1], &natives.order[at],
		(natives.count - at) * sizeof(struct call_native *));
	natives.order[at] = native;
	natives.count++;
	*native = (struct call_native){ .low = low, .high = high, .top = CALL_NO_STACK };
	return native;
}

void call_native_make(const void *memory, size_t bytes)
{
	const uint64_t low = (uint64_t)(uintptr_t)memory;
	const uint32_t self = tracepoint_thread_self();
	struct call_native *native;

	if (!tracepoint_session.calls.header)
		return;
	if (!stack_site.id)
		burin_object_join(&stack_site, &stack_site + 1, NULL, NULL);
	while (!lock_take(&lock, self))
		sched_yield();
	native = add(low, low + bytes);
	if (native) {
		native->stack = session_call_stack(&tracepoint_session);
		native->pid = session_self();
	}
	lock_drop(&lock);
}

static uint32_t number_of(struct call_native *native)
{
	if (native)
		return native->stack;
	if (!call_thread.home_stack)
		call_thread.home_stack =
			call_stack_number(call_thread.native ? call_thread.home : call_thread.top)
				?: session_call_stack(&tracepoint_session);
	return call_thread.home_stack;
}

/* Record, for readers, that the thread continues on another stack. */
static void record(uint32_t from, uint32_t to)
{
	struct {
		char room[WIRE_HEADROOM];
		uint32_t from, to;
	} __attribute__((packed, aligned(8))) record = { .from = from, .to = to };

	if (stack_site.id && call_switch() != WIRE_OFF)
		burin_emit(&stack_site, WIRE_ON, &record, 8);
}

static void go(struct call_native *native)
{
	const uint32_t from = number_of(call_thread.native), to = number_of(native);

	if (call_thread.native)
		call_thread.native->top = call_thread.top;
	else
		call_thread.home = call_thread.top;
	/* Stacks on which no thread runs belong to the process's first thread, which is there as long as the process. */
	if (call_thread.native)
		call_stack_owner(call_thread.top, session_self());
	if (native && native->pid != session_self()) {
		native->pid = session_self();
		native->stack = session_call_stack(&tracepoint_session);
		native->top = CALL_NO_STACK; /* the parent has these frames, and may have changed them */
	}
	call_thread.native = native;
	call_thread.top = native ? native->top : call_thread.home;
	if (native)
		call_stack_owner(call_thread.top, tracepoint_thread_self());
	record(from, native ? native->stack : to);
}

/* The memory of the alternate signal stack that the thread runs on; if it does not, it has no bytes. */
static stack_t signal_stack(void)
{
	stack_t stack;

	if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_ONSTACK))
		stack.ss_size = 0;
	return stack;
}

static bool is_on(const stack_t *stack, uint64_t sp)
{
	return sp - (uint64_t)(uintptr_t)stack->ss_sp < stack->ss_size;
}

static bool is_below(const struct wire_call_frame *frame, uint64_t sp, const stack_t *alternate)
{
	const bool from = is_on(alternate, frame->sp), to = is_on(alternate, sp);

	if (!frame->start) /* its begin was interrupted, and will not go on */
		return true;
	return from == to ? frame->sp < sp : from;
}

/* End the calls that lie below a stack pointer. */
static void unwind(uint64_t sp)
{
	struct wire_call_frame *frame = call_stack_top();
	stack_t alternate;

	if (!frame || (frame->start && frame->sp == sp))
		return;
	for (alternate = signal_stack(); frame && is_below(frame, sp, &alternate); frame = call_stack_top())
		call_end_top(frame);
}

void call_native_move(uint64_t sp)
{
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct call_native *native;

	if (!tracepoint_session.calls.header || call_thread.stopped)
		return;
	if (call_is_new())
		call_notice(0);
	if (natives.count) {
		const uint32_t self = tracepoint_thread_self();

		while (!lock_take(&lock, self))
			if ((uint32_t)__atomic_load_n(&lock, __ATOMIC_RELAXED) == self)
				return; /* a signal handler interrupted the owner */
			else
				sched_yield();
		native = find(here);
		if (native && !call_thread.native) /* a thread's own stack, where another was once */
			remove_at(first_above(here));
		native = find(sp - 1); /* of a stack without a frame, `sp` is the end */
		lock_drop(&lock);
		if (native != call_thread.native)
			go(native);
	}
	unwind(sp);
}

void call_native_target(void)
{
	struct wire_call_frame *frame = call_stack_top();

	if (frame)
		frame->flags |= CALL_FRAME_TARGET;
}

void call_native_jump(uint64_t sp)
{
	const struct wire_call_frame *target;

	call_native_move(sp);
	target = call_stack_top();
	while (target && target->sp == sp && !(target->flags & CALL_FRAME_TARGET))
		target = call_stack_below(target);
	if (!target || !(target->flags & CALL_FRAME_TARGET))
		return;
	for (struct wire_call_frame *frame; (frame = call_stack_top()) != target;)
		call_end_top(frame);
}

uint32_t call_native_fork(void)
{
	lock = 0;
	if (!call_thread.native)
		return 0;
	call_thread.native->pid = session_self();
	call_thread.native->stack = session_call_stack(&tracepoint_session);
	return call_thread.native->stack;
}

void call_native_leave(void)
{
	struct call_native *native = call_thread.native;

	if (!native)
		return;
	call_stack_end_all();
	call_stack_free(call_thread.top);
	call_thread.native = NULL;
	call_thread.top = call_thread.home;
	native->top = CALL_NO_STACK;
}
