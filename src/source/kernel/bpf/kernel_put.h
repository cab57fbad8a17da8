/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts of the programs that both records and filters need. Register 6 has the context. */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_PUT_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_PUT_H

#include "bpf/bpf_program.h"
#include "source/kernel/bpf/kernel_types.h"
#include "source/kernel/points/tracepoint.h"
#include "wire/wire_filter.h"

enum {
	/* Offsets on the stack. The first two and the call's number have 4 bytes. */
	KERNEL_STACK_KEY = -4,
	KERNEL_STACK_TID = -8,
	KERNEL_STACK_TEXTS = -16, /* bytes of the texts so far */
	KERNEL_STACK_ENTERED =
		KERNEL_STACK_TEXTS, /* of a call that is noted: its time, before there is a text */
	KERNEL_STACK_NOW = -24,	    /* the time of the record */
	KERNEL_STACK_FILTER = KERNEL_STACK_NOW, /* of a system call, before there is a time */
	KERNEL_STACK_UNREAD =
		-28, /* 4 bytes, not 0: a text or a structure of the process could not be read */
	KERNEL_STACK_NUMBER = -32,
	KERNEL_STACK_MET = KERNEL_STACK_NUMBER, /* struct kernel_met, before all of these but the thread */
	KERNEL_STACK_CALL = -40,		/* struct kernel_syscall of it */
	KERNEL_STACK_VALUE = -40,		/* of a probe's argument in its program's memory */
	/* A text of few bytes that a filter of a tracepoint tests, before there is a time. */
	KERNEL_STACK_SHORT_MAX = 16,
	KERNEL_STACK_SHORT = KERNEL_STACK_TID - KERNEL_STACK_SHORT_MAX,
	KERNEL_STACK_REGISTERS = -128,			  /* of the process */
	KERNEL_STACK_LISTED = KERNEL_STACK_REGISTERS - 8, /* an address in a list, after filters */
	KERNEL_STACK_PIECES = KERNEL_STACK_LISTED,	  /* the descriptions of pieces of memory */
	KERNEL_STACK_TEXT = KERNEL_STACK_REGISTERS - TRACEPOINT_TEXT_MAX, /* that a filter tests */
	/* Where a socket's address is, as struct msghdr has it: behind the bytes of one that a filter tests. */
	KERNEL_STACK_SOCKET = KERNEL_STACK_TEXT + TRACEPOINT_SOCKET_MAX,
	KERNEL_STACK_SOCKET_BYTES = KERNEL_STACK_SOCKET + 8, /* 4 bytes: its length */
	KERNEL_STACK_LENGTH =
		KERNEL_STACK_SOCKET + 12, /* 4 bytes: of something else, once the address is copied */

	KERNEL_ARGUMENTS = 6,
	KERNEL_RESULT = 8, /* of a system call, in the context */

	/* Of struct pt_regs: the number of the system call, and the mode of the program's code. */
#ifdef __x86_64__
	REGISTERS_NUMBER = 120, /* orig_ax */
	REGISTERS_MODE = 136,	/* cs */
	REGISTERS_STACK = 152,	/* sp */
	REGISTERS_MODE_MASK = 0xffff,
	REGISTERS_MODE_64 = 0x33,
	REGISTERS_MODE_32 = 0x23,
#else
	REGISTERS_NUMBER = 280, /* syscallno */
	REGISTERS_MODE = 264,	/* pstate */
	REGISTERS_STACK = 248,	/* sp */
	REGISTERS_MODE_MASK = 0x1f,
	REGISTERS_MODE_64 = 0,
	REGISTERS_MODE_32 = 0x10,
#endif
};

enum {
	TASK_COMPAT = 2, /* TS_COMPAT in struct thread_info's `status` */
};

enum kernel_call {
	KERNEL_CALL_NONE = -1, /* the kernel itself stores it in the number's place where there is no call */
	KERNEL_CALL_UNKNOWN = -2,
};

/* The field `interrupt` of sched_waking. */
enum kernel_interrupt {
	KERNEL_INTERRUPT_UNKNOWN = -1,
	KERNEL_INTERRUPT_NONE,	 /* the current thread wakes */
	KERNEL_INTERRUPT,	 /* the current thread was only interrupted */
	KERNEL_INTERRUPT_PACKET, /* by a soft interrupt that delivers a packet of its own */
};

/* A filter, and the event for which it was compiled. */
struct kernel_filter {
	const struct wire_filter *filter;
	const struct tracepoint *point;
};

struct kernel_layout {
	int rings;	  /* map */
	int members;	  /* map: recorded tasks (kernel_follow.h); -1: all */
	int met;	  /* map: others in whose time records are made (the same); -1: none */
	unsigned window;  /* packets of a ring, a power of two */
	unsigned reach;	  /* ns after its base that a packet's compact records reach */
	bool overwrite;	  /* without room, the oldest packet makes room; otherwise the record is lost */
	uint32_t context; /* enum wire_context: of each record; its values are 0 */
	int late; /* map: system calls whose texts could not be read at the entry (kernel_late.h); -1: none */
	int packets; /* map: packets that threads send to their own machine (kernel_packets.h); -1: none */
	bool typed;  /* programs of system calls load directly from the registers: bpf_load_typed() */
	struct kernel_task_type task; /* of the kernel's types; all 0: unknown */
	int stacks;		      /* map: threads by their stacks (kernel_stacks.h); -1: none */
	bool without_lists;	      /* the kernel's verifier refuses the loop of kernel_list.h */
	bool in_kernel;		      /* texts of a system call have been copied to the kernel */
	bool own_stacks; /* programs do not lie on the stack of what they interrupt: kernel_interrupt_holds() */
	bool without_calls; /* the kernel cannot give programs the registers of a process (before 5.15, or without BTF) */
};

