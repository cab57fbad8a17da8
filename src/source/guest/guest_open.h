/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The begin of a call, in the callbacks of its instruction: what all machines have in common. */
#ifndef BURIN_SOURCE_GUEST_GUEST_OPEN_H
#define BURIN_SOURCE_GUEST_GUEST_OPEN_H

#include "source/guest/guest_options.h"
#include "source/guest/guest_vcpu.h"

/*
 * A call instruction. QEMU translates code once for all addresses at which a page of it is mapped: two processes may have a library at
 * different ones. These are where it was when it was translated.
 */
struct guest_site {
	uint64_t address, after; /* of the instruction, and of the one behind it */
	uint64_t target;	 /* of a direct call */
	uint64_t known; /* image and number of the target when it was called last: image << 32 | number */
	unsigned target_register, segment;
	enum guest_kind kind;
};

enum {
	GUEST_NEAR = 16, /* bytes: a call over less than that goes to no function */
};

/* guest_is_near - whether a call is not one of a function: it is a part of an indirect jump, or fills the processor's stack of
 * return addresses. @after: the address behind it */
static inline bool guest_is_near(enum guest_kind kind, uint64_t target, uint64_t after)
{
	return kind == GUEST_CALL && target - after < GUEST_NEAR;
}

/* guest_called_at - the number of the function at an address; 0: the call is not recorded. */
static inline uint32_t guest_called_at(struct guest_vcpu *vcpu, uint32_t image, uint64_t address)
{
	return guest_is_recording() ? guest_function(vcpu, image, address) : 0;
}

/* guest_called - the same for the target of a direct call. It is at @address now, and was when this image called it last. */
static inline uint32_t guest_called(struct guest_vcpu *vcpu, struct guest_site *site, uint32_t image,
				    uint64_t address)
{
	const uint64_t known = __atomic_load_n(&site->known, __ATOMIC_RELAXED);
	uint32_t number;

	if (__builtin_expect(!guest_is_recording(), 0))
		return 0;
	if (__builtin_expect(known >> 32 == image, 1))
		return (uint32_t)known;
	number = guest_function(vcpu, image, address);
	if (number || !guest_options_function(address))
		__atomic_store_n(&site->known, (uint64_t)image << 32 | number, __ATOMIC_RELAXED);
	return number;
}

/* guest_now - the clock, before a call. */
static inline uint64_t guest_now(void)
{
	guest_clock_update();
	return ring_clock();
}

/* guest_begin - the clock of a frame's begin. Release: a reader that sees it sees the function. */
static inline void guest_begin(struct wire_call_frame *frame, uint64_t now)
{
	__atomic_store_n(&frame->start, now, __ATOMIC_RELEASE);
}

/*
 * guest_open - a call begins. @moved: from the addresses of the site to where it is now; @target: where it goes; @number: of that
 * function, 0: it is not recorded; @now: the clock, which is read before all else: reading it waits for the loads before
 * Return: its frame; NULL: it is lost.
 */
static inline __attribute__((always_inline)) struct wire_call_frame *
guest_open(struct guest_stack *stack, const struct guest_site *site, uint64_t moved, uint64_t sp,
	   uint64_t target, uint32_t number, uint64_t now)
{
	struct wire_call_frame *frame = guest_stack_push(stack);

	if (__builtin_expect(!frame, 0))
		return NULL;
	wire_call_frame_begin(frame, number);
	if (__builtin_expect(stack->target == site->address + moved, 0))
		frame->flags = GUEST_FRAME_JUMP;
	frame->match = site->after + moved;
	frame->sp = sp;
	stack->target = target;
	if (number)
		guest_begin(frame, now);
	return frame;
}

/* guest_redirect - the top call, if there is one, went to a jump: from now on it is the call of where that goes. */
static inline void guest_redirect(struct guest_vcpu *vcpu, struct guest_stack *stack, uint64_t address)
{
	struct wire_call_frame *frame = guest_stack_top(stack);

	if (frame + 1 == GUEST_NO_FRAMES)
		return;
	frame->function = guest_called_at(vcpu, stack->image, address);
	if (!frame->function)
		__atomic_store_n(&frame->start, 0, __ATOMIC_RELAXED);
	else if (!frame->start)
		guest_begin(frame, ring_clock());
	stack->target = address;
}

/*
 * guest_open_tail - a jump to the begin of a function, at a stack pointer: a call of it, if that is the innermost call's, which ends when the
 * function does; with a selection of functions also if it is not, since the function that jumps may have no frame.
 */
static inline void guest_open_tail(struct guest_vcpu *vcpu, struct guest_stack *stack,
				   struct guest_site *site, uint64_t sp, uint64_t now)
{
	const struct wire_call_frame before = *guest_stack_top(stack);
	struct wire_call_frame *frame;

	if (before.sp != sp && !guest_options.range_count)
		return;
	vcpu->calls++;
	vcpu->quiet_bytes = 0;
	if (before.sp == sp && (before.flags & GUEST_FRAME_TAILS) == GUEST_FRAME_TAILS)
		guest_stack_end(stack);
	frame = guest_open(stack, site, 0, sp, site->target,
			   guest_called(vcpu, site, stack->image, site->target), now);
	if (frame)
		frame->match = before.sp == sp ? before.match : 0;
	if (!frame || before.sp != sp)
		return;
	frame->flags |= (before.flags & GUEST_FRAME_TAILS) == GUEST_FRAME_TAILS
				? GUEST_FRAME_TAILS
				: (before.flags & GUEST_FRAME_TAILS) + GUEST_FRAME_TAIL;
}

/* guest_end_tail - the top call returns, and with it those of functions that jumped to it. */
static inline void guest_end_tail(struct guest_stack *stack)
{
	bool more = true;

	while (more && !guest_stack_is_empty(stack)) {
		more = (guest_stack_top(stack)->flags & GUEST_FRAME_TAILS) != 0;
		guest_stack_end(stack);
	}
}

#endif
