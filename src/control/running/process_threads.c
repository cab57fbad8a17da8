/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The threads of another process; see process_threads.h. ptrace(2) has the mechanism: PTRACE_SEIZE and
 * PTRACE_INTERRUPT.
 *
 * A thread is in one of these states:
 *
 *	listed	found in /proc/PID/task
 *	seized	traced by this thread; it runs, and its id cannot become another's
 *	asked	PTRACE_INTERRUPT was sent; it stops when it next leaves the kernel or gets a CPU
 *	stopped	it stands still; its registers were read
 *	gone	it has ended, or its id is another process's; it is dropped from the list
 *
 * process_threads_stop() seizes all before it asks the first one, since a refusal should stop none. Threads
 * that run may make others, so it lists again until nothing new has come. The time for which one thread
 * stands while others are waited for is limited (->stand_ns): if it is exceeded all go on, and after some
 * failures the limit grows.
 *
 * If the command dies the kernel detaches all, and they go on. So no state of a thread may depend on this
 * process: a system call that a stop has ended is repeated by its registers (restart_call()), in the same
 * step that lets it go.
 */
#if defined(__x86_64__)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "control/running/process_threads.h"
#include "control/running/thread_priority.h"
#include "session/clock.h"

enum {
	THREADS_MAX = 1 << 16,
	WAIT_NS = 10000, /* between looks */
	WAIT_LONGER_NS =
		150000, /* of one that will have to use its CPU for long: the kernel counts what it uses */
	STAND_NS = 1000000,
	RELEASE_NS = 100000000,
	STAND_TRIES = 10, /* failures after which threads stand for longer */
	SYSCALL_BYTES = 2,
};

static void pause_for(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* ---- stopping */

static bool process_threads_is_ours(const struct process_threads *threads, pid_t tid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)tid);
	return faccessat(threads->directory, name, F_OK, 0) == 0;
}

/* Whether a thread that refuses to be traced is one that ends; others refuse for lack of rights. */
static bool is_ending(const struct process_threads *threads, pid_t tid)
{
	char name[32], line[512];
	int file;
	ssize_t got;
	const char *state;

	snprintf(name, sizeof(name), "%d/stat", (int)tid);
	file = openat(threads->directory, name, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true;
	got = read(file, line, sizeof(line) - 1);
	close(file);
	line[got > 0 ? got : 0] = 0;
	state = strrchr(line, ')');
	return !state || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X';
}

/* The thread is not one of the process. It has to stop once, to be let go. */
static void process_threads_release(pid_t tid)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + RELEASE_NS;
	pid_t got = 0;
	int status = 0;

	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	while ((got = waitpid(tid, &status, __WALL | WNOHANG)) == 0 && clock_ns(CLOCK_MONOTONIC) < until)
		pause_for(WAIT_NS);
	if (got > 0 && WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, tid, NULL,
		       (void *)(uintptr_t)(status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status)));
}

/* An id may be another process's by now. As long as a thread is traced, its id stays its own. */
static int process_threads_seize(const struct process_threads *threads, struct process_thread *thread)
{
	int error = 0;

	if (thread->seized)
		return 0;
	if (!process_threads_is_ours(threads, thread->tid))
		error = -ESRCH;
	else if (ptrace(PTRACE_SEIZE, thread->tid, NULL, NULL) != 0)
		error = errno == EPERM && !is_ending(threads, thread->tid) ? -EPERM : -ESRCH;
	if (!error && !process_threads_is_ours(threads, thread->tid)) {
		process_threads_release(thread->tid);
		error = -ESRCH;
	}
	thread->seized = !error;
	thread->gone = error == -ESRCH;
	return error;
}

int process_thread_ask(struct process_threads *threads, struct process_thread *thread)
{
	const int error = process_threads_seize(threads, thread);

	if (error)
		return error;
	/* One that did not stop the last time may have done so meanwhile, and stands still since. */
	if (!thread->asked_ns)
		thread->asked_ns = thread->ran_ns = clock_ns(CLOCK_MONOTONIC);
	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0) {
		thread->gone = true;
		return -ESRCH;
	}
	/* Only now: it executes nothing of its program any more. */
	thread_priority_raise(threads->pid, thread->tid);
	thread_priority_gather(threads->pid, thread->tid);
	return 0;
}

/* A thread that executed another program has its process's id since. */
static void process_threads_give_back(const struct process_threads *threads,
				      const struct process_thread *thread)
{
	if (process_threads_is_ours(threads, thread->tid))
		thread_priority_restore(thread->tid);
	else
		thread_priority_leave(thread->tid);
}

