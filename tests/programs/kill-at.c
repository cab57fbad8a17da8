/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kill-at N whole|torn COMMAND...: run a command and kill it (not its children) right after its Nth system call that
 * changes a file, N from 1. With torn, if that call is a write of more than one word, only half of it is written.
 *
 * Prints `pid PID` and the result: `killed CALL`, `uncut CALL` (killed, but the call could not be halved), or `exit STATUS`.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <signal.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef __x86_64__

/* The name of a system call; NULL: it changes no file. */
static const char *changes(const struct user_regs_struct *regs)
{
	switch (regs->orig_rax) {
	case SYS_pwrite64:
		return "pwrite64";
	case SYS_write:
		return regs->rdi > 2 ? "write" : NULL;
	case SYS_writev:
		return "writev";
	case SYS_ftruncate:
		return "ftruncate";
	case SYS_fallocate:
		return "fallocate";
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
		return "rename";
	case SYS_unlink:
	case SYS_unlinkat:
		return "unlink";
	case SYS_mkdir:
	case SYS_mkdirat:
		return "mkdir";
	case SYS_open:
		return regs->rsi & O_CREAT ? "open" : NULL;
	case SYS_openat:
		return regs->rdx & O_CREAT ? "open" : NULL;
	default:
		return NULL;
	}
}

/* Halve a write. A write of one word stays whole, since it lies within one page. Return: whether it was halved. */
static bool halve(pid_t pid, struct user_regs_struct *regs)
{
	if ((regs->orig_rax != SYS_pwrite64 && regs->orig_rax != SYS_write) || regs->rdx <= 8)
		return false;
	regs->rdx /= 2;
	return ptrace(PTRACE_SETREGS, pid, NULL, regs) == 0;
}

static int end(pid_t pid, const char *verdict, const char *call)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%s %s\n", verdict, call);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long want = argc > 3 ? strtoul(argv[1], NULL, 10) : 0, seen = 0;
	const char *call = NULL, *verdict = "killed";
	bool torn = argc > 3 && strcmp(argv[2], "torn") == 0, entry = true;
	struct user_regs_struct regs;
	int status;
	pid_t pid;

	if (want == 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	printf("pid %d\n", (int)pid);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC));
	for (long signal_number = 0;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)signal_number) != 0)
			return 1;
		signal_number = 0;
		if (waitpid(pid, &status, 0) != pid)
			return 1;
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			printf("exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
			return 0;
		}
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			if (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
				signal_number = WSTOPSIG(status);
			continue;
		}
		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		if (entry) {
			call = changes(&regs);
			if (call && ++seen == want && torn && !halve(pid, &regs))
				verdict = "uncut";
		} else if (call && seen == want) {
			return end(pid, verdict, call);
		}
		entry = !entry;
	}
}

#else

int main(void)
{
	puts("skip kill-at supports x86-64 only");
	return 77;
}

#endif
