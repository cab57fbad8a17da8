/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Packets that threads send to their own machine; see kernel_packets.h.
 *
 * Each CPU has a state of its own, which only programs on this CPU change:
 *
 *	put_send()	notes packet, thread and round
 *	put_deliver()	`delivered` becomes the thread whose packet that is; 0 if none
 *	kernel_packets_put_end()	`delivered` becomes 0, and the next round begins
 *
 * A packet is known by its address, in one of SENT places by some of its bits. Another one with the same bits takes
 * the place: then the wake-ups by the first one are those of an interrupt, which is what they would be without all
 * this. An address is used again after its packet is gone. So a note holds in the round in which it was made only: at
 * its end all packets of the list have been delivered or dropped.
 */
#include <errno.h>
#include <unistd.h>

#include "source/kernel/bpf/kernel_packets.h"

enum {
	SENT = 16,	   /* packets of a CPU's list that are known, by their addresses */
	ADDRESS_SHIFT = 8, /* the kernel's structures of packets are of 256 bytes at least */
	ROUND_SHIFT = 32,
};

/* The state of a CPU: a value of the map. */
struct packets {
	uint64_t delivered; /* the thread whose packet is delivered now; 0: none */
	uint64_t round;	    /* deliveries of the list so far, 32 bits */
	uint64_t scratch;
	struct {
		uint64_t packet;
		uint64_t
			sender; /* the thread, and the round before which it was sent: others have been delivered or dropped */
	} sent[SENT];
};

#define PACKETS(member) ((int)offsetof(struct packets, member))

/* Register 7: this CPU's struct packets. */
static void kernel_packets_put_find(struct bpf_program *to, int map)
{
	unsigned there;

	bpf_put_call(to, BPF_FUNC_get_smp_processor_id);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_KEY, BPF_REG_0);
	bpf_put_find(to, map, KERNEL_STACK_KEY);
	there = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	kernel_put_exit(to);
	bpf_land(to, there);
	bpf_put_copy(to, BPF_REG_7, BPF_REG_0);
}

/* Register 1: the packet. Register 3: its place among those that were sent, less PACKETS(sent). */
static void kernel_packets_put_place(struct bpf_program *to)
{
	kernel_put_load(to, BPF_REG_1, BPF_REG_6, 0);
	bpf_put_copy(to, BPF_REG_2, BPF_REG_1);
	bpf_put_alu(to, BPF_RSH, BPF_REG_2, ADDRESS_SHIFT);
	bpf_put_alu(to, BPF_AND, BPF_REG_2, SENT - 1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_2, 4);
	bpf_put_copy(to, BPF_REG_3, BPF_REG_7);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_3, BPF_REG_2);
}

/* A thread sends a packet, itself or as an answer to the delivery of another one of its own. */
static void put_send(struct bpf_program *to, int map)
{
	unsigned itself, answers;

	kernel_packets_put_find(to, map);
	bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_TID, BPF_REG_0);
	bpf_put_load(to, BPF_W, BPF_REG_8, BPF_REG_10, KERNEL_STACK_TID);
	kernel_put_interrupt(to, PACKETS(scratch));
	itself = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, KERNEL_INTERRUPT_NONE);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, PACKETS(delivered));
	answers = bpf_put_jump_register(to, BPF_JEQ, BPF_REG_1, BPF_REG_8);
	kernel_put_exit(to);
	bpf_land(to, itself);
	bpf_land(to, answers);
	kernel_packets_put_place(to);
	kernel_put_store(to, BPF_REG_3, PACKETS(sent[0].packet), BPF_REG_1);
	kernel_put_load(to, BPF_REG_4, BPF_REG_7, PACKETS(round));
	bpf_put_alu(to, BPF_LSH, BPF_REG_4, ROUND_SHIFT);
	bpf_put_alu_register(to, BPF_OR, BPF_REG_4, BPF_REG_8);
	kernel_put_store(to, BPF_REG_3, PACKETS(sent[0].sender), BPF_REG_4);
}

