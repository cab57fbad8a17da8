/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls; see kernel_calls.h. The programs are in kernel_calls.bpf.c.
 *
 * The tables are filled before the programs are attached, and do not change afterwards; so programs read them without a lock. Calls
 * of one filter share it: it is written once, and the row has its number.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/bpf/kernel_types.h"
#include "source/kernel/in_kernel/kernel_calls.bpf.h"
#include "source/kernel/programs/kernel_attach.h"
#include "source/kernel/programs/kernel_calls.h"

enum {
	ENTRIES,
	EXITS,
	SIDES,
	TABLE_BYTES = KERNEL_CALL_ENTRIES * sizeof(struct kernel_syscall),
};

/* All entries, or all exits. */
struct calls {
	int map; /* struct kernel_syscall, by number (kernel_points_call()) */
	struct kernel_filters filters;
	unsigned arguments; /* of a call, at most */
	bool texts;	    /* some have texts */
	uint32_t kinds;	    /* a bit for each struct kernel_syscall.last that some have */
};

/* Where programs are kept, and what they need. */
struct place {
	struct kernel_files *files;
	struct kernel_layout *layout;
	int tables;	       /* map: struct kernel_tables */
	uint32_t types[SIDES]; /* of the raw tracepoints, in BTF */
	struct calls sides[SIDES];
};

/* Where an exec's program finds what it needs; all 0: it is not that program. */
struct exec {
	unsigned before, path; /* in the record of sched_process_exec */
};

/* Write one of the programs. Return: false: it is too long. */
static bool kernel_calls_write(const struct place *at, const struct bpf_code *code, struct bpf_program *to,
			       const struct exec *exec)
{
	const struct calls *own = &at->sides[code == &kernel_exit ? EXITS : ENTRIES],
			   *entries = &at->sides[ENTRIES];
	const bool decides_late = code != &kernel_enter && entries->filters.count;
	struct bpf_symbol symbols[KERNEL_SYMBOLS];
	const unsigned count = kernel_symbols(at->layout, symbols);
	const struct bpf_symbol more[] = {
		{ "calls", BPF_SYMBOL_MAP, (uint64_t)own->map },
		{ "entries", BPF_SYMBOL_MAP, (uint64_t)entries->map },
		{ "tables", BPF_SYMBOL_VALUE, (uint64_t)at->tables },
		{ "filters", BPF_SYMBOL_NUMBER, own->filters.count },
		{ "filters_entries", BPF_SYMBOL_NUMBER, decides_late },
		{ "kinds_of_entries", BPF_SYMBOL_NUMBER, entries->kinds },
		{ "kinds_of_exits", BPF_SYMBOL_NUMBER, at->sides[EXITS].kinds },
		{ "most_arguments", BPF_SYMBOL_NUMBER, entries->arguments },
		{ "has_texts", BPF_SYMBOL_NUMBER, entries->texts },
		{ "in_kernel", BPF_SYMBOL_NUMBER, exec->path != 0 },
		{ "exec_number", BPF_SYMBOL_NUMBER, SYS_execve },
		{ "before", BPF_SYMBOL_NUMBER, exec->before },
		{ "path", BPF_SYMBOL_NUMBER, exec->path },
		{ "kernel_chosen", BPF_SYMBOL_FUNCTION, own->filters.count },
		{ "kernel_entry_chosen", BPF_SYMBOL_FUNCTION, decides_late },
		{ 0 },
	};

	static_assert(sizeof(more) / sizeof(more[0]) <= KERNEL_SYMBOLS / 2, "symbols have room");
	memcpy(symbols + count, more, sizeof(more));
	bpf_begin(to);
	if (!bpf_put_code(to, code, symbols))
		return false;
	if (own->filters.count && code != &kernel_exec) {
		bpf_land_symbol(to, code, "kernel_chosen");
		kernel_filter_put(to, own->filters.list, own->filters.count);
	}
	if (decides_late) {
		bpf_land_symbol(to, code, "kernel_entry_chosen");
		kernel_filter_put(to, entries->filters.list, entries->filters.count);
	}
	return bpf_put_called(to, symbols);
}

static bool kernel_calls_write_entries(const void *at, struct bpf_program *code)
{
	return kernel_calls_write(at, &kernel_enter, code, &(struct exec){ 0 });
}

static bool kernel_calls_write_exits(const void *at, struct bpf_program *code)
{
	return kernel_calls_write(at, &kernel_exit, code, &(struct exec){ 0 });
}

/* Without it, the path of an exec that succeeds is counted as missing if it was not in memory. */
static int attach_exec(struct place *at, const struct kernel_points *points)
{
	const struct tracepoint_field *path, *before;
	struct bpf_program code;
	int program;

	if (!points->exec.id || at->layout->late < 0)
		return 0;
	path = tracepoint_field(&points->exec, "filename");
	before = tracepoint_field(&points->exec, "old_pid");
	if (!path || path->kind != TRACEPOINT_TEXT || !before || before->size != 4 ||
	    !kernel_calls_write(at, &kernel_exec, &code, &(struct exec){ before->offset, path->offset }))
		return 0;
	program = kernel_files_keep_program(at->files, bpf_load(BPF_PROG_TYPE_TRACEPOINT, &code));
	return program < 0 ? program
			   : kernel_files_keep(at->files, bpf_attach_tracepoint(points->exec.id, program));
}

