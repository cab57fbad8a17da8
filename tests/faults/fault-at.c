/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fault-at KIND ONCE|ON N REPORT COMMAND...: run a command, in which the Nth call of a kind fails; N from 1, 0: none does.
 *
 *	memory	allocations (malloc and its kin, by faulty-memory.so, which must be preloaded) and mmap
 *	calls	the other system calls that can fail
 *
 * ONCE: the Nth call fails. ON: so do all after it, but those that give something back or wait. The processes that the command forks belong to it until they
 * execute another program: it is detached and runs freely. Writing to stderr never fails, since the tests ask for
 * messages.
 *
 * In REPORT: a line for each call that was counted when N is 0 ("call NAME PLACE", PLACE being the return
 * addresses in the command's own text, a name for the place in the source), one for the call that failed ("failed ..."), and at
 * the end "calls N" and one of "exit STATUS", "signal N", "hung"; "left N" if N processes were still there.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault-at.h"

#if defined(__x86_64__) && defined(PTRACE_GET_SYSCALL_INFO)

enum {
	TASKS = 256,
	STACK_WORDS = 512,
	PLACES = 8,	     /* return addresses that a place is named by */
	LIMIT_S = 20,	     /* what takes longer hangs */
	AFTERWARDS_MS = 500, /* how long processes may outlive the command */
	CUT = 4096,	     /* no errno: half of it is read or written */
};

/* How a call fails; the kinds of an error are taken in turn. */
static const struct fault {
	long call;
	const char *name;
	int errors[3];
} faults[] = {
	{ FAULT_ALLOCATE, "malloc", { ENOMEM } },
	{ SYS_mmap, "mmap", { ENOMEM } },
	{ SYS_mremap, "mremap", { ENOMEM } },
	{ SYS_madvise, "madvise", { ENOMEM, EAGAIN } },
	{ SYS_open, "open", { EMFILE, EIO, ENOMEM } },
	{ SYS_openat, "openat", { EMFILE, EIO, ENOMEM } },
	{ SYS_openat2, "openat2", { EMFILE, EIO, EAGAIN } },
	{ SYS_read, "read", { EIO, CUT, EINTR } },
	{ SYS_pread64, "pread64", { EIO, CUT } },
	{ SYS_readv, "readv", { EIO } },
	{ SYS_write, "write", { ENOSPC, CUT, EIO } },
	{ SYS_pwrite64, "pwrite64", { ENOSPC, CUT, EIO } },
	{ SYS_writev, "writev", { ENOSPC } },
	{ SYS_close, "close", { EIO } },
	{ SYS_stat, "stat", { EIO } },
	{ SYS_lstat, "lstat", { EIO } },
	{ SYS_fstat, "fstat", { EIO } },
	{ SYS_newfstatat, "fstatat", { EIO, ENOMEM } },
	{ SYS_statx, "statx", { EIO } },
	{ SYS_access, "access", { EIO } },
	{ SYS_faccessat, "faccessat", { EIO } },
	{ SYS_lseek, "lseek", { EINVAL } },
	{ SYS_ftruncate, "ftruncate", { ENOSPC, EIO } },
	{ SYS_truncate, "truncate", { EIO } },
	{ SYS_fallocate, "fallocate", { ENOSPC } },
	{ SYS_rename, "rename", { EIO, ENOSPC } },
	{ SYS_renameat, "renameat", { EIO, ENOSPC } },
	{ SYS_renameat2, "renameat2", { EIO, ENOSPC } },
	{ SYS_unlink, "unlink", { EIO } },
	{ SYS_unlinkat, "unlinkat", { EIO } },
	{ SYS_mkdir, "mkdir", { ENOSPC, EIO } },
	{ SYS_mkdirat, "mkdirat", { ENOSPC, EIO } },
	{ SYS_linkat, "linkat", { EIO } },
	{ SYS_chmod, "chmod", { EIO } },
	{ SYS_fchmod, "fchmod", { EIO } },
	{ SYS_fchown, "fchown", { EPERM } },
	{ SYS_readlink, "readlink", { EIO } },
	{ SYS_readlinkat, "readlinkat", { EIO } },
	{ SYS_getdents64, "getdents64", { EIO } },
	{ SYS_fcntl, "fcntl", { ENOLCK, EMFILE } },
	{ SYS_flock, "flock", { ENOLCK, EINTR } },
	{ SYS_dup, "dup", { EMFILE } },
	{ SYS_dup2, "dup2", { EMFILE } },
	{ SYS_dup3, "dup3", { EMFILE } },
	{ SYS_pipe, "pipe", { EMFILE, ENFILE } },
	{ SYS_pipe2, "pipe2", { EMFILE, ENFILE } },
	{ SYS_memfd_create, "memfd_create", { EMFILE } },
	{ SYS_socketpair, "socketpair", { EMFILE } },
	{ SYS_poll, "poll", { EINTR, ENOMEM } },
	{ SYS_ppoll, "ppoll", { EINTR, ENOMEM } },
	{ SYS_epoll_create1, "epoll_create1", { EMFILE } },
	{ SYS_epoll_ctl, "epoll_ctl", { ENOSPC, ENOMEM } },
	{ SYS_epoll_wait, "epoll_wait", { EINTR } },
	{ SYS_epoll_pwait, "epoll_pwait", { EINTR } },
	{ SYS_signalfd4, "signalfd4", { EMFILE } },
	{ SYS_pidfd_open, "pidfd_open", { EMFILE } },
	{ SYS_eventfd2, "eventfd2", { EMFILE } },
	{ SYS_timerfd_create, "timerfd_create", { EMFILE } },
	{ SYS_inotify_init1, "inotify_init1", { EMFILE } },
	{ SYS_bpf, "bpf", { EPERM, ENOMEM, EMFILE } },
	{ SYS_fsopen, "fsopen", { EPERM, ENOSYS } },
	{ SYS_fsmount, "fsmount", { EPERM } },
	{ SYS_perf_event_open, "perf_event_open", { EMFILE, EACCES, ENOMEM } },
	{ SYS_ioctl, "ioctl", { EIO, ENOMEM } },
	{ SYS_process_vm_readv, "process_vm_readv", { EPERM, ENOMEM } },
	{ SYS_fork, "fork", { EAGAIN, ENOMEM } },
	{ SYS_clone, "clone", { EAGAIN, ENOMEM } },
	{ SYS_clone3, "clone3", { EAGAIN, ENOMEM } },
	{ SYS_execve, "execve", { ENOMEM, EIO } },
	{ SYS_wait4, "wait4", { EINTR } },
	{ SYS_nanosleep, "nanosleep", { EINTR } },
	{ SYS_clock_nanosleep, "clock_nanosleep", { EINTR } },
	{ SYS_prctl, "prctl", { EPERM, EINVAL } },
	{ SYS_sched_setaffinity, "sched_setaffinity", { EINVAL } },
	{ SYS_sched_getaffinity, "sched_getaffinity", { EINVAL } },
	{ SYS_setrlimit, "setrlimit", { EPERM } },
	{ SYS_prlimit64, "prlimit64", { EPERM } },
};

static struct {
	bool memory, on; /* what fails, and whether it goes on failing */
	unsigned long want;
	unsigned long seen;
	bool begun; /* the command's own code runs: the loader's calls do not count */
	pid_t command;
	uint64_t text_begin, text_end, text_base;
	uint64_t asking; /* where faulty-memory.so looks whether to ask */
	FILE *report;
} run;

static struct task {
	pid_t pid;
	const struct fault *fault; /* of the call that it is in, when that must fail */
	int error;
} tasks[TASKS];

static struct task *find_task(pid_t pid)
{
	for (unsigned n = 0; n < TASKS; n++) {
		if (tasks[n].pid == pid)
			return &tasks[n];
	}
	return NULL;
}

static struct task *task_of(pid_t pid)
{
	struct task *task = find_task(pid);

	if (!task)
		task = find_task(0);
	if (!task)
		exit(3);
	task->pid = pid;
	return task;
}

static const struct fault *fault_of(uint64_t call)
{
	for (unsigned n = 0; n < sizeof(faults) / sizeof(faults[0]); n++) {
		if (faults[n].call == (long)call)
			return &faults[n];
	}
	return NULL;
}

/* The file that a task's descriptor refers to. */
static void file_of(pid_t pid, uint64_t fd, char *name, size_t bytes)
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)fd);
	length = readlink(link, name, bytes - 1);
	name[length < 0 ? 0 : length] = 0;
}

