/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs of all system calls that are counted: one at entries, one at exits. A table by the call's number has their work (struct
 * kernel_count_call).
 *
 * BPF_NUMBER(times): calls are counted at their exit, by the time since their entry. `started` has for each thread the time of the call that it
 * is in and, in the lower bits, that call's row: an exit whose call is another one has no begin. A thread that is killed in a call leaves
 * its time behind; the first exit of a later thread of its id, which is that of the call that made it, does not count.
 */
#include <assert.h>

#include "source/kernel/in_kernel/kernel_call_c.h"
#include "source/kernel/in_kernel/counts/kernel_count_c.h"

extern struct bpf_map calls, started;

extern int kernel_chosen(const void *context, uint32_t thread, uint64_t filter,
			 const struct kernel_input *input);

static_assert(KERNEL_CALL_ENTRIES < 1 << KERNEL_COUNT_STARTED_BITS, "a row has room beside its time");

BPF_INLINE uint64_t kernel_count_value_of(const struct kernel_input *input,
					  const struct kernel_count_place *place)
{
	const uint64_t value = input->arguments[place->argument & 7];

	if (place->kind == KERNEL_COUNT_32)
		return (uint32_t)value;
	return place->kind == KERNEL_COUNT_SIGNED_32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Put a field into the key. Return: whether the call has it. */
BPF_FUNCTION bool kernel_count_put_field(char *to, const struct kernel_input *input,
					 const struct kernel_count_place *place)
{
	const uint64_t value = kernel_count_value_of(input, place);

	if (place->kind == KERNEL_COUNT_ABSENT)
		return false;
	if (BPF_NUMBER(has_texts) && place->kind == KERNEL_COUNT_TEXT)
		kernel_count_user_text(to, (const void *)value);
	else
		*(uint64_t *)to = value;
	return true;
}

/* A field, or where the call has none a fact. */
#define KERNEL_COUNT_WORD(n)                                                                    \
	if (!BPF_NUMBER(field_##n) ||                                                           \
	    !kernel_count_put_field((char *)&key + BPF_NUMBER(at_##n), input, &call->words[n])) \
	KERNEL_COUNT_FACT(&key, n)

BPF_FUNCTION int kernel_count_call_of(const struct kernel_input *input, const struct kernel_count_call *call,
				      uint64_t number)
{
	struct kernel_count_key key;

	kernel_count_begin(&key, call->event);
	KERNEL_COUNT_WORD(0);
	KERNEL_COUNT_WORD(1);
	KERNEL_COUNT_WORD(2);
	KERNEL_COUNT_WORD(3);
	KERNEL_COUNT_WORD(4);
	KERNEL_COUNT_WORD(5);
	KERNEL_COUNT_WORD(6);
	KERNEL_COUNT_WORD(7);
	KERNEL_COUNT_WORD(8);
	if (BPF_NUMBER(values) && !BPF_NUMBER(times))
		number = kernel_count_value_of(input, &call->value);
	kernel_count_end(&key, number, !BPF_NUMBER(times) && call->has_sign);
	return 0;
}

/* Find what is to be done, and read what that needs. @row: receives that of the call. Return: NULL: nothing. */
BPF_INLINE const struct kernel_count_call *kernel_count_find_call(const uint64_t *context,
								  const struct bpf_task *current,
								  uint32_t *row, struct kernel_input *input,
								  bool exits)
{
	const struct kernel_count_call *call;

	if (!*(volatile uint64_t *)&state.on || !kernel_call_is_followed(kernel_thread(current)))
		return NULL;
	*row = kernel_call_row(current, context, input, exits);
	call = bpf_map_lookup_elem(&calls, row);
	if (!call || !call->event)
		return NULL;
	input->result = exits ? (int64_t)context[1] : 0;
	if (BPF_NUMBER(needs_arguments)) {
		kernel_read_arguments(context, input);
		input->last_chance = true;
		input->arguments[KERNEL_COUNT_RESULT] = (uint64_t)input->result;
		input->arguments[KERNEL_COUNT_NUMBER] = input->number;
	}
	return call;
}

BPF_INLINE bool kernel_count_accepts(const uint64_t *context, const struct kernel_count_call *call,
				     const struct kernel_input *input)
{
	return !BPF_NUMBER(filters) || !call->filter ||
	       kernel_chosen(context, 0, call->filter, input) == KERNEL_ACCEPTED;
}

int kernel_count_enter(const uint64_t *context)
{
	const struct bpf_task *current = kernel_current();
	const struct kernel_count_call *call;
	struct kernel_input input;
	uint32_t row, thread;
	uint64_t *start;

	call = kernel_count_find_call(context, current, &row, &input, false);
	if (!call)
		return 1;
	if (!BPF_NUMBER(times)) {
		if (kernel_count_accepts(context, call, &input))
			kernel_count_call_of(&input, call, 0);
		return 1;
	}
	thread = kernel_thread(current);
	start = bpf_map_lookup_elem(&started, &thread);
	if (start)
		*start = kernel_count_accepts(context, call, &input)
				 ? bpf_ktime_get_ns() << KERNEL_COUNT_STARTED_BITS | row
				 : 0;
	return 1;
}

/* The time since the entry. Return: 0: it is not counted. */
BPF_INLINE uint64_t kernel_count_time(const struct kernel_count_call *call, const struct kernel_input *input,
				      uint32_t thread, uint32_t row)
{
	const uint64_t now = bpf_ktime_get_ns();
	uint64_t *start = bpf_map_lookup_elem(&started, &thread), begun;

	if (!start || (call->makes_task && !input->result))
		return 0;
	begun = *start;
	*start = 0;
	if (!begun)
		return 0;
	if ((begun & ((1 << KERNEL_COUNT_STARTED_BITS) - 1)) != row) {
		kernel_count_add(&state.unstarted, 1);
		return 0;
	}
	return ((now << KERNEL_COUNT_STARTED_BITS | row) - begun) >> KERNEL_COUNT_STARTED_BITS;
}

int kernel_count_exit(const uint64_t *context)
{
	const struct bpf_task *current = kernel_current();
	const struct kernel_count_call *call;
	struct kernel_input input;
	uint64_t time = 0;
	uint32_t row;

	call = kernel_count_find_call(context, current, &row, &input, true);
	if (!call)
		return 1;
	if (BPF_NUMBER(times)) {
		time = kernel_count_time(call, &input, kernel_thread(current), row);
		if (!time)
			return 1;
	}
	if (kernel_count_accepts(context, call, &input))
		kernel_count_call_of(&input, call, time);
	return 1;
}
