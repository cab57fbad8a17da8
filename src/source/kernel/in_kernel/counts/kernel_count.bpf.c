/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The program at a tracepoint, a probe or a function of the kernel whose events are counted. As kernel_event.bpf.c it calls functions that are
 * written for one event when the counting begins:
 *
 *	kernel_named()		the task that the event names
 *	kernel_chosen()		the filter
 *	kernel_count_fields()	puts the fields into the key, and returns the number that is counted
 */
#include "source/kernel/in_kernel/counts/kernel_count_c.h"
#include "source/kernel/in_kernel/kernel_event_c.h"
#include "source/kernel/in_kernel/kernel_input.h"

extern bool kernel_chosen(const void *context, uint32_t thread, int64_t found);
extern uint64_t kernel_count_fields(const void *context, struct kernel_count_key *key, int64_t found);

/* The frames of the filter and of the key are not in use at once. */
BPF_FUNCTION int kernel_count_take(const void *context, int64_t found)
{
	struct kernel_count_key key;
	uint64_t number = 0;

	kernel_count_begin(&key, (uint32_t)BPF_NUMBER(event));
	KERNEL_COUNT_FACT(&key, 0);
	KERNEL_COUNT_FACT(&key, 1);
	KERNEL_COUNT_FACT(&key, 2);
	KERNEL_COUNT_FACT(&key, 3);
	KERNEL_COUNT_FACT(&key, 4);
	KERNEL_COUNT_FACT(&key, 5);
	KERNEL_COUNT_FACT(&key, 6);
	KERNEL_COUNT_FACT(&key, 7);
	if (BPF_NUMBER(has_fields))
		number = kernel_count_fields(context, &key, found);
	kernel_count_end(&key, number, BPF_NUMBER(has_sign));
	return 0;
}

int kernel_count_event(const void *context)
{
	const struct bpf_task *current = kernel_current();
	const uint32_t thread = kernel_thread(current);
	int64_t found = (int64_t)BPF_NUMBER(found_value);

	if (!*(volatile uint64_t *)&state.on || !(kernel_event_is_own(thread) || kernel_event_names(context)))
		return (int)BPF_NUMBER(result);
	if (BPF_NUMBER(found) == KERNEL_FOUND_CALL)
		found = kernel_call_of(BPF_NUMBER(task_id) ? current : bpf_get_current_task_btf());
	if (!BPF_NUMBER(filters) || kernel_chosen(context, thread, found))
		kernel_count_take(context, found);
	return (int)BPF_NUMBER(result);
}

/* ---- for the parts that are written when the counting begins */

void kernel_count_put_kernel(char *to, const void *from)
{
	kernel_count_end_text(to, bpf_probe_read_kernel_str(to, KERNEL_COUNT_TEXT_BYTES, from));
}

/* An array of characters. @bytes: its size, at most KERNEL_COUNT_TEXT_BYTES */
void kernel_count_put_chars(char *to, const void *from, uint32_t bytes)
{
	bpf_probe_read_kernel_str(to, bytes, from);
}

void kernel_count_put_user(char *to, const void *from)
{
	kernel_count_user_text(to, from);
}
