/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's part of a stack; see user_stack.h. */
#include <string.h>

#include <linux/perf_event.h>

#include "image/unwind/unwind.h"
#include "source/perf/tasks/deep_stack.h"
#include "source/perf/stacks/user_stack.h"

enum {
	/* What takes one more unit of work (image/unwind/unwind_meter.h) */
	SEGMENTS = 16,	 /* of an image that are searched */
	MAPPINGS = 4096, /* of a process, among which one is looked for */
};

/* Whether the walk may go on. */
static bool user_stack_spend(const struct mapping *mapping, unsigned work)
{
	struct unwind_meter *meter = &mapping->image->of->meter;

	if (!unwind_meter_permits(meter))
		return false;
	meter->spent += work;
	return true;
}

/* Find the unwind table for an address of the process; called by the unwinder. */
static struct unwind_table *user_stack_look_up(void *context, uint64_t address, uint64_t *bias,
					       enum wire_truncation *why)
{
	struct sample_process *process = context;
	const struct mapping *mapping = mappings_find(&process->mappings, address);
	struct unwind_table *tables;
	uint64_t elf_address;

	if (mapping &&
	    !user_stack_spend(mapping, 1 + process->mappings.count / MAPPINGS)) /* which ends the walk */
		mapping = NULL;
	tables = mapping ? images_tables(mapping->image) : NULL;
	*why = mapping ? mapping->image->no_tables : WIRE_TRUNCATION_MEMORY;
	if (!tables)
		return NULL;
	user_stack_spend(mapping, images_elf(mapping->image)->segment_count / SEGMENTS);
	if (image_address(images_elf(mapping->image), mapping->offset + (address - mapping->begin),
			  &elf_address) != 0) {
		*why = WIRE_TRUNCATION_TABLES;
		return NULL;
	}
	*bias = address - elf_address;
	return tables;
}

