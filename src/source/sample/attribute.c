/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From addresses to places; see attribute.h. */
#include <string.h>

#include <linux/perf_event.h>

#include "source/sample/attribute.h"
#include "source/sample/user_stack.h"

/* A stack that is put together, the innermost frame first. The last is kept for the mark that it was cut. */
struct building {
	unsigned count;
	enum wire_cut cut; /* of the user's part */
	bool user;	   /* there is such a part */
	struct sample_frame frames[WIRE_DEPTH_MAX + 1];
};

/* Return: whether the place could be had; its image is 0 if there is nothing at the address. */
static bool place_user(struct attribution *attribution, struct sample_process *process, uint64_t address,
		       struct sample_frame *frame)
{
	const struct mapping *mapping = mappings_find(&process->mappings, address);
	struct sample_image *image = mapping ? mapping->image : NULL;

	*frame = (struct sample_frame){ 0 };
	if (!mapping)
		return true;
	frame->offset = mapping->offset + (address - mapping->begin);
	if (jit_is_made(image))
		image = jit_find(&process->jit, &attribution->jit, address, attribution->time,
				 &frame->offset);
	frame->image = image ? images_number(attribution->images, image) : 0;
	return frame->image != 0;
}

static bool place_kernel(struct attribution *attribution, uint64_t address, struct sample_frame *frame)
{
	struct sample_image *image = kernel_find(attribution->kernel, address, &frame->offset);

	frame->image = image ? images_number(attribution->images, image) : 0;
	return frame->image != 0;
}

/* Addresses of the user's part. Return: whether to go on. */
static bool add_user(struct attribution *attribution, struct sample_process *process, uint64_t address,
		     struct building *building)
{
	struct sample_frame frame;

	building->user = true;
	if (building->count == WIRE_DEPTH_MAX) {
		building->cut = WIRE_CUT_DEPTH;
		return false;
	}
	if (!place_user(attribution, process, address, &frame) || !frame.image) {
		building->cut = WIRE_CUT_MEMORY;
		return false;
	}
	building->frames[building->count++] = frame;
	return true;
}

static bool add_kernel(struct attribution *attribution, uint64_t address, struct building *building)
{
	return building->count < WIRE_DEPTH_MAX &&
	       place_kernel(attribution, address, &building->frames[building->count]) && ++building->count;
}

/*
 * The chain that the kernel gives: marks tell whose addresses follow. The first of each part is where it was interrupted,
 * all others are addresses to return to, which may lie behind the function that called: the byte before them does not.
 * @whole: otherwise the kernel's part, which comes first, alone
 */
static void add_chain(struct attribution *attribution, struct sample_process *process,
		      const struct record_sample *sample, bool whole, struct building *building)
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
		building->cut = WIRE_CUT_DEPTH;
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

/* What was unwound takes the place of the user's part of the chain, which it has made use of. */
static void build(struct attribution *attribution, struct sample_process *process,
		  const struct record_sample *sample, struct building *building)
{
	uint64_t places[WIRE_DEPTH_MAX];
	enum wire_cut cut = WIRE_CUT_NONE;
	unsigned count = 0;

	if (sample->user.abi)
		count = user_stack(sample, attribution->registers, process, places,
				   WIRE_DEPTH_MAX - kernel_frames(sample), &cut);
	add_chain(attribution, process, sample, count == 0, building);
	if (count)
		building->cut = cut;
	for (unsigned n = 0; n < count; n++)
		if (!add_user(attribution, process, places[n], building))
			break;
	if (building->cut)
		building->frames[building->count++] = (struct sample_frame){ 0, building->cut };
}

enum sample_loss attribute(struct attribution *attribution, const struct record *record,
			   struct attributed *out)
{
	struct building building; /* of which the frames are 16 KiB: not to be filled for nothing */
	const struct record_sample *sample = &record->sample;
	struct sample_task *task = tasks_find(attribution->tasks, record->tid);
	struct sample_frame innermost;
	bool had;

	building.count = 0;
	building.cut = WIRE_CUT_NONE;
	building.user = false;
	if (!task)
		return SAMPLE_LOST_TASK;
	attribution->time = record->time;
	if (sample->mode == RECORD_MODE_NONE)
		return SAMPLE_LOST_CONTEXT;
	out->kernel = sample->mode == RECORD_MODE_KERNEL;
	had = out->kernel ? place_kernel(attribution, sample->ip, &innermost)
			  : place_user(attribution, task->process, sample->ip, &innermost);
	if (!had)
		return SAMPLE_LOST_WRITE;
	if (!innermost.image)
		return SAMPLE_LOST_MAPPING;
	if (attribution->stacks_wanted)
		build(attribution, task->process, sample, &building);
	if (building.count == 0 || building.frames[0].image == 0) {
		building.frames[0] = innermost;
		building.count = 1;
	}
	out->ends = building.user ? building.cut : WIRE_CUTS;
	out->task = tasks_number(attribution->tasks, task);
	out->stack = stacks_intern(attribution->stacks, building.frames, building.count);
	return out->task && out->stack ? SAMPLE_KEPT : SAMPLE_LOST_WRITE;
}
