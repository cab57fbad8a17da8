/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Loading a library into a running process; see load_calls.h. remote_call.c makes a thread of it call
 * functions.
 *
 * Reasons against it are looked for before one of its threads is touched: rights, another tracer, seccomp,
 * namespaces, the kind of program. Each has a message with the way out.
 *
 * The call has up to three steps, of which each needs the result of the one before: dlopen(), dlsym(), and
 * the function. If the library is mapped already, only the function is called, and only once its constructors
 * have run (`burin_calls_ready`): a thread may still load it for a command that was killed. load_patiently()
 * waits for that.
 *
 * Errors: a negative errno, which process_problem() explains, or -EINVAL with the problem in words.
 */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control/running/load_calls.h"
#include "control/running/process_memory.h"
#include "control/running/remote_call.h"
#include "session/clock.h"
#include "wire/wire_patch.h"

enum {
	BUSY_PAUSE_NS = 20000000,
};

static const uint64_t BUSY_NS = UINT64_C(10000000000);

/* What /proc/PID/status has. */
struct process_status {
	char state;
	int tracer, seccomp;
};

static bool read_status(pid_t pid, struct process_status *status)
{
	char path[48], line[256];
	FILE *file;

	*status = (struct process_status){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &status->state);
		sscanf(line, "TracerPid: %d", &status->tracer);
		sscanf(line, "Seccomp: %d", &status->seccomp);
	}
	fclose(file);
	return status->state != 0;
}

static bool is_same_namespace(pid_t pid, const char *kind)
{
	char path[64];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &own) != 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	return stat(path, &other) != 0 || (own.st_dev == other.st_dev && own.st_ino == other.st_ino);
}

static int load_calls_read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	char text[16] = "";

	if (file && !fgets(text, sizeof(text), file))
		text[0] = 0;
	if (file)
		fclose(file);
	return atoi(text);
}

static bool load_calls_is_own(pid_t pid)
{
	char path[48];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &status) == 0 && status.st_uid == geteuid();
}

static void load_calls_refused(pid_t pid, char *problem, size_t bytes)
{
	struct process_status status;

	if (read_status(pid, &status) && status.tracer)
		snprintf(problem, bytes,
			 "process %d traces it, such as gdb, strace or another burin record that begins; try "
			 "again, or detach that first",
			 status.tracer);
	else if (geteuid() == 0)
		snprintf(problem, bytes, "the kernel does not permit root to trace it (CAP_SYS_PTRACE)");
	else if (load_calls_is_own(pid) && load_calls_read_number("/proc/sys/kernel/yama/ptrace_scope") > 0)
		snprintf(problem, bytes,
			 "the system does not permit changes of a running process (sysctl "
			 "kernel.yama.ptrace_scope is not 0); run this command as root");
	else
		snprintf(problem, bytes,
			 "it belongs to another user, or has given up rights; run this command as root");
}

void process_problem(pid_t pid, int error, char *problem, size_t bytes)
{
	struct process_status status;

	if (error == -EPERM || error == -EACCES)
		load_calls_refused(pid, problem, bytes);
	else if (!read_status(pid, &status) || status.state == 'Z' || status.state == 'X' || error == -ENOENT)
		snprintf(problem, bytes, "the process has ended");
	else if (error == -ESRCH)
		snprintf(problem, bytes, "a thread has ended before it answered; try again");
	else if (error == -EAGAIN)
		snprintf(problem, bytes,
			 "none of its threads came to a place where it can load a library; try again");
	else if (error == -ESTALE)
		snprintf(problem, bytes, "it has executed another program meanwhile; try again");
	else if (error == -EBUSY)
		snprintf(problem, bytes,
			 "one of its threads loads the library for another command; try again");
	else if (error == -EDEADLK)
		snprintf(problem, bytes, "it holds the lock of its memory, whose readers wait; try again");
	else if (error == -ETIMEDOUT)
		snprintf(problem, bytes, "a thread did not answer within some seconds; try again");
	else if (error == -ENOEXEC)
		snprintf(problem, bytes,
			 "it does not use the GNU C library as a shared library; link it "
			 "dynamically, or start it by burin record --calls");
	else
		snprintf(problem, bytes, "%s", strerror(-error));
}

/* Return: whether a library may be loaded; if not, the problem. */
static bool load_calls_check(pid_t pid, char *problem, size_t bytes)
{
	struct process_status status;

	if (!read_status(pid, &status))
		snprintf(problem, bytes, "there is no such process");
	else if (status.state == 'Z' || status.state == 'X')
		snprintf(problem, bytes, "the process has ended");
	else if (status.tracer)
		load_calls_refused(pid, problem, bytes);
	else if (status.seccomp)
		snprintf(problem, bytes,
			 "it restricts its system calls (seccomp), so loading a library "
			 "might end it; start it by burin record --calls");
	else if (!is_same_namespace(pid, "pid") || !is_same_namespace(pid, "mnt"))
		snprintf(problem, bytes,
			 "it runs in another namespace, such as a container's; run this command "
			 "there, for example with nsenter -p -m -t PID");
	else
		return true;
	return false;
}

