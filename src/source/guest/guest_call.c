/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls and returns of machines whose calls store the return address on the stack; see guest_call.h.
 *
 * A call is seen by its store of the return address, and a return by its load. QEMU calls us after the access: if it faults,
 * nothing is recorded, and the instruction is executed again. The address of the access is the stack pointer, so no register
 * is read.
 *
 * Begin. Calls at this place of the stack or below it have been left without a return: by longjmp, an exception, or the end of
 * a thread. They end now. The target of an indirect call is in a register, or has just been loaded.
 *
 * End. Calls below end now, too. A return to another address than the call's is not the end of a function, but an indirect
 * jump, made of a call and a return, that keeps processors from speculating (a retpoline). Its call is forgotten. Often a call
 * went to this code and to nothing else: then it is the call of where the jump goes. The call of such a jump goes over a few bytes;
 * the return of any other call ends it, wherever it goes: a tracer in the guest may have put an address of its own there.
 */
#include "source/guest/guest_call.h"
#include "source/guest/guest_options.h"

static uint64_t value_of(struct qemu_value value)
{
	return value.type == QEMU_VALUE_U64   ? value.data.u64
	       : value.type == QEMU_VALUE_U32 ? value.data.u32
					      : value.data.u16;
}

/*
 * The stack on which a call pushes its return address, without the calls that are no longer open.
 * @now: the clock, which is read again if calls may have ended meanwhile
 */
static inline struct guest_stack *stack_of_call(struct guest_vcpu *vcpu, uint64_t sp, uint64_t *now)
{
	struct guest_stack *stack = vcpu->stack;

	vcpu->calls++;
	vcpu->quiet_bytes = 0;
	if (__builtin_expect(stack->region == guest_region(sp) && guest_stack_top(stack)->sp > sp, 1))
		return stack;
	stack = guest_vcpu_stack(vcpu, sp);
	while (guest_stack_top(stack)->sp <= sp && !guest_stack_is_empty(stack)) {
		vcpu->unwound++;
		guest_stack_end(stack);
	}
	*now = ring_clock();
	return stack;
}

/*
 * How far a site is from where it was translated: by the return address that it has stored. Narrow ones are parts of theirs. Code in
 * the upper half is a kernel's, which has it at one address.
 */
static inline uint64_t distance_of(const struct guest_site *site, uint32_t access)
{
	struct qemu_value pushed;

	if (__builtin_expect(site->after >> 63, 1))
		return 0;
	pushed = qemu_plugin_mem_get_value(access);
	return pushed.type == QEMU_VALUE_U64 ? pushed.data.u64 - site->after : 0;
}

static void on_call(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	uint64_t now = guest_now();
	struct guest_vcpu *vcpu = guest_vcpus[index];
	struct guest_stack *stack = stack_of_call(vcpu, sp, &now);
	struct guest_site *site = data;
	const uint64_t moved = distance_of(site, access), target = site->target + moved;

	guest_open(stack, site, moved, sp, target,
		   __builtin_expect(moved != 0, 0) ? guest_called_at(vcpu, stack->image, target)
						   : guest_called(vcpu, site, stack->image, target),
		   now);
}

static void on_call_near(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	const struct guest_site *site = data;
	const uint64_t moved = distance_of(site, access);
	uint64_t now = 0;
	struct guest_stack *stack = stack_of_call(guest_vcpus[index], sp, &now);
	struct wire_call_frame *frame = guest_open(stack, site, moved, sp, site->target + moved, 0, now);

	if (frame)
		frame->flags |= GUEST_FRAME_NEAR;
}

static void call_indirect(struct guest_vcpu *vcpu, const struct guest_site *site, uint32_t access,
			  uint64_t sp, uint64_t target)
{
	struct guest_stack *stack;
	uint64_t now;

	if (guest_options.range_count && !guest_options_function(target))
		return;
	now = guest_now();
	stack = stack_of_call(vcpu, sp, &now);
	guest_open(stack, site, distance_of(site, access), sp, target,
		   guest_called_at(vcpu, stack->image, target), now);
}

/* A jump to the begin of a function. */
static void on_tail(unsigned index, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	const uint64_t sp = guest_vcpu_sp(vcpu), now = guest_now();
	struct guest_stack *stack = guest_vcpu_stack(vcpu, sp);

	while (guest_stack_top(stack)->sp < sp) {
		vcpu->unwound++;
		guest_stack_end(stack);
	}
	guest_open_tail(vcpu, stack, data, sp, now);
}

/* The load of a call's target, before its store. */
static void on_load(unsigned index, uint32_t access, uint64_t address, void *data)
{
	(void)address;
	(void)data;
	guest_vcpus[index]->target = value_of(qemu_plugin_mem_get_value(access));
}