static bool is_memory(const struct fault *fault)
{
	return fault->call == FAULT_ALLOCATE || fault->call == SYS_mmap || fault->call == SYS_mremap ||
	       fault->call == SYS_madvise;
}

static bool is_cut_safely(pid_t pid, const struct fault *fault, const struct __ptrace_syscall_info *info)
{
	char name[256];

	file_of(pid, info->entry.args[0], name, sizeof(name));
	if (fault->call == SYS_write && (!strncmp(name, "pipe:", 5) || *name == '/'))
		return info->entry.args[2] > 8;
	/* One word, aligned, is written as a whole or not at all. */
	return info->entry.args[2] > 8 && *name == '/' && strncmp(name, "/proc/", 6) != 0;
}

static bool may_be_interrupted(pid_t pid, const struct fault *fault, uint64_t fd)
{
	char name[256];

	if (fault->call != SYS_read)
		return true;
	file_of(pid, fd, name, sizeof(name));
	return strncmp(name, "pipe:", 5) == 0;
}

/* Which error it is this time; never one that the kernel would not give. */
static int choose(pid_t pid, const struct fault *fault, const struct __ptrace_syscall_info *info)
{
	unsigned kinds = 0;
	int error;

	while (kinds < 3 && fault->errors[kinds])
		kinds++;
	error = fault->errors[run.seen == run.want ? run.seen % kinds : 0];
	if ((error == CUT && !is_cut_safely(pid, fault, info)) ||
	    (error == EINTR && !may_be_interrupted(pid, fault, info->entry.args[0])))
		return fault->errors[0];
	return error;
}

