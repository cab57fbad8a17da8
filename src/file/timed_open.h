/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opening and reading files with a deadline.
 *
 * A process can hold the lock of its own memory for as long as it wants: it reads a page whose file system does not answer, by
 * way of /proc/self/mem, while another thread of it waits in mmap(2). All later readers of /proc/PID/maps, map_files, cmdline and
 * mem wait in the kernel, and only SIGKILL ends that. So a helper process opens such files, and passes the descriptors. If it
 * does not answer it is killed, and the next request starts another one. On kernels where it cannot be killed while it waits, it
 * is left behind; there are at most TIMED_LEFT_MAX of these.
 *
 * The helper is a copy of the calling process without its descriptors, and ends with it. It sends no SIGCHLD, and wait(2) does
 * not return it.
 */
#ifndef BURIN_FILE_TIMED_OPEN_H
#define BURIN_FILE_TIMED_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "file/foreign.h"

enum {
	TIMED_BLOCKED_MS = 50, /* so long the helper may wait in the kernel, ... */
	TIMED_ALL_MS = 1000,   /* ... and so long it may take, also if it only lacks a processor */
	TIMED_LEFT_MAX = 64,
	TIMED_COPY_MAX = 64 << 20, /* bytes of a copy */
};

enum timed_kind {
	TIMED_COPY, /* the contents of a file of /proc, in memory; the descriptor is where they begin */
	TIMED_LINK, /* foreign_open_link() */
	TIMED_PATH, /* foreign_open(), below the directory ->root */
};

struct timed_request {
	enum timed_kind kind;
	const struct foreign *how; /* of LINK and PATH */
	const char *root;	   /* of PATH: a trusted path */
	const char *path;
	size_t bytes;	/* of COPY: so many at most; 0: all, or -EFBIG above TIMED_COPY_MAX */
	uint64_t begin; /* of COPY: where they begin in the file */
};

/*
 * timed_open - let the helper open a file.
 * @blocked_us: receives how long the helper was seen waiting in the kernel
 * Context: one thread of a command; waits until the deadline.
 * Return: a descriptor, which the caller closes; -ETIMEDOUT: no answer in time; -EBUSY: too many helpers were left behind, or
 * there is no memory for one; -ECHILD: this system cannot start one; or an -errno of the helper's.
 */
int timed_open(const struct timed_request *request, uint64_t *blocked_us);

/* timed_open_directly - the same without helper, deadline and copy. */
int timed_open_directly(const struct timed_request *request);

#endif