static void on_call_memory(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	call_indirect(guest_vcpus[index], data, access, sp, guest_vcpus[index]->target);
}

static void on_call_register(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	const struct guest_site *site = data;

	call_indirect(guest_vcpus[index], site, access, sp,
		      guest_vcpu_register(guest_vcpus[index], site->target_register));
}

/* The top call returned to another address than its own. */
static void redirect(struct guest_vcpu *vcpu, struct guest_stack *stack, uint64_t address)
{
	const bool is_jump = (guest_stack_top(stack)->flags & GUEST_FRAME_JUMP) != 0;

	vcpu->redirected++;
	guest_stack_pop(stack);
	if (is_jump)
		guest_redirect(vcpu, stack, address);
}

/* The top call, over a few bytes, returns. Narrower addresses are parts of its own. */
static void return_near(struct guest_vcpu *vcpu, struct guest_stack *stack, struct qemu_value popped)
{
	if (popped.type != QEMU_VALUE_U64 || popped.data.u64 == guest_stack_top(stack)->match)
		guest_stack_end(stack);
	else
		redirect(vcpu, stack, popped.data.u64);
}

static void take_return(struct guest_vcpu *vcpu, uint32_t access, uint64_t sp)
{
	struct guest_stack *stack = guest_vcpu_stack(vcpu, sp);

	vcpu->returns++;
	stack->target = 0;
	while (__builtin_expect(guest_stack_top(stack)->sp < sp, 0)) {
		vcpu->unwound++;
		guest_stack_end(stack);
	}
	if (__builtin_expect(guest_stack_top(stack)->sp != sp, 0))
		vcpu->unmatched++;
	else if (__builtin_expect(!(guest_stack_top(stack)->flags & (GUEST_FRAME_NEAR | GUEST_FRAME_TAILS)),
				  1))
		guest_stack_end(stack);
	else if (!(guest_stack_top(stack)->flags & GUEST_FRAME_NEAR))
		guest_end_tail(stack);
	else
		return_near(vcpu, stack, qemu_plugin_mem_get_value(access));
}

static void on_return(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	(void)data;
	take_return(guest_vcpus[index], access, sp);
}

/*
 * If only a part of the guest is recorded, most returns end no call. After one of these, those of the same stack below the innermost open
 * call are left at once, until a call begins or the vCPU comes to another stack.
 */
static void on_return_of_part(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];

	(void)data;
	if (__builtin_expect(sp - vcpu->quiet_begin < vcpu->quiet_bytes, 1)) {
		vcpu->quiet++;
		return;
	}
	take_return(vcpu, access, sp);
	guest_vcpu_quiet(vcpu, sp);
}

/*
 * Far calls and returns also store and load the number of the segment: a call before the return address, a return behind it. In protected mode they
 * read the segment's description, too.
 */
static void on_far(unsigned index, void *data)
{
	(void)data;
	guest_vcpus[index]->loads = guest_vcpus[index]->stores = 0;
}

static void on_load_far(unsigned index, uint32_t access, uint64_t address, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	const uint64_t value = value_of(qemu_plugin_mem_get_value(access));

	(void)address;
	(void)data;
	if (vcpu->loads == 0)
		vcpu->target = value;
	else if (vcpu->loads == 1)
		vcpu->segment = value;
	vcpu->loads++;
}

/* Where a far call goes: in real mode a segment begins at its number times 16, and otherwise, mostly, at 0. */
static uint64_t target_far(const struct guest_vcpu *vcpu, uint64_t target, uint64_t segment)
{
	return guest_vcpu_has_levels(vcpu) ? target : target + segment * 16;
}

static void on_call_far(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	struct guest_vcpu *vcpu = guest_vcpus[index];
	const struct guest_site *site = data;

	if (vcpu->stores++ != 1)
		return;
	if (site->kind == GUEST_CALL_FAR)
		call_indirect(vcpu, site, access, sp, target_far(vcpu, site->target, site->segment));
	else
		call_indirect(vcpu, site, access, sp, target_far(vcpu, vcpu->target, vcpu->segment));
}

static void on_return_far(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	(void)data;
	if (guest_vcpus[index]->loads++ == 0)
		take_return(guest_vcpus[index], access, sp);
}

static void on_switch(unsigned index, void *data)
{
	(void)data;
	guest_vcpu_forget(guest_vcpus[index]);
}

