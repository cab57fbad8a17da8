/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Follows a tree of processes in the kernel; see tree.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "source/perf/rings/tree.h"

enum tree_state {
	TREE_WAITS, /* for its exec */
	TREE_MEMBER,
};

enum {
	TREE_CODE = 64, /* instructions of a program, at most */
	/* Offsets on the stack of a program. */
	TREE_IDS = -8, /* pid and tgid, as in struct bpf_pidns_info */
	TREE_TGID = -4,
	TREE_TASK = -16, /* the address of a task */
	TREE_VALUE = -20,
	TREE_ZERO = -24,
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	const long result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return result < 0 ? -errno : (int)result;
}

/* ---- the programs ---- */

struct tree_code {
	struct bpf_insn code[TREE_CODE];
	unsigned count;
};

static void put(struct tree_code *to, unsigned code, unsigned target, unsigned source, int offset, int number)
{
	to->code[to->count++] = (struct bpf_insn){ .code = (uint8_t)code,
						   .dst_reg = (uint8_t)(target & 15),
						   .src_reg = (uint8_t)(source & 15),
						   .off = (int16_t)offset,
						   .imm = number };
}

static void put_set(struct tree_code *to, unsigned target, int number)
{
	put(to, BPF_ALU64 | BPF_MOV | BPF_K, target, 0, 0, number);
}

static void put_copy(struct tree_code *to, unsigned target, unsigned source)
{
	put(to, BPF_ALU64 | BPF_MOV | BPF_X, target, source, 0, 0);
}

static void put_load(struct tree_code *to, unsigned size, unsigned target, unsigned source, int offset)
{
	put(to, BPF_LDX | BPF_MEM | size, target, source, offset, 0);
}

static void put_store(struct tree_code *to, unsigned size, unsigned target, int offset, unsigned source)
{
	put(to, BPF_STX | BPF_MEM | size, target, source, offset, 0);
}

/* A number of 64 bits. */
static void put_number(struct tree_code *to, unsigned target, uint64_t number)
{
	put(to, BPF_LD | BPF_DW | BPF_IMM, target, 0, 0, (int)(uint32_t)number);
	put(to, 0, 0, 0, 0, (int)(uint32_t)(number >> 32));
}

/* A pointer into the program's stack. */
static void put_address(struct tree_code *to, unsigned target, int offset)
{
	put_copy(to, target, BPF_REG_10);
	put(to, BPF_ALU64 | BPF_ADD | BPF_K, target, 0, 0, offset);
}

static void put_map(struct tree_code *to, unsigned target, int map)
{
	put(to, BPF_LD | BPF_DW | BPF_IMM, target, BPF_PSEUDO_MAP_FD, 0, map);
	put(to, 0, 0, 0, 0, 0); /* the upper half */
}

