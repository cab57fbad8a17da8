/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Loading and attaching programs; see kernel_attach.h. */
#include <errno.h>

#include "source/kernel/probes/probe.h"
#include "source/kernel/programs/kernel_attach.h"

static int attach_function(struct kernel_files *files, const struct tracepoint *point,
			   const struct bpf_program *code)
{
	const int program =
		kernel_files_keep_program(files, bpf_load_function(code, point->function, point->is_return));

	return program < 0 ? program : kernel_files_keep(files, bpf_attach_function(program));
}

int kernel_attach_point(struct kernel_files *files, struct kernel_layout *layout,
			const struct tracepoint *point, kernel_attach_write write, const void *context)
{
	struct bpf_program code;
	int program;

	for (;;) {
		if (!write(context, &code))
			return -E2BIG;
		if (point->function)
			return attach_function(files, point, &code);
		program = kernel_files_keep_program(
			files,
			bpf_load(point->is_probe ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACEPOINT, &code));
		if (program >= 0)
			break;
		if (layout->task.id)
			layout->task = (struct kernel_task_type){ 0 };
		else if (tracepoint_needs_registers(point) && !layout->without_calls)
			layout->without_calls = true;
		else
			return program;
	}
	return kernel_files_keep(files, point->is_probe ? probe_attach(point, program)
							: bpf_attach_tracepoint(point->id, program));
}

static int load_calls(struct kernel_files *files, const struct kernel_layout *layout, uint32_t type,
		      kernel_attach_write write, const void *context)
{
	struct bpf_program code;

	if (!write(context, &code))
		return -E2BIG;
	return kernel_files_keep_program(files, layout->typed
							? bpf_load_typed(&code, type)
							: bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code));
}

int kernel_attach_calls(struct kernel_files *files, struct kernel_layout *layout, const uint32_t types[2],
			bool exits, kernel_attach_write write, const void *context)
{
	int program = load_calls(files, layout, types[exits], write, context);

	if (program < 0 && !layout->without_lists) {
		layout->without_lists = true;
		program = load_calls(files, layout, types[exits], write, context);
	}
	if (program < 0 && layout->typed) { /* it takes a helper for the registers then */
		layout->typed = false;
		layout->task = (struct kernel_task_type){ 0 };
		program = load_calls(files, layout, types[exits], write, context);
	}
	if (program < 0)
		return program;
	return kernel_files_keep(files, bpf_watch(layout->typed ? NULL
						  : exits	? "sys_exit"
								: "sys_enter",
						  program));
}
