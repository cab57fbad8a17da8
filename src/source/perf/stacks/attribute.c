/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From addresses to locations; see attribute.h. */
#include <string.h>

#include <linux/perf_event.h>

#include "source/perf/stacks/attribute.h"
#include "source/perf/stacks/user_stack.h"

/* A stack, the innermost frame first. The last entry is reserved for the mark of a truncation. */
struct stack_builder {
	unsigned count;
	enum wire_truncation truncation; /* of the user's part */
	bool user;			 /* there is such a part */
	struct user_stack_end end;
	struct sample_frame frames[WIRE_DEPTH_MAX + 1];
};

/* Find the location of an address; its image is 0 if nothing is mapped there. Return: false: it cannot be stored. */
static bool locate_user(struct attribution *attribution, struct sample_process *process, uint64_t address,
			struct sample_frame *frame)
{
	const struct mapping *mapping = mappings_find(&process->mappings, address);
	struct sample_image *image = mapping ? mapping->image : NULL;

	*frame = (struct sample_frame){ 0 };
	if (!mapping)
		return true;
	frame->offset = mapping->offset + (address - mapping->begin);
	if (jit_is_generated(image))
		image = jit_find(&process->jit, &attribution->jit,
				 process->program ? process->program->path : NULL, address, attribution->time,
				 &frame->offset);
	frame->image = image ? images_number(attribution->images, image) : 0;
	return frame->image != 0;
}

static bool locate_kernel(struct attribution *attribution, uint64_t address, struct sample_frame *frame)
{
	struct sample_image *image = kernel_find(attribution->kernel, address, &frame->offset);

	frame->image = image ? images_number(attribution->images, image) : 0;
	return frame->image != 0;
}

/* Add a frame of the user's part. Return: whether to go on. */
static bool add_user(struct attribution *attribution, struct sample_process *process, uint64_t address,
		     struct stack_builder *building)
{
	struct sample_frame frame;

	building->user = true;
	if (building->count == WIRE_DEPTH_MAX) {
		building->truncation = WIRE_TRUNCATION_DEPTH;
		return false;
	}
	if (!locate_user(attribution, process, address, &frame) || !frame.image) {
		building->truncation = WIRE_TRUNCATION_MEMORY;
		return false;
	}
	building->frames[building->count++] = frame;
	return true;
}

static bool add_kernel(struct attribution *attribution, uint64_t address, struct stack_builder *building)
{
	return building->count < WIRE_DEPTH_MAX &&
	       locate_kernel(attribution, address, &building->frames[building->count]) && ++building->count;
}

/*
 * Add the kernel's chain, in which marks separate the kernel's and the user's part. The first address of a part was
 * interrupted. All others are return addresses, which may lie behind the end of the caller; the byte before is inside it.
 * @whole: both parts; otherwise only the kernel's, which comes first
 */
static void add_chain(struct attribution *attribution, struct sample_process *process,
		      const struct record_sample *sample, bool whole, struct stack_builder *building)
{
	uint64_t part = 0, frames = 0;
	bool first = true, more = true;

	for (uint64_t n = 0; more && n < sample->chain_count; n++) {
		uint64_t address;

		memcpy(&address, &sample->chain[n], sizeof(address));
		if (address >= PERF_CONTEXT_MAX) {
			part = address;
			first = true;
			continue;
		}
		address -= !first;
		first = false;
		frames++;
		if (part == PERF_CONTEXT_KERNEL)
			more = add_kernel(attribution, address, building);
		else if (part == PERF_CONTEXT_USER && whole)
			more = add_user(attribution, process, address, building);
		else
			more = false;
	}
	if (more && frames >= attribution->max_depth)
		building->truncation = WIRE_TRUNCATION_DEPTH;
}

static unsigned kernel_frames(const struct record_sample *sample)
{
	unsigned count = 0;
	bool kernel = false;

	for (uint64_t n = 0; n < sample->chain_count; n++) {
		uint64_t address;

		memcpy(&address, &sample->chain[n], sizeof(address));
		if (address >= PERF_CONTEXT_MAX)
			kernel = address == PERF_CONTEXT_KERNEL;
		else
			count += kernel;
	}
	return count < WIRE_DEPTH_MAX ? count : WIRE_DEPTH_MAX;
}

