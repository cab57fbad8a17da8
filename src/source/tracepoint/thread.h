/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The state of the traced process and of each of its threads.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_THREAD_H
#define BURIN_SOURCE_TRACEPOINT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* The part of a thread's state that goes into its records (record_context.h). */
struct tracepoint_context {
	uint64_t correlation; /* burin_correlation_set() */
	uint32_t depth;	      /* open spans that began since ... */
	uint32_t change;      /* ... this transaction */
};

struct tracepoint_thread {
	union {
		struct {
			uint32_t tid; /* 0: must be looked up and announced before the next record */
			uint32_t
				entering; /* 1: that is being done; 0 again in a child that a signal handler makes */
		};
		uint64_t entry; /* both, for one instruction */
	};
	/* For filters, which a thread may run long before it records; 0: not asked yet. */
	uint32_t self_tid, self_pid;
	uint64_t renamed;     /* time of the new name that must be announced; 0: unknown or not needed */
	char name[16];	      /* set by prctl or pthread_setname_np (interpose_names.c); empty: none */
	uint32_t refusals;    /* announcements in a row that could not be written */
	bool locks_broken;    /* stale locks with this thread's id have been freed */
	bool no_clock;	      /* reading the clock would kill it: its records are counted as lost */
	bool in_vfork;	      /* a vfork child runs on this thread's memory ... */
	bool vfork_announced; /* ... and has announced itself */
	struct tracepoint_context context;
	struct tracepoint_context vfork_context; /* the parent's, saved meanwhile */
	char own_name[16];			 /* for filters: the kernel's, asked for ... */
	uint32_t own_renames;			 /* ... when there had been so many renames; 0: not yet */
};

/* initial-exec: one load, no call, and safe in signal handlers. It needs static TLS, so the library is never unloaded. */
extern __thread struct tracepoint_thread tracepoint_thread
	__attribute__((tls_model("initial-exec"), visibility("default")));

/* Renames of this process's threads so far, and one: names that were asked for before may be former ones. */
extern uint32_t tracepoint_renames;

/* The process's session. `base` is NULL while there is none. Symbols with
 * visibility here are for libburin-calls.so. */
extern struct session tracepoint_session __attribute__((visibility("default")));

/*
 * Room for functions in the process's own session, if its calls shall be recorded; 0: they are not. Set by libburin-calls.so
 * before the process has a session.
 */
extern uint32_t tracepoint_calls_max __attribute__((visibility("default")));

/*
 * tracepoint_thread_enter - the calling thread's id; announces the thread first, if needed.
 * Context: any thread, signal handlers. Return: 0: it must not record (no_clock).
 */
__attribute__((visibility("default"))) uint32_t tracepoint_thread_enter(void);

/* Why a thread records no calls: bits. */
enum tracepoint_stop {
	TRACEPOINT_STOP_CLOCK = 1,  /* it must not read the clock */
	TRACEPOINT_STOP_SHARED = 2, /* a process that runs at the same time has its thread-local memory */
};

/*
 * Functions of libburin-calls.so; NULL: none. Of the first two one is called before a vfork, the other in the parent,
 * after the child has stopped using its memory. @child: its pid, or below 0: there was none
 * stop: the calling thread records no calls from now on; go_on: the cause has gone. @refused: it never came
 */
struct tracepoint_calls {
	void (*enter_vfork)(void);
	void (*leave_vfork)(long child);
	void (*stop)(uint32_t why);
	void (*go_on)(uint32_t why, bool refused);
};
extern struct tracepoint_calls tracepoint_calls __attribute__((visibility("default")));

#ifdef __x86_64__
/*
 * tracepoint_vfork_enter, tracepoint_vfork_leave - around a system call as vfork(); the second in the parent. The attributes keep the
 * compiler from dropping what vfork() calls. @result: the system call's. Return: what the function returns.
 */
__attribute__((used, visibility("hidden"))) void tracepoint_vfork_enter(void);
__attribute__((used, visibility("hidden"))) long tracepoint_vfork_leave(long result);
#endif

/*
 * tracepoint_become_child - the process is a child of a fork: forget the parent's thread and enter the child into the session.
 * @expected: as for session_enter_expected(); @pid: the child's, whose only thread calls
 * tracepoint_notice_fork - the same, if the fork ran no handler; at the begin of each slow path. Context: any.
 */
void tracepoint_become_child(uint32_t *expected, uint32_t pid);
void tracepoint_notice_fork(void);

/*
 * tracepoint_clock_forbid - from now on the calling thread must not read the clock.
 * tracepoint_clock_permit - it may again. The threads and processes that it has made meanwhile ask the kernel. @refused: it could all the time
 * Context: any.
 */
void tracepoint_clock_forbid(void);
void tracepoint_clock_permit(bool refused);

/* tracepoint_thread_may_record - whether a thread without a tid may read the clock; the kernel is asked only if another one has given it up. */
bool tracepoint_thread_may_record(void);

/* tracepoint_thread_self - the calling thread's id; a system call, unless ring_silent. Context: any. */
__attribute__((visibility("default"))) uint32_t tracepoint_thread_self(void);

/*
 * tracepoint_thread_renamed - note a new name of the calling thread; it is announced before its next record.
 * tracepoint_thread_rename - announce a new name of another thread of this process at once.
 * Context: any thread, signal handlers.
 */
void tracepoint_thread_renamed(const char *name);
void tracepoint_thread_rename(uint32_t tid, const char *name);

#endif
