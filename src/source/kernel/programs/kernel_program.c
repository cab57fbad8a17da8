/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs at tracepoints; see kernel_program.h. kernel_event.bpf.c is what they share. The rest is written here, for the fields and
 * the filter of one event.
 *
 * Numbers have fixed places, which are added up when the part is written (`at`). A text has as many bytes as are found:
 * KERNEL_REG_PLACE moves behind it, and later fields are at fixed distances from there. kernel_program_longest() is what all fields can
 * take at most; if that is more than KERNEL_RECORD_MAX, there is no program.
 */
#include <string.h>

#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/in_kernel/kernel_registers.h"
#include "source/kernel/in_kernel/kernel_ring.h"
#include "source/kernel/in_kernel/kernel_event.bpf.h"
#include "source/kernel/points/kernel_follow.h"
#include "source/kernel/programs/kernel_program.h"
#include "wire/wire_context.h"
#include "wire/wire_record.h"

const struct tracepoint_field *kernel_program_named(const struct tracepoint *point)
{
	static const char *const points[][2] = { { "sched_switch", "next_pid" },
						 { "sched_wakeup", "pid" },
						 { "sched_wakeup_new", "pid" },
						 { "sched_waking", "pid" },
						 { "sched_migrate_task", "pid" } };
	const struct tracepoint_field *field = NULL;

	for (unsigned n = 0; n < sizeof(points) / sizeof(points[0]); n++)
		if (strcmp(point->system, "sched") == 0 && strcmp(point->name, points[n][0]) == 0)
			field = tracepoint_field(point, points[n][1]);
	return field && field->kind == TRACEPOINT_INTEGER && field->size == 4 ? field : NULL;
}

/* The exec of a command gives it its name before it begins to be recorded. */
enum kernel_follow_state kernel_program_least(const struct tracepoint *point)
{
	return strcmp(point->system, "task") == 0 ? KERNEL_FOLLOW_WAITS : KERNEL_FOLLOW_RECORDED;
}

/* ---- the fields */

static bool kernel_program_is_text(enum tracepoint_kind kind)
{
	return kind == TRACEPOINT_CHARS || kind == TRACEPOINT_TEXT || kind == TRACEPOINT_USER_TEXT ||
	       kind == TRACEPOINT_KERNEL_TEXT;
}

/* Copy a number from the context. */
static void kernel_program_put_number(struct bpf_program *to, int at, unsigned bytes, unsigned offset)
{
	bpf_put_load(to, kernel_size_code(bytes), BPF_REG_1, KERNEL_REG_CONTEXT, (int)offset);
	bpf_put_store(to, kernel_size_code(bytes), KERNEL_REG_PLACE, at, BPF_REG_1);
}

static void kernel_program_put_text(struct bpf_program *to, int at, const struct tracepoint_field *field)
{
	kernel_put_text(to, KERNEL_REG_PLACE, at, field);
	bpf_put_alu_register(to, BPF_ADD, KERNEL_REG_PLACE, BPF_REG_0);
	bpf_put_alu_register(to, BPF_ADD, KERNEL_REG_BYTES, BPF_REG_0);
}

/* Copy a field. Return: the bytes by which KERNEL_REG_PLACE does not move. */
static int kernel_program_put_field(struct bpf_program *to, int at, const struct tracepoint_field *field)
{
	if (kernel_program_is_text(field->kind)) {
		kernel_program_put_text(to, at, field);
		return 0;
	}
	if (field->source.place != TRACEPOINT_RECORD) {
		kernel_put_argument(to, field);
		bpf_put_store(to, kernel_size_code(field->bytes), KERNEL_REG_PLACE, at, BPF_REG_1);
	} else if (field->kind == TRACEPOINT_CALL || field->kind == TRACEPOINT_INTERRUPT) {
		bpf_put_store(to, kernel_size_code(field->bytes), KERNEL_REG_PLACE, at, KERNEL_REG_FOUND);
	} else if (field->kind == TRACEPOINT_ARRAY) {
		bpf_put(to, BPF_ST | BPF_MEM | BPF_H, KERNEL_REG_PLACE, 0, at, field->size / field->element);
		for (unsigned n = 0; n < field->size; n += field->element)
			kernel_program_put_number(to, at + 2 + (int)n, field->element, field->offset + n);
		return 2 + field->size;
	} else {
		kernel_program_put_number(to, at, field->bytes, field->offset);
	}
	return field->bytes;
}

