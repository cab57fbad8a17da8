/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For programs of the kernel that are written in C, in files FOO.bpf.c. clang compiles them for BPF, without a C library: of it there
 * are only <stdint.h>, <stddef.h>, <stdbool.h> and static_assert(). bpf_table.py explains what becomes of them.
 *
 * A function that is not static can be loaded, or called by a program that is written at run time. It has no data of its own:
 *
 *	extern struct bpf_map members;		a map, to pass its address to helpers
 *	extern uint8_t tasks[];			the first value of an array, which is accessed directly
 *	BPF_NUMBER(task_pid)			a number that is known when the program is loaded. The verifier knows it, too, and
 *						removes code that depends on it and is not needed
 *
 * Helpers of the kernel have the names and numbers of include/uapi/linux/bpf.h.
 */
#ifndef BURIN_BPF_BPF_C_H
#define BURIN_BPF_BPF_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address of a weak symbol can be 0, so the compiler assumes nothing about it. */
#define BPF_NUMBER(name)                                        \
	({                                                      \
		extern const char name[] __attribute__((weak)); \
		(uint64_t) name;                                \
	})

/* Bytes of the kernel at an address that the verifier follows, by a number of bytes that it knows. */
#define BPF_MEMBER(type, base, offset) (*(type *)((const char *)(base) + (offset)))

#define BPF_INLINE		       static inline __attribute__((always_inline))

/*
 * A function that is called. The verifier follows it for each call, but forgets what was in its frame. The kernel permits 512 bytes for
 * all frames at once, of 32 at least each.
 */
#define BPF_FUNCTION static __attribute__((noinline))

enum {
	BPF_ENOENT = 2,
	BPF_EFAULT = 14,
	BPF_EBUSY = 16,
	BPF_EINVAL = 22,

	BPF_ANY = 0, /* bpf_map_update_elem(): also an entry that exists */
	BPF_NOEXIST = 1,
};

struct bpf_map;
struct bpf_task; /* struct task_struct of the kernel */
struct bpf_ids {
	uint32_t pid, tgid; /* of a thread, of its process */
};

static void *(*const bpf_map_lookup_elem)(const struct bpf_map *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(const struct bpf_map *map, const void *key, const void *value,
					 uint64_t flags) = (void *)2;
static long (*const bpf_map_delete_elem)(const struct bpf_map *map, const void *key) = (void *)3;
static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static uint32_t (*const bpf_get_smp_processor_id)(void) = (void *)8;
static uint64_t (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_get_current_comm)(void *to, uint32_t bytes) = (void *)16;
static uint64_t (*const bpf_get_current_task)(void) = (void *)35;
static long (*const bpf_probe_read_user)(void *to, uint32_t bytes, const void *from) = (void *)112;
static long (*const bpf_probe_read_kernel)(void *to, uint32_t bytes, const void *from) = (void *)113;
static long (*const bpf_probe_read_user_str)(void *to, uint32_t bytes, const void *from) = (void *)114;
static long (*const bpf_probe_read_kernel_str)(void *to, uint32_t bytes, const void *from) = (void *)115;
static long (*const bpf_get_ns_current_pid_tgid)(uint64_t device, uint64_t inode, struct bpf_ids *ids,
						 uint32_t bytes) = (void *)120;
static long (*const bpf_seq_printf)(void *to, const char *format, uint32_t format_bytes, const void *values,
				    uint32_t bytes) = (void *)126;
static struct bpf_task *(*const bpf_get_current_task_btf)(void) = (void *)158;
static uint64_t (*const bpf_get_attach_cookie)(const void *context) = (void *)174;
static void *(*const bpf_task_pt_regs)(const struct bpf_task *task) = (void *)175;
static long (*const bpf_get_task_stack)(const struct bpf_task *task, void *frames, uint32_t bytes,
					uint64_t flags) = (void *)141;
static long (*const bpf_snprintf)(char *to, uint32_t bytes, const char *format, const uint64_t *values,
				  uint32_t value_bytes) = (void *)165;

#endif
