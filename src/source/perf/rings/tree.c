/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Follows a tree of processes in the kernel; see tree.h and decision 0033. The programs are in tree.bpf.c.
 *
 * Three maps are the state. `members` has the tasks of the tree, `roots` the processes that it begins with,
 * `full` counts tasks for which `members` had no room. The programs at fork and end change `members`, that at
 * exec turns a waiting root into a member; this process only adds and removes roots. Each access is one
 * operation on one entry. A filter on each CPU's event looks the task up.
 *
 * Maps, programs and watches are descriptors. If the recorder dies the kernel closes them, and the tree with
 * its programs is gone; nothing is pinned.
 *
 * Everything here is one mechanism: if any part cannot be had, tree_open_parts() fails as a whole and events
 * follow the tasks instead.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "source/perf/rings/tree.h"
#include "source/perf/rings/tree.bpf.h"

enum {
	TREE_FIRST_NAMESPACE = 0xeffffffc, /* the inode of the kernel's first PID namespace */
};

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

static int tree_load(const struct tree *tree, enum bpf_prog_type type, const struct bpf_code *code)
{
	const struct bpf_symbol symbols[] = {
		{ "members", BPF_SYMBOL_MAP, (uint64_t)tree->members },
		{ "roots", BPF_SYMBOL_MAP, (uint64_t)tree->roots },
		{ "full", BPF_SYMBOL_VALUE, (uint64_t)tree->full },
		{ "namespace_device", BPF_SYMBOL_NUMBER, tree->namespace_device },
		{ "namespace_inode", BPF_SYMBOL_NUMBER, tree->namespace_inode },
		{ "first_namespace", BPF_SYMBOL_NUMBER, tree->first_namespace },
		{ 0 },
	};

	return bpf_load_code(type, code, symbols);
}

/* Let the kernel run a program at a tracepoint from now on. */
static int tree_watch(struct tree *tree, enum tree_program program)
{
	static const struct {
		const char *tracepoint;
		const struct bpf_code *code;
	} programs[TREE_PROGRAMS] = {
		[TREE_FORK] = { "task_newtask", &tree_fork },
		[TREE_EXEC] = { "sched_process_exec", &tree_exec },
		[TREE_END] = { "sched_process_free", &tree_end },
	};

	tree->programs[program] = tree_load(tree, BPF_PROG_TYPE_RAW_TRACEPOINT, programs[program].code);
	if (tree->programs[program] < 0)
		return tree->programs[program];
	tree->watches[program] = bpf_watch(programs[program].tracepoint, tree->programs[program]);
	return tree->watches[program] < 0 ? tree->watches[program] : 0;
}

/* The namespace whose process ids we use, as the kernel's helper wants it: with the kernel's own device number. */
static int find_namespace(struct tree *tree)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) != 0)
		return -errno;
	/*
	 * bpf_get_ns_current_pid_tgid() compares with the kernel's dev_t, which has 20 bits of minor; stat(2)
	 * encodes it otherwise.
	 */
	tree->namespace_device = (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev);
	tree->namespace_inode = status.st_ino;
	tree->first_namespace = status.st_ino == TREE_FIRST_NAMESPACE;
	return 0;
}

/* @flags: of the maps */
static int tree_open_parts(struct tree *tree, unsigned room, unsigned flags)
{
	int error = find_namespace(tree);

	if (!error)
		error = make_maps(tree, room, flags);
	if (error)
		return error;
	tree->filter = tree_load(tree, BPF_PROG_TYPE_PERF_EVENT, &tree_samples);
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

	/* A root without room is one subtree less, and counted: the recording goes on. */
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
		tree->own_filter = tree_load(tree, BPF_PROG_TYPE_PERF_EVENT, &tree_samples_own);
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
