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

#include "source/kernel/in_kernel/kernel_asleep.bpf.h"
#include "source/kernel/programs/kernel_asleep.h"
#include "source/kernel/in_kernel/kernel_asleep_line.h"

int kernel_asleep_open(const struct kernel_layout *layout)
{
	static const char line[] = KERNEL_ASLEEP_LINE;
	const struct kernel_task_type *task = &layout->task;
	const int format = bpf_map_constant(line, sizeof(line));
	const struct bpf_symbol symbols[] = { { "format", BPF_SYMBOL_VALUE, (uint64_t)format },
					      { "task_id", BPF_SYMBOL_NUMBER, task->id },
					      { "task_memory", BPF_SYMBOL_NUMBER, task->memory },
					      { "task_state", BPF_SYMBOL_NUMBER, task->state },
					      { "task_status", BPF_SYMBOL_NUMBER, task->status },
					      { 0 } };
	struct bpf_program code;
	int program = format;

	if (format < 0)
		return format;
	bpf_begin(&code);
	if (!task->each || !task->state || !task->memory || !task->id || !kernel_has_registers(layout))
		program = -ENOTSUP;
	else if (bpf_put_code(&code, &kernel_asleep_program, symbols))
		program = bpf_load_iterator(&code, task->each);
	close(format); /* the program holds it */
	return program;
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

	if (sscanf(line, "%u %u %d%n", &thread->tid, &thread->state, &call, &words) < 3 || !words)
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
