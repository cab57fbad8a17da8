/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control.h - a program with tracepoints that controls its own: switches them, asks what became of its events,
 * and takes a snapshot of what led to the present, from a health endpoint, say, or from a crash handler. Manual:
 * burin-control(3). The same can be done from outside, without the program's help, by the command burin.
 *
 * All functions work on the session of the calling process (burin(3)); without one they return -ENOTCONN.
 */
#ifndef BURIN_CONTROL_H
#define BURIN_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BURIN__CONTROL_API __attribute__((__visibility__("default"), __nothrow__))

/*
 * burin_enable, burin_disable - switch all events whose names match, and those that are registered later.
 * @glob: as for `burin enable`
 * Context: any thread, not signal-safe; waits for other processes that switch, a second at most.
 * Return: how many events match now; -ENOTCONN; -ETIMEDOUT; -ENOSPC: there is no room for another glob; -EINVAL.
 */
BURIN__CONTROL_API int burin_enable(const char *glob);
BURIN__CONTROL_API int burin_disable(const char *glob);

/* What burin_status() tells. Counts are since the session was made, of all processes in it. */
struct burin_session_status {
	size_t size;	  /* sizeof(struct burin_session_status), set by the caller */
	uint64_t written; /* records */
	uint64_t lost;	  /* records, whatever the cause */
	uint64_t
		left_out; /* events that passed a sample or a limit of `burin enable` and were not recorded */
	uint64_t used_bytes; /* of the buffers */
	uint64_t room_bytes;
	uint32_t events; /* that are registered ... */
	uint32_t on;	 /* ... and on, or on with a check */
	uint32_t stopped;
	uint32_t reserved;
};

/*
 * burin_status - how it stands.
 * Context: any thread, signal-safe. Return: 0; -ENOTCONN; -EINVAL: the size is not one that this library knows.
 */
BURIN__CONTROL_API int burin_status(struct burin_session_status *status);

/*
 * burin_snapshot - write what is in the session's buffers into a trace directory, by running the command
 * `burin snapshot` and waiting for it.
 * @directory: must not exist
 * Context: any thread, signal-safe: it allocates nothing, takes no lock and may be called from the handler of a
 * signal that ends the program. A program that reaps all its children, or ignores SIGCHLD, is told 0 even if
 * the command failed.
 * Return: 0; -ENOTCONN; -ENOENT: there is no such command (the one that was installed with this library; or what
 * BURIN_COMMAND names in the environment at the program's start); -EIO: it failed; -errno.
 */
BURIN__CONTROL_API int burin_snapshot(const char *directory);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
