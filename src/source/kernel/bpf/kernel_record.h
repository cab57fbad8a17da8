/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parts of programs that append a record: to which tasks, in which ring, when, and where. In what order: kernel_record_filter(),
 * kernel_record_begin(), the fields, kernel_record_commit().
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_RECORD_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_RECORD_H

#include "source/kernel/bpf/kernel_ring.h"

/* kernel_record_payload - where a record's fields begin. */
int kernel_record_payload(const struct kernel_layout *layout);

/*
 * kernel_record_filter - end the program unless the task, or one that the record names, is recorded.
 * @early: a task that waits for its exec is recorded, too
 */
void kernel_record_filter(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint_field *named, bool early);

/* kernel_record_begin - take the ring, read the clock, and find the record's place. @bytes: of the longest one */
void kernel_record_begin(struct bpf_program *to, const struct kernel_layout *layout, unsigned bytes);

/* kernel_record_place - register 9, which has the tail: the record's address there, less KERNEL_SLOTS. Changes register @spare. */
void kernel_record_place(struct bpf_program *to, const struct kernel_layout *layout, unsigned spare);

/* kernel_record_advance - let the payload go on behind as many bytes as register 0 has, and register 9 with it. */
void kernel_record_advance(struct bpf_program *to);

/* kernel_record_number - copy a number from the context. @offset: there */
void kernel_record_number(struct bpf_program *to, int at, unsigned bytes, unsigned offset);

/*
 * kernel_record_commit - commit the record.
 * @at: bytes of the record up to register 9's address and those counted since
 * @texts: whether KERNEL_STACK_TEXTS has more
 * @id: of the event; 0: register 5 has it
 */
void kernel_record_commit(struct bpf_program *to, const struct kernel_layout *layout, int at, bool texts,
			  uint16_t id);

#endif
