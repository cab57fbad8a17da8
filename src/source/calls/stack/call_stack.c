/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks of open calls: the slow paths; see call_thread.h.
 *
 * A stack is a list of segments. `top` is all that the thread knows of it: the segment is found by the address's
 * upper bits, the one before by its head. A segment stays with its stack when calls return from it, so that a
 * recursion that crosses its end again and again takes no lock.
 *
 * Ends without notice. A call has ended if the stack pointer of a later end is above its own: its part of the native
 * stack is gone. So an end looks for its frame from the top down, and no further than its stack pointer permits; the
 * calls above end now. If there is no frame, the call was not recorded, and nothing happens. An end that cannot be
 * without a frame is a return to a stub: there call_stack_returned() aborts, since only the frame knows where to go.
 *
 * A frame without a start belongs to a begin that was interrupted for good; it has no record.
 *
 * Segments are shared memory, `top` is private. Numbers that lead from one segment to the next are checked
 * (call_segment_at()): damaged ones lose calls, and lead to no other memory.
 *
 * During a fork (`forking`) calls are open in private memory: parent and child share the session's frames, and both
 * may make calls in handlers of the fork.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/calls/stack/call_native.h"
#include "source/calls/stack/call_segment.h"
#include "source/calls/stack/call_thread.h"
#include "source/calls/stack/call_values.h"

enum {
	EXIT_FRAME_MAX = 1 << 20, /* bytes of a function's own variables, beside those of alloca() */
	NO_CHANGE = -1,		  /* of the set of blocked signals: the kernel refuses it */
	PAGE = 4096,
};

_Alignas(WIRE_CALL_SEGMENT) struct wire_call_frame call_no_frames[WIRE_CALL_FRAMES + 1] = {
	[0] = { .flags = -(uint32_t)WIRE_CALL_FRAMES }, /* struct wire_call_segment: depth */
	[WIRE_CALL_FRAMES] = { .sp = UINT64_MAX }, /* no call that ends is below it (hook_instrument.c) */
};

__thread struct call_thread call_thread = { .top = CALL_NO_STACK,
					    .home = CALL_NO_STACK,
					    .stopped_top = CALL_NO_STACK };

static uint64_t not_begun(uint64_t slot)
{
	(void)slot;
	return 0;
}

uint64_t (*call_notice)(uint64_t slot) = not_begun;

static pthread_key_t key; /* its destructor frees a thread's segments */
static bool has_key;

/* The segment of the innermost call of a stack, or the first one; NULL: there is none. */
static struct wire_call_segment *last_segment(const struct wire_call_frame *top)
{
	return top == CALL_NO_STACK ? NULL : call_segment_of(top - 1);
}

static struct wire_call_segment *first_segment(const struct wire_call_frame *top)
{
	struct wire_call_segment *segment = last_segment(top), *before;

	while (segment && (before = call_segment_at(segment->previous)) != NULL)
		segment = before;
	return segment;
}

/* Another segment for a stack. Return: NULL: there is no memory. */
static struct wire_call_segment *add_segment(const struct wire_call_segment *full, uint32_t stack)
{
	return full ? call_segment_take(full->stack, full->depth + WIRE_CALL_FRAMES,
					call_segment_number(full))
		    : call_segment_take(stack, 0, 0);
}

uint64_t call_stack_extend(uint64_t unused, uint64_t unused1)
{
	struct wire_call_segment *segment = NULL;

	(void)unused;
	(void)unused1;
	if (!call_thread.forking && !tracepoint_thread_enter()) {
		call_thread.stopped |= TRACEPOINT_STOP_CLOCK;
		call_lose_stopped();
		return 0;
	}
	if (!call_thread.forking) {
		if (has_key)
			pthread_setspecific(key,
					    &key); /* any value but NULL: then leave_thread() is called */
		segment =
			add_segment(last_segment(call_thread.top),
				    call_thread.native ? call_thread.native->stack : call_thread.home_stack);
	}
	if (!segment) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK, 1);
		return 0;
	}
	return (uint64_t)(uintptr_t)((struct wire_call_frame *)segment + 1);
}

/* Record the end of a call in all cases but the usual one. */
static void record_slow(const struct wire_call_frame *frame)
{
	struct {
		char room[WIRE_HEADROOM];
		uint32_t function, low;
		uint16_t high, depth;
	} __attribute__((packed, aligned(8))) record = { .function = frame->function,
							 .low = (uint32_t)frame->start,
							 .high = (uint16_t)(frame->start >> 32),
							 .depth = (uint16_t)call_depth(frame) };

	const unsigned state = call_switch();

	if (tracepoint_session.base && state != WIRE_OFF && !call_is_short(frame))
		burin_emit(call_site, state, &record, 12);
}

static void record(const struct wire_call_frame *frame, struct call_values *values)
{
	if (!values && !call_put(frame))
		record_slow(frame);
	else if (values && !call_is_short(frame))
		call_values_record(frame, values);
}

