/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples that a program takes of itself, where the kernel's sampler is closed to its user.
 *
 * This is a library of its own, loaded by LD_PRELOAD into programs that know nothing of it. Each thread has
 * a timer on its CPU clock; the signal's handler puts registers and a copy of the stack into a session that
 * the recorder made for that (wire/timer.h). Nothing else is the program's affair: no thread, no
 * descriptor, no alternate stack, and in the handler no system call, unless code lies where none was
 * before. The signal is a real-time one that few use; a program that does is served all the same
 * (signal.c). From the ground up:
 *
 *	tell.c     what tells of tasks and mappings    maps.c     code, and where it lies
 *	signal.c   the signal                          sample.c   its handler: a sample
 *	thread.c   a thread and its timer              replace.c  what of libc tells us that something has changed
 *	process.c  beginning, forking, ending
 */
#ifndef BURIN_SOURCE_TIMER_TIMER_H
#define BURIN_SOURCE_TIMER_TIMER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "session/session.h"
#include "wire/timer.h"

enum {
	TIMER_RECORD = WIRE_TIMER_STACK + 8 * (WIRE_TIMER_CHAIN + 1) + 1024, /* bytes of the longest record */
};

/* The process. */
struct timer_process {
	struct session session; /* ->base NULL: nothing is sampled */
	uint32_t pid;		/* after vfork the child has another */
	int signal;
	unsigned graph;	 /* WIRE_TIMER_GRAPH_* */
	uint64_t period; /* ns of CPU time from sample to sample */
	uint64_t tick;	 /* ns: the kernel looks at CPU clocks only so often */
};

/* A thread that is sampled. Its own, made before its first signal and unmade after its last. */
struct timer_thread {
	uint32_t tid;
	int timer;	       /* the kernel's number; -1: none */
	bool begun;	       /* there has been a sample */
	const char *low, *top; /* where its stack may be read */
	_Alignas(8) char record[TIMER_RECORD];
};

extern struct timer_process timer_process;
extern __thread struct timer_thread *timer_thread __attribute__((tls_model("initial-exec")));

/* timer_is_ours - whether this process is sampled, and not a vfork child on its memory. Context: any. */
static inline bool timer_is_ours(void)
{
	return timer_process.session.base && (uint32_t)getpid() == timer_process.pid;
}

/* ---- thread.c */

/* timer_threads_init - once per process, before all else here. Return: 0 or -errno. */
int timer_threads_init(void);

/*
 * timer_thread_begin - what the calling thread needs to be sampled.
 * @low, @top: of its stack
 * Return: timer_thread; NULL: it cannot be sampled, which was told.
 */
struct timer_thread *timer_thread_begin(const char *low, const char *top);

/* timer_thread_start - sample the calling thread from now on. If that cannot be, it is told. */
void timer_thread_start(struct timer_thread *self);

/* timer_thread_stop - no more samples of the calling thread, which ends: that is told. */
void timer_thread_stop(struct timer_thread *self);

/* ---- sample.c */

/* timer_on_signal - the handler: a sample of the calling thread, or the program's signal. */
void timer_on_signal(int number, siginfo_t *info, void *context);

/*
 * ---- tell.c: what tells of tasks and mappings. Context: any thread, signal handlers. Return: whether it
 * was told.
 */

/* @exec: by executing a program, which is new, too */
bool timer_tell_name(uint32_t tid, const char *name, bool exec);
bool timer_tell_fork(uint32_t parent_pid, uint32_t parent_tid);
bool timer_tell_exit(void);

struct timer_map {
	uint64_t begin, end, offset;
	uint32_t major, minor;
	uint64_t inode;
	const char *path; /* NUL-terminated */
};

/* Context: under the lock of maps.c. */
bool timer_tell_map(const struct timer_map *map);

/* ---- maps.c: code, and where it lies */

/* timer_maps_look - tell of all code if there is some at an address where none was known. Context: any. */
void timer_maps_look(uint64_t address);

/* timer_maps_stale - code may have gone, and other have come in its place. Context: any. */
void timer_maps_stale(void);

/* timer_maps_forked - the child has no other threads, one of which may have been at it. */
void timer_maps_forked(void);

/* ---- signal.c */

/* timer_signal_install - have the handler called for timer_process.signal. Return: 0 or -errno. */
int timer_signal_install(void (*handler)(int number, siginfo_t *info, void *context));

/* timer_signal_pass - a signal that no timer of ours has sent: the program's. Context: the handler. */
void timer_signal_pass(int number, siginfo_t *info, void *context);

#endif
