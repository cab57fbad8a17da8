/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A processor of the guest: the slow paths; see guest_vcpu.h. */
#include <stdlib.h>
#include <string.h>

#include "source/guest/guest_options.h"
#include "source/guest/guest_vcpu.h"

enum {
	READS = 8,	    /* of a task in an address space */
	FIRMWARE = 1 << 20, /* bytes: code of x86 below that may be of 16 bits */
	SIZE_LOOKS = 16,    /* until it is clear that the kernel's stacks are larger */
};

struct guest_vcpu *guest_vcpus[GUEST_VCPUS];

static struct qemu_register *find_register(const struct qemu_register_list *registers, const char *name)
{
	const size_t step = g_array_get_element_size(registers);

	for (unsigned n = 0; n < registers->length && name; n++) {
		struct qemu_register_description description;

		memcpy(&description, registers->data + n * step, sizeof(description));
		if (strcmp(description.name, name) == 0)
			return description.handle;
	}
	return NULL;
}

static void find_registers(struct guest_vcpu *vcpu, const struct guest_machine *machine)
{
	const struct qemu_register_list *registers = qemu_plugin_get_registers();

	vcpu->machine = machine;
	vcpu->sp = find_register(registers, machine->sp);
	vcpu->pc = find_register(registers, machine->pc);
	vcpu->level = find_register(registers, machine->level.name);
	vcpu->levels_hold = find_register(registers, machine->levels_hold.name);
	vcpu->space = find_register(registers, machine->space.name);
	vcpu->thread = find_register(registers, machine->thread.name);
	vcpu->current = find_register(registers, machine->task);
	for (unsigned n = 0; n < GUEST_BASES; n++)
		vcpu->bases[n] = find_register(registers, machine->bases[n]);
	for (unsigned n = 0; n < GUEST_REGISTERS; n++)
		vcpu->general[n] = find_register(registers, machine->general[n]);
}

/*
 * With -icount or thread=single, QEMU runs all vCPUs in one thread by turns. From version 10 on it then gives a callback the index of the vCPU for
 * which the code was translated. So these vCPUs are one here, which changes its thread without a sign.
 */
static void take_turns(struct guest_vcpu *first, unsigned index)
{
	if (!first->takes_turns && guest_options.by_vcpu)
		guest_session_report(
			"QEMU runs all vCPUs in one thread, and does not show which one makes a call: "
			"--guest-threads vcpu has them as one, number %u",
			first->number);
	first->takes_turns = true;
	guest_vcpus[index] = first;
}

bool guest_vcpu_begin(unsigned index, const struct guest_machine *machine)
{
	static __thread struct guest_vcpu *first; /* of this thread */
	struct guest_vcpu *vcpu = index < GUEST_VCPUS ? guest_vcpus[index] : NULL;

	if (index < GUEST_VCPUS && first && !vcpu) {
		take_turns(first, index);
		return true;
	}
	if (vcpu) { /* it was removed from the machine, and is added again */
		guest_vcpu_forget(vcpu);
		find_registers(vcpu, machine);
		return true;
	}
	vcpu = index < GUEST_VCPUS ? calloc(1, sizeof(*vcpu)) : NULL;
	if (!vcpu) {
		guest_session_report("no memory for vCPU %u; the guest is not recorded", index);
		return false;
	}
	vcpu->number = index;
	vcpu->stack = vcpu->held = &guest_stack_nowhere;
	for (unsigned n = 0; n < GUEST_LEVELS; n++)
		vcpu->lanes[n] = (struct guest_lane){ .vcpu = index,
						      .tid = WIRE_GUEST_VCPU + machine->levels[n] +
							     (index + 1) * WIRE_GUEST_VCPU_STEP };
	vcpu->bytes = g_byte_array_new();
	find_registers(vcpu, machine);
	guest_vcpus[index] = first = vcpu;
	return true;
}

