/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's rings of a flight recorder, for snapshots by other processes.
 *
 * Maps have no names. The recorder stores the number of its descriptor of the rings in its session, and that of its clock in the
 * rings. `burin snapshot` gets them by pidfd_getfd(2), for which it needs the right to trace the recorder. Numbers in a session
 * are not trusted: what they lead to must be maps of this form, and rings of this session.
 *
 * Only the recorder's descriptors hold the maps, so they end with it, also by SIGKILL.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_SHARE_H
#define BURIN_SOURCE_KERNEL_KERNEL_SHARE_H

#include "session/session.h"
#include "source/kernel/kernel_reader.h"

/* A copy of the recorder's clock. `version` is odd while it is written. */
struct kernel_shared_clock {
	uint64_t version;
	struct kernel_clock clock;
};

/* kernel_clock_publish - replace the copy. */
void kernel_clock_publish(struct kernel_shared_clock *shared, const struct kernel_clock *clock);

/*
 * kernel_share - let other processes find the rings.
 * @rings: the map, mapped at @memory
 * @map, @clock: set to the clock's map and its value; the caller closes and unmaps both, also after an error
 * Return: 0 or -errno.
 */
int kernel_share(const struct session *session, int rings, char *memory, int *map,
		 struct kernel_shared_clock **clock);

/* kernel_share_end - let no other process find them any more. */
void kernel_share_end(const struct session *session);

/* The rings of another process. */
struct kernel_borrowed {
	char *memory;
	size_t bytes;
	struct ring *rings;
	struct kernel_clock clock;
	struct kernel_reader reader;
};

/*
 * kernel_borrow - get the kernel's rings of a session's recorder, for reading. The session's file is this user's own.
 * Return: 1; 0: it has none; -errno. The caller must call kernel_borrow_end() in each case.
 */
int kernel_borrow(struct kernel_borrowed *borrowed, const struct session *session);

void kernel_borrow_end(struct kernel_borrowed *borrowed);

#endif