/* The kind of program, by the first bytes of its file in memory. */
static const char *load_calls_unsuitable(const struct process_memory *memory)
{
	const uint64_t entry = process_memory_auxiliary(memory, AT_ENTRY),
		       linker = process_memory_auxiliary(memory, AT_BASE);
	unsigned char head[EI_NIDENT] = { 0 };

	for (size_t n = 0; n < memory->count; n++)
		if (!memory->maps[n].offset && process_memory_read(memory, memory->maps[n].begin, head, 4) &&
		    memcmp(head, ELFMAG, SELFMAG) == 0 &&
		    process_memory_read(memory, memory->maps[n].begin, head, sizeof(head)))
			break;
	if (head[EI_CLASS] == ELFCLASS32 || (entry && entry < UINT32_MAX && head[EI_CLASS] != ELFCLASS64))
		return "it is a 32-bit program; build it for 64 bits";
	/* It is its own dynamic linker. */
	if (linker && (linker == process_memory_object(memory, "libc") ||
		       linker == process_memory_object(memory, "ld-musl-x86_64")))
		return "it uses the C library musl; only the GNU C library is supported";
	if (!linker || !process_memory_object(memory, "libc"))
		return "it is linked statically; link it dynamically";
	return NULL;
}

/* A function of the dynamic linker, which is in the C library, was in one of its own, or is to be had by another name. */
static uint64_t linker_function(const struct process_memory *memory, const char *name, const char *former)
{
	const uint64_t library = process_memory_object(memory, "libc");

	return process_memory_symbol(memory, library, name)
		       ?: process_memory_symbol(memory, process_memory_object(memory, "libdl"), name)
		       ?: process_memory_symbol(memory, library, former);
}

static const char other_version[] = "it has loaded libburin-calls.so of another version; restart it";

static const char *const answers[WIRE_PATCH_ANSWERS] = {
	[WIRE_PATCH_NO_SESSION] = "it could not make a session; its standard error may have the reason",
	[WIRE_PATCH_NO_CALLS] = "its session was made without calls; start it by burin record --calls",
	[WIRE_PATCH_CONTEXTS] =
		"it switches between stacks (swapcontext and the like), which must be seen from "
		"its start; start it by burin record --calls",
};

/*
 * Whether a library that is mapped can be called: no thread is loading it any more. Libraries of other versions, without the
 * word, have other tables, too.
 * Return: 0, -EBUSY, or -EINVAL and the problem.
 */
static int check_loaded(const struct process_memory *memory, uint64_t loaded, char *problem, size_t bytes)
{
	const uint64_t address = process_memory_symbol(memory, loaded, "burin_calls_ready");
	uint32_t ready = 0;

	if (!address) {
		snprintf(problem, bytes, "%s", other_version);
		return -EINVAL;
	}
	return process_memory_read(memory, address, &ready, sizeof(ready)) && ready ? 0 : -EBUSY;
}

/*
 * Load the library, unless it is there, and call its function: all of it in one call, so that the thread waits for a CPU once.
 * Return: 0 or a negative errno; or -EINVAL and the problem.
 */
static int load_calls_load(struct process_memory *memory, struct process_threads *threads,
			   const char *library, struct load_calls_result *result, char *problem, size_t bytes)
{
	static const char attach[] = "burin_calls_attach";
	const uint64_t loaded = process_memory_object(memory, "libburin-calls");
	struct remote_call call = { .function = process_memory_symbol(memory, loaded, attach) };
	uint64_t steps = 1;
	int error;

	if (loaded && (error = check_loaded(memory, loaded, problem, bytes)) != 0)
		return error;
	if (!loaded) {
		call = (struct remote_call){ .function =
						     linker_function(memory, "dlopen", "__libc_dlopen_mode"),
					     .text = library,
					     .argument = RTLD_NOW | RTLD_GLOBAL,
					     .next = linker_function(memory, "dlsym", "__libc_dlsym"),
					     .name = attach };
		steps = 3;
		if (!call.function || !call.next)
			return -ENOEXEC;
	}
	error = call.function ? remote_call(memory, threads, &call) : 0;
	result->thread_ns += call.thread_ns;
	if (error || (call.steps == steps && call.result == WIRE_PATCH_READY))
		return error;
	if (call.steps == steps && call.result == WIRE_PATCH_BUSY)
		return -EBUSY;
	if (!loaded && call.steps < 2)
		snprintf(problem, bytes, "it cannot load %s; can its user read that file?", library);
	else if (call.steps != steps)
		snprintf(problem, bytes, "%s", other_version);
	else
		snprintf(problem, bytes, "%s",
			 call.result < WIRE_PATCH_ANSWERS ? answers[call.result] : "it gave no valid answer");
	return -EINVAL;
}

/* A thread that loads the library for a command that was killed goes on with that. */
static int load_patiently(struct process_memory *memory, struct process_threads *threads, const char *library,
			  struct load_calls_result *result, char *problem, size_t bytes)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + BUSY_NS;
	int error;

	for (;;) {
		error = load_calls_load(memory, threads, library, result, problem, bytes);
		if (error != -EBUSY || clock_ns(CLOCK_MONOTONIC) >= until)
			return error;
		nanosleep(&(struct timespec){ .tv_nsec = BUSY_PAUSE_NS }, NULL);
		error = process_memory_maps(memory);
		if (error)
			return error;
	}
}

int load_calls(pid_t pid, const char *library, struct load_calls_result *result, char *problem, size_t bytes)
{
	struct process_threads threads;
	struct process_memory memory;
	const char *what;
	int error;

	*problem = 0;
	*result = (struct load_calls_result){ 0 };
	if (!load_calls_check(pid, problem, bytes))
		return -EINVAL;
	error = process_threads_begin(&threads, pid);
	if (!error)
		error = process_memory_open(&memory, pid);
	if (!error) {
		what = load_calls_unsuitable(&memory);
		if (what)
			snprintf(problem, bytes, "%s", what);
		error = what ? -EINVAL : load_patiently(&memory, &threads, library, result, problem, bytes);
		result->longest_ns = threads.longest_ns;
		process_memory_close(&memory);
	}
	process_threads_end(&threads);
	if (error && !*problem)
		process_problem(pid, error, problem, bytes);
	return error;
}

#endif
