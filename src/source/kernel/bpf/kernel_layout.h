/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The part that all programs of a recording share: maps, sizes, and what the kernel can. */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_LAYOUT_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_LAYOUT_H

#include "bpf/bpf_code.h"
#include "source/kernel/bpf/kernel_types.h"

struct kernel_layout {
	int rings;	  /* map */
	int members;	  /* map: recorded tasks (kernel_follow.h); -1: all */
	int met;	  /* map: others in whose time records are made (the same); -1: none */
	unsigned window;  /* packets of a ring, a power of two */
	unsigned reach;	  /* ns after its base that a packet's compact records reach */
	bool overwrite;	  /* without room, the oldest packet makes room; otherwise the record is lost */
	uint32_t context; /* enum wire_context: of each record; its values are 0 */
	int late; /* map: system calls whose texts could not be read at the entry (struct kernel_late); -1: none */
	int packets; /* map: packets that threads send to their own machine (kernel_packets.h); -1: none */
	bool typed;  /* programs of system calls load directly from the registers: bpf_load_typed() */
	struct kernel_task_type task; /* of the kernel's types; all 0: unknown */
	bool without_lists;	      /* the kernel's verifier refuses the loop of kernel_list_c.h */
	bool without_calls; /* the kernel cannot give programs the registers of a process (before 5.15, or without BTF) */
};

enum {
	KERNEL_SYMBOLS = 96, /* of a program, at most */
};

/* kernel_symbols - what the symbols of programs mean that all have. Return: how many. @out: KERNEL_SYMBOLS */
unsigned kernel_symbols(const struct kernel_layout *layout, struct bpf_symbol *out);

/* kernel_has_registers - whether a program gets the registers of the process, and which of them is which. */
bool kernel_has_registers(const struct kernel_layout *layout);

/* kernel_tells_interfaces - whether programs find all system calls of another interface: those of 32-bit programs, and by int 0x80. */
bool kernel_tells_interfaces(const struct kernel_layout *layout);

#endif