/* Unwound frames replace the user's part of the chain; the unwinder has used that part already. */
static void attribute_build(struct attribution *attribution, struct sample_task *task,
			    const struct record_sample *sample, struct stack_builder *building)
{
	struct sample_process *process = task->process;
	const bool gone = user_stack_is_gone(sample, attribution->registers, process);
	static uint64_t locations[WIRE_DEPTH_MAX];
	unsigned count = 0;

	if (sample->user.abi && !gone)
		count = user_stack(sample, attribution->registers, attribution->images, task, locations,
				   WIRE_DEPTH_MAX - kernel_frames(sample), &building->end);
	add_chain(attribution, process, sample, count == 0 && !gone, building);
	if (count ||
	    building->end.truncation == WIRE_TRUNCATION_TABLES) /* or the process has no allowance left */
		building->truncation = building->end.truncation;
	for (unsigned n = 0; n < count; n++)
		if (!add_user(attribution, process, locations[n], building))
			break;
	if (building->truncation)
		building->frames[building->count++] = (struct sample_frame){ 0, building->truncation };
}

/* Without an allowance for different stacks, a new stack has one frame. Otherwise a process could use up all memory. */
static uint32_t attribute_intern(struct attribution *attribution, uint32_t pid,
				 struct stack_builder *building)
{
	struct budget *budget = &attribution->images->budget;
	struct stacks *stacks = attribution->stacks;
	const uint32_t before = stacks->count;
	uint32_t number = 0;

	if (budget_left(budget, BUDGET_STACKS, pid) == 0) {
		number = stacks_find(stacks, building->frames, building->count);
		if (!number && building->count > 1) {
			budget_over(budget, BUDGET_STACKS, pid);
			building->truncation = WIRE_TRUNCATION_DEPTH;
			building->frames[1] = (struct sample_frame){ 0, building->truncation };
			building->count = 2;
		}
	}
	if (!number)
		number = stacks_intern(stacks, building->frames, building->count);
	budget_charge(budget, BUDGET_STACKS, pid, stacks->count - before);
	return number;
}

/*
 * The thread of a sample. At its very end the kernel has released a thread's id, and writes -1 instead; of a process' first
 * thread the pid is -1, too. It ended on this CPU, a moment ago. If it went to another CPU within that moment, its
 * process' first thread stands for it.
 */
static struct sample_task *attribute_find_task(const struct attribution *attribution,
					       const struct record *record)
{
	struct sample_task *task;

	if (record->tid != UINT32_MAX)
		return tasks_find(attribution->tasks, record->tid);
	task = attribution->last_ended ? tasks_find(attribution->tasks, attribution->last_ended) : NULL;
	if (task && task->ended && (record->pid == UINT32_MAX || record->pid == task->process->pid))
		return task;
	return tasks_find(attribution->tasks, record->pid);
}

enum wire_sample attribute(struct attribution *attribution, const struct record *record,
			   struct attributed *out)
{
	/*
	 * Static, as are the arrays below: most of its 16 KiB are never touched. On the stack they would end the kernel's copy
	 * for a recorder that samples this one.
	 */
	static struct stack_builder building;
	const struct record_sample *sample = &record->sample;
	struct sample_task *task = attribute_find_task(attribution, record);
	struct sample_frame innermost;
	bool ok;

	building.count = 0;
	building.truncation = WIRE_TRUNCATION_NONE;
	building.user = false;
	building.end = (struct user_stack_end){ .truncation = WIRE_TRUNCATION_NONE };
	if (!task)
		return WIRE_SAMPLE_TASK;
	attribution->time = record->time;
	if (sample->mode == RECORD_MODE_NONE)
		return WIRE_SAMPLE_CONTEXT;
	out->kernel = sample->mode == RECORD_MODE_KERNEL;
	ok = out->kernel ? locate_kernel(attribution, sample->ip, &innermost)
			 : locate_user(attribution, task->process, sample->ip, &innermost);
	if (!ok)
		return WIRE_SAMPLE_WRITE;
	if (!innermost.image)
		return WIRE_SAMPLE_MAPPING;
	if (attribution->stacks_wanted)
		attribute_build(attribution, task, sample, &building);
	if (building.count == 0 || building.frames[0].image == 0) {
		building.frames[0] = innermost;
		building.count = 1;
	}
	out->end = building.end;
	out->tid = task->tid;
	out->task = tasks_number(attribution->tasks, task);
	out->stack = attribute_intern(attribution, task->process->pid, &building);
	out->ends = building.user ? building.truncation : WIRE_TRUNCATIONS;
	return out->task && out->stack ? WIRE_SAMPLE_KEPT : WIRE_SAMPLE_WRITE;
}
