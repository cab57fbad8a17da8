/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Follows a tree of processes in the kernel; see tree.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "bpf/bpf_program.h"
#include "source/perf/rings/tree.h"

enum {
	TREE_FIRST_NAMESPACE = 0xeffffffc, /* the inode of the kernel's first PID namespace */

	/* Offsets on the stack of a program. */
	TREE_IDS = -8, /* pid and tgid, as in struct bpf_pidns_info */
	TREE_TGID = -4,
	TREE_TASK = -16, /* the address of a task */
	TREE_VALUE = -20,
	TREE_ZERO = -24,
};

/* ---- the programs ---- */

/* End the program with the result 0 if register 0 is, or is not, 0. */
static void put_end_if(struct bpf_program *to, bool zero)
{
	bpf_put(to, BPF_JMP | (zero ? BPF_JNE : BPF_JEQ) | BPF_K, BPF_REG_0, 0, 2, 0);
	bpf_put_set(to, BPF_REG_0, 0);
	bpf_put_end(to);
}

static void tree_put_end(struct bpf_program *to)
{
	bpf_put_set(to, BPF_REG_0, 0);
	bpf_put_end(to);
}

/*
 * Register 7: 0 and TREE_IDS, if the current task has ids in our PID namespace. The first one has an id of each task, which
 * the kernel returns without regard to namespaces.
 */
static void put_ids(struct bpf_program *to, const struct tree *tree)
{
	unsigned here;

	bpf_put_number(to, BPF_REG_1, tree->namespace_device);
	bpf_put_number(to, BPF_REG_2, tree->namespace_inode);
	bpf_put_address(to, BPF_REG_3, TREE_IDS);
	bpf_put_set(to, BPF_REG_4, sizeof(struct bpf_pidns_info));
	bpf_put_call(to, BPF_FUNC_get_ns_current_pid_tgid);
	bpf_put_copy(to, BPF_REG_7, BPF_REG_0);
	if (!tree->first_namespace)
		return;
	here = bpf_put_jump(to, BPF_JNE, BPF_REG_7, -EINVAL); /* else the task is in another namespace */
	bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(to, BPF_DW, BPF_REG_10, TREE_IDS, BPF_REG_0);
	bpf_put_set(to, BPF_REG_7, 0);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_7);
	bpf_land(to, here);
}

/* Register 0: the value of the current task in the map, or 0. */
static void put_find_current(struct bpf_program *to, const struct tree *tree)
{
	bpf_put_call(to, BPF_FUNC_get_current_task);
	bpf_put_store(to, BPF_DW, BPF_REG_10, TREE_TASK, BPF_REG_0);
	bpf_put_find(to, tree->members, TREE_TASK);
}

/* End the program with the result 0, unless a register has a state. */
static void put_only(struct bpf_program *to, unsigned of, enum tree_state state)
{
	const unsigned same = bpf_put_jump(to, BPF_JEQ, of, state);

	tree_put_end(to);
	bpf_land(to, same);
}

/*
 * The program ends if the current task is not in the tree. A thread runs for some us after the kernel has released its ids
 * (ENOENT). A sample of that would belong to no thread, and its own events have ended.
 * @parents: what a task begins is in the tree, also if it is not itself
 */
static void put_is_member(struct bpf_program *to, const struct tree *tree, bool parents)
{
	unsigned member;

	put_ids(to, tree);
	bpf_put_alu(to, BPF_ADD, BPF_REG_0, ENOENT);
	put_end_if(to, true);
	put_find_current(to, tree);
	member = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	bpf_put_copy(to, BPF_REG_0, BPF_REG_7);
	put_end_if(to, false);
	bpf_put_find(to, tree->roots, TREE_TGID);
	put_end_if(to, true);
	bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_0, 0);
	if (parents)
		put_end_if(to, true);
	else
		put_only(to, BPF_REG_0, TREE_MEMBER);
	bpf_land(to, member);
}

