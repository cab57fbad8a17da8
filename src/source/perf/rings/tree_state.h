/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* States of processes in a tree, for the recorder and its programs in the kernel. */
#ifndef BURIN_SOURCE_PERF_RINGS_TREE_STATE_H
#define BURIN_SOURCE_PERF_RINGS_TREE_STATE_H

enum tree_state {
	TREE_WAITS,  /* for its exec: then it becomes a member */
	TREE_MEMBER, /* with all its threads */
	TREE_PARENT, /* its threads that exist have events of their own; those that begin are members */
};

#endif