/* During a fork: not by a fast path, to which the child would be the parent's thread. */
static void record_away(const struct wire_call_frame *frame, struct call_values *values)
{
	if (session_self() != call_thread.forking) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK, 1);
		return;
	}
	tracepoint_thread.tid = call_thread.forking_tid;
	record(frame, values);
	tracepoint_thread.tid = 0;
}

void call_end_top(struct wire_call_frame *frame)
{
	struct call_values *values = call_values_of(frame);

	/* Without a start its begin was interrupted by a signal handler that did not return. */
	if (frame->function && frame->start) {
		frame->flags |= WIRE_CALL_ENDING;
		(call_thread.forking ? record_away : record)(frame, values);
	}
	call_values_free(frame);
	call_close(frame);
}

void call_stack_end_all(void)
{
	for (struct wire_call_frame *frame = call_stack_top(); frame; frame = call_stack_top())
		call_end_top(frame);
}

void call_begin_slow(uint32_t function, uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame = call_thread.top;

	if (call_is_segment_end(frame))
		frame = call_stack_more();
	if (frame)
		call_begin(frame, function, match, sp);
}

/* The frame of a sled may be marked. */
static bool is_match(const struct wire_call_frame *frame, uint64_t match)
{
	return frame->match == match || (call_values_of(frame) && frame->match == (match ^ CALL_VALUES_MARK));
}

/* End a call, and those that it called and that are open still. */
static void end_with_callees(const struct wire_call_frame *wanted)
{
	struct wire_call_frame *frame;

	do {
		frame = call_stack_top();
		call_end_top(frame);
	} while (frame != wanted);
}

void call_end_slow(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *wanted = call_stack_top();

	/* A call cannot end while one that began on a lower address of the stack goes on. */
	while (wanted && !is_match(wanted, match) && wanted->sp <= sp)
		wanted = call_stack_below(wanted);
	if (wanted && is_match(wanted, match))
		end_with_callees(wanted);
}

/* Whether memory can be read. The kernel reads the set of signals before it refuses a change that there is not. */
static bool is_readable(uint64_t address)
{
	const int saved = errno;
	const bool fault = ring_silent ||
			   (syscall(SYS_rt_sigprocmask, NO_CHANGE, address, NULL, 8) != 0 && errno == EFAULT);

	errno = saved;
	return !fault;
}

/*
 * Whether the frame pointer leads to the return address of the function that ends. The register may have any value; what is read is of
 * the live stack: between a call's frame and its caller's, or where the kernel can read.
 */
static bool leads_to_caller(const struct wire_call_frame *frame, const struct wire_call_frame *caller,
			    const struct call_exit *exit)
{
	const bool between = caller && caller->sp - frame->sp < EXIT_FRAME_MAX;
	const uint64_t room = between ? caller->sp - frame->sp : EXIT_FRAME_MAX;
	const uint64_t slot = exit->frame_pointer + 8;

	if (exit->frame_pointer % 8 != 0 || exit->frame_pointer < frame->sp || slot - frame->sp >= room)
		return false;
	if (!between && slot / PAGE != frame->sp / PAGE && !is_readable(slot))
		return false;
	return *(const uint64_t *)(uintptr_t)slot == exit->caller; // NOLINT: the value is an address
}

static bool is_own(const struct wire_call_frame *frame, const struct call_exit *exit)
{
	const struct wire_call_frame *caller;

	if (!is_match(frame, exit->match))
		return false;
	caller = call_stack_below(frame);
	if (exit->jumped)
		return frame->sp < exit->sp && (!caller || caller->sp >= exit->sp);
	if (frame->sp == exit->sp)
		return true;
	/* alloca() has moved it: then the function has a frame pointer. */
	return exit->sp < frame->sp && leads_to_caller(frame, caller, exit);
}

void call_end_exit(const struct call_exit *exit)
{
	struct wire_call_frame *wanted = call_stack_top();

	while (wanted && !is_own(wanted, exit) && wanted->sp <= exit->sp)
		wanted = call_stack_below(wanted);
	if (wanted && is_own(wanted, exit))
		end_with_callees(wanted);
}

uint32_t call_stack_number(const struct wire_call_frame *top)
{
	const struct wire_call_segment *segment = last_segment(top);

	return segment ? segment->stack : 0;
}

void call_stack_owner(const struct wire_call_frame *top, uint32_t tid)
{
	struct wire_call_segment *segment = first_segment(top);

	for (; segment; segment = call_segment_at(segment->next))
		__atomic_store_n(&segment->tid, tid, __ATOMIC_RELAXED);
}

void call_stack_free(const struct wire_call_frame *top)
{
	const struct wire_call_segment *first = first_segment(top);

	if (first)
		call_segment_free(first);
}

/* @flags: those that are copied. The arguments of a call belong to one frame of a process. */
static void copy_frame(struct wire_call_frame *to, const struct wire_call_frame *from, uint32_t flags)
{
	to->function = from->function;
	to->flags = from->flags & flags;
	to->match = from->match;
	to->sp = from->sp;
	__atomic_store_n(&to->start, from->start, __ATOMIC_RELEASE);
}