/* The return addresses in the command's text that lie on the stack, innermost first; some may be stale. */
static void print_place(pid_t pid, const struct __ptrace_syscall_info *info)
{
	uint64_t words[STACK_WORDS];
	struct iovec here = { words, sizeof(words) },
		     there = { (void *)(uintptr_t)info->stack_pointer, sizeof(words) };
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
	unsigned told = 0;

	while (got <= 0 && there.iov_len > 64) { /* near the stack's end */
		there.iov_len /= 2;
		got = process_vm_readv(pid, &here, 1, &there, 1, 0);
	}
	for (ssize_t n = 0; n < got / 8 && told < PLACES; n++) {
		if (words[n] < run.text_begin || words[n] >= run.text_end)
			continue;
		fprintf(run.report, "%s%llx", told++ ? "," : " ",
			(unsigned long long)(words[n] - run.text_base));
	}
}

static void print_call(pid_t pid, const char *verb, const struct fault *fault,
		       const struct __ptrace_syscall_info *info)
{
	fprintf(run.report, "%s %s", verb, fault->name);
	print_place(pid, info);
	fputc('\n', run.report);
}

static void print_failure(struct task *task, const struct __ptrace_syscall_info *info)
{
	char name[256] = "";

	if (task->fault->call < 0x10000)
		file_of(task->pid, info->entry.args[0], name, sizeof(name));
	fprintf(run.report, "failed %lu %s(%s) by %s%s", run.seen, task->fault->name, name,
		task->error == CUT ? "CUT" : strerrorname_np(task->error),
		task->pid == run.command ? "" : " in a child");
	print_place(task->pid, info);
	fputc('\n', run.report);
}

