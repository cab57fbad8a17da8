/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls and returns of machines whose calls leave the return address in a register; see guest_link.h.
 *
 * A call touches no memory, and to read a register is slow. So the stack pointer is followed: code that QEMU adds to the
 * translated code adds what an instruction adds, or notes that the stack pointer may be anywhere. Only then it is read, at the
 * next call or return. An exception changes the stack pointer, too; its handler reads what the exception has left, or is code in
 * the other half of the address space. A function has restored the stack pointer when it returns: so it identifies the call.
 *
 * Begin. Calls deeper in the stack have been left without a return. So has one with this very stack pointer, unless its
 * function makes this call without having a frame of its own, as stubs of tracers do. Such a call is among the function's
 * first instructions, and nothing has been called or has returned before.
 *
 * End. If several calls have this stack pointer, the return address identifies the one that has ended.
 *
 * Stub. Linkers put a stub between a call and its function: a block that computes an address in registers that only stubs
 * use, and jumps there. The call that went to the stub becomes that of the function.
 */
#include "source/guest/guest_link.h"

enum {
	PAGE = 4096,	 /* bytes, at least: code keeps its place in them, wherever it is mapped */
	FIRST = 64,	 /* bytes: a function that saves its return address in a register has done so */
	SPACE_BITS = 48, /* of an address without signature and tag */
};

/* The stack pointer of a vCPU, in a scoreboard. */
struct followed {
	uint64_t sp;
	uint64_t known; /* 0: it may be anywhere */
};

static struct qemu_scoreboard *followed;

bool guest_link_begin(void)
{
	followed = qemu_plugin_scoreboard_new(sizeof(struct followed));
	return followed != NULL;
}

/* The lowest bit is not used: the frame that ends each search is above all stack pointers. */
static uint64_t read_sp(const struct guest_vcpu *vcpu, struct followed *now)
{
	now->sp = guest_vcpu_sp(vcpu);
	now->known = !vcpu->takes_turns; /* the copy is that of all of them */
	return now->sp & ~UINT64_C(1);
}

/* @code: an address of the code that runs. */
static inline uint64_t find_sp(const struct guest_vcpu *vcpu, unsigned index, uint64_t code)
{
	struct followed *now = qemu_plugin_scoreboard_find(followed, index);

	return __builtin_expect(now->known && (int64_t)(now->sp ^ code) >= 0, 1) ? now->sp & ~UINT64_C(1)
										 : read_sp(vcpu, now);
}

/* An address without its signature and tag: the bits above are those of bit 55. */
static uint64_t plain(uint64_t address)
{
	const uint64_t high = UINT64_MAX << SPACE_BITS;

	return address & UINT64_C(1) << 55 ? address | high : address & ~high;
}

/* Whether the function of the top call makes a call from here without a frame of its own. */
static bool shares(struct guest_stack *stack, uint64_t address)
{
	struct wire_call_frame *top = guest_stack_top(stack);

	if (stack->target && (address - stack->target) % PAGE < FIRST)
		top->flags |= GUEST_FRAME_SHARE;
	return (top->flags & GUEST_FRAME_SHARE) != 0;
}

/* End the top call, which has been left without a return. */
static void leave(struct guest_vcpu *vcpu, struct guest_stack *stack)
{
	vcpu->unwound++;
	stack->target = 0;
	guest_stack_end(stack);
}

/* The stack on which a call begins, without the calls that are no longer open. */
static inline struct guest_stack *stack_of_call(struct guest_vcpu *vcpu, const struct guest_site *site,
						uint64_t sp)
{
	struct guest_stack *stack = guest_vcpu_stack(vcpu, sp);

	vcpu->calls++;
	while (__builtin_expect(guest_stack_top(stack)->sp <= sp, 0)) {
		if (guest_stack_top(stack)->sp == sp && shares(stack, site->address))
			break;
		leave(vcpu, stack);
	}
	return stack;
}

/* How far a site is from where it was translated. */
static uint64_t distance_of(const struct guest_vcpu *vcpu, const struct guest_site *site)
{
	return guest_vcpu_pc(vcpu) / PAGE * PAGE - site->address / PAGE * PAGE;
}

/*
 * The number of the function that a site calls; 0: the call is not recorded. A kernel's code has one address. That of programs, and of
 * a kernel before it has its page tables, may have several.
 */
static inline uint32_t called(struct guest_vcpu *vcpu, struct guest_site *site, uint32_t image)
{
	return site->address >> 63 ? guest_called(vcpu, site, image, site->target)
				   : guest_called_at(vcpu, image, site->target + distance_of(vcpu, site));
}

static void on_call(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	struct guest_site *site = data;
	const uint64_t sp = find_sp(vcpu, index, site->address);
	struct guest_stack *stack = stack_of_call(vcpu, site, sp);
	const uint64_t now = ring_clock();

	guest_open(stack, site, 0, sp, site->target, called(vcpu, site, stack->image), now);
}

