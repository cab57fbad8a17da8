/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that sleep; see kernel_asleep.h.
 *
 * The program is an iterator: the kernel runs it once for each task, and what it prints can be read from a file. So
 * nothing has to be attached, and no record is made while the recording runs. Its line has numbers, then the names of
 * functions: the kernel alone can name them, and the reader needs no addresses. Frames that are not there are 0,
 * which %ps prints as a number; the first number ends the stack.
 *
 * Tasks go on while they are read. A thread whose state is 0 runs, and is skipped. Lines are parsed as any text: what
 * has not three numbers is no line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/kernel/programs/kernel_asleep.h"

/* The line that the program writes of a thread. %ps is the name of a function of the kernel. */
static const char line_format[] = "%u %u %d %ps %ps %ps %ps %ps %ps %ps %ps %ps\n";

enum {
	VALUES = 12, /* of a line: the most that the kernel takes */
	NUMBERS = 3, /* of them: thread, state, call; the others are frames */

	/* In the context and in struct bpf_iter_meta, which it points to. */
	CONTEXT_META = 0,
	CONTEXT_TASK = 8,
	META_SEQUENCE = 0,

	STACK_VALUES = -8 * VALUES,
	STACK_FORMAT = STACK_VALUES - (int)((sizeof(line_format) + 7) / 8 * 8),
};

#define STACK_VALUE(n) (STACK_VALUES + 8 * (int)(n))

/* Let what is on the stack be zeros, and the format. */
static void kernel_asleep_put_stack(struct bpf_program *to)
{
	char format[-(STACK_FORMAT - STACK_VALUES)] = "";
	uint64_t word;

	memcpy(format, line_format, sizeof(line_format));
	for (unsigned n = 0; n < VALUES; n++)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, STACK_VALUE(n), 0);
	for (unsigned n = 0; n < sizeof(format); n += sizeof(word)) {
		memcpy(&word, format + n, sizeof(word));
		bpf_put_number(to, BPF_REG_1, word);
		kernel_put_store(to, BPF_REG_10, STACK_FORMAT + (int)n, BPF_REG_1);
	}
}

static void put_write(struct bpf_program *to)
{
	kernel_put_load(to, BPF_REG_1, BPF_REG_6, CONTEXT_META);
	kernel_put_load(to, BPF_REG_1, BPF_REG_1, META_SEQUENCE);
	bpf_put_address(to, BPF_REG_2, STACK_FORMAT);
	bpf_put_set(to, BPF_REG_3, sizeof(line_format));
	bpf_put_address(to, BPF_REG_4, STACK_VALUES);
	bpf_put_set(to, BPF_REG_5, 8 * VALUES);
	bpf_put_call(to, BPF_FUNC_seq_printf);
}

/* Iterators return 0: the next one. */
static void kernel_asleep_put_end(struct bpf_program *to)
{
	bpf_put_set(to, BPF_REG_0, 0);
	bpf_put_end(to);
}

/* Register 6: the context; 7: the task, which is of a process and sleeps. Threads of the kernel have no memory. */
static void kernel_asleep_write_program(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned other[3];

	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	kernel_put_load(to, BPF_REG_7, BPF_REG_6, CONTEXT_TASK);
	other[0] = bpf_put_jump(to, BPF_JEQ, BPF_REG_7, 0); /* behind the last one */
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, (int)layout->task.memory);
	other[1] = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	kernel_asleep_put_stack(to);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_7, (int)layout->task.state);
	other[2] = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	kernel_put_store(to, BPF_REG_10, STACK_VALUE(1), BPF_REG_1);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_7, (int)layout->task.id);
	kernel_put_store(to, BPF_REG_10, STACK_VALUE(0), BPF_REG_1);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_7);
	kernel_put_call_of(to, layout);
	kernel_put_store(to, BPF_REG_10, STACK_VALUE(2), BPF_REG_2);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_7);
	bpf_put_address(to, BPF_REG_2, STACK_VALUE(NUMBERS));
	bpf_put_set(to, BPF_REG_3, 8 * (VALUES - NUMBERS));
	bpf_put_set(to, BPF_REG_4, 0); /* from the first one that is not of the scheduler, in the kernel */
	bpf_put_call(to, BPF_FUNC_get_task_stack);
	put_write(to);
	for (unsigned n = 0; n < 3; n++)
		bpf_land(to, other[n]);
	kernel_asleep_put_end(to);
}

int kernel_asleep_open(const struct kernel_layout *layout)
{
	struct bpf_program code;

	if (!layout->task.each || !layout->task.state || !layout->task.memory || !layout->task.id ||
	    !kernel_has_registers(layout))
		return -ENOTSUP;
	kernel_asleep_write_program(&code, layout);
	return bpf_load_iterator(&code, layout->task.each);
}

/* The names of the frames: those that are there are no numbers. A module's name in brackets follows that of its function. */
static void kernel_asleep_take_stack(struct kernel_asleep *thread, char *words)
{
	size_t used = 0;
	char *rest;

	thread->stack[0] = 0;
	for (const char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const size_t bytes = strlen(word);

		if (*word == '[')
			continue;
		if (strncmp(word, "0x", 2) == 0 || used + bytes + 2 > sizeof(thread->stack))
			break;
		used += (size_t)sprintf(thread->stack + used, "%s%s", used ? " " : "", word);
	}
}

static bool kernel_asleep_take_line(struct kernel_asleep *thread, char *line)
{
	int words = 0;
	int call;

	if (sscanf(line, "%u %u %d%n", &thread->tid, &thread->state, &call, &words) < NUMBERS || !words)
		return false;
	thread->call = (int16_t)call;
	kernel_asleep_take_stack(thread, line + words);
	return true;
}

void kernel_asleep_each(int program, void (*take)(void *context, const struct kernel_asleep *thread),
			void *context)
{
	const int file = bpf_iterate(program);
	FILE *lines = file < 0 ? NULL : fdopen(file, "r");
	struct kernel_asleep thread;
	char *line = NULL;
	size_t room = 0;

	while (lines && getline(&line, &room, lines) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (kernel_asleep_take_line(&thread, line))
			take(context, &thread);
	}
	free(line);
	if (lines)
		fclose(lines);
	else if (file >= 0)
		close(file);
}

void kernel_asleep_describe(struct tracepoint *point)
{
	*point = (struct tracepoint){
		.system = "task",
		.name = "task_asleep",
		.count = 5,
		.fields = {
			{ .name = "asleep_ns", .type = "u64", .kind = TRACEPOINT_ELAPSED, .bytes = 8 },
			{ .name = "pid", .type = "int", .kind = TRACEPOINT_INTEGER, .is_signed = true, .bytes = 4 },
			{ .name = "state", .type = "unsigned int", .kind = TRACEPOINT_INTEGER, .bytes = 4 },
			{ .name = "syscall", .type = "short", .kind = TRACEPOINT_CALL, .is_signed = true, .bytes = 2 },
			{ .name = "stack", .type = "char *", .kind = TRACEPOINT_KERNEL_TEXT },
		},
	};
	tracepoint_make_event(point);
}