/* All fields, at most. */
static unsigned kernel_program_longest(const struct tracepoint *point)
{
	unsigned bytes = 0;

	for (unsigned n = 0; n < point->count; n++) {
		const struct tracepoint_field *field = &point->fields[n];

		if (!field->recorded)
			continue;
		bytes += kernel_program_is_text(field->kind) && field->kind != TRACEPOINT_CHARS
				 ? TRACEPOINT_TEXT_MAX
			 : field->kind == TRACEPOINT_CHARS ? field->size + (unsigned)sizeof(WIRE_NULL)
			 : field->kind == TRACEPOINT_ARRAY ? field->size + 2u
							   : field->bytes;
	}
	return bytes;
}

/* ---- the parts */

void kernel_program_put_named(struct bpf_program *to, const struct tracepoint_field *field)
{
	bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_1, field->offset);
	bpf_put_end(to);
}

/* kernel_fields(): copy all, and return their bytes. */
static void kernel_program_put_fields(struct bpf_program *to, const struct tracepoint *point)
{
	int at = 0;

	bpf_put_copy(to, KERNEL_REG_CONTEXT, BPF_REG_1);
	bpf_put_copy(to, KERNEL_REG_PLACE, BPF_REG_2);
	bpf_put_copy(to, KERNEL_REG_FOUND, BPF_REG_3);
	bpf_put_set(to, KERNEL_REG_BYTES, 0);
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].recorded)
			at += kernel_program_put_field(to, at, &point->fields[n]);
	bpf_put_copy(to, BPF_REG_0, KERNEL_REG_BYTES);
	bpf_put_alu(to, BPF_ADD, BPF_REG_0, at);
	bpf_put_end(to);
}

enum kernel_found kernel_program_finds(const struct kernel_layout *layout, const struct tracepoint *point,
				       int *value)
{
	for (unsigned n = 0; n < point->count; n++) {
		const enum tracepoint_kind kind = point->fields[n].kind;

		if (!point->fields[n].recorded || (kind != TRACEPOINT_CALL && kind != TRACEPOINT_INTERRUPT))
			continue;
		*value = kind == TRACEPOINT_CALL ? (int)KERNEL_CALL_UNKNOWN : (int)KERNEL_INTERRUPT_UNKNOWN;
		if (!kernel_has_registers(layout))
			return KERNEL_FOUND_NOTHING;
		return kind == TRACEPOINT_CALL ? KERNEL_FOUND_CALL : KERNEL_FOUND_INTERRUPT;
	}
	*value = 0;
	return KERNEL_FOUND_NOTHING;
}

bool kernel_program_write(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint *point, const struct wire_filter *filter, uint16_t id)
{
	const struct tracepoint_field *named = kernel_program_named(point);
	const unsigned longest = kernel_program_longest(point);
	struct bpf_symbol symbols[KERNEL_SYMBOLS];
	const unsigned count = kernel_symbols(layout, symbols);
	int value;
	const enum kernel_found found = kernel_program_finds(layout, point, &value);
	const struct bpf_symbol own[] = {
		{ "least_state", BPF_SYMBOL_NUMBER, kernel_program_least(point) },
		{ "names_task", BPF_SYMBOL_NUMBER, named != NULL },
		{ "found", BPF_SYMBOL_NUMBER, found },
		{ "found_value", BPF_SYMBOL_NUMBER, (uint64_t)(int64_t)value },
		{ "filters", BPF_SYMBOL_NUMBER, filter != NULL },
		{ "longest", BPF_SYMBOL_NUMBER, longest },
		{ "id", BPF_SYMBOL_NUMBER, id },
		{ "in_kernel", BPF_SYMBOL_NUMBER, false },
		/*
		 * 1: events of others at this tracepoint go on; with 0 the kernel passes it to no perf event. But some kernels
		 * remove a breakpoint whose program returns 1, and all refuse a program at a function's entry that does.
		 */
		{ "result", BPF_SYMBOL_NUMBER, !point->is_probe && !point->function },
		{ "kernel_named", BPF_SYMBOL_FUNCTION, named != NULL },
		{ "kernel_chosen", BPF_SYMBOL_FUNCTION, filter != NULL },
		{ "kernel_fields", BPF_SYMBOL_FUNCTION, true },
		{ 0 },
	};

	bpf_begin(to);
	if (longest + sizeof(struct wire_compact) + wire_context_bytes(layout->context) + WIRE_ALIGN >
	    KERNEL_RECORD_MAX)
		return false;
	memcpy(symbols + count, own, sizeof(own));
	if (!bpf_put_code(to, &kernel_event, symbols))
		return false;
	if (named) {
		bpf_land_symbol(to, &kernel_event, "kernel_named");
		kernel_program_put_named(to, named);
	}
	if (filter) {
		bpf_land_symbol(to, &kernel_event, "kernel_chosen");
		kernel_filter_put(to, &(struct kernel_filter){ filter, point }, 1);
	}
	bpf_land_symbol(to, &kernel_event, "kernel_fields");
	kernel_program_put_fields(to, point);
	return bpf_put_called(to, symbols);
}
