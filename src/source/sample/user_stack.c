/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's part of a stack; see user_stack.h. */
#include <string.h>

#include <linux/perf_event.h>

#include "source/sample/user_stack.h"

/* What lies at an address of the process, for the unwinder. */
static struct unwind_table *look_up(void *context, uint64_t address, uint64_t *bias, enum wire_cut *why)
{
	struct sample_process *process = context;
	const struct mapping *mapping = mappings_find(&process->mappings, address);
	struct unwind_table *tables = mapping ? images_tables(mapping->image) : NULL;
	uint64_t place;

	*why = mapping ? mapping->image->no_tables : WIRE_CUT_MEMORY;
	if (!tables)
		return NULL;
	if (image_address(images_elf(mapping->image), mapping->offset + (address - mapping->begin), &place) !=
	    0) {
		*why = WIRE_CUT_TABLES;
		return NULL;
	}
	*bias = address - place;
	return tables;
}

/* The user's part of the kernel's chain, without marks. */
static unsigned user_chain(const struct record_sample *sample, uint64_t *chain, unsigned max)
{
	unsigned count = 0;
	bool user = false;

	for (uint64_t n = 0; n < sample->chain_count && count < max; n++) {
		uint64_t address;

		memcpy(&address, &sample->chain[n], sizeof(address));
		if (address >= PERF_CONTEXT_MAX)
			user = address == PERF_CONTEXT_USER;
		else if (user)
			chain[count++] = address;
	}
	return count;
}

unsigned user_stack(const struct record_sample *sample, uint64_t mask, struct sample_process *process,
		    uint64_t *places, unsigned max, enum wire_cut *cut)
{
	const struct record_user *user = &sample->user;
	uint64_t values[RECORD_REGISTERS_MAX], chain[WIRE_DEPTH_MAX];
	struct unwind_registers registers;
	struct unwind_sample from = { .registers = &registers,
				      .stack = user->stack,
				      .stack_bytes = user->stack_bytes,
				      .chain = chain };

	if (max == 0 || user->register_count > RECORD_REGISTERS_MAX)
		return 0;
	memcpy(values, user->registers, user->register_count * sizeof(*values));
	if (unwind_registers_from_perf(&registers, user->abi, mask, values) != 0)
		return 0;
	from.chain_count = user_chain(sample, chain, WIRE_DEPTH_MAX);
	return unwind_frames(&from, look_up, process, places, max, cut);
}
