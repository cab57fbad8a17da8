/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the traced process and each of its threads remember.
 */
#ifndef BURIN_SOURCE_USER_THREAD_H
#define BURIN_SOURCE_USER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "source/user/context.h"

struct user_thread {
	uint32_t tid;		     /* 0: must be looked up and announced before the next record */
	uint32_t self_tid, self_pid; /* for filters, which a thread may meet long before it records; 0: to be
					asked */
	uint64_t renamed;  /* when it got the name that is to be announced; 0: nobody knows, or cares */
	uint32_t refusals; /* how often in a row the announcement could not be written */
	bool disowned;	   /* locks that bear this thread's id from before it had it have been freed */
	bool in_vfork;	   /* this thread's memory is lent to a vfork child, which is who runs ... */
	bool vfork_known;  /* ... and has announced itself */
	struct user_context vfork_context; /* the parent's meanwhile */
};

/* initial-exec: one load, no call, and safe in signal handlers; the library is never unloaded, so its place
 * is static. */
extern __thread struct user_thread user_thread __attribute__((tls_model("initial-exec")));

/* The process's session. `base` is NULL while there is none. */
extern struct session user_session;

/*
 * user_thread_enter - the calling thread's id, announced if that was still to be done.
 * Context: any thread, signal handlers.
 */
uint32_t user_thread_enter(void);

/*
 * user_thread_renamed - the calling thread has another name; it is told before its next record.
 * user_thread_rename - another thread of this process has; it is told at once.
 * Context: any thread, signal handlers.
 */
void user_thread_renamed(void);
void user_thread_rename(uint32_t tid, const char *name);

#endif