static qemu_on_access callback_of(const struct guest_site *site)
{
	switch (site->kind) {
	case GUEST_CALL_MEMORY:
		return on_call_memory;
	case GUEST_CALL_REGISTER:
		return on_call_register;
	case GUEST_CALL_FAR:
	case GUEST_CALL_FAR_MEMORY:
		return on_call_far;
	default:
		return guest_is_near(site->kind, site->target, site->after) ? on_call_near : on_call;
	}
}

/* A call of shared code, which runs where it returns to. */
static void on_call_shared(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	const bool is_kernel = value_of(qemu_plugin_mem_get_value(access)) >> 63;

	if (is_kernel == guest_options.level_kernel)
		callback_of(data)(index, access, sp, data);
}

/* A return of shared code: of the top call, or on a stack in the half that is recorded. */
static void on_return_shared(unsigned index, uint32_t access, uint64_t sp, void *data)
{
	const struct guest_stack *stack = guest_vcpus[index]->stack;

	if ((sp >> 63) != guest_options.level_kernel && guest_stack_top(stack)->sp != sp)
		return;
	if (guest_options.range_count)
		on_return_of_part(index, access, sp, data);
	else
		on_return(index, access, sp, data);
}

void guest_call_instrument(struct qemu_instruction *instruction, struct guest_site *site, bool is_shared)
{
	if (site->kind == GUEST_CALL_FAR || site->kind == GUEST_CALL_FAR_MEMORY)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_far, QEMU_NO_REGISTERS, NULL);
	if (site->kind == GUEST_CALL_FAR_MEMORY)
		qemu_plugin_register_vcpu_mem_cb(instruction, on_load_far, QEMU_NO_REGISTERS, QEMU_LOAD,
						 NULL);
	if (site->kind == GUEST_CALL_MEMORY)
		qemu_plugin_register_vcpu_mem_cb(instruction, on_load, QEMU_NO_REGISTERS, QEMU_LOAD, NULL);
	qemu_plugin_register_vcpu_mem_cb(instruction, is_shared ? on_call_shared : callback_of(site),
					 QEMU_READ_REGISTERS, QEMU_STORE, site);
}

void guest_call_instrument_return(struct qemu_instruction *instruction, bool is_shared)
{
	qemu_plugin_register_vcpu_mem_cb(instruction,
					 is_shared		     ? on_return_shared
					 : guest_options.range_count ? on_return_of_part
								     : on_return,
					 QEMU_READ_REGISTERS, QEMU_LOAD, NULL);
}

void guest_call_instrument_return_far(struct qemu_instruction *instruction)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_far, QEMU_NO_REGISTERS, NULL);
	qemu_plugin_register_vcpu_mem_cb(instruction, on_return_far, QEMU_READ_REGISTERS, QEMU_LOAD, NULL);
}

void guest_call_instrument_tail(struct qemu_instruction *instruction, struct guest_site *site)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_tail, QEMU_READ_REGISTERS, site);
}

void guest_call_instrument_switch(struct qemu_instruction *instruction)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_switch, QEMU_NO_REGISTERS, NULL);
}

static void on_jump_begin(unsigned index, void *data)
{
	(void)data;
	guest_vcpu_jump_begin(guest_vcpus[index]);
}

static void on_jump_end(unsigned index, void *data)
{
	(void)data;
	guest_vcpu_jump_end(guest_vcpus[index], true);
}

static void on_jump_whole(unsigned index, void *data)
{
	on_jump_begin(index, data);
	guest_vcpu_jump_end(guest_vcpus[index], false);
}

void guest_call_instrument_jump(struct qemu_instruction *instruction, struct qemu_instruction *next)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, next ? on_jump_begin : on_jump_whole,
					       QEMU_READ_REGISTERS, NULL);
	if (next)
		qemu_plugin_register_vcpu_insn_exec_cb(next, on_jump_end, QEMU_READ_REGISTERS, NULL);
}

static void on_start(unsigned index, void *data)
{
	(void)index;
	(void)data;
	guest_record(true);
}

static void on_stop(unsigned index, void *data)
{
	(void)index;
	(void)data;
	guest_record(false);
}

void guest_call_instrument_mark(struct qemu_instruction *instruction, bool records)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, records ? on_start : on_stop, QEMU_NO_REGISTERS,
					       NULL);
}

/* The vCPU stands still meanwhile. A guest may execute the place again and again: one snapshot has how it got there first. */
static void on_snapshot(unsigned index, void *data)
{
	static bool wanted;

	(void)index;
	(void)data;
	if (!__atomic_exchange_n(&wanted, true, __ATOMIC_RELAXED))
		guest_session_snapshot();
}

void guest_call_instrument_snapshot(struct qemu_instruction *instruction)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_snapshot, QEMU_NO_REGISTERS, NULL);
}
