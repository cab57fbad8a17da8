/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls; see kernel_calls.h.
 *
 * The tables are filled before the programs are attached, and do not change afterwards; so programs read them without
 * a lock. Calls of one filter share it: it is written once, and the row has its number.
 *
 * If the kernel refuses a program, parts are left out in this order: the look-up of threads by their stacks, the
 * lists of an exec, the kernel's types. The layout keeps that, so the exits begin where the entries have ended.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "source/kernel/programs/kernel_call_program.h"
#include "source/kernel/programs/kernel_calls.h"
#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/bpf/kernel_late.h"
#include "source/kernel/bpf/kernel_stacks.h"
#include "source/kernel/bpf/kernel_types.h"

enum {
	ENTRIES,
	EXITS,
	SIDES,
	TABLE_BYTES = KERNEL_CALL_ENTRIES * sizeof(struct kernel_syscall),
};

/* Where programs are kept, and for which layout they are written. */
struct place {
	struct kernel_files *files;
	struct kernel_layout *layout;
	uint32_t types[SIDES]; /* of the raw tracepoints, in BTF */
};

/* Write and load the program of the entries or the exits of all system calls. Return: its descriptor; -errno. */
static int load_raw(struct place *at, const struct kernel_calls *calls, bool exits)
{
	struct bpf_program code;

	(exits ? kernel_program_exit : kernel_program_enter)(&code, at->layout, calls);
	return kernel_files_keep_program(at->files, at->layout->typed
							    ? bpf_load_typed(&code, at->types[exits])
							    : bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code));
}

/* Attach it. A kernel without types, or whose types do not fit, gets a program that takes a helper for the registers. */
static int attach_raw(struct place *at, const struct kernel_calls *calls, bool exits)
{
	int program = load_raw(at, calls, exits);

	if (program < 0 && at->layout->stacks >= 0) {
		at->layout->stacks = -1;
		program = load_raw(at, calls, exits);
	}
	if (program < 0 && !at->layout->without_lists) {
		at->layout->without_lists = true;
		program = load_raw(at, calls, exits);
	}
	if (program < 0 && at->layout->typed) {
		at->layout->typed = false;
		at->layout->task = (struct kernel_task_type){ 0 };
		program = load_raw(at, calls, exits);
	}
	if (program < 0)
		return program;
	return kernel_files_keep(at->files, bpf_watch(at->layout->typed ? NULL
						      : exits		? "sys_exit"
									: "sys_enter",
						      program));
}

/* Without it, the path of an exec that succeeds is counted as missing if it was not in memory. */
static int attach_exec(struct place *at, const struct kernel_calls *entries,
		       const struct kernel_points *points)
{
	struct bpf_program code;
	int program;

	if (!points->exec.id || !kernel_program_exec(&code, at->layout, entries, SYS_execve, &points->exec))
		return 0;
	program = kernel_files_keep_program(at->files, bpf_load(BPF_PROG_TYPE_TRACEPOINT, &code));
	return program < 0 ? program
			   : kernel_files_keep(at->files, bpf_attach_tracepoint(points->exec.id, program));
}

/* To read the types takes some milliseconds. */
static void find_types(struct place *at, bool untyped)
{
	static const char *const names[] = { "btf_trace_sys_enter", "btf_trace_sys_exit" };

	at->layout->typed = !untyped && kernel_types_find(names, at->types, SIDES) == 0;
}

/* The number of a filter among those of all calls, from 1. Return: 0: there are too many. */
static uint8_t kernel_calls_add_filter(struct kernel_calls *calls, const struct wire_filter *filter,
				       const struct tracepoint *point)
{
	const struct kernel_filter added = { filter, point };

	for (unsigned n = 0; n < calls->filter_count; n++)
		if (kernel_filter_same(&calls->filters[n], &added))
			return (uint8_t)(n + 1);
	if (calls->filter_count == KERNEL_FILTERS_MAX)
		return 0;
	calls->filters[calls->filter_count++] = added;
	return (uint8_t)calls->filter_count;
}

/* Describe the memory of a call, whose first field is @first. */
static void add_pieces(struct kernel_calls *calls, struct kernel_syscall *call,
		       const struct tracepoint *point, unsigned first)
{
	for (unsigned n = 0; n < TRACEPOINT_PIECES && first + n < point->count; n++) {
		const struct tracepoint_field *field = &point->fields[first + n];

		call->pieces[n].place = (uint8_t)(field->list | field->times << KERNEL_PLACE_BITS);
		call->pieces[n].bytes = (uint8_t)field->size;
		calls->memory[n] |= 1u << field->list;
		calls->times[n] |= 1u << field->times;
	}
}