static void put_call(struct tree_code *to, int function)
{
	put(to, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* End the program with the result 0 if register 0 is, or is not, 0. */
static void put_end_if(struct tree_code *to, bool zero)
{
	put(to, BPF_JMP | (zero ? BPF_JNE : BPF_JEQ) | BPF_K, BPF_REG_0, 0, 2, 0);
	put_set(to, BPF_REG_0, 0);
	put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void put_end(struct tree_code *to)
{
	put_set(to, BPF_REG_0, 0);
	put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Register 0: the address of the key's value in a map, or 0. */
static void put_find(struct tree_code *to, int map, int key)
{
	put_map(to, BPF_REG_1, map);
	put_address(to, BPF_REG_2, key);
	put_call(to, BPF_FUNC_map_lookup_elem);
}

/* Register 7: 0 and TREE_IDS, if the current task is in our PID namespace. */
static void put_ids(struct tree_code *to, const struct tree *tree)
{
	put_number(to, BPF_REG_1, tree->namespace_device);
	put_number(to, BPF_REG_2, tree->namespace_inode);
	put_address(to, BPF_REG_3, TREE_IDS);
	put_set(to, BPF_REG_4, sizeof(struct bpf_pidns_info));
	put_call(to, BPF_FUNC_get_ns_current_pid_tgid);
	put_copy(to, BPF_REG_7, BPF_REG_0);
}

/*
 * Register 0: whether the current task is in the tree, else the program ends. A thread runs for some us after the kernel
 * has released its ids (ENOENT). A sample of that would belong to no thread, and its own events have ended.
 */
static void put_is_member(struct tree_code *to, const struct tree *tree)
{
	put_ids(to, tree);
	put(to, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, ENOENT);
	put_end_if(to, true);
	put_call(to, BPF_FUNC_get_current_task);
	put_store(to, BPF_DW, BPF_REG_10, TREE_TASK, BPF_REG_0);
	put_find(to, tree->members, TREE_TASK);
	put(to, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 11, 0); /* behind the other part */
	put_copy(to, BPF_REG_0, BPF_REG_7);
	put_end_if(to, false);
	put_find(to, tree->roots, TREE_TGID); /* 5 instructions */
	put(to, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 1, 0);
	put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	put_load(to, BPF_W, BPF_REG_0, BPF_REG_0, 0);
	put_end_if(to, true);
}

/* A task in the tree makes another one, which has not run yet. */
static void put_fork(struct tree_code *to, const struct tree *tree)
{
	put_load(to, BPF_DW, BPF_REG_6, BPF_REG_1, 0);
	put_is_member(to, tree);
	put_store(to, BPF_DW, BPF_REG_10, TREE_TASK, BPF_REG_6);
	put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, TREE_VALUE, TREE_MEMBER);
	put_map(to, BPF_REG_1, tree->members);
	put_address(to, BPF_REG_2, TREE_TASK);
	put_address(to, BPF_REG_3, TREE_VALUE);
	put_set(to, BPF_REG_4, BPF_ANY);
	put_call(to, BPF_FUNC_map_update_elem);
	put_end_if(to, true);
	put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, TREE_ZERO, 0);
	put_find(to, tree->full, TREE_ZERO);
	put_end_if(to, true);
	put_set(to, BPF_REG_1, 1);
	put(to, BPF_STX | BPF_XADD | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0);
	put_end(to);
}

static void put_exec(struct tree_code *to, const struct tree *tree)
{
	put_ids(to, tree);
	put_end_if(to, false);
	put_find(to, tree->roots, TREE_TGID);
	put_end_if(to, true);
	put_set(to, BPF_REG_1, TREE_MEMBER);
	put_store(to, BPF_W, BPF_REG_0, 0, BPF_REG_1);
	put_end(to);
}

/* A task's memory is freed, and may be used for another one. */
static void put_exit(struct tree_code *to, const struct tree *tree)
{
	put_load(to, BPF_DW, BPF_REG_6, BPF_REG_1, 0);
	put_store(to, BPF_DW, BPF_REG_10, TREE_TASK, BPF_REG_6);
	put_map(to, BPF_REG_1, tree->members);
	put_address(to, BPF_REG_2, TREE_TASK);
	put_call(to, BPF_FUNC_map_delete_elem);
	put_end(to);
}

/* The result 1: the kernel writes the sample. */
static void put_filter(struct tree_code *to, const struct tree *tree)
{
	put_is_member(to, tree);
	put_set(to, BPF_REG_0, 1);
	put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int load(enum bpf_prog_type type, const struct tree_code *code)
{
	static const char license[] = "Dual MIT/GPL";

	return bpf(BPF_PROG_LOAD, &(union bpf_attr){ .prog_type = type,
						     .insns = (uint64_t)(uintptr_t)code->code,
						     .insn_cnt = code->count,
						     .license = (uint64_t)(uintptr_t)license });
}

/* ---- the whole ---- */

static int make_map(enum bpf_map_type type, unsigned key_bytes, unsigned value_bytes, unsigned entries)
{
	return bpf(BPF_MAP_CREATE, &(union bpf_attr){ .map_type = type,
						      .key_size = key_bytes,
						      .value_size = value_bytes,
						      .max_entries = entries });
}

static int make_maps(struct tree *tree, unsigned room)
{
	tree->members = make_map(BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint32_t), room);
	if (tree->members < 0)
		return tree->members;
	tree->roots = make_map(BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(uint32_t), TREE_ROOTS);
	if (tree->roots < 0)
		return tree->roots;
	tree->full = make_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1);
	return tree->full < 0 ? tree->full : 0;
}

/* Let the kernel run a program at a tracepoint from now on. */
static int watch(struct tree *tree, enum tree_program program)
{
	static const char *const tracepoints[TREE_PROGRAMS] = {
		[TREE_FORK] = "task_newtask",
		[TREE_EXEC] = "sched_process_exec",
		[TREE_END] = "sched_process_free",
	};
	static void (*const writers[TREE_PROGRAMS])(struct tree_code *, const struct tree *) = {
		[TREE_FORK] = put_fork,
		[TREE_EXEC] = put_exec,
		[TREE_END] = put_exit,
	};
	struct tree_code code = { .count = 0 };

	writers[program](&code, tree);
	tree->programs[program] = load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
	if (tree->programs[program] < 0)
		return tree->programs[program];
	tree->watches[program] =
		bpf(BPF_RAW_TRACEPOINT_OPEN,
		    &(union bpf_attr){ .raw_tracepoint = { (uint64_t)(uintptr_t)tracepoints[program],
							   (uint32_t)tree->programs[program] } });
	return tree->watches[program] < 0 ? tree->watches[program] : 0;
}

/* The namespace whose process ids we use, as the kernel's helper wants it: with the kernel's own device number. */
static int find_namespace(struct tree *tree)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) != 0)
		return -errno;
	tree->namespace_device = (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev);
	tree->namespace_inode = status.st_ino;
	return 0;
}