/* Take a task, whose address is in register 6, out of the tree. */
static void tree_put_remove(struct bpf_program *to, const struct tree *tree)
{
	bpf_put_store(to, BPF_DW, BPF_REG_10, TREE_TASK, BPF_REG_6);
	bpf_put_map(to, BPF_REG_1, tree->members);
	bpf_put_address(to, BPF_REG_2, TREE_TASK);
	bpf_put_call(to, BPF_FUNC_map_delete_elem);
}

/*
 * A task in the tree makes another one, which has not run yet. Linux 6.18 frees one task in a thousand without
 * sched_process_free, which put_exit() needs. Its memory may be the new task's, also if a stranger makes that.
 */
static void tree_put_fork(struct bpf_program *to, const struct tree *tree)
{
	bpf_put_load(to, BPF_DW, BPF_REG_6, BPF_REG_1, 0);
	tree_put_remove(to, tree);
	put_is_member(to, tree, true);
	bpf_put_store(to, BPF_DW, BPF_REG_10, TREE_TASK, BPF_REG_6);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, TREE_VALUE, TREE_MEMBER);
	bpf_put_map(to, BPF_REG_1, tree->members);
	bpf_put_address(to, BPF_REG_2, TREE_TASK);
	bpf_put_address(to, BPF_REG_3, TREE_VALUE);
	bpf_put_set(to, BPF_REG_4, BPF_ANY);
	bpf_put_call(to, BPF_FUNC_map_update_elem);
	put_end_if(to, true);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, TREE_ZERO, 0);
	bpf_put_find(to, tree->full, TREE_ZERO);
	put_end_if(to, true);
	bpf_put_set(to, BPF_REG_1, 1);
	bpf_put(to, BPF_STX | BPF_XADD | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0);
	tree_put_end(to);
}

static void tree_put_exec(struct bpf_program *to, const struct tree *tree)
{
	put_ids(to, tree);
	put_end_if(to, false);
	bpf_put_find(to, tree->roots, TREE_TGID);
	put_end_if(to, true);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_0, 0);
	put_only(to, BPF_REG_1, TREE_WAITS);
	bpf_put_set(to, BPF_REG_1, TREE_MEMBER);
	bpf_put_store(to, BPF_W, BPF_REG_0, 0, BPF_REG_1);
	tree_put_end(to);
}

/* A task's memory is freed, and may be used for another one. */
static void put_exit(struct bpf_program *to, const struct tree *tree)
{
	bpf_put_load(to, BPF_DW, BPF_REG_6, BPF_REG_1, 0);
	tree_put_remove(to, tree);
	tree_put_end(to);
}

/* The result 1: the kernel writes the sample. */
static void put_filter(struct bpf_program *to, const struct tree *tree)
{
	put_is_member(to, tree, false);
	bpf_put_set(to, BPF_REG_0, 1);
	bpf_put_end(to);
}

/* The same at a task's own event: an event of its CPU samples what is in the map. */
static void put_own_filter(struct bpf_program *to, const struct tree *tree)
{
	put_find_current(to, tree);
	put_end_if(to, false);
	bpf_put_set(to, BPF_REG_0, 1);
	bpf_put_end(to);
}

/* ---- the whole ---- */

static int make_map(enum bpf_map_type type, unsigned key_bytes, unsigned value_bytes, unsigned entries,
		    unsigned flags)
{
	return bpf_map_make(&(struct bpf_map){ type, key_bytes, value_bytes, entries, flags });
}

static int make_maps(struct tree *tree, unsigned room, unsigned flags)
{
	tree->members = make_map(BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint32_t), room, flags);
	if (tree->members < 0)
		return tree->members;
	tree->roots = make_map(BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(uint32_t), TREE_ROOTS, flags);
	if (tree->roots < 0)
		return tree->roots;
	tree->full = make_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1, 0);
	return tree->full < 0 ? tree->full : 0;
}