/* Where the command's own code lies, by /proc/PID/maps. */
static void find_text(pid_t pid)
{
	char path[64], line[512], exe[256], exe_link[64];
	ssize_t length;
	FILE *maps;

	snprintf(exe_link, sizeof(exe_link), "/proc/%d/exe", (int)pid);
	length = readlink(exe_link, exe, sizeof(exe) - 1);
	exe[length < 0 ? 0 : length] = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long long begin, end, offset;
		char mode[8];

		if (!strstr(line, exe) ||
		    sscanf(line, "%llx-%llx %7s %llx", &begin, &end, mode, &offset) != 4)
			continue;
		if (run.text_base == 0)
			run.text_base = begin;
		if (mode[2] == 'x') {
			run.text_begin = begin;
			run.text_end = end;
		}
	}
	if (maps)
		fclose(maps);
}

static bool set_registers(pid_t pid, bool entry, uint64_t value)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
		return false;
	if (entry)
		regs.orig_rax = value;
	else
		regs.rax = value;
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs) == 0;
}

/* Allocations are no longer asked about. */
static void stop_asking(pid_t pid)
{
	if (run.asking)
		ptrace(PTRACE_POKEDATA, pid, (void *)(uintptr_t)run.asking, NULL);
}

static void cut(pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
		return;
	regs.rdx /= 2;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

static bool counts(const struct fault *fault, const struct __ptrace_syscall_info *info)
{
	if (!run.begun || !fault || is_memory(fault) != run.memory)
		return false;
	if ((fault->call == SYS_write || fault->call == SYS_writev || fault->call == SYS_ioctl) &&
	    info->entry.args[0] == STDERR_FILENO)
		return false;
	if (fault->call == SYS_ioctl && (info->entry.args[1] & 0xff00) == 0x5400) /* isatty */
		return false;
	return true;
}

/* Whether a fault of this kind can last. What gives something back, and waiting, works again. */
static bool lasts(const struct fault *fault)
{
	static const long others[] = { SYS_close,     SYS_unlink,    SYS_unlinkat,
				       SYS_rmdir,     SYS_poll,	     SYS_ppoll,
				       SYS_wait4,     SYS_nanosleep, SYS_clock_nanosleep,
				       SYS_epoll_wait };

	for (unsigned n = 0; n < sizeof(others) / sizeof(others[0]); n++) {
		if (fault->call == others[n])
			return false;
	}
	return true;
}

static void at_entry(struct task *task, const struct __ptrace_syscall_info *info)
{
	const uint64_t asked = info->entry.nr == SYS_gettid ? info->entry.args[0] : 0;
	const struct fault *fault = fault_of(asked == FAULT_ALLOCATE ? asked : info->entry.nr);

	if (asked == FAULT_BEGIN && task->pid == run.command) {
		run.begun = true;
		run.asking = info->entry.args[1];
		find_text(task->pid);
		if (!run.memory)
			stop_asking(task->pid);
	}
	if (!counts(fault, info))
		return;
	run.seen++;
	if (run.want == 0)
		print_call(task->pid, "call", fault, info);
	if (run.want == 0 || run.seen < run.want || (run.seen > run.want && !(run.on && lasts(fault))))
		return;
	task->fault = fault;
	task->error = choose(task->pid, fault, info);
	if (run.seen == run.want)
		print_failure(task, info);
	if (task->error == CUT)
		cut(task->pid);
	else if (fault->call != SYS_close)		    /* which closes, whatever it returns */
		set_registers(task->pid, true, SYS_gettid); /* which no filter of calls refuses */
}

static void at_exit(struct task *task)
{
	if (task->fault && task->error != CUT)
		set_registers(task->pid, false, (uint64_t)-task->error);
	task->fault = NULL;
}

static void at_call(struct task *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		at_entry(task, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		at_exit(task);
}

/* A task has stopped: look why, and let it go on. */
static void stopped(pid_t pid, int status)
{
	const int event = status >> 16, number = WSTOPSIG(status);
	struct task *task = task_of(pid);
	long deliver = 0;

	if (number == (SIGTRAP | 0x80)) {
		at_call(task);
	} else if (event == PTRACE_EVENT_EXEC && run.begun) {
		task->pid = 0;
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
		return;
	} else if (event == 0) {
		deliver = number;
	}
	/* After the one call that fails there is nothing to look at. */
	if (run.want && !run.on && run.seen >= run.want && !task->fault) {
		stop_asking(pid);
		ptrace(PTRACE_CONT, pid, NULL, (void *)deliver);
	} else {
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)deliver);
	}
}

