/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sessions of other PID namespaces; see namespaces.h.
 *
 * The pids of such a session mean nothing here. Two other signs together show that it is left: no process has the file open for
 * writing, which every process that uses a session has through its mapping; and the namespace has no living process, which could be one
 * that executes another program at this moment and joins again.
 */
#include "session/places/namespaces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "session/layout.h"

enum {
	FIRST_NAMESPACE =
		0xEFFFFFFC, /* the inode of the machine's first PID namespace, in every kernel (PROC_PID_INIT_INO) */
};

bool namespaces_file_is_unused(int fd)
{
	/* If the lease is broken in between, the kernel sends a signal: one that is ignored. */
	if (fcntl(fd, F_SETSIG, SIGURG) != 0 || fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return false;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

/* What /proc/PID/status says. */
struct state {
	bool ended;  /* a zombie, which uses nothing; its namespace cannot be read */
	bool nested; /* of a namespace below this one */
};

static bool namespaces_read_state(int process, struct state *state)
{
	const int fd = openat(process, "status", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256], kind = 0, behind;
	bool known = false;

	if (!file && fd >= 0)
		close(fd);
	while (file && !known && fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &kind);
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		known = true;
		*state = (struct state){ kind == 'Z' || kind == 'X',
					 sscanf(line + 6, "%*u %*u%c", &behind) == 1 };
	}
	if (file)
		fclose(file);
	return known;
}

static bool namespaces_has(const struct namespaces *all, uint64_t inode)
{
	for (unsigned n = 0; n < all->count; n++)
		if (all->living[n] == inode)
			return true;
	return false;
}

/* Return: false: there may be a namespace that is not in the list. */
static bool add_namespace(struct namespaces *all, int process)
{
	struct state state;
	struct stat status;

	if (!namespaces_read_state(process, &state))
		return faccessat(process, "status", F_OK, 0) != 0; /* it has gone */
	if (state.ended || !state.nested)
		return true;
	if (fstatat(process, "ns/pid", &status, 0) != 0)
		return namespaces_read_state(process, &state)
			       ? state.ended
			       : true; /* it has ended meanwhile, or is not visible */
	if (namespaces_has(all, status.st_ino))
		return true;
	if (all->count == NAMESPACES_MAX)
		return false;
	all->living[all->count++] = status.st_ino;
	return true;
}

static bool namespaces_ask(struct namespaces *all)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	bool known = directory != NULL;

	while (errno = 0, known && (entry = readdir(directory))) {
		int process;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		process = openat(dirfd(directory), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		known = process >= 0 ? add_namespace(all, process) : errno == ENOENT || errno == ESRCH;
		if (process >= 0)
			close(process);
	}
	known = known && errno == 0;
	if (directory)
		closedir(directory);
	return known;
}

bool namespaces_is_gone(struct namespaces *all, uint64_t inode)
{
	const struct wire_geometry here = { .pid_namespace = FIRST_NAMESPACE };

	if (!all->asked) {
		all->asked = true;
		all->known = nolibc_user() == 0 && session_is_here(&here) && namespaces_ask(all);
	}
	return all->known && inode != 0 && inode != FIRST_NAMESPACE && !namespaces_has(all, inode);
}