static uint64_t read_register(const struct guest_vcpu *vcpu, struct qemu_register *handle)
{
	uint64_t value = 0;

	vcpu->bytes->length = 0; /* as g_byte_array_set_size(), which is slower */
	if (handle)
		qemu_plugin_read_register(handle, vcpu->bytes);
	memcpy(&value, vcpu->bytes->data,
	       vcpu->bytes->length < sizeof(value) ? vcpu->bytes->length : sizeof(value));
	return value;
}

bool guest_vcpu_runs_program(const struct guest_machine *machine)
{
	static __thread struct qemu_bytes *bytes;
	const struct guest_vcpu *any = guest_vcpus[0]; /* each has the same registers */
	uint64_t level = 0;

	if (!any || !any->level)
		return false;
	if (!bytes)
		bytes = g_byte_array_new();
	bytes->length = 0;
	qemu_plugin_read_register(any->level, bytes);
	memcpy(&level, bytes->data, bytes->length < sizeof(level) ? bytes->length : sizeof(level));
	return (level & machine->level.mask) == machine->user;
}

uint64_t guest_vcpu_register(const struct guest_vcpu *vcpu, unsigned number)
{
	return read_register(vcpu, vcpu->general[number % GUEST_REGISTERS]);
}

uint64_t guest_vcpu_sp(const struct guest_vcpu *vcpu)
{
	return read_register(vcpu, vcpu->sp) &
	       ~UINT64_C(1); /* below that of the frame that ends each search */
}

uint64_t guest_vcpu_pc(const struct guest_vcpu *vcpu)
{
	return read_register(vcpu, vcpu->pc);
}

bool guest_vcpu_has_levels(const struct guest_vcpu *vcpu)
{
	return !vcpu->levels_hold || read_register(vcpu, vcpu->levels_hold) & vcpu->machine->levels_hold.mask;
}

/* Where the kernel has this CPU's own data; 0: unknown. The kernel exchanges both registers some time after it is entered. */
static uint64_t base_of(const struct guest_vcpu *vcpu)
{
	uint64_t base = 0;

	for (unsigned n = 0; n < GUEST_BASES && !(base >> 63); n++)
		base = read_register(vcpu, vcpu->bases[n]);
	return base >> 63 ? base : 0;
}

/* Where the task is that a vCPU runs; 0: unknown. */
static uint64_t find_current(struct guest_vcpu *vcpu)
{
	uint64_t base;

	if (vcpu->current)
		return read_register(vcpu, vcpu->current);
	base = base_of(vcpu);
	if (!base || (base != vcpu->base && !guest_task_is_base(vcpu->bytes, base)))
		return 0;
	vcpu->base = base;
	return guest_task_current(vcpu->bytes, base);
}

/*
 * The task that a vCPU runs. As long as it is the same one in the same address space, it is read only a few times: between two tasks
 * at one address the vCPU runs another one, and a new program has a new space. It gets its name soon after that, and an interrupt may
 * come in between.
 * Return: false: unknown.
 */
static bool read_current(struct guest_vcpu *vcpu, struct guest_task *task)
{
	const uint64_t address = find_current(vcpu), space = read_register(vcpu, vcpu->space);

	if (!(address >> 63))
		return false;
	if (address != vcpu->seen.address || space != vcpu->seen_space)
		vcpu->reads = 0;
	if (vcpu->reads < READS) {
		if (!guest_task_read(vcpu->bytes, address, &vcpu->seen)) {
			vcpu->seen.address = 0;
			return false;
		}
		vcpu->seen_space = space;
		vcpu->reads++;
	}
	*task = vcpu->seen;
	return true;
}

/*
 * Kernels that check their memory accesses (KASAN) have larger stacks, which not every file of types shows. Then the begin of each
 * stack is right below the part that is used first, and never in it.
 * @begin: of the current task's stack; @region: of the stack pointer
 */
