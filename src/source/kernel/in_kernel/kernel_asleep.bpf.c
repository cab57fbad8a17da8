/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program of kernel_asleep.h: an iterator, which the kernel runs once for each task. */
#include "source/kernel/in_kernel/kernel_task_c.h"
#include "source/kernel/in_kernel/kernel_asleep_line.h"

extern const char format[KERNEL_ASLEEP_FORMAT];

struct bpf_iter_meta {
	void *sequence; /* of what the reader gets */
};

/* Its context: struct bpf_iter__task of the kernel. */
struct each_task {
	const struct bpf_iter_meta *meta;
	const struct bpf_task *task; /* NULL: behind the last one */
};

/* Write a line about a task that is of a process and sleeps. Threads of the kernel have no memory. */
int kernel_asleep_program(const struct each_task *context)
{
	const struct bpf_task *task = context->task;
	struct kernel_asleep_line line = { 0 };

	if (!task || !BPF_MEMBER(const void *, task, BPF_NUMBER(task_memory)))
		return 0;
	line.state = BPF_MEMBER(uint32_t, task, BPF_NUMBER(task_state));
	if (!line.state)
		return 0;
	line.tid = BPF_MEMBER(uint32_t, task, BPF_NUMBER(task_id));
	line.call = (uint64_t)kernel_call_of(task);
	/* from the first one that is not of the scheduler, in the kernel */
	bpf_get_task_stack(task, line.frames, sizeof(line.frames), 0);
	bpf_seq_printf(context->meta->sequence, format, KERNEL_ASLEEP_FORMAT, &line, sizeof(line));
	return 0;
}
