/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The arguments and variables of an exec: lists of addresses that end in a NULL. The record has both counts, -1 if there are more than
 * KERNEL_LIST_COUNT or if the list cannot be read, and as many whole arguments as fit, as texts. Fewer than counted: the others did not fit.
 *
 * A program walks them in a loop that the verifier follows turn by turn. Numbers that grow lie in the ring, so the turns
 * look alike to it.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_LIST_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_LIST_H

#include "source/kernel/bpf/kernel_put.h"

enum {
	KERNEL_LIST_COUNT = 256,
	KERNEL_LIST_MAX = 1536, /* bytes of a record's arguments and texts, as those of any other call */
};

/*
 * kernel_list_put - put the lists. Register 1: the argument that leads to the arguments is the third one, else the second; the next
 * one leads to the variables.
 * Registers 0 to 5 change.
 * kernel_list_put_new - put the arguments that a new program of 64 bits finds on its stack, and that the variables are unknown.
 * kernel_list_put_none - put that both are unknown.
 */
void kernel_list_put(struct bpf_program *to, const struct kernel_layout *layout, int at);
void kernel_list_put_new(struct bpf_program *to, const struct kernel_layout *layout, int at);
void kernel_list_put_none(struct bpf_program *to, int at);

#endif
