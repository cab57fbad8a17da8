/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls whose texts are read at the exit; see kernel_late.h.
 *
 * A note has one key, the thread, and one life: the program at the entry makes it, that at the exit takes and removes
 * it. It may be left behind: the exit is not recorded, or the thread is killed in its call. So before a note counts,
 * call number and first arguments must be those of the call that ends. A note of an earlier call is counted as
 * unread, and gone.
 *
 * Calls without their texts are counted: in `unread` of ring 0 those for which the map had no room and those whose
 * texts cannot be read at the exit, either; count_unread() in kernel_source.c adds the notes that are left at the
 * end.
 */
#include <assert.h>
#include <string.h>

#include "source/kernel/bpf/kernel_late.h"
#include "source/kernel/bpf/kernel_ring.h"

enum {
	COMPARED = 2,
};

static_assert((int)COMPARED <= (int)KERNEL_LATE_ARGUMENTS, "COMPARED");

int kernel_late_make(void)
{
	return bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_HASH, sizeof(uint32_t),
					       sizeof(struct kernel_late), KERNEL_LATE_CALLS, 0 });
}

void kernel_late_count_unread(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned none;

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_KEY, 0);
	bpf_put_find(to, layout->rings, KERNEL_STACK_KEY);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_set(to, BPF_REG_1, 1);
	bpf_put(to, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, KERNEL_RING(unread), BPF_ADD);
	bpf_land(to, none);
}

#define VALUE(member) (KERNEL_STACK_TEXT + (int)offsetof(struct kernel_late, member))

void kernel_late_note(struct bpf_program *to, const struct kernel_layout *layout, bool accepted)
{
	unsigned noted;

	if (accepted)
		kernel_put_load(to, BPF_REG_0, BPF_REG_10, KERNEL_STACK_NOW);
	else
		bpf_put_call(to, BPF_FUNC_ktime_get_ns);
	kernel_put_store(to, BPF_REG_10, VALUE(time), BPF_REG_0);
	for (int n = 0; n < KERNEL_LATE_ARGUMENTS; n++) {
		kernel_put_register(to, layout, BPF_DW, BPF_REG_1, kernel_argument_places[n]);
		kernel_put_store(to, BPF_REG_10, VALUE(arguments) + n * 8, BPF_REG_1);
	}
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_NUMBER);
	bpf_put_store(to, BPF_W, BPF_REG_10, VALUE(number), BPF_REG_1);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, VALUE(accepted), accepted);
	bpf_put_map(to, BPF_REG_1, layout->late);
	bpf_put_address(to, BPF_REG_2, KERNEL_STACK_TID);
	bpf_put_address(to, BPF_REG_3, KERNEL_STACK_TEXT);
	bpf_put_set(to, BPF_REG_4, BPF_ANY);
	bpf_put_call(to, BPF_FUNC_map_update_elem);
	noted = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	kernel_late_count_unread(to, layout);
	bpf_land(to, noted);
}

#define NOTED(member) ((int)offsetof(struct kernel_late, member))

/* Register 0: the note of a thread. Without one, end the program. */
static void kernel_late_put_find(struct bpf_program *to, int map, int entered)
{
	unsigned noted;

	bpf_put_find(to, map, KERNEL_STACK_TID);
	noted = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	kernel_put_exit(to);
	bpf_land(to, noted);
	kernel_put_load(to, BPF_REG_1, BPF_REG_0, NOTED(time));
	kernel_put_store(to, BPF_REG_10, entered, BPF_REG_1);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_0, NOTED(number));
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_NUMBER, BPF_REG_1);
	bpf_put_load(to, BPF_W, BPF_REG_7, BPF_REG_0, NOTED(accepted));
}

static void kernel_late_put_remove(struct bpf_program *to, int map)
{
	bpf_put_map(to, BPF_REG_1, map);
	bpf_put_address(to, BPF_REG_2, KERNEL_STACK_TID);
	bpf_put_call(to, BPF_FUNC_map_delete_elem);
}

void kernel_late_take_exec(struct bpf_program *to, const struct kernel_layout *layout, int number,
			   int entered)
{
	unsigned same;

	kernel_late_put_find(to, layout->late, entered);
	same = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, number);
	kernel_put_exit(to);
	bpf_land(to, same);
	kernel_put_no_registers(to);
	for (int n = 0; n < KERNEL_LATE_ARGUMENTS; n++) {
		kernel_put_load(to, BPF_REG_1, BPF_REG_0, NOTED(arguments) + n * 8);
		kernel_put_set_register(to, kernel_argument_places[n], BPF_REG_1);
	}
	kernel_late_put_remove(to, layout->late);
}

void kernel_late_take(struct bpf_program *to, const struct kernel_layout *layout, int map, int entered)
{
	unsigned other[COMPARED + 1], same;

	kernel_late_put_find(to, map, entered);
	for (int n = 0; n < COMPARED; n++)
		kernel_put_load(to, BPF_REG_8 + (unsigned)n, BPF_REG_0, NOTED(arguments) + n * 8);
	kernel_late_put_remove(to, map);
	if (!layout->typed)
		kernel_put_registers(to);
	for (int n = 0; n < COMPARED; n++) {
		kernel_put_register(to, layout, BPF_DW, BPF_REG_1, kernel_argument_places[n]);
		other[n] = bpf_put_jump_register(to, BPF_JNE, BPF_REG_1, BPF_REG_8 + (unsigned)n);
	}
	kernel_put_register(to, layout, BPF_W, BPF_REG_1, REGISTERS_NUMBER);
	bpf_put_load(to, BPF_W, BPF_REG_2, BPF_REG_10, KERNEL_STACK_NUMBER);
	other[COMPARED] = bpf_put_jump_register(to, BPF_JNE, BPF_REG_1, BPF_REG_2);
	same = bpf_put_jump(to, BPF_JA, 0, 0);
	for (int n = 0; n < COMPARED + 1; n++)
		bpf_land(to, other[n]);
	kernel_late_count_unread(to, layout);
	kernel_put_exit(to);
	bpf_land(to, same);
}
