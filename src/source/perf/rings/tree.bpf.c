/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs of tree.h: three at raw tracepoints, which keep the map of tasks, and two that the kernel asks before it writes a sample. A
 * program of the second kind returns 1 for a sample that is to be written.
 */
#include "bpf/bpf_c.h"
#include "source/perf/rings/tree_state.h"

extern struct bpf_map members, roots; /* enum tree_state, by the address of a task; by process */
extern uint64_t full;		      /* forks for which `members` had no room */

/*
 * The current task's ids in our PID namespace. The first one has an id of each task, which the kernel returns without regard to
 * namespaces.
 * Return: 0; -EINVAL: it is in another namespace; -ENOENT: it has none any more
 */
BPF_INLINE long tree_ids(struct bpf_ids *ids)
{
	const long result = bpf_get_ns_current_pid_tgid(BPF_NUMBER(namespace_device),
							BPF_NUMBER(namespace_inode), ids, sizeof(*ids));
	uint64_t both;

	if (!BPF_NUMBER(first_namespace) || result != -BPF_EINVAL)
		return result;
	both = bpf_get_current_pid_tgid();
	*ids = (struct bpf_ids){ .pid = (uint32_t)both, .tgid = (uint32_t)(both >> 32) };
	return 0;
}

/*
 * Whether the current task is in the tree. A thread runs for some us after the kernel has released its ids (-ENOENT). A sample of
 * that would belong to no thread, and its own events have ended.
 * @parents: what a task begins is in the tree, also if it is not itself
 */
BPF_INLINE bool tree_has_current(bool parents)
{
	const uint64_t task = bpf_get_current_task();
	struct bpf_ids ids;
	const long result = tree_ids(&ids);
	const uint32_t *state;

	if (result == -BPF_ENOENT)
		return false;
	if (bpf_map_lookup_elem(&members, &task))
		return true;
	state = result == 0 ? bpf_map_lookup_elem(&roots, &ids.tgid) : NULL;
	return state && (parents ? *state != TREE_WAITS : *state == TREE_MEMBER);
}

/*
 * A task in the tree makes another one, which has not run yet. Linux 6.18 frees one task in a thousand without sched_process_free, which
 * tree_end() needs. Its memory may be the new task's, also if a stranger makes that.
 */
int tree_fork(const uint64_t *context)
{
	const uint64_t task = context[0];
	const uint32_t state = TREE_MEMBER;

	bpf_map_delete_elem(&members, &task);
	if (tree_has_current(true) && bpf_map_update_elem(&members, &task, &state, BPF_ANY) != 0)
		__sync_fetch_and_add(&full, 1);
	return 0;
}

int tree_exec(const uint64_t *context)
{
	struct bpf_ids ids;
	uint32_t *state;

	(void)context;
	if (tree_ids(&ids) != 0)
		return 0;
	state = bpf_map_lookup_elem(&roots, &ids.tgid);
	if (state && *state == TREE_WAITS)
		*state = TREE_MEMBER;
	return 0;
}

/* A task's memory is freed, and may be used for another one. */
int tree_end(const uint64_t *context)
{
	const uint64_t task = context[0];

	bpf_map_delete_elem(&members, &task);
	return 0;
}

int tree_samples(const void *context)
{
	(void)context;
	return tree_has_current(false);
}

/* The same at a task's own event: an event of its CPU samples what is in the map. */
int tree_samples_own(const void *context)
{
	const uint64_t task = bpf_get_current_task();

	(void)context;
	return !bpf_map_lookup_elem(&members, &task);
}