struct wire_call_frame *call_stack_copy(const struct wire_call_frame *top)
{
	const struct wire_call_segment *last = last_segment(top), *from = first_segment(top);
	struct wire_call_segment *to = NULL, *first = NULL;
	size_t end = 1;

	for (; from; from = from == last ? NULL : call_segment_at(from->next)) {
		to = add_segment(to, 0);
		if (!to)
			break;
		first = first ? first : to;
		end = from == last ? (size_t)(top - (const struct wire_call_frame *)from)
				   : WIRE_CALL_FRAMES + 1;
		for (size_t n = 1; n < end; n++)
			copy_frame((struct wire_call_frame *)to + n, (const struct wire_call_frame *)from + n,
				   CALL_FRAME_FLAGS);
	}
	if (from) { /* no memory: the calls that are open stay so, but will have no record */
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK,
				  last->depth + (uint64_t)(top - (const struct wire_call_frame *)last) - 1);
		if (first)
			call_stack_free((struct wire_call_frame *)first + 2);
		return CALL_NO_STACK;
	}
	return to ? (struct wire_call_frame *)to + end : CALL_NO_STACK;
}

struct wire_call_frame *call_stack_returned(uint64_t slot)
{
	static const char message[] =
		"burin: a traced function returned whose caller is not known; see burin-record(1), CALLS\n";
	struct wire_call_frame *wanted = call_stack_top(), *frame;

	while (wanted && call_values_slot(wanted) != slot)
		wanted = call_stack_below(wanted);
	if (!wanted) {
		if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
			abort();
		abort();
	}
	while ((frame = call_stack_top()) != wanted)
		call_end_top(frame);
	return wanted;
}

void call_stack_keep(struct call_kept *kept, const struct wire_call_frame *top)
{
	const struct wire_call_segment *last = last_segment(top);
	struct wire_call_frame *frame = last ? call_stack_below(top) : NULL;

	*kept = (struct call_kept){ NULL, 0 };
	if (!frame)
		return;
	kept->count = last->depth + (size_t)(top - (const struct wire_call_frame *)last) - 1;
	kept->frames = mmap(NULL, kept->count * sizeof(*frame), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (kept->frames == MAP_FAILED)
		kept->frames = NULL;
	for (size_t n = kept->count; kept->frames && frame && n-- > 0; frame = call_stack_below(frame))
		kept->frames[n] = *frame;
}

void call_stack_drop(struct call_kept *kept)
{
	if (kept->frames)
		munmap(kept->frames, kept->count * sizeof(*kept->frames));
	*kept = (struct call_kept){ NULL, 0 };
}

struct wire_call_frame *call_stack_make(const struct call_kept *kept, uint32_t stack)
{
	struct wire_call_segment *segment = NULL;
	struct wire_call_frame *top = CALL_NO_STACK;

	for (size_t n = 0; n < kept->count; n++) {
		if (n % WIRE_CALL_FRAMES == 0) {
			segment = kept->frames ? add_segment(segment, stack) : NULL;
			if (!segment) { /* the calls that are open will have no record */
				session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK, kept->count);
				call_stack_free(top);
				return CALL_NO_STACK;
			}
			top = (struct wire_call_frame *)segment + 1;
		}
		copy_frame(top, &kept->frames[n], UINT32_MAX);
		call_values_copied(top++);
	}
	return top;
}

void call_stack_away(void *room)
{
	struct wire_call_segment *segment = room;

	call_thread.parent = call_thread.top;
	call_thread.forking = session_self();
	call_thread.forking_tid = tracepoint_thread.tid;
	if (segment)
		segment->depth = call_depth(call_thread.top - 1) + 1;
	call_thread.top = segment ? (struct wire_call_frame *)segment + 1 : CALL_NO_STACK;
	tracepoint_thread.tid = 0;
}

void call_stack_back(void)
{
	call_thread.top = call_thread.parent;
	tracepoint_thread.tid = session_self() == call_thread.forking ? call_thread.forking_tid : 0;
	call_thread.forking = 0;
}

void call_lose_stopped(void)
{
	ring_lose(&tracepoint_session.rings[0], WIRE_LOST_BUSY);
}

void call_stack_drop_values(const struct wire_call_frame *top)
{
	for (struct wire_call_frame *frame = top == CALL_NO_STACK ? NULL : call_stack_below(top); frame;
	     frame = call_stack_below(frame))
		call_values_free(frame);
}

void call_stack_give(const struct wire_call_frame *top, uint32_t pid)
{
	for (struct wire_call_segment *segment = first_segment(top); segment;
	     segment = call_segment_at(segment->next)) {
		segment->pid = pid;
		__atomic_store_n(&segment->tid, pid, __ATOMIC_RELEASE);
	}
}

void call_stack_begin(void (*leave_thread)(void *))
{
	has_key = pthread_key_create(&key, leave_thread) == 0;
}