/* Describe the memory of a call, whose first field is @first. */
static void add_pieces(struct kernel_syscall *call, const struct tracepoint *point, unsigned first)
{
	for (unsigned n = 0; n < TRACEPOINT_PIECES && first + n < point->count; n++) {
		const struct tracepoint_field *field = &point->fields[first + n];

		call->pieces[n].place = (uint8_t)(field->list | field->times << KERNEL_PLACE_BITS);
		call->pieces[n].bytes = (uint8_t)field->size;
	}
}

/* The part of the record behind the other fields. */
static unsigned kernel_calls_find_last(struct kernel_syscall *call, const struct tracepoint *point)
{
	for (unsigned n = 0; n < point->count; n++)
		switch (point->fields[n].kind) {
		case TRACEPOINT_SOCKET:
			return point->fields[n].socket;
		case TRACEPOINT_CALL_NUMBER:
			return KERNEL_HAS_NUMBER;
		case TRACEPOINT_VECTORS:
			return KERNEL_HAS_VECTORS;
		case TRACEPOINT_POINTED:
			add_pieces(call, point, n);
			return KERNEL_HAS_MEMORY;
		case TRACEPOINT_LIST:
			return point->fields[n].list == 2 ? KERNEL_HAS_LIST_THIRD : KERNEL_HAS_LIST;
		default:
			break;
		}
	return 0;
}

/* Describe a system call to the programs. */
static int kernel_calls_describe(struct calls *calls, struct kernel_syscall *call,
				 const struct kernel_points *points, size_t n, bool enters)
{
	const struct tracepoint *point = &points->points[n];
	const unsigned count = enters ? tracepoint_arguments(point) : 0;

	call->id = points->ids[n];
	call->count = (uint8_t)(count < KERNEL_ARGUMENTS ? count : KERNEL_ARGUMENTS);
	for (unsigned argument = 0; argument < call->count; argument++) {
		call->shorts |= (uint8_t)((point->fields[argument].bytes == 4) << argument);
		call->texts |= (uint8_t)((point->fields[argument].kind == TRACEPOINT_USER_TEXT) << argument);
	}
	call->last = (uint8_t)kernel_calls_find_last(call, point);
	calls->kinds |= 1u << call->last;
	calls->texts |= call->texts != 0;
	calls->arguments = call->count > calls->arguments ? call->count : calls->arguments;
	if (kernel_points_filter(points, n)) {
		call->filter = kernel_filters_add(&calls->filters, kernel_points_filter(points, n), point);
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
static int fill_tables(const struct kernel_points *points, struct calls calls[SIDES],
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

/* The tables of tracepoint.h, which do not change. Return: a map; -errno. */
static int make_constants(void)
{
	struct kernel_tables tables = { 0 };

	static_assert((int)TRACEPOINT_CONDITIONS <= (int)KERNEL_CONDITIONS, "conditions have room");
	memcpy(tables.conditions, tracepoint_conditions, sizeof(tracepoint_conditions));
	for (unsigned n = 0; n < tracepoint_command_count; n++)
		tables.commands[n] = tracepoint_commands[n];
	return bpf_map_constant(&tables, sizeof(tables));
}

/* Make the maps of both tables, and of calls whose arguments are read again. @tables: the mapped ones */
static int make_tables(struct place *at, const struct kernel_points *points,
		       struct kernel_syscall *tables[SIDES])
{
	static const struct bpf_map table = { BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
					      sizeof(struct kernel_syscall), KERNEL_CALL_ENTRIES,
					      BPF_F_MMAPABLE };
	static const struct bpf_map late = { BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(struct kernel_late),
					     KERNEL_LATE_CALLS, 0 };
	int error;

	at->tables = make_constants();
	error = kernel_files_keep(at->files, at->tables);
	for (unsigned n = 0; n < SIDES && !error; n++) {
		at->sides[n].map = bpf_map_make(&table);
		error = kernel_files_keep(at->files, at->sides[n].map);
		if (error)
			break;
		tables[n] = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, at->sides[n].map, 0);
		if (tables[n] == MAP_FAILED)
			error = -errno;
	}
	if (error || !points->late)
		return error;
	at->layout->late = bpf_map_make(&late);
	return kernel_files_keep(at->files, at->layout->late);
}

int kernel_calls_attach(struct kernel_files *files, struct kernel_layout *layout,
			const struct kernel_points *points, bool untyped)
{
	struct place at = { .files = files, .layout = layout };
	struct kernel_syscall *tables[SIDES] = { MAP_FAILED, MAP_FAILED };
	bool used[SIDES] = { false };
	int error = make_tables(&at, points, tables);

	if (!error)
		error = fill_tables(points, at.sides, tables, used);
	for (unsigned n = 0; n < SIDES; n++)
		if (tables[n] != MAP_FAILED)
			munmap(tables[n], TABLE_BYTES);
	layout->typed = !untyped && kernel_types_calls(at.types) == 0;
	for (unsigned n = 0; n < SIDES && !error; n++)
		if (used[n])
			error = kernel_attach_calls(
				files, layout, at.types, n == EXITS,
				n == EXITS ? kernel_calls_write_exits : kernel_calls_write_entries, &at);
	return error ? error : attach_exec(&at, points);
}