void process_thread_usual(const struct process_threads *threads, const struct process_thread *thread)
{
	if (!thread->stopped)
		process_threads_give_back(threads, thread);
}

/* Look whether it has stopped, or ended. */
static void process_threads_look(struct process_thread *thread)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int status;
	const pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);

	if (got == 0) {
		thread->ran_ns = now;
		return;
	}
	if (got < 0 || !WIFSTOPPED(status)) {
		thread_priority_leave(thread->tid); /* the id is free */
		thread->gone = true;
		return;
	}
	thread_priority_restore(thread->tid);
	thread->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	thread->stopped = ptrace(PTRACE_GETREGS, thread->tid, NULL, &thread->registers) == 0;
	thread->gone = !thread->stopped;
}

/*
 * signal(7), "Interruption of system calls and library functions by stop signals", lists such calls; others
 * restart.
 */
bool process_thread_is_cut_off(const struct user_regs_struct *registers)
{
	if ((long long)registers->rax != -EINTR)
		return false;
	switch (registers->orig_rax) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
#ifdef SYS_io_uring_enter
	case SYS_io_uring_enter:
#endif
	/* On sockets with SO_RCVTIMEO or SO_SNDTIMEO; the whole time limit applies again. A call that has moved bytes returns their number. */
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
		return true;
	default:
		return false;
	}
}

/* Whether a signal waits for a thread that it may have interrupted. */
static bool has_signal(pid_t pid, pid_t tid)
{
	char path[64], line[256];
	unsigned long long own = 0, shared = 0, blocked = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "SigPnd: %llx", &own);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
	}
	if (file)
		fclose(file);
	return (own | shared) & ~blocked;
}

static void restart_call(struct process_thread *thread, pid_t pid)
{
	struct user_regs_struct *registers = &thread->registers;

	if (!process_thread_is_cut_off(registers) || thread->signal || has_signal(pid, thread->tid))
		return;
	/*
	 * As the kernel does it after a signal handler: the number again, and back to the syscall
	 * instruction, of two bytes.
	 */
	registers->rax = registers->orig_rax;
	registers->orig_rax = (unsigned long long)-1;
	registers->rip -= SYSCALL_BYTES;
	thread->changed = true;
}

void process_thread_go(struct process_threads *threads, struct process_thread *thread)
{
	uint64_t stood;

	restart_call(thread, threads->pid);
	if (thread->changed)
		ptrace(PTRACE_SETREGS, thread->tid, NULL, &thread->registers);
	ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(uintptr_t)thread->signal);
	stood = clock_ns(CLOCK_MONOTONIC) - thread->ran_ns;
	*thread = (struct process_thread){ .tid = thread->tid };
	if (stood > threads->longest_ns)
		threads->longest_ns = stood;
}

bool process_thread_stands(struct process_thread *thread)
{
	if (!thread->stopped && !thread->gone && thread->seized)
		process_threads_look(thread);
	return thread->stopped;
}

void process_thread_run(struct process_thread *thread)
{
	if (thread->changed)
		ptrace(PTRACE_SETREGS, thread->tid, NULL, &thread->registers);
	thread->stopped = thread->changed = false;
	thread->asked_ns = 0;
	ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(uintptr_t)thread->signal);
	thread->signal = 0;
}

bool process_thread_pass(struct process_thread *thread)
{
	process_threads_look(thread);
	if (thread->stopped)
		process_thread_run(thread);
	return !thread->gone;
}

/* ---- all threads */