static void on_call_near(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	const struct guest_site *site = data;
	const uint64_t sp = find_sp(vcpu, index, site->address);

	guest_open(stack_of_call(vcpu, site, sp), site, 0, sp, site->target, 0, 0);
}

static void on_call_register(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	const struct guest_site *site = data;
	const uint64_t sp = find_sp(vcpu, index, site->address);
	const uint64_t target = plain(guest_vcpu_register(vcpu, site->target_register));
	struct guest_stack *stack = stack_of_call(vcpu, site, sp);
	const uint64_t now = ring_clock();

	guest_open(stack, site, 0, sp, target, guest_called_at(vcpu, stack->image, target), now);
}

/* Whether a frame is that of a call which returns to an address. The address may be signed, and mapped elsewhere than the site was:
 * its place in the page is enough among the few calls with one stack pointer. */
static bool is_of_return(const struct wire_call_frame *frame, uint64_t sp, uint64_t address)
{
	return frame->sp == sp && (frame->match ^ address) % PAGE == 0;
}

static const struct wire_call_frame *below(const struct wire_call_frame *frame)
{
	return (guest_is_segment_end(frame - 1) ? guest_stack_before(frame) : frame) - 1;
}

/* Whether one of the innermost calls, all with one stack pointer, returns to an address. */
static bool is_open(const struct guest_stack *stack, uint64_t sp, uint64_t address)
{
	const struct wire_call_frame *frame = guest_stack_top(stack);

	while (frame->sp == sp && !is_of_return(frame, sp, address))
		frame = below(frame);
	return frame->sp == sp;
}

/* One of several calls with this stack pointer has ended. */
static void end_one(struct guest_vcpu *vcpu, struct guest_stack *stack, uint64_t sp, uint64_t address)
{
	if (!is_open(stack, sp, address)) {
		vcpu->unmatched++;
		return;
	}
	while (!is_of_return(guest_stack_top(stack), sp, address) && !guest_stack_is_empty(stack))
		leave(vcpu, stack);
	guest_end_tail(stack);
}

static void on_return(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	const struct guest_site *site = data;
	const uint64_t sp = find_sp(vcpu, index, site->address);
	struct guest_stack *stack = guest_vcpu_stack(vcpu, sp);

	vcpu->returns++;
	stack->target = 0;
	while (__builtin_expect(guest_stack_top(stack)->sp < sp, 0))
		leave(vcpu, stack);
	if (__builtin_expect(guest_stack_top(stack)->sp != sp, 0))
		vcpu->unmatched++;
	else if (__builtin_expect(below(guest_stack_top(stack))->sp == sp, 0))
		end_one(vcpu, stack, sp, guest_vcpu_register(vcpu, site->target_register));
	else
		guest_stack_end(stack);
}

/* A jump to the begin of a function. */
static void on_tail(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	struct guest_site *site = data;
	const uint64_t sp = find_sp(vcpu, index, site->address);
	struct guest_stack *stack = guest_vcpu_stack(vcpu, sp);

	while (guest_stack_top(stack)->sp < sp)
		leave(vcpu, stack);
	guest_open_tail(vcpu, stack, site, sp, ring_clock());
}

static void on_jump(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	struct guest_stack *stack = vcpu->stack;
	const struct guest_site *site = data;

	if (!stack->target || (stack->target ^ site->address) % PAGE != 0)
		return;
	vcpu->redirected++;
	guest_redirect(vcpu, stack, plain(guest_vcpu_register(vcpu, site->target_register)));
}

void guest_link_instrument(struct qemu_instruction *instruction, struct guest_site *site)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction,
					       guest_is_near(site->kind, site->target, site->after)
						       ? on_call_near
					       : site->kind == GUEST_CALL ? on_call
									  : on_call_register,
					       QEMU_READ_REGISTERS, site);
}

void guest_link_instrument_return(struct qemu_instruction *instruction, struct guest_site *site)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_return, QEMU_READ_REGISTERS, site);
}

void guest_link_instrument_jump(struct qemu_instruction *instruction, struct guest_site *site)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_jump, QEMU_READ_REGISTERS, site);
}

void guest_link_instrument_tail(struct qemu_instruction *instruction, struct guest_site *site)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_tail, QEMU_READ_REGISTERS, site);
}

void guest_link_instrument_sp(struct qemu_instruction *instruction, const struct guest_instruction *found)
{
	const struct qemu_number sp = { followed, offsetof(struct followed, sp) };
	const struct qemu_number known = { followed, offsetof(struct followed, known) };

	/* For these, QEMU 10.0 multiplies the vCPU's index in place: a constant, which guest code of vCPU 1 can have, too. QEMU aborted then. */
	if (guest_vcpus[0] && guest_vcpus[0]->takes_turns)
		return;
	if (found->sets_sp)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_STORE_NUMBER, known, 0);
	else if (found->moves_sp)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_ADD, sp,
								    (uint64_t)found->moves_sp);
}