extern const int kernel_argument_places[KERNEL_ARGUMENTS]; /* in struct pt_regs */

/* kernel_has_registers - whether a program gets the registers of the process, and which of them is which. */
bool kernel_has_registers(const struct kernel_layout *layout);

static inline void kernel_put_load(struct bpf_program *to, unsigned target, unsigned from, int offset)
{
	bpf_put_load(to, BPF_DW, target, from, offset);
}

static inline void kernel_put_store(struct bpf_program *to, unsigned address, int offset, unsigned source)
{
	bpf_put_store(to, BPF_DW, address, offset, source);
}

/* kernel_put_exit - end the program. */
void kernel_put_exit(struct bpf_program *to);

/* kernel_size_code - BPF_B, BPF_H, ... of a number of bytes. */
unsigned kernel_size_code(unsigned bytes);

/* kernel_put_registers - copy those registers of the process that have numbers, arguments and modes to the stack, on a kernel without types. */
void kernel_put_registers(struct bpf_program *to);

/* kernel_put_no_registers - let the copies on the stack be zeros; kernel_put_set_register - set one of them. */
void kernel_put_no_registers(struct bpf_program *to);
void kernel_put_set_register(struct bpf_program *to, int place, unsigned source);

/* kernel_tells_interfaces - whether kernel_put_other_interface() finds all such calls. */
bool kernel_tells_interfaces(const struct kernel_layout *layout);

/*
 * kernel_put_other_interface - jump if the current task's system call is of another interface than the machine's own: that of a 32-bit program, or by
 * int 0x80. Changes registers 0 to 5. The second one is not found on a kernel without types.
 * Return: the jump.
 */
unsigned kernel_put_other_interface(struct bpf_program *to, const struct kernel_layout *layout);

/* kernel_put_register - load a register of the process. @size: BPF_DW, BPF_H; @place: its offset in struct pt_regs */
void kernel_put_register(struct bpf_program *to, const struct kernel_layout *layout, unsigned size,
			 unsigned target, int place);

/*
 * kernel_put_call - the number of the system call that the current task is in, or what `enum kernel_call` has, in register 2.
 * Changes registers 0 to 5.
 */
void kernel_put_call(struct bpf_program *to, const struct kernel_layout *layout);

/* kernel_put_call_of - the same of the task at register 0, on a kernel that gives programs the registers of a process. */
void kernel_put_call_of(struct bpf_program *to, const struct kernel_layout *layout);

/*
 * kernel_put_interrupt - register 2: KERNEL_INTERRUPT if one runs instead of the current task, else KERNEL_INTERRUPT_NONE. Changes registers 0 to 5.
 * @scratch: 8 bytes behind register 7, in the value of a map
 */
void kernel_put_interrupt(struct bpf_program *to, int scratch);

/*
 * kernel_interrupt_holds - whether what kernel_put_interrupt() finds in a program is true: the program needs so little room that the kernel (6.13 and
 * later) gives it no stack of its own.
 * Return: true, too, if the program has none of it.
 */
bool kernel_interrupt_holds(const struct bpf_program *program);

/* kernel_put_argument - the value of a probe's argument in register 1; 0: it is in memory, and cannot be read without a page fault. */
void kernel_put_argument(struct bpf_program *to, const struct tracepoint_field *field);

/* kernel_put_text_address - the address of a text in the context. Changes register 1. */
void kernel_put_text_address(struct bpf_program *to, unsigned target, const struct tracepoint_field *field);

/*
 * kernel_put_text - copy the text whose address is in register 3 to register @base plus an offset. A longer one ends in a mark; one that
 * cannot be read is WIRE_NULL.
 * Register 0: the bytes of the copy, with the NUL.
 */
void kernel_put_text(struct bpf_program *to, unsigned base, int offset, const struct tracepoint_field *field);

/* An argument of a system call whose memory cannot be read without a page fault. */
struct kernel_unread {
	int place; /* of its register in struct pt_regs */
	bool jumps; /* then @jump is set to a jump that is to land; else KERNEL_STACK_UNREAD is set, and the copy is WIRE_NULL */
	unsigned jump; /* ... */
};

/* kernel_put_unread - what to do if an argument was not read. One that is NULL counts as read. Changes register 1. */
void kernel_put_unread(struct bpf_program *to, const struct kernel_layout *layout,
		       struct kernel_unread *unread);

/*
 * kernel_put_socket_place - KERNEL_STACK_SOCKET: where a socket's address is, and its length. @exits: at the exit of the call
 * kernel_put_socket - copy its bytes, of which KERNEL_STACK_SOCKET_BYTES then has the number, to register @base plus an
 * offset. Register 0: 0, or they cannot be read.
 * kernel_put_unread_socket - what to do then; the place of @unread is not used.
 */
void kernel_put_socket_place(struct bpf_program *to, const struct kernel_layout *layout,
			     enum tracepoint_socket socket, bool exits);
void kernel_put_socket(struct bpf_program *to, unsigned base, int offset);
void kernel_put_unread_socket(struct bpf_program *to, struct kernel_unread *unread);

/* kernel_put_argument_text - kernel_put_text() of a system call's argument; loads register 3 itself. */
void kernel_put_argument_text(struct bpf_program *to, const struct kernel_layout *layout, unsigned base,
			      int offset, struct kernel_unread *unread);

#endif