static void learn_size(uint64_t begin, uint64_t region)
{
	static int looks; /* -1: the size fits */
	const unsigned bits = guest_options.stack_bits;
	const bool is_above = region == guest_region(begin) + 1 && begin >> bits << bits == begin &&
			      (begin >> bits & 1) == 0;

	if (region == guest_region(begin))
		__atomic_store_n(&looks, -1, __ATOMIC_RELAXED);
	if (!is_above || __atomic_load_n(&looks, __ATOMIC_RELAXED) < 0 || bits == GUEST_STACK_BITS_MAX ||
	    __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) != SIZE_LOOKS)
		return;
	__atomic_store_n(&guest_options.stack_bits, bits + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&looks, 0, __ATOMIC_RELAXED);
}

/*
 * Which task a stack in the kernel belongs to. In the middle of a switch of tasks the stack is already another one than
 * that of the current task.
 * Return: false: it is not known yet.
 */
static bool settle(struct guest_vcpu *vcpu, struct guest_stack *stack, const struct guest_task *current)
{
	struct guest_task own;

	learn_size(current->stack, stack->region);
	if (guest_region(current->stack) == stack->region) {
		guest_stack_settle(stack, current);
		return true;
	}
	if (!stack->task.address)
		return guest_stack_has_none(stack);
	if (guest_task_read(vcpu->bytes, stack->task.address, &own) &&
	    guest_region(own.stack) == stack->region && own.pid == stack->task.pid) {
		guest_stack_settle(stack, &own);
		return true;
	}
	guest_stack_renew(stack);
	return false;
}

/* A vCPU runs a task. */
static void run(struct guest_vcpu *vcpu, const struct guest_stack *stack)
{
	const struct guest_task *task = &stack->task;

	if (task->address && (vcpu->task.address != task->address || vcpu->task.pid != task->pid))
		guest_session_put_switch(stack->tid, vcpu->number, vcpu->task.pid, task->pid);
	if (task->address)
		vcpu->task = *task;
}

static bool is_at_user_level(const struct guest_vcpu *vcpu)
{
	const struct guest_machine *machine = vcpu->machine;

	return (read_register(vcpu, vcpu->level) & machine->level.mask) == machine->user &&
	       guest_vcpu_has_levels(vcpu);
}

/* Whether it was the thread at a place that has loaded its stack pointer. Between that and now another one may have run. */
static bool has_jumped(const struct guest_vcpu *vcpu, const struct guest_place *place)
{
	const struct guest_place *before = &vcpu->jump.place;

	return vcpu->jump.is_new &&
	       (!before->region || (before->space == place->space && before->thread == place->thread &&
				    before->task == place->task && before->level == place->level));
}

void guest_vcpu_doubt(void)
{
	for (unsigned n = 0; n < GUEST_VCPUS; n++) {
		if (!guest_vcpus[n])
			continue;
		guest_vcpu_forget(guest_vcpus[n]);
		guest_vcpus[n]->jump.is_new = false;
		guest_vcpus[n]->seen.address = 0;
	}
	guest_stack_doubt();
}

/*
 * Whether the guest's memory still has the return address of an open call. Calls over a few bytes change it. Firmware has code of 16
 * bits, which stores a part.
 */
static bool is_there(const struct wire_call_frame *frame, void *data)
{
	struct guest_vcpu *vcpu = data;
	uint64_t found = frame->match;

	if (vcpu->machine->links || frame->flags & GUEST_FRAME_NEAR || frame->match < FIRMWARE ||
	    !qemu_plugin_read_memory_vaddr(frame->sp, vcpu->bytes, sizeof(found)))
		return true;
	memcpy(&found, vcpu->bytes->data, sizeof(found));
	return found == frame->match || (frame->match <= UINT32_MAX && (uint32_t)found == frame->match);
}

