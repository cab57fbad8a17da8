/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opening files that other processes or users name: a process by its mappings, an ELF file by a link to its debug
 * information, a trace by the path of a source.
 *
 * Such a path may lead to a device, a FIFO, a file that its author may not read, or out of its tree. It is therefore
 * opened in three steps:
 *
 *	1. It is resolved below a directory. Links and `..` do not lead out of it, and links of /proc are not followed.
 *	   The result is a handle (O_PATH), which does not affect drivers, FIFOs or leases.
 *	2. The handle is checked: a regular file, not too large, of the right owner, and not on a file system of the
 *	   kernel (/proc, /sys), where reading may block or consume data.
 *	3. The handle, not the path, is opened for reading.
 *
 * If a reader is given, all steps have the rights of that user, as the kernel checks them. A file behind a bind mount in
 * the user's own namespace is read only if the user could read it.
 *
 * A risk remains: if a file system's server does not answer (NFS; FUSE with allow_other), the resolution of a path on it,
 * or reading a file on it, can block. foreign_file.h opens with a deadline; reading has none.
 */
#ifndef BURIN_FILE_FOREIGN_H
#define BURIN_FILE_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	FOREIGN_HERE = -1, /* the root of this process; relative paths begin at its working directory */
};

static const uint64_t FOREIGN_IMAGE_MAX = UINT64_C(1) << 36, FOREIGN_MAP_MAX = UINT64_C(1) << 30,
		      FOREIGN_SOURCE_MAX = UINT64_C(1) << 26; /* bytes */

struct foreign_user {
	uid_t user;
	gid_t group; /* other groups do not count */
};

/* Requirements for a file; all 0: none. */
struct foreign {
	uint64_t bytes_max; /* 0: any size */
	const struct foreign_user
		*reader; /* if we are root, open it with the rights of this user; NULL: ours */
	const struct foreign_user *owner; /* the owner must be this user or root; NULL: any */
	bool no_links;			  /* reject links anywhere on the path */
};

/*
 * foreign_open - open a regular file for reading.
 * @root: handle of the directory where the path begins, or FOREIGN_HERE
 * Context: changes the rights of the calling thread for a moment.
 * Return: a descriptor; -ENOTSUP: not a regular file; -EFBIG; -EPERM: another owner; or another -errno.
 */
int foreign_open(const struct foreign *how, int root, const char *path);

/* foreign_open_link - open the target of a link of /proc, such as /proc/PID/map_files/RANGE. Return: as foreign_open(). */
int foreign_open_link(const struct foreign *how, const char *link);

/* foreign_root - open a directory as @root above; @path is trusted. Return: a handle or -errno. */
int foreign_root(const char *path);

/* A process's user and pid. */
struct foreign_process {
	struct foreign_user user; /* its file system user, in our user namespace */
	uint32_t inner_pid;	  /* its pid in its own pid namespace */
};

/* foreign_process_read - fill in @process. Return: 0; -ESRCH: there is no such process. */
int foreign_process_read(struct foreign_process *process, uint32_t pid);

static const uid_t FOREIGN_NO_USER = (uid_t)-1;

/*
 * foreign_user_of - the user responsible for a process. A user namespace has many users of its own, so in a namespace
 * created by an ordinary user it is that one; otherwise it is the process's own user.
 * @own: set to the process's own user
 * Return: the user; FOREIGN_NO_USER: there is no such process.
 */
uid_t foreign_user_of(uint32_t pid, struct foreign_user *own);

#endif