/* Read the instructions around an address; called by the unwinder. */
static bool user_stack_read_code(void *context, uint64_t address, struct unwind_code *code)
{
	struct sample_process *process = context;
	const struct mapping *mapping = mappings_find(&process->mappings, address - 1);
	const struct image *elf = mapping ? images_elf(mapping->image) : NULL;
	uint64_t offset, start;

	*code = (struct unwind_code){ .image = mapping ? mapping->image : NULL };
	if (!elf)
		return mapping;
	if (!user_stack_spend(mapping, UNWIND_WORK_READ))
		return false;
	offset = mapping->offset + (address - mapping->begin);
	code->known = offset >= UNWIND_CODE_BEFORE &&
		      image_read(elf, offset - UNWIND_CODE_BEFORE, code->bytes, sizeof(code->bytes)) ==
			      sizeof(code->bytes);
	if (mapping->image == process->program && image_offset(elf, elf->start, &start) == 0)
		code->start = address - offset + start;
	return true;
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

/* The registers of user mode. Return: false: the sample has none of a known kind. */
static bool user_registers(const struct record_sample *sample, uint64_t mask,
			   struct unwind_registers *registers)
{
	const struct record_user *user = &sample->user;
	uint64_t values[RECORD_REGISTERS_MAX];

	if (!user->abi || user->register_count > RECORD_REGISTERS_MAX)
		return false;
	memcpy(values, user->registers, user->register_count * sizeof(*values));
	return unwind_registers_from_perf(registers, user->abi, mask, values) == 0;
}

/* Whether the thread makes a system call. */
static bool is_in_call(const struct unwind_registers *registers)
{
#if defined(__x86_64__)
	enum {
		CX = 2
	}; /* the instruction `syscall` puts the return address there */

	return registers->known >> CX & 1 && registers->value[CX] == registers->pc;
#else
	(void)registers;
	return false;
#endif
}

bool user_stack_is_gone(const struct record_sample *sample, uint64_t mask, struct sample_process *process)
{
	struct unwind_registers registers;
	const bool known = user_registers(sample, mask, &registers);

	if (sample->mode != RECORD_MODE_KERNEL) {
		process->starting = false;
		return false;
	}
	if (!known && user_chain(sample, &registers.pc, 1) == 0)
		return false;
	if (process->starting && !mappings_find(&process->mappings, registers.pc))
		return true;
	process->starting = false;
	/* The call's return address lay where the stack pointer points. */
	return known && sample->user.stack_bytes == 0 && is_in_call(&registers);
}

/* Walk within the allowance of the process. Without one, the stack is as the kernel's chain has it. */
static unsigned user_stack_unwind(const struct unwind_sample *from, struct images *images,
				  struct sample_process *process, uint64_t *locations, unsigned max,
				  enum wire_truncation *truncation)
{
	struct unwind_meter *meter = &images->meter;
	const uint64_t before = meter->spent,
		       left = budget_left(&images->budget, BUDGET_UNWIND, process->pid);
	unsigned count = 0;

	meter->limit = before + left;
	meter->refused = !left;
	if (left)
		count = unwind_frames(from, user_stack_look_up, process, locations, max, truncation);
	budget_charge(&images->budget, BUDGET_UNWIND, process->pid, meter->spent - before);
	if (meter->refused) {
		*truncation = WIRE_TRUNCATION_TABLES;
		budget_over(&images->budget, BUDGET_UNWIND, process->pid);
	}
	return count;
}

/*
 * Go's code keeps frame pointers, also where its stacks change, which unwind tables do not describe. But its assembly uses that register as
 * any other, and a function without a frame is missing in the chain. So the chain replaces the frames behind the last one that both have.
 * Return: how many frames there are now; 0: they have none in common, or the chain ends there.
 */
static unsigned join_chain(uint64_t *locations, unsigned count, const uint64_t *chain, unsigned chain_count,
			   unsigned max)
{
	unsigned last = 0, behind = 1;

	for (unsigned n = 1; n < count; n++)
		for (unsigned link = behind; link < chain_count; link++)
			if (locations[n] == chain[link] - 1) {
				last = n;
				behind = link + 1;
				break;
			}
	if (!last || behind >= chain_count)
		return 0;
	for (count = last + 1; behind < chain_count && count < max; behind++)
		locations[count++] = chain[behind] - 1;
	return count;
}

static bool user_stack_is_go(struct sample_process *process, uint64_t address)
{
	const struct mapping *mapping = mappings_find(&process->mappings, address);

	return mapping && images_is_go(mapping->image);
}

unsigned user_stack(const struct record_sample *sample, uint64_t mask, struct images *images,
		    struct sample_task *task, uint64_t *locations, unsigned max, struct user_stack_end *end)
{
	const struct record_user *user = &sample->user;
	static uint64_t chain[WIRE_DEPTH_MAX], pointers[WIRE_DEPTH_MAX];
	struct unwind_registers registers;
	struct unwind_sample from = { .registers = &registers,
				      .stack = user->stack,
				      .stack_bytes = user->stack_bytes,
				      .chain = chain,
				      .code = user_stack_read_code,
				      .scanned = &end->scanned,
				      .pointers = pointers };
	unsigned count, more;

	*end = (struct user_stack_end){ .truncation = WIRE_TRUNCATION_NONE };
	if (max == 0 || !user_registers(sample, mask, &registers))
		return 0;
	from.chain_count = user_chain(sample, chain, WIRE_DEPTH_MAX);
	count = user_stack_unwind(&from, images, task->process, locations, max, &end->truncation);
	more = user_stack_is_go(task->process, registers.pc)
		       ? join_chain(locations, count, chain, (unsigned)from.chain_count, max)
		       : 0;
	if (more) {
		end->truncation = more == max ? WIRE_TRUNCATION_DEPTH : WIRE_TRUNCATION_NONE;
		return more;
	}
	more = end->truncation == WIRE_TRUNCATION_STACK
		       ? deep_stack_continue(task->deep, locations, pointers, count, max)
		       : count;
	end->continued = more > count;
	if (end->continued)
		end->truncation = more == max ? WIRE_TRUNCATION_DEPTH : WIRE_TRUNCATION_NONE;
	if (end->truncation == WIRE_TRUNCATION_NONE)
		deep_stack_keep(&task->deep, locations, pointers, more);
	return more;
}
