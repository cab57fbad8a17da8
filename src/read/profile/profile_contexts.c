/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sample contexts: task and stack of a sample; the table `contexts`. Each chunk numbers its contexts anew: here the
 * contexts of all chunks have one numbering.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/profile/profile_parts.h"

static int profile_contexts_take_context(void *data, struct read_entry *entry)
{
	struct read_sample_context context;

	(void)data;
	context.task =
		(uint32_t)read_entry_number(entry, UINT32_MAX, "the task's number has more than 32 bits");
	context.stack =
		(uint32_t)read_entry_number(entry, UINT32_MAX, "the stack's number has more than 32 bits");
	if (!entry->reason)
		*(struct read_sample_context *)entry->row = context;
	return 0;
}

int read_sample_contexts_load(struct burin_profile *profile)
{
	const struct read_table table = { ".burin/contexts",
					  WIRE_TABLE_CONTEXTS,
					  2,
					  sizeof(struct read_sample_context),
					  2,
					  profile_contexts_take_context,
					  read_profile_memory };

	return read_tables_load(profile->trace, &table, profile, (void **)&profile->contexts,
				&profile->context_bases, &profile->context_count);
}

/* The number among the entries of all chunks; that of no entry if the chunk has none of that number. */
static uint32_t join_number(const uint32_t *bases, unsigned chunk, uint32_t number)
{
	if (!number)
		return 0;
	/* Not 0, which means that a sample has none: `burin check` reports a number that does not exist. */
	return number - 1 < bases[chunk + 1] - bases[chunk] ? bases[chunk] + number : UINT32_MAX;
}

void read_sample_contexts_join(struct burin_profile *profile)
{
	for (unsigned chunk = 0; profile->trace->chunk_count > 1 && chunk < profile->trace->chunk_count;
	     chunk++) {
		for (uint32_t n = profile->context_bases[chunk]; n < profile->context_bases[chunk + 1]; n++) {
			struct read_sample_context *context = &profile->contexts[n];

			context->task = join_number(profile->task_bases, chunk, context->task);
			context->stack = join_number(profile->stack_bases, chunk, context->stack);
		}
	}
}

uint32_t read_sample_context_number(const struct burin_profile *profile, uint32_t chunk, uint32_t number)
{
	const uint32_t *bases = profile->context_bases;

	return chunk < profile->trace->chunk_count && number - 1 < bases[chunk + 1] - bases[chunk]
		       ? bases[chunk] + number
		       : 0;
}

uint32_t burin_profile_contexts(const struct burin_profile *profile)
{
	return profile->context_count;
}

int burin_profile_context(const struct burin_profile *profile, uint32_t number, uint32_t *task,
			  uint32_t *stack)
{
	const struct read_sample_context *context;

	*task = *stack = 0;
	if (number - 1 >= profile->context_count)
		return -ENOENT;
	context = &profile->contexts[number - 1];
	*task = context->task;
	*stack = context->stack;
	return 0;
}
