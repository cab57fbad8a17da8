/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples that a program takes of itself, where its user may not open the kernel's perf events.
 *
 * This is a library of its own, loaded by LD_PRELOAD into unmodified programs. Each thread has a timer on its CPU
 * clock. The signal's handler writes registers and a copy of the stack into a session that the recorder made for
 * them (wire/wire_preload.h). The program gets no extra thread, descriptor or alternate stack. The handler makes no
 * system call, unless it finds code at an address where there was none before. The signal is a real-time one that
 * few programs use; a program can still use it (interpose_signal.c). From the bottom up:
 *
 *	preload.c            the process and the thread
 *	side_band.c          side-band records           preload_maps.c     where code is mapped
 *	interpose_signal.c   the signal                  preload_sample.c   its handler: a sample
 *	preload_thread.c     a thread and its timer      interpose.c        libc functions that change what we track
 *	preload_process.c    start, fork, exit
 */
#ifndef BURIN_SOURCE_PRELOAD_PRELOAD_H
#define BURIN_SOURCE_PRELOAD_PRELOAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "session/session.h"
#include "wire/wire_preload.h"

enum {
	PRELOAD_RECORD =
		WIRE_PRELOAD_STACK + 8 * (WIRE_PRELOAD_CHAIN + 1) + 1024, /* bytes of the longest record */
};

/* The process. */
struct preload_process {
	struct session session; /* ->base NULL: nothing is sampled */
	uint32_t pid;		/* a vfork child has another */
	int signal;
	unsigned graph;	 /* WIRE_PRELOAD_GRAPH_* */
	uint64_t period; /* ns of CPU time from sample to sample */
	uint64_t tick;	 /* ns: how often the kernel checks CPU clocks */
};

/* A sampled thread. Only that thread uses it: created before its first signal, freed after its last. */
struct preload_thread {
	uint32_t tid;
	int timer;	       /* the kernel's id; -1: none */
	bool begun;	       /* it has been sampled */
	const char *low, *top; /* the readable range of its stack */
	_Alignas(8) char record[PRELOAD_RECORD];
};

extern struct preload_process preload_process;
extern __thread struct preload_thread *preload_thread __attribute__((tls_model("initial-exec")));

/* preload_is_ours - whether this is the sampled process, not a vfork child in its memory. Context: any. */
static inline bool preload_is_ours(void)
{
	return preload_process.session.base && (uint32_t)getpid() == preload_process.pid;
}

/* ---- preload_thread.c */

/* preload_threads_init - once per process, before the other functions here. Return: 0 or -errno. */
int preload_threads_init(void);

/*
 * preload_thread_begin - allocate what the calling thread needs to be sampled.
 * @low, @top: of its stack
 * Return: preload_thread; NULL: it cannot be sampled; the error is printed.
 */
struct preload_thread *preload_thread_begin(const char *low, const char *top);

/* preload_thread_start - sample the calling thread from now on. An error is printed. */
void preload_thread_start(struct preload_thread *self);

/* preload_thread_stop - stop sampling the calling thread, and record that it ends. */
void preload_thread_stop(struct preload_thread *self);

/* ---- preload_sample.c */

/* preload_on_signal - the handler: samples the calling thread, or passes on the program's signal. */
void preload_on_signal(int number, siginfo_t *info, void *context);

/*
 * ---- side_band.c: records of tasks and mappings. Context: any thread, signal handlers. Return: whether the
 * record was written.
 */

/* @exec: the name comes from an execve */
bool preload_put_name(uint32_t tid, const char *name, bool exec);
bool preload_put_fork(uint32_t parent_pid, uint32_t parent_tid);
bool preload_put_exit(void);

struct preload_map {
	uint64_t begin, end, offset;
	uint32_t major, minor;
	uint64_t inode;
	const char *path; /* NUL-terminated */
};

/* Context: in preload_maps.c while `busy` is held. */
bool preload_put_map(const struct preload_map *map);

/* ---- preload_maps.c: where code is mapped */

/* preload_maps_look - record all new mappings if @address is in none that is recorded. Context: any. */
void preload_maps_look(uint64_t address);

/* preload_maps_invalidate - code may have been replaced by other code. Context: any. */
void preload_maps_invalidate(void);

/* preload_maps_forked - in the child: release `busy`, which a thread of the parent may have held. */
void preload_maps_forked(void);

/* ---- interpose_signal.c */

/* preload_signal_install - install the handler of preload_process.signal. Return: 0 or -errno. */
int preload_signal_install(void (*handler)(int number, siginfo_t *info, void *context));

/* preload_signal_pass - pass a signal that is not from one of our timers to the program. Context: the handler. */
void preload_signal_pass(int number, siginfo_t *info, void *context);

#endif