/* A packet is delivered, of a thread or of a device. */
static void put_deliver(struct bpf_program *to, int map)
{
	unsigned other, old;

	kernel_packets_put_find(to, map);
	kernel_packets_put_place(to);
	bpf_put_set(to, BPF_REG_0, 0);
	kernel_put_load(to, BPF_REG_4, BPF_REG_3, PACKETS(sent[0].packet));
	other = bpf_put_jump_register(to, BPF_JNE, BPF_REG_4, BPF_REG_1);
	kernel_put_load(to, BPF_REG_4, BPF_REG_3, PACKETS(sent[0].sender));
	bpf_put_copy(to, BPF_REG_5, BPF_REG_4);
	bpf_put_alu(to, BPF_RSH, BPF_REG_4, ROUND_SHIFT);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, PACKETS(round));
	old = bpf_put_jump_register(to, BPF_JNE, BPF_REG_4, BPF_REG_1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_5, ROUND_SHIFT);
	bpf_put_alu(to, BPF_RSH, BPF_REG_5, ROUND_SHIFT);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_5);
	bpf_land(to, other);
	bpf_land(to, old);
	kernel_put_store(to, BPF_REG_7, PACKETS(delivered), BPF_REG_0);
}

/* All packets of the list have been delivered, or some of a device. */
static void kernel_packets_put_end(struct bpf_program *to, int map)
{
	kernel_packets_put_find(to, map);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, PACKETS(delivered), 0);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, PACKETS(round));
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, 1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, ROUND_SHIFT);
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, ROUND_SHIFT);
	kernel_put_store(to, BPF_REG_7, PACKETS(round), BPF_REG_1);
}

void kernel_packets_test(struct bpf_program *to, const struct kernel_layout *layout, int thread)
{
	unsigned none, nothing, other;

	bpf_put_call(to, BPF_FUNC_get_smp_processor_id);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_KEY, BPF_REG_0);
	bpf_put_find(to, layout->packets, KERNEL_STACK_KEY);
	bpf_put_set(to, BPF_REG_2, KERNEL_INTERRUPT);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	kernel_put_load(to, BPF_REG_1, BPF_REG_0, PACKETS(delivered));
	nothing = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0); /* the id of the idle thread, too */
	bpf_put_load(to, BPF_W, BPF_REG_3, BPF_REG_10, thread);
	other = bpf_put_jump_register(to, BPF_JNE, BPF_REG_1, BPF_REG_3);
	bpf_put_set(to, BPF_REG_2, KERNEL_INTERRUPT_PACKET);
	bpf_land(to, none);
	bpf_land(to, nothing);
	bpf_land(to, other);
}

/* Return: 0 or -errno. */
static int kernel_packets_watch(struct kernel_files *files, const char *tracepoint,
				void (*put)(struct bpf_program *, int), int map)
{
	struct bpf_program code;
	int program, error;

	bpf_begin(&code);
	bpf_put_copy(&code, BPF_REG_6, BPF_REG_1);
	put(&code, map);
	kernel_put_exit(&code);
	program = kernel_interrupt_holds(&code) ? bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code) : -E2BIG;
	error = kernel_files_keep(files, program); /* a run that the kernel leaves out is no lost record */
	return error ? error : kernel_files_keep(files, bpf_watch(tracepoint, program));
}

void kernel_packets_attach(struct kernel_files *files, struct kernel_layout *layout, unsigned cpus)
{
	const int map = bpf_map_make(
		&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(struct packets), cpus, 0 });

	/* The end first: without it, a delivery would last too long. */
	if (kernel_files_keep(files, map) == 0 &&
	    kernel_packets_watch(files, "napi_poll", kernel_packets_put_end, map) == 0 &&
	    kernel_packets_watch(files, "netif_receive_skb", put_deliver, map) == 0 &&
	    kernel_packets_watch(files, "netif_rx", put_send, map) == 0)
		layout->packets = map;
}
