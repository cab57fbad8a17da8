/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The object of a wait; see wait_object.h. */
#include "view/sched/wait_object.h"

#include <stddef.h>
#include <string.h>

/* Kernels rename functions now and then; a wait in one that is not here has no object. */
static const struct {
	const char *function, *object;
} known[] = {
	{ "io_schedule", "disk" },
	{ "io_schedule_timeout", "disk" },
	{ "blk_execute_rq", "disk" },
	{ "submit_bio_wait", "disk" },
	{ "jbd2_log_wait_commit", "disk" },
	{ "wait_transaction_locked", "disk" },
	{ "sk_wait_data", "network" },
	{ "sk_stream_wait_memory", "network" },
	{ "sk_stream_wait_connect", "network" },
	{ "inet_csk_accept", "network" },
	{ "inet_wait_for_connect", "network" },
	{ "__inet_stream_connect", "network" },
	{ "tcp_recvmsg", "network" },
	{ "udp_recvmsg", "network" },
	{ "udpv6_recvmsg", "network" },
	{ "unix_stream_data_wait", "socket" },
	{ "unix_stream_read_generic", "socket" },
	{ "unix_stream_connect", "socket" },
	{ "unix_wait_for_peer", "socket" },
	{ "unix_accept", "socket" },
	{ "__unix_dgram_recvmsg", "socket" },
	{ "netlink_recvmsg", "socket" },
	{ "__skb_wait_for_more_packets", "socket" },
	{ "anon_pipe_read", "pipe" },
	{ "anon_pipe_write", "pipe" },
	{ "pipe_read", "pipe" },
	{ "pipe_write", "pipe" },
	{ "fifo_open", "pipe" },
	{ "ep_poll", "descriptors" },
	{ "do_epoll_wait", "descriptors" },
	{ "do_sys_poll", "descriptors" },
	{ "do_select", "descriptors" },
	{ "core_sys_select", "descriptors" },
	{ "eventfd_read", "descriptors" },
	{ "io_cqring_wait", "descriptors" },
	{ "do_nanosleep", "timer" },
	{ "hrtimer_nanosleep", "timer" },
	{ "futex_wait", "lock" },
	{ "__futex_wait", "lock" },
	{ "futex_lock_pi", "lock" },
	{ "do_futex", "lock" },
	{ "do_wait", "process" },
	{ "kernel_wait4", "process" },
	{ "kernel_clone", "process" },
	{ "n_tty_read", "terminal" },
	{ "n_tty_write", "terminal" },
	{ "do_sigtimedwait", "signal" },
	{ "sigsuspend", "signal" },
	{ "__mutex_lock", "kernel lock" },
	{ "rwsem_down_read_slowpath", "kernel lock" },
	{ "rwsem_down_write_slowpath", "kernel lock" },
	{ "percpu_rwsem_wait", "kernel lock" },
	{ "try_to_free_pages", "memory" },
	{ "mem_cgroup_handle_over_high", "memory" },
};

const char *wait_object(const char *function)
{
	const size_t bytes = strcspn(function, "."); /* without ".isra.0" */

	for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
		if (strncmp(known[n].function, function, bytes) == 0 && !known[n].function[bytes])
			return known[n].object;
	return NULL;
}
