/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where the kernel describes its tracepoints. Where tracefs is not mounted, it is mounted for this process alone, at no path. */
#ifndef BURIN_FILE_TRACEFS_OPEN_H
#define BURIN_FILE_TRACEFS_OPEN_H

/*
 * tracefs_open - open tracefs's folder of all events.
 * Return: a descriptor; -errno: -EACCES, -EPERM: no right; -ENODEV: no tracefs.
 */
int tracefs_open(void);

#endif
