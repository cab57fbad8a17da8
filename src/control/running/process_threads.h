/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The threads of another process, stopped for a moment (ptrace, x86-64). A stop is no signal, and system calls that it
 * interrupts go on, so the process does not notice. If the calling process dies, the kernel lets all threads go on.
 */
#ifndef BURIN_CONTROL_RUNNING_PROCESS_THREADS_H
#define BURIN_CONTROL_RUNNING_PROCESS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct process_thread {
	pid_t tid;
	bool seized, stopped, gone;
	bool changed;	   /* the registers are to be written */
	int signal;	   /* that it stopped for, and gets when it goes on; 0: none */
	uint64_t asked_ns; /* when it was asked to stop */
	uint64_t ran_ns;   /* when it was last seen not to stand; 0: it was not asked */
	struct user_regs_struct registers;
};

struct process_threads {
	pid_t pid;
	int directory; /* /proc/PID/task: never that of a later process with the same id */
	struct process_thread *all;
	size_t count, room;
	uint64_t longest_ns; /* that one stood still */
	unsigned failures;   /* since all have stopped */
	uint64_t stand_ns;   /* that threads may stand still while others are waited for; 0: a millisecond */
};

/* process_threads_begin, process_threads_end - of a process. Return: 0 or a negative errno. */
int process_threads_begin(struct process_threads *threads, pid_t pid);
void process_threads_end(struct process_threads *threads);

/*
 * process_thread_ask - ask a thread in the list to stop. A thread of another process, which has got its id since, is let go at once.
 * Return: 0; -ESRCH: it has ended; -EPERM.
 */
int process_thread_ask(struct process_threads *threads, struct process_thread *thread);

/* process_thread_stands - whether it has stopped; then its registers are set. One that stands, stands until it is let go. */
bool process_thread_stands(struct process_thread *thread);

/* process_thread_go - let a stopped thread go on, on its own. Its stop counts. */
void process_thread_go(struct process_threads *threads, struct process_thread *thread);

/* process_thread_is_cut_off - whether a stop has ended its system call with EINTR, although there was no signal; others go on by themselves. */
bool process_thread_is_cut_off(const struct user_regs_struct *registers);

/* process_thread_run - let it go on, and stay seized. */
void process_thread_run(struct process_thread *thread);

/* process_thread_pass - while it runs: let it go on if it has stopped for a signal. Return: whether it lives. */
bool process_thread_pass(struct process_thread *thread);

/*
 * process_threads_stop - stop all threads.
 * @limit_ns: for all together
 * Return: 0: all stand, at least one; -ESRCH: it has ended; -ETIMEDOUT, such as by a system call that nothing interrupts, or on busy CPUs,
 * where some would stand still for too long: try again, then they may stand for longer; -EPERM. On an error all go on.
 */
int process_threads_stop(struct process_threads *threads, uint64_t limit_ns);

/* process_thread_usual, process_threads_usual - threads that have not stopped in time have their own priorities again. */
void process_thread_usual(const struct process_threads *threads, const struct process_thread *thread);
void process_threads_usual(const struct process_threads *threads);

/* process_threads_go - let all go on. */
void process_threads_go(struct process_threads *threads);

/* process_threads_pass - for a time, let threads go on that stop late, after an error. */
void process_threads_pass(struct process_threads *threads, uint64_t ns);

/* process_threads_read - list the threads that are not in the list yet, without those that have ended. Return: how many; below 0: a negative errno. */
long process_threads_read(struct process_threads *threads);

#endif
