/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracefs, mounted or not; see tracefs_open.h. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/mount.h>

#include "file/tracefs_open.h"

/* Mount tracefs without a path: the mount ends with its last descriptor. */
static int open_private(void)
{
	const int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	int mount = -1, events, error;

	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	error = -errno;
	close(context);
	if (mount < 0)
		return error;
	events = openat(mount, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = -errno;
	close(mount);
	return events < 0 ? error : events;
}

int tracefs_open(void)
{
	static const char *const paths[] = { "/sys/kernel/tracing/events",
					     "/sys/kernel/debug/tracing/events" };
	int result = -ENOENT;

	for (unsigned n = 0; n < sizeof(paths) / sizeof(paths[0]); n++) {
		const int events = open(paths[n], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (events >= 0)
			return events;
		if (errno != ENOENT)
			result = -errno;
	}
	if (result == -ENOENT)
		result = open_private();
	return result == -ENOENT ? -ENODEV : result;
}
