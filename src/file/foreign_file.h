/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files of other processes, which their users can keep a reader waiting for.
 *
 * A user can hold the lock of a process's memory for ever (timed_open.h). So the files that need it, and those that a process
 * names, are opened by these functions: directly if the process is ours, which means all its user ids are ours; otherwise with
 * a deadline. As a user may have any number of such processes, its waits are limited, too: FOREIGN_PATIENCE_US at first, and a
 * 64th of the time that passes. A process that did not answer is not asked again for some seconds.
 *
 * If the main thread has ended, memory and mappings are those of another thread.
 *
 * Other files of /proc/PID need no such lock, and are opened as any file: status, stat, comm, the links exe and root.
 */
#ifndef BURIN_FILE_FOREIGN_FILE_H
#define BURIN_FILE_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/foreign.h"

enum {
	FOREIGN_PATIENCE_US = 400000, /* of a user's processes */
	FOREIGN_NAME_MAX =
		64, /* bytes of a thread's name with its NUL; the kernel's workers have long ones */
};

/*
 * foreign_contents - open a file of a process, such as "maps", for reading; of another user's process, a copy of it.
 * @bytes: so many are read at most; 0: all
 * Return, here and below: a descriptor, which the caller closes; -ETIMEDOUT: the process, or its user, keeps readers
 * waiting; or another -errno.
 */
int foreign_contents(uint32_t pid, const char *name, size_t bytes);

/*
 * foreign_memory - copy memory of a process, up to the first page that is not mapped.
 * Return: how many bytes; -ETIMEDOUT or another -errno.
 */
ssize_t foreign_memory(uint32_t pid, uint64_t address, void *out, size_t bytes);

/* foreign_maps - the whole of "maps". */
int foreign_maps(uint32_t pid);

/* foreign_mapped - open the file that a process has mapped at @begin to @end. */
int foreign_mapped(const struct foreign *how, uint32_t pid, uint64_t begin, uint64_t end);

/* foreign_named - open a file by a path that a process has named. @own_root: from the process's root, otherwise from ours */
int foreign_named(const struct foreign *how, uint32_t pid, bool own_root, const char *path);

/*
 * foreign_name - the name of a thread, as the kernel has it. No lock is needed for it.
 * @name: FOREIGN_NAME_MAX bytes; "" if there is no such thread. It may have any bytes.
 * Return: whether there is one.
 */
bool foreign_name(uint32_t pid, uint32_t tid, char *name);

#endif
