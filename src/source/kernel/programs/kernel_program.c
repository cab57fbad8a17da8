/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs at tracepoints; see kernel_program.h. Registers: as kernel_record.c has them.
 *
 * The order of a program: first the task, since most records of others end there; then the filter, which needs no
 * ring; then it takes a ring, and from there on each way out must release it. The clock is read behind that, so a
 * ring's times are in the order of its records.
 *
 * Numbers have fixed places, which are added up when the program is written (`at`). A text has as many bytes as are
 * found: register 9 moves behind it, and later fields are at fixed distances from there. So kernel_record_commit()
 * finds the record's begin again, by the tail. kernel_program_longest() is what all fields can take at most; if that is more than
 * KERNEL_RECORD_MAX, there is no program.
 *
 * A program is written a second time if its stack is too large for the question whether an interrupt runs
 * (kernel_interrupt_holds()): then the field says that this is unknown.
 */
#include <string.h>

#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/bpf/kernel_packets.h"
#include "source/kernel/programs/kernel_program.h"
#include "source/kernel/bpf/kernel_record.h"

/* The field that names another task whose membership counts, too. */
static const struct tracepoint_field *named_task(const struct tracepoint *point)
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

/* ---- the fields */

/* Put a text, whose address is in register 3. Register 9 moves behind it. */
static void kernel_program_put_text(struct bpf_program *to, int at, const struct tracepoint_field *field)
{
	kernel_put_text(to, BPF_REG_9, KERNEL_SLOTS + at, field);
	kernel_record_advance(to);
}

/* Put whether an interrupt runs, and whether it is one that delivers a packet of the current thread. */
static void put_interrupt(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	unsigned none;

	if (!kernel_has_registers(layout) || layout->own_stacks) {
		bpf_put(to, BPF_ST | BPF_MEM | BPF_B, BPF_REG_9, 0, KERNEL_SLOTS + at,
			KERNEL_INTERRUPT_UNKNOWN);
		return;
	}
	kernel_put_interrupt(to, KERNEL_RING(scratch));
	bpf_put_store(to, BPF_B, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
	if (layout->packets < 0)
		return;
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, KERNEL_INTERRUPT_NONE);
	kernel_packets_test(to, layout, KERNEL_STACK_TID);
	bpf_put_store(to, BPF_B, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
	bpf_land(to, none);
}

static bool kernel_program_is_text(enum tracepoint_kind kind)
{
	return kind == TRACEPOINT_CHARS || kind == TRACEPOINT_TEXT || kind == TRACEPOINT_USER_TEXT ||
	       kind == TRACEPOINT_KERNEL_TEXT;
}

/* Put an argument of a probe. Return: as kernel_program_put_field(). */
static int put_probe_field(struct bpf_program *to, int at, const struct tracepoint_field *field)
{
	kernel_put_argument(to, field);
	if (kernel_program_is_text(field->kind)) {
		bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
		kernel_program_put_text(to, at, field);
		return 0;
	}
	bpf_put_store(to, kernel_size_code(field->bytes), BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_1);
	return field->bytes;
}

/* Put a field of the kernel's record. Return: the bytes by which register 9 does not move. */
static int kernel_program_put_field(struct bpf_program *to, const struct kernel_layout *layout, int at,
				    const struct tracepoint_field *field)
{
	const unsigned element = field->element;

	if (field->source.place != TRACEPOINT_RECORD)
		return put_probe_field(to, at, field);
	switch (field->kind) {
	case TRACEPOINT_INTEGER:
	case TRACEPOINT_POINTER:
		kernel_record_number(to, at, field->bytes, field->offset);
		return field->bytes;
	case TRACEPOINT_CALL:
		kernel_put_call(to, layout);
		bpf_put_store(to, BPF_H, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
		return field->bytes;
	case TRACEPOINT_INTERRUPT:
		put_interrupt(to, layout, at);
		return field->bytes;
	case TRACEPOINT_ARRAY:
		bpf_put(to, BPF_ST | BPF_MEM | BPF_H, BPF_REG_9, 0, KERNEL_SLOTS + at,
			(int)(field->size / element));
		for (unsigned n = 0; n < field->size; n += element)
			kernel_record_number(to, at + 2 + (int)n, element, field->offset + n);
		return 2 + field->size;
	default:
		kernel_put_text_address(to, BPF_REG_3, field);
		kernel_program_put_text(to, at, field);
		return 0;
	}
}

/* The longest record, with its padding. */
static unsigned kernel_program_longest(const struct kernel_layout *layout, const struct tracepoint *point)
{
	unsigned bytes = kernel_record_payload(layout) + WIRE_ALIGN;

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

/* Some kernels remove a breakpoint whose program returns 1; all refuse a program at a function's entry that does. */
static void return_nothing(struct bpf_program *to)
{
	for (unsigned n = 0; n + 1 < to->count; n++)
		if (to->code[n].code == (BPF_ALU64 | BPF_MOV | BPF_K) && to->code[n].dst_reg == BPF_REG_0 &&
		    to->code[n + 1].code == (BPF_JMP | BPF_EXIT))
			to->code[n].imm = 0;
}

static void kernel_program_write_program(struct bpf_program *to, const struct kernel_layout *layout,
					 const struct tracepoint *point, const struct wire_filter *filter,
					 uint16_t id)
{
	int at = kernel_record_payload(layout);
	bool texts = false;

	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	/* The exec of a command gives it its name before it begins to be recorded. */
	kernel_record_filter(to, layout, named_task(point), strcmp(point->system, "task") == 0);
	if (filter)
		kernel_filter_put(to, layout, &(struct kernel_filter){ filter, point });
	kernel_record_begin(to, layout, kernel_program_longest(layout, point));
	for (unsigned n = 0; n < point->count; n++)
		texts |= point->fields[n].recorded && kernel_program_is_text(point->fields[n].kind);
	if (texts)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, KERNEL_STACK_TEXTS, 0);
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].recorded)
			at += kernel_program_put_field(to, layout, at, &point->fields[n]);
	if (!id) {
		bpf_put_copy(to, BPF_REG_1, BPF_REG_6);
		bpf_put_call(to, BPF_FUNC_get_attach_cookie);
		bpf_put_copy(to, BPF_REG_5, BPF_REG_0);
	}
	kernel_record_commit(to, layout, at, texts, id);
	kernel_put_exit(to);
	if (point->is_probe || point->function)
		return_nothing(to);
}

bool kernel_program_write(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint *point, const struct wire_filter *filter, uint16_t id)
{
	bpf_begin(to);
	if (kernel_program_longest(layout, point) > KERNEL_RECORD_MAX)
		return false;
	kernel_program_write_program(to, layout, point, filter, id);
	if (!kernel_interrupt_holds(to)) {
		struct kernel_layout apart = *layout;

		apart.own_stacks = true;
		kernel_program_write_program(to, &apart, point, filter, id);
	}
	return !to->full;
}
