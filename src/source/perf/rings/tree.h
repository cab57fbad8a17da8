/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree of a command, followed by the kernel, so that one event per CPU samples the tree and nothing else.
 *
 * A map in the kernel has the tasks of the tree, by their address. Small BPF programs at tracepoints keep it up to date: a
 * fork in the tree adds the new task, and a task that is freed is removed. Another map has the processes that the tree
 * grows from, by id. A further program is attached to each sampling event. The kernel asks it before it writes a sample,
 * and writes none of tasks outside the tree. All of this disappears with the descriptors, so nothing stays behind a killed
 * recorder.
 *
 * See docs/decisions/0033-one-event-per-cpu.md.
 */
#ifndef BURIN_SOURCE_PERF_RINGS_TREE_H
#define BURIN_SOURCE_PERF_RINGS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum tree_program {
	TREE_FORK,
	TREE_EXEC,
	TREE_END,
	TREE_PROGRAMS,
};

enum {
	TREE_ROOM = 16384, /* tasks that live at once */
	TREE_ROOTS = 4096, /* processes that exist at the beginning */
};

struct tree {
	bool open;
	uint64_t refused;	    /* processes that tree_add() had no room for */
	int members;		    /* map: address of a task, which a root or another member has made */
	int roots;		    /* map: process -> enum tree_state */
	int full;		    /* array of one number: forks for which the map had no room */
	int watches[TREE_PROGRAMS]; /* of the tracepoints, and their programs */
	int programs[TREE_PROGRAMS];
	int filter;				    /* the program of the sampling events */
	uint64_t namespace_device, namespace_inode; /* of our process ids */
};

/*
 * tree_open - load the programs, and follow forks from now on.
 * @room: for how many tasks
 * @why: what is missing, if it fails
 * Return: 0 or -errno; then tree_close() has nothing to do.
 */
int tree_open(struct tree *tree, unsigned room, char *why, size_t bytes);

/*
 * tree_add - add a process that exists, with all its threads; its children are added by the kernel.
 * @waits: it becomes a member with its next exec
 * Return: 0, also if there is no room, which is counted; or -errno.
 */
int tree_add(struct tree *tree, pid_t process, bool waits);

/* tree_remove - the opposite. */
void tree_remove(const struct tree *tree, pid_t process);

/* tree_filter - let an event of a CPU sample only the tree. Before the event is enabled. Return: 0 or -errno. */
int tree_filter(const struct tree *tree, int event);

/* tree_missed - tasks so far that were not added, so that they and their children have no samples. */
uint64_t tree_missed(const struct tree *tree);

void tree_close(struct tree *tree);

#endif