static int open_parts(struct tree *tree, unsigned room)
{
	struct tree_code code = { .count = 0 };
	int error = find_namespace(tree);

	if (!error)
		error = make_maps(tree, room);
	if (error)
		return error;
	put_filter(&code, tree);
	tree->filter = load(BPF_PROG_TYPE_PERF_EVENT, &code);
	error = tree->filter < 0 ? tree->filter : 0;
	for (unsigned n = 0; !error && n < TREE_PROGRAMS; n++)
		error = watch(tree, n);
	return error;
}

int tree_open(struct tree *tree, unsigned room, char *why, size_t bytes)
{
	int error;

	*tree = (struct tree){ .open = true, .members = -1, .roots = -1, .full = -1, .filter = -1 };
	for (unsigned n = 0; n < TREE_PROGRAMS; n++)
		tree->watches[n] = tree->programs[n] = -1;
	error = open_parts(tree, room);
	if (error) {
		snprintf(why, bytes, "bpf(2): %s", strerror(-error));
		tree_close(tree);
	}
	return error;
}

int tree_add(struct tree *tree, pid_t process, bool waits)
{
	const uint32_t key = (uint32_t)process, value = waits ? TREE_WAITS : TREE_MEMBER;
	const int error = bpf(BPF_MAP_UPDATE_ELEM, &(union bpf_attr){ .map_fd = (uint32_t)tree->roots,
								      .key = (uint64_t)(uintptr_t)&key,
								      .value = (uint64_t)(uintptr_t)&value });

	tree->refused += error == -E2BIG;
	return error == -E2BIG ? 0 : error;
}

void tree_remove(const struct tree *tree, pid_t process)
{
	const uint32_t key = (uint32_t)process;

	if (tree->open)
		bpf(BPF_MAP_DELETE_ELEM,
		    &(union bpf_attr){ .map_fd = (uint32_t)tree->roots, .key = (uint64_t)(uintptr_t)&key });
}

int tree_filter(const struct tree *tree, int event)
{
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, tree->filter) == 0 ? 0 : -errno;
}

/* The kernel does not run a program that would interrupt another one on the CPU; it counts that. */
static uint64_t skipped(int program)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { .info.bpf_fd = (uint32_t)program,
				.info.info_len = sizeof(info),
				.info.info = (uint64_t)(uintptr_t)&info };

	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 ? info.recursion_misses : 0;
}

uint64_t tree_missed(const struct tree *tree)
{
	uint32_t key = 0;
	uint64_t full = 0;

	if (!tree->open)
		return 0;
	bpf(BPF_MAP_LOOKUP_ELEM, &(union bpf_attr){ .map_fd = (uint32_t)tree->full,
						    .key = (uint64_t)(uintptr_t)&key,
						    .value = (uint64_t)(uintptr_t)&full });
	return tree->refused + full + skipped(tree->programs[TREE_FORK]);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void tree_close(struct tree *tree)
{
	if (!tree->open)
		return;
	for (unsigned n = 0; n < TREE_PROGRAMS; n++) {
		close_one(&tree->watches[n]);
		close_one(&tree->programs[n]);
	}
	close_one(&tree->filter);
	close_one(&tree->members);
	close_one(&tree->roots);
	close_one(&tree->full);
	tree->open = false;
}