int process_threads_begin(struct process_threads *threads, pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	*threads = (struct process_threads){ .pid = pid,
					     .directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	return threads->directory >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
}

void process_threads_end(struct process_threads *threads)
{
	if (threads->directory >= 0)
		close(threads->directory);
	free(threads->all);
	*threads = (struct process_threads){ .directory = -1 };
}

static bool is_listed(const struct process_threads *threads, pid_t tid)
{
	for (size_t n = 0; n < threads->count; n++)
		if (threads->all[n].tid == tid)
			return true;
	return false;
}

/* Their ids may be those of other threads. But a first thread that has ended is listed as long as the process has others. */
static void drop_gone(struct process_threads *threads)
{
	size_t kept = 0;

	for (size_t n = 0; n < threads->count; n++) {
		const struct process_thread *thread = &threads->all[n];

		if (!thread->gone ||
		    (process_threads_is_ours(threads, thread->tid) && is_ending(threads, thread->tid)))
			threads->all[kept++] = *thread;
	}
	threads->count = kept;
}

long process_threads_read(struct process_threads *threads)
{
	const int file = openat(threads->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	long added = 0;
	DIR *directory;

	drop_gone(threads);
	if (file < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	directory = fdopendir(file);
	if (!directory) {
		close(file);
		return -ENOMEM;
	}
	while (errno = 0, (entry = readdir(directory))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || is_listed(threads, tid))
			continue;
		if (threads->count == THREADS_MAX ||
		    !array_reserve(threads->all, threads->room, threads->count + 1)) {
			added = -ENOMEM;
			break;
		}
		threads->all[threads->count++] = (struct process_thread){ .tid = tid };
		added++;
	}
	if (added >= 0 && errno)
		added = -errno;
	closedir(directory);
	return added;
}

/* Threads that have ended, also those that end while they are asked, are no fault. */
static int ask_from(struct process_threads *threads, size_t first)
{
	/* None stops yet. */
	for (size_t n = first; n < threads->count; n++)
		if (process_threads_seize(threads, &threads->all[n]) == -EPERM)
			return -EPERM;
	for (size_t n = first; n < threads->count; n++)
		if (!threads->all[n].gone)
			process_thread_ask(threads, &threads->all[n]);
	return 0;
}

static bool all_stand(struct process_threads *threads)
{
	bool done = true;

	for (size_t n = 0; n < threads->count; n++) {
		struct process_thread *thread = &threads->all[n];

		done &= process_thread_stands(thread) || thread->gone;
	}
	return done;
}

static void forget_gone(struct process_threads *threads)
{
	size_t kept = 0;

	for (size_t n = 0; n < threads->count; n++)
		if (threads->all[n].seized && !threads->all[n].gone)
			threads->all[kept++] = threads->all[n];
	threads->count = kept;
}

void process_threads_usual(const struct process_threads *threads)
{
	for (size_t n = 0; n < threads->count; n++)
		process_threads_give_back(threads, &threads->all[n]);
	thread_priority_usual();
}

void process_threads_go(struct process_threads *threads)
{
	for (size_t n = 0; n < threads->count; n++)
		if (threads->all[n].stopped)
			process_thread_go(threads, &threads->all[n]);
	process_threads_usual(threads); /* only now: none stands any more while this thread waits for a CPU */
	forget_gone(threads);
}

void process_threads_pass(struct process_threads *threads, uint64_t ns)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + ns;

	do {
		pause_for(WAIT_NS);
		for (size_t n = 0; n < threads->count; n++)
			if (process_thread_stands(&threads->all[n]))
				process_thread_go(threads, &threads->all[n]);
		forget_gone(threads);
	} while (clock_ns(CLOCK_MONOTONIC) < until);
}

/* How long the thread that stands for the longest has stood; 0: none stands. */
static uint64_t standing_ns(const struct process_threads *threads)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t longest = 0;

	for (size_t n = 0; n < threads->count; n++)
		if (threads->all[n].stopped && now - threads->all[n].ran_ns > longest)
			longest = now - threads->all[n].ran_ns;
	return longest;
}

static int wait_for_all(struct process_threads *threads, uint64_t until)
{
	while (!all_stand(threads)) {
		const uint64_t standing = standing_ns(threads);

		if (clock_ns(CLOCK_MONOTONIC) >= until || standing > threads->stand_ns)
			return -ETIMEDOUT;
		/* The others follow within microseconds, and sleeping on busy CPUs may take long. */
		if (!thread_priority_is_aside())
			pause_for(WAIT_NS);
		else if (!standing)
			pause_for(WAIT_LONGER_NS);
	}
	return 0;
}

static bool some_stand(const struct process_threads *threads)
{
	for (size_t n = 0; n < threads->count; n++)
		if (threads->all[n].stopped)
			return true;
	return false;
}

/*
 * A thread that has not stopped yet may make others, so the list is complete when all of it stand. All of it may have been asked
 * before, without having stopped since.
 */
int process_threads_stop(struct process_threads *threads, uint64_t limit_ns)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + limit_ns;
	long more = 1;
	int error = 0;

	threads->stand_ns = threads->stand_ns ?: STAND_NS;
	thread_priority_hurry(threads->pid);
	for (bool first = true; !error && (first || more); first = false) {
		more = process_threads_read(threads);
		if (!first && !more)
			break;
		error = more < 0 ? (int)more : ask_from(threads, first ? 0 : threads->count - (size_t)more);
		if (!error)
			error = wait_for_all(threads, until);
	}
	if (!error && !some_stand(threads))
		error = -ESRCH;
	if (!error)
		threads->stand_ns = threads->failures = 0;
	else if (error == -ETIMEDOUT && ++threads->failures > STAND_TRIES)
		threads->stand_ns += threads->stand_ns / 2;
	if (error)
		process_threads_go(threads);
	return error;
}

#endif