/* Let the kernel run a program at a tracepoint from now on. */
static int tree_watch(struct tree *tree, enum tree_program program)
{
	static const char *const tracepoints[TREE_PROGRAMS] = {
		[TREE_FORK] = "task_newtask",
		[TREE_EXEC] = "sched_process_exec",
		[TREE_END] = "sched_process_free",
	};
	static void (*const writers[TREE_PROGRAMS])(struct bpf_program *, const struct tree *) = {
		[TREE_FORK] = tree_put_fork,
		[TREE_EXEC] = tree_put_exec,
		[TREE_END] = put_exit,
	};
	static struct bpf_program
		code; /* 32 KiB of which little is used: attribute() says why that is not on the stack */

	bpf_begin(&code);
	writers[program](&code, tree);
	tree->programs[program] = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
	if (tree->programs[program] < 0)
		return tree->programs[program];
	tree->watches[program] = bpf_watch(tracepoints[program], tree->programs[program]);
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
	tree->first_namespace = status.st_ino == TREE_FIRST_NAMESPACE;
	return 0;
}

/* Return: the program, or -errno. */
static int load_filter(const struct tree *tree, void (*write)(struct bpf_program *, const struct tree *))
{
	static struct bpf_program code; /* as in tree_watch() */

	bpf_begin(&code);
	write(&code, tree);
	return bpf_load(BPF_PROG_TYPE_PERF_EVENT, &code);
}

/* @flags: of the maps */
static int tree_open_parts(struct tree *tree, unsigned room, unsigned flags)
{
	int error = find_namespace(tree);

	if (!error)
		error = make_maps(tree, room, flags);
	if (error)
		return error;
	tree->filter = load_filter(tree, put_filter);
	error = tree->filter < 0 ? tree->filter : 0;
	for (unsigned n = 0; !error && n < TREE_PROGRAMS; n++)
		error = tree_watch(tree, n);
	return error;
}

static int open_with(struct tree *tree, unsigned room, unsigned flags)
{
	int error;

	*tree = (struct tree){
		.open = true, .members = -1, .roots = -1, .full = -1, .filter = -1, .own_filter = -1
	};
	for (unsigned n = 0; n < TREE_PROGRAMS; n++)
		tree->watches[n] = tree->programs[n] = -1;
	error = tree_open_parts(tree, room, flags);
	if (error)
		tree_close(tree);
	return error;
}

/* Memory for all tasks takes as long as everything else here. Kernels before 6.1 require it for these programs. */
int tree_open(struct tree *tree, unsigned room, char *why, size_t bytes)
{
	int error = open_with(tree, room, BPF_F_NO_PREALLOC);

	if (error == -EINVAL)
		error = open_with(tree, room, 0);
	if (error)
		snprintf(why, bytes, "bpf(2): %s", strerror(-error));
	return error;
}

int tree_add(struct tree *tree, pid_t process, enum tree_state state)
{
	const uint32_t key = (uint32_t)process, value = state;
	const int error = bpf_map_set(tree->roots, &key, &value);

	tree->refused += error == -E2BIG;
	return error == -E2BIG ? 0 : error;
}

bool tree_knows(const struct tree *tree, pid_t process)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)process);
	return tree->first_namespace || (stat(path, &status) == 0 && status.st_ino == tree->namespace_inode);
}

void tree_remove(const struct tree *tree, pid_t process)
{
	const uint32_t key = (uint32_t)process;

	if (tree->open)
		bpf_map_remove(tree->roots, &key);
}

int tree_filter(struct tree *tree, int event, bool own)
{
	if (own && tree->own_filter < 0)
		tree->own_filter = load_filter(tree, put_own_filter);
	if (own && tree->own_filter < 0)
		return tree->own_filter;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, own ? tree->own_filter : tree->filter) == 0 ? 0 : -errno;
}

uint64_t tree_missed(const struct tree *tree)
{
	uint32_t key = 0;
	uint64_t full = 0;

	if (!tree->open)
		return 0;
	bpf_map_get(tree->full, &key, &full);
	return tree->refused + full + bpf_missed(tree->programs[TREE_FORK]);
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
	close_one(&tree->own_filter);
	close_one(&tree->members);
	close_one(&tree->roots);
	close_one(&tree->full);
	tree->open = false;
}
