/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * control.h - a program controls its own tracing: it switches events, reads the session's counters, and writes a
 * snapshot, for example from a health endpoint or a crash handler. Manual: burin-control(3). The command burin does
 * the same from outside, without the program's help.
 *
 * All functions but burin_version() work on the session of the calling process (burin(3)); without one they return -ENOTCONN.
 */
#ifndef BURIN_CONTROL_H
#define BURIN_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BURIN_CONTROL_API __attribute__((__visibility__("default"), __nothrow__))

/*
 * burin_enable, burin_disable - switch all events whose names match on or off, those that register later too.
 * @glob: as for `burin enable`
 * Context: any thread, not signal-safe; waits up to a second for other processes that switch events.
 * Return: the number of registered events that match; -ENOTCONN; -ETIMEDOUT; -ENOSPC: no room for another rule;
 * -EINVAL.
 */
BURIN_CONTROL_API int burin_enable(const char *glob);
BURIN_CONTROL_API int burin_disable(const char *glob);

/* The counters of a session. They cover all processes in it, since it was made. */
struct burin_session_status {
	size_t size;	  /* sizeof(struct burin_session_status), set by the caller */
	uint64_t written; /* records */
	uint64_t lost;	  /* records, all causes together */
	/* Events that were not recorded because of `burin enable --sample` or `--limit`; not in `lost`. */
	uint64_t left_out;
	uint64_t used_bytes; /* of the buffers, as far as they hold records */
	uint64_t room_bytes; /* of the buffers, all */
	uint32_t events;     /* registered */
	uint32_t on;	     /* of those: desired state on or conditional */
	uint32_t paused;     /* 1: tracing is paused */
	uint32_t reserved;
};

/*
 * burin_status - read the session's counters.
 * @status: the caller sets its size; the rest is filled in. Fields that this library does not have become 0.
 * Context: any thread, signal-safe. Return: 0; -ENOTCONN; -EINVAL: no size is set.
 */
BURIN_CONTROL_API int burin_status(struct burin_session_status *status);

/*
 * burin_snapshot - write the records in the session's buffers as a trace. It runs `burin snapshot` and waits for it.
 * @directory: the trace to write; must not exist
 * Context: any thread, signal-safe: it allocates nothing and takes no lock. The handler of a fatal signal may call it.
 * The command is the one installed with this library, or BURIN_COMMAND in the environment at the program's start.
 * Return: 0, also if the command failed but the program reaps all its children or ignores SIGCHLD; -ENOTCONN; -ENOENT:
 * the command does not exist; -EIO: it failed; -errno.
 */
BURIN_CONTROL_API int burin_snapshot(const char *directory);

/*
 * burin_version - return the version of the library that is loaded, such as "0.1.0"; BURIN_VERSION of burin/version.h is that of the headers.
 * Context: any thread, signal-safe; needs no session.
 */
BURIN_CONTROL_API const char *burin_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
