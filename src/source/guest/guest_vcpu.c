/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A processor of the guest: the slow paths; see guest_vcpu.h. */
#include <stdlib.h>
#include <string.h>

#include "source/guest/guest_options.h"
#include "source/guest/guest_vcpu.h"

struct guest_vcpu *guest_vcpus[GUEST_VCPUS];

static struct qemu_register *find_register(const struct qemu_register_list *registers, const char *name)
{
	for (unsigned n = 0; n < registers->length && name; n++)
		if (strcmp(registers->data[n].name, name) == 0)
			return registers->data[n].handle;
	return NULL;
}

static void find_registers(struct guest_vcpu *vcpu, const struct guest_machine *machine)
{
	const struct qemu_register_list *registers = qemu_plugin_get_registers();

	vcpu->machine = machine;
	vcpu->sp = find_register(registers, machine->sp);
	vcpu->pc = find_register(registers, machine->pc);
	vcpu->level = find_register(registers, machine->level.name);
	vcpu->space = find_register(registers, machine->space.name);
	vcpu->thread = find_register(registers, machine->thread.name);
	for (unsigned n = 0; n < GUEST_REGISTERS; n++)
		vcpu->general[n] = find_register(registers, machine->general[n]);
}

bool guest_vcpu_begin(unsigned index, const struct guest_machine *machine)
{
	struct guest_vcpu *vcpu = index < GUEST_VCPUS ? calloc(1, sizeof(*vcpu)) : NULL;

	if (!vcpu) {
		guest_session_report("no memory for vCPU %u; the guest is not recorded", index);
		return false;
	}
	vcpu->stack = &guest_stack_nowhere;
	vcpu->bytes = g_byte_array_new();
	find_registers(vcpu, machine);
	guest_vcpus[index] = vcpu;
	return true;
}

static uint64_t read_register(const struct guest_vcpu *vcpu, struct qemu_register *handle)
{
	uint64_t value = 0;

	vcpu->bytes->length = 0; /* as g_byte_array_set_size(), which is slower */
	if (handle && qemu_plugin_read_register(handle, vcpu->bytes) > 0)
		memcpy(&value, vcpu->bytes->data,
		       vcpu->bytes->length < sizeof(value) ? vcpu->bytes->length : sizeof(value));
	return value;
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

struct guest_stack *guest_vcpu_switch(struct guest_vcpu *vcpu, uint64_t sp)
{
	const struct guest_machine *machine = vcpu->machine;
	struct guest_place place = { .region = guest_region(sp), .level = GUEST_KERNEL };
	struct guest_stack *stack;

	if (!(sp >> 63) && (read_register(vcpu, vcpu->level) & machine->level.mask) == machine->user) {
		place.level = GUEST_USER;
		place.space = read_register(vcpu, vcpu->space) & machine->space.mask;
		place.thread = read_register(vcpu, vcpu->thread) & machine->thread.mask;
	}
	stack = guest_stack_find(&place);
	vcpu->stack = stack ? stack : &guest_stack_nowhere;
	return vcpu->stack;
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
