/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The stack of a thread that sleeps; see sleeper_stack.h. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/foreign_file.h"
#include "source/perf/stacks/sleeper_stack.h"
#include "source/perf/tasks/proc_scan.h"

enum {
	SLEEPER_NODES_MAX = 1 << 18, /* of stacks that are kept for the next scan */
	SLEEPER_BYTES = 256 << 10,   /* of a stack that are copied, at most */
#if defined(__aarch64__)
	SLEEPER_SP = PERF_REG_ARM64_SP,
	SLEEPER_PC = PERF_REG_ARM64_PC,
#else
	SLEEPER_SP = PERF_REG_X86_SP,
	SLEEPER_PC = PERF_REG_X86_IP,
#endif
};

/* "running", "-1 SP PC", or "NUMBER ARGUMENT... SP PC". Return: 0 or -EINVAL. */
static int sleeper_parse(const char *text, struct sleeper_call *call)
{
	uint64_t *arguments = call->arguments;

	*call = (struct sleeper_call){ .running = strncmp(text, "running", 7) == 0, .number = -1 };
	if (call->running || sscanf(text, "-1 %" SCNx64 " %" SCNx64, &call->stack, &call->pc) == 2)
		return 0;
	return sscanf(text,
		      "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		      " %" SCNx64 " %" SCNx64,
		      &call->number, &arguments[0], &arguments[1], &arguments[2], &arguments[3],
		      &arguments[4], &arguments[5], &call->stack, &call->pc) == 9
		       ? 0
		       : -EINVAL;
}

int sleeper_call_read(uint32_t pid, uint32_t tid, struct sleeper_call *call)
{
	char name[48], text[256];
	ssize_t got;
	int file;

	snprintf(name, sizeof(name), "task/%u/syscall", tid);
	file = foreign_contents(pid, name, sizeof(text) - 1);
	if (file < 0)
		return file == -ENOENT ? -ESRCH : file;
	got = read(file, text, sizeof(text) - 1);
	got = got < 0 ? -errno : got;
	close(file);
	if (got <= 0)
		return got ? (int)got : -ESRCH;
	text[got] = 0;
	return sleeper_parse(text, call);
}

static bool sleeper_still_sleeps(uint32_t pid, uint32_t tid, const struct sleeper_call *before)
{
	struct sleeper_call now;

	return sleeper_call_read(pid, tid, &now) == 0 && !now.running && now.number == before->number &&
	       now.stack == before->stack && now.pc == before->pc &&
	       memcmp(now.arguments, before->arguments, sizeof(now.arguments)) == 0;
}

int sleeper_stack(struct attribution *attribution, uint32_t pid, uint32_t tid,
		  const struct sleeper_call *call, struct attributed *out)
{
	/* A sampled recorder copies its own stack, so this is not there. */
	static unsigned char stack[SLEEPER_BYTES];
	const uint64_t registers[] = { call->stack, call->pc }, usual = attribution->registers;
	struct record record = { .pid = pid, .tid = tid };
	enum wire_sample loss;
	ssize_t bytes;

	if (call->running || !call->stack || !call->pc)
		return -EAGAIN;
	bytes = foreign_memory(pid, call->stack, stack, sizeof(stack));
	if (!sleeper_still_sleeps(pid, tid, call))
		return bytes == -ETIMEDOUT ? -ETIMEDOUT : -EAGAIN;
	if (bytes <= 0)
		return bytes ? (int)bytes : -ENODATA;
	record.sample = (struct record_sample){ .mode = RECORD_MODE_USER,
						.ip = call->pc,
						.user = { .abi = PERF_SAMPLE_REGS_ABI_64,
							  .registers = registers,
							  .register_count = 2,
							  .stack = stack,
							  .stack_bytes = (size_t)bytes } };
	attribution->registers = UINT64_C(1) << SLEEPER_SP | UINT64_C(1) << SLEEPER_PC;
	loss = attribute(attribution, &record, out);
	attribution->registers = usual;
	return loss == WIRE_SAMPLE_KEPT ? 0 : -ENODATA;
}

int sleeper_stacks_begin(struct sleeper_stacks *all)
{
	memset(all, 0, sizeof(*all));
	table_writer_without(&all->images_table);
	table_writer_without(&all->tasks_table);
	table_writer_without(&all->stacks_table);
	images_init(&all->images, &all->images_table);
	stacks_init(&all->stacks, &all->stacks_table);
	kernel_init(&all->kernel, &all->images);
	all->attribution = (struct attribution){ .tasks = &all->tasks,
						 .images = &all->images,
						 .kernel = &all->kernel,
						 .stacks = &all->stacks,
						 .jit = { .images = &all->images },
						 .max_depth = WIRE_DEPTH_MAX,
						 .stacks_wanted = true };
	return tasks_init(&all->tasks, &all->images, &all->tasks_table);
}

void sleeper_stacks_free(struct sleeper_stacks *all)
{
	tasks_free(&all->tasks);
	kernel_free(&all->kernel);
	stacks_free(&all->stacks);
	images_release(&all->images);
	images_free(&all->images);
	table_writer_close(&all->images_table);
	table_writer_close(&all->tasks_table);
	table_writer_close(&all->stacks_table);
}

void sleeper_stacks_scan(struct sleeper_stacks *all, uint32_t pid)
{
	struct sample_task *leader = tasks_find(&all->tasks, pid);

	/* Memory that is unmapped now must not hide what has come in its place. */
	if (leader)
		mappings_clear(&leader->process->mappings);
	if (all->stacks.count > SLEEPER_NODES_MAX) {
		stacks_free(&all->stacks);
		stacks_init(&all->stacks, &all->stacks_table);
	}
	all->attribution.jit.round++;
	scan_process(&all->tasks, pid);
}