/* The value behind the other fields. */
static unsigned kernel_calls_find_last(struct kernel_calls *calls, struct kernel_syscall *call,
				       const struct tracepoint *point)
{
	for (unsigned n = 0; n < point->count; n++) {
		if (point->fields[n].kind == TRACEPOINT_SOCKET) {
			calls->sockets = true;
			return point->fields[n].socket;
		}
		if (point->fields[n].kind == TRACEPOINT_CALL_NUMBER) {
			calls->numbers = true;
			return KERNEL_HAS_NUMBER;
		}
		if (point->fields[n].kind == TRACEPOINT_VECTORS) {
			calls->vectors = true;
			return KERNEL_HAS_VECTORS;
		}
		if (point->fields[n].kind == TRACEPOINT_POINTED) {
			add_pieces(calls, call, point, n);
			return KERNEL_HAS_MEMORY;
		}
		if (point->fields[n].kind == TRACEPOINT_LIST) {
			calls->lists = true;
			return point->fields[n].list == 2 ? KERNEL_HAS_LIST_THIRD : KERNEL_HAS_LIST;
		}
	}
	return 0;
}

/* Describe a system call to the programs. */
static int kernel_calls_describe(struct kernel_calls *calls, struct kernel_syscall *call,
				 const struct kernel_points *points, size_t n, bool enters)
{
	const struct tracepoint *point = &points->points[n];
	const unsigned count = enters ? tracepoint_arguments(point) : 0;
	const unsigned last = kernel_calls_find_last(calls, call, point);

	call->id = points->ids[n];
	call->count = (uint8_t)(count < KERNEL_ARGUMENTS ? count : KERNEL_ARGUMENTS);
	for (unsigned argument = 0; argument < call->count; argument++) {
		call->shorts |= (uint8_t)((point->fields[argument].bytes == 4) << argument);
		call->texts |= (uint8_t)((point->fields[argument].kind == TRACEPOINT_USER_TEXT) << argument);
	}
	call->count |= (uint8_t)(last << KERNEL_COUNT_BITS);
	if (kernel_points_filter(points, n)) {
		call->filter = kernel_calls_add_filter(calls, kernel_points_filter(points, n), point);
		if (!call->filter)
			return -E2BIG;
	}
	return 0;
}

/* Let calls whose numbers are in the table, but have no tracepoint, be as those of larger numbers. */
static void fill_unnamed(const struct kernel_points *points, struct kernel_syscall *table)
{
	for (unsigned number = 0; number < KERNEL_CALLS; number++)
		if (!points->has_calls[number])
			table[number] = table[KERNEL_CALL_UNNAMED];
}

/* Describe all of them. @used: set to whether there are entries, and exits */
static int fill_tables(const struct kernel_points *points, struct kernel_calls calls[SIDES],
		       struct kernel_syscall *const tables[SIDES], bool used[SIDES])
{
	bool enters;
	int error = 0;

	for (size_t n = 0; n < points->count && !error; n++) {
		const struct tracepoint *point = &points->points[n];
		const int number = kernel_points_call(point, &enters);
		const unsigned side = enters ? ENTRIES : EXITS;

		if (number < 0)
			continue;
		used[side] = true;
		error = kernel_calls_describe(&calls[side], &tables[side][number], points, n, enters);
		if (number == KERNEL_CALL_UNNAMED)
			fill_unnamed(points, tables[side]);
		if (!point->late)
			continue;
		used[EXITS] = true;
		tables[ENTRIES][number].late = tables[EXITS][number].late = points->ids[point->late - 1];
	}
	return error;
}

/* Make the maps of both tables, and of calls whose arguments are read again. @tables: the mapped ones */
static int make_tables(struct place *at, const struct kernel_points *points, struct kernel_calls calls[SIDES],
		       struct kernel_syscall *tables[SIDES])
{
	static const struct bpf_map table = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
					      sizeof(struct kernel_syscall), KERNEL_CALL_ENTRIES,
					      BPF_F_MMAPABLE };
	int error = 0;

	for (unsigned n = 0; n < SIDES && !error; n++) {
		calls[n] = (struct kernel_calls){ .map = bpf_map_make(&table) };
		error = kernel_files_keep(at->files, calls[n].map);
		if (error)
			break;
		tables[n] = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, calls[n].map, 0);
		if (tables[n] == MAP_FAILED)
			error = -errno;
	}
	if (error || !points->late)
		return error;
	at->layout->late = kernel_late_make();
	calls[EXITS].entries = &calls[ENTRIES];
	return kernel_files_keep(at->files, at->layout->late);
}

int kernel_calls_attach(struct kernel_files *files, struct kernel_layout *layout,
			const struct kernel_points *points, bool untyped)
{
	struct place at = { .files = files, .layout = layout };
	struct kernel_syscall *tables[SIDES] = { MAP_FAILED, MAP_FAILED };
	struct kernel_calls calls[SIDES];
	bool used[SIDES] = { false };
	int error = make_tables(&at, points, calls, tables);

	if (!error)
		error = fill_tables(points, calls, tables, used);
	for (unsigned n = 0; n < SIDES; n++)
		if (tables[n] != MAP_FAILED)
			munmap(tables[n], TABLE_BYTES);
	find_types(&at, untyped);
	if (!error && layout->typed && layout->task.stack && layout->task.cast) {
		layout->stacks = kernel_stacks_make();
		error = kernel_files_keep(files, layout->stacks);
	}
	for (unsigned n = 0; n < SIDES && !error; n++)
		if (used[n])
			error = attach_raw(&at, &calls[n], n == EXITS);
	return error ? error : attach_exec(&at, &calls[ENTRIES], points);
}
