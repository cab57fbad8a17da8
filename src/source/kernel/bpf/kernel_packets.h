/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Packets that threads send to their own machine: over the loopback, or to a container by a pair of virtual devices. The kernel puts
 * such a packet into a list of the CPU, and delivers it in a soft interrupt before the sender's call goes on. A wake-up by the delivery is
 * the sender's.
 *
 * Programs at three tracepoints follow each packet, by its address: net:netif_rx (a thread puts it into the list),
 * net:netif_receive_skb (its delivery begins), napi:napi_poll (the delivery of the list has ended). Packets of devices come another
 * way, so they are never taken for a thread's.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_PACKETS_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_PACKETS_H

struct kernel_files;
struct kernel_layout;

/*
 * kernel_packets_attach - follow packets from now on. @layout->packets: set to their map; where the kernel cannot, to -1, and wake-ups by
 * packets are those of interrupts.
 */
void kernel_packets_attach(struct kernel_files *files, struct kernel_layout *layout, unsigned cpus);

#endif
