/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs of kernel_follow.h, at tracepoints. Their records have fields where tracefs says, so these are read by a helper: the
 * verifier accepts direct loads only at places that the program itself has.
 */
#include "source/kernel/in_kernel/kernel_task_c.h"

BPF_INLINE uint8_t *kernel_follow_named(const char *record, uint64_t offset)
{
	uint32_t task = 0;

	bpf_probe_read_kernel(&task, sizeof(task), record + offset);
	return kernel_follow_of(task);
}

/*
 * A task makes another one, which has not run yet and is recorded if its maker is. So a number that is used again has no state of a task
 * that ended: none is removed at an end, since the kernel frees tasks before their last switch, and some without a word.
 * Return: 1: events of others at this tracepoint go on; with 0 the kernel passes it to no perf event.
 */
int kernel_follow_fork(const char *record)
{
	const uint8_t maker = *kernel_follow_of((uint32_t)bpf_get_current_pid_tgid());

	*kernel_follow_named(record, BPF_NUMBER(task)) =
		maker == KERNEL_FOLLOW_RECORDED ? KERNEL_FOLLOW_RECORDED : KERNEL_FOLLOW_NOT;
	return 1;
}

/* A task executes a program: one that waited for that is recorded from now on. It may have taken its leader's number. */
int kernel_follow_exec(const char *record)
{
	uint8_t *before = kernel_follow_named(record, BPF_NUMBER(before));

	if (*before == KERNEL_FOLLOW_NOT)
		return 1;
	*before = KERNEL_FOLLOW_NOT;
	*kernel_follow_named(record, BPF_NUMBER(task)) = KERNEL_FOLLOW_RECORDED;
	return 1;
}