/* Everything that is still there of what we started. */
static unsigned kill_rest(void)
{
	char path[64], line[4096];
	unsigned killed = 0;

	/* As a subreaper we are the parent of every orphan. */
	for (unsigned round = 0; round < 8; round++) {
		FILE *children;

		snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
		children = fopen(path, "r");
		if (!children)
			break;
		if (!fgets(line, sizeof(line), children))
			*line = 0;
		fclose(children);
		if (!*line)
			break;
		for (char *save = NULL, *word = strtok_r(line, " ", &save); word;
		     word = strtok_r(NULL, " ", &save)) {
			kill(atoi(word), SIGKILL);
			killed++;
		}
		while (waitpid(-1, NULL, __WALL) > 0)
			;
	}
	return killed;
}

static volatile sig_atomic_t late;

static void on_alarm(int number)
{
	(void)number;
	late = 1;
}

static void alarm_in(unsigned ms)
{
	struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };
	struct itimerspec spec = { .it_value = time };
	static timer_t timer;
	static bool made;

	if (!made)
		made = timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0;
	timer_settime(timer, 0, &spec, NULL);
}

/* Until the command, and all that it started, has ended. */
static void watch(void)
{
	bool ended = false;
	int status;

	alarm_in(LIMIT_S * 1000);
	while (!late) {
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno != EINTR)
			break;
		if (pid < 0)
			continue;
		if (WIFSTOPPED(status)) {
			stopped(pid, status);
			continue;
		}
		if (find_task(pid))
			find_task(pid)->pid = 0;
		if (pid != run.command)
			continue;
		ended = true;
		if (WIFEXITED(status))
			fprintf(run.report, "exit %d\n", WEXITSTATUS(status));
		else
			fprintf(run.report, "signal %d\n", WTERMSIG(status));
		alarm_in(AFTERWARDS_MS);
	}
	fprintf(run.report, "calls %lu\n", run.seen);
	if (!ended)
		fputs("hung\n", run.report);
	if (late) {
		unsigned left = kill_rest();

		if (ended && left)
			fprintf(run.report, "left %u\n", left);
	}
}

static _Noreturn void become(char **command, int gate)
{
	char library[512], byte;
	ssize_t length = readlink("/proc/self/exe", library, sizeof(library) - 1);
	char *slash;

	library[length < 0 ? 0 : length] = 0;
	slash = strrchr(library, '/');
	if (slash && (size_t)(slash - library) < sizeof(library) - 32) {
		strcpy(slash, "/libfaulty-memory.so");
		setenv("LD_PRELOAD", library, 1);
	}
	if (read(gate, &byte, 1) == 1)
		execv(*command, command);
	_exit(127);
}

int main(int argc, char **argv)
{
	const int options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC |
			    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	struct sigaction action = { .sa_handler = on_alarm };
	int gate[2];

	if (argc < 6 || pipe2(gate, O_CLOEXEC) != 0)
		return 2;
	run.memory = !strcmp(argv[1], "memory");
	run.on = !strcmp(argv[2], "on");
	run.want = strtoul(argv[3], NULL, 10);
	run.report = fopen(argv[4], "we");
	if (!run.report)
		return 2;
	sigaction(SIGALRM, &action, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	run.command = fork();
	if (run.command == 0)
		become(argv + 5, gate[0]);
	if (ptrace(PTRACE_SEIZE, run.command, NULL, (void *)(uintptr_t)options) != 0 ||
	    write(gate[1], "", 1) != 1)
		return 1;
	ptrace(PTRACE_INTERRUPT, run.command, NULL, NULL); /* from where on it stops at its calls */
	watch();
	return fclose(run.report) != 0;
}

#else

int main(void)
{
	puts("skip fault-at knows x86-64 only");
	return 77;
}

#endif
