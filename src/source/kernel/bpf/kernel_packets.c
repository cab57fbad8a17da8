/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packets that threads send to their own machine; see kernel_packets.h. The programs are in kernel_packets.bpf.c. */
#include <errno.h>
#include <unistd.h>

#include "source/kernel/bpf/kernel_files.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/bpf/kernel_packets.h"
#include "source/kernel/in_kernel/kernel_packets_state.h"
#include "source/kernel/in_kernel/kernel_packets.bpf.h"

/* Return: 0 or -errno. */
static int kernel_packets_watch(struct kernel_files *files, const char *tracepoint,
				const struct bpf_code *code, int map)
{
	const struct bpf_symbol symbols[] = { { "packets", BPF_SYMBOL_MAP, (uint64_t)map }, { 0 } };
	const int program = bpf_load_code(BPF_PROG_TYPE_RAW_TRACEPOINT, code, symbols);
	const int error =
		kernel_files_keep(files, program); /* a run that the kernel leaves out is no lost record */

	return error ? error : kernel_files_keep(files, bpf_watch(tracepoint, program));
}

void kernel_packets_attach(struct kernel_files *files, struct kernel_layout *layout, unsigned cpus)
{
	const int map = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
							sizeof(struct kernel_packets), cpus, 0 });

	/* The end first: without it, a delivery would last too long. */
	if (kernel_files_keep(files, map) == 0 &&
	    kernel_packets_watch(files, "napi_poll", &kernel_packets_end, map) == 0 &&
	    kernel_packets_watch(files, "netif_receive_skb", &kernel_packets_deliver, map) == 0 &&
	    kernel_packets_watch(files, "netif_rx", &kernel_packets_send, map) == 0)
		layout->packets = map;
}