/* @jump: which led to the stack pointer; NULL: none, or one before whose place was not known */
static struct guest_stack *come(struct guest_vcpu *vcpu, uint64_t sp, const struct guest_jump *jump)
{
	const struct guest_machine *machine = vcpu->machine;
	struct guest_place place = { .region = guest_region(sp), .level = GUEST_KERNEL };
	struct guest_task current = vcpu->task;
	const bool known = guest_options.has_tasks && read_current(vcpu, &current);
	struct guest_stack *stack;
	bool settled = true;

	if (!(sp >> 63) && is_at_user_level(vcpu)) {
		place.level = GUEST_USER;
		place.space = read_register(vcpu, vcpu->space) & machine->space.mask;
		place.thread = read_register(vcpu, vcpu->thread) & machine->thread.mask;
		place.task = current.pid;
	}
	guest_vcpu_forget(vcpu);
	if (!jump && guest_has_parts(sp) && has_jumped(vcpu, &place))
		jump = &vcpu->jump;
	stack = guest_stack_find(&place, &current, sp, jump);
	if (!stack)
		return vcpu->stack;
	vcpu->jump.is_new &= !jump;
	if (guest_stack_is_doubtful(stack))
		vcpu->unwound += guest_stack_check(stack, is_there, vcpu);
	vcpu->place = place;
	vcpu->held = stack;
	if (place.level == GUEST_USER && current.address)
		guest_stack_settle(stack, &current);
	else if (place.level == GUEST_KERNEL && known)
		settled = settle(vcpu, stack, &current);
	if (guest_options.by_vcpu)
		guest_stack_show(stack, &vcpu->lanes[place.level]);
	if (settled) {
		guest_stack_announce(stack);
		run(vcpu, stack);
	}
	/* Of vCPUs that take turns, another one may run the next call: a thread whose stack is in this region, too. */
	if (settled && !(vcpu->takes_turns && place.level == GUEST_USER))
		vcpu->stack = stack;
	else
		vcpu->stack = &guest_stack_nowhere;
	return stack;
}

struct guest_stack *guest_vcpu_switch(struct guest_vcpu *vcpu, uint64_t sp)
{
	return come(vcpu, sp, NULL);
}

/* The thread that loads its stack pointer is found here, since another one may run before the next call. */
void guest_vcpu_jump_begin(struct guest_vcpu *vcpu)
{
	const uint64_t from = guest_vcpu_sp(vcpu);

	if (guest_has_parts(from) && vcpu->stack->region != guest_region(from) && guest_vcpu_has_levels(vcpu))
		come(vcpu, from, NULL);
	vcpu->jump.from = from;
}

void guest_vcpu_jump_end(struct guest_vcpu *vcpu, bool is_done)
{
	/* In real mode the register is a distance from where the segment begins: the next call shows the address. */
	const bool is_known = is_done && guest_vcpu_has_levels(vcpu);
	const uint64_t from = vcpu->jump.from, to = is_known ? guest_vcpu_sp(vcpu) : 0;

	if (!guest_has_parts(from) || (to && guest_stack_keeps(vcpu->held, from, to)))
		return;
	vcpu->jump = (struct guest_jump){ .from = from, .to = to, .is_new = true };
	if (vcpu->held->region == guest_region(from)) {
		vcpu->jump.place = vcpu->place;
		vcpu->held->left = from;
	}
	guest_vcpu_forget(vcpu);
	if (to && guest_has_parts(to))
		come(vcpu, to, &vcpu->jump);
}

uint32_t guest_vcpu_function(struct guest_function *cached, uint32_t image, uint64_t address)
{
	const bool selected = guest_options_function(address);
	const uint32_t number = selected && image
					? session_call_function(&guest_session, image, address, 0,
								WIRE_CALL_ON, guest_session_thread())
					: 0;

	if (selected && !number)
		session_call_lose(&guest_session, WIRE_CALL_LOST_FUNCTION, 1);
	else
		*cached = (struct guest_function){ address, image, number };
	return number;
}
