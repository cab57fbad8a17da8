/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that allows itself a few system calls and is killed by any other (SIGSYS): confined HOW [fork|threads] COUNT.
 * HOW: off, nothing is allowed but what it needs itself; listed, and what README says that recording needs.
 * It answers each line of its standard input: the first as it is, the second when it has confined itself, the others
 * when it has traced.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"

#ifndef SYS_readlink /* as the C library has it then */
#define SYS_readlink SYS_readlinkat
#endif

/* Its own: input and output, the end, threads and children. */
static const unsigned own[] = { SYS_read,	 SYS_write, SYS_exit_group,	 SYS_exit,
				SYS_futex,	 SYS_clone, SYS_clone3,		 SYS_wait4,
				SYS_waitid,	 SYS_mmap,  SYS_munmap,		 SYS_brk,
				SYS_mprotect,	 SYS_rseq,  SYS_set_robust_list, SYS_rt_sigprocmask,
				SYS_rt_sigaction };
/* README, "In a sandbox". */
static const unsigned listed[] = { SYS_mprotect, SYS_madvise,	  SYS_gettid,	      SYS_prctl,
				   SYS_getppid,	 SYS_readlink,	  SYS_openat,	      SYS_close,
				   SYS_kill,	 SYS_sched_yield, SYS_clock_nanosleep };

static unsigned allow(struct sock_filter *filter, unsigned used, const unsigned *calls, unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[n], 0, 1);
		filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return used;
}

/* The C library gives the stacks of threads back; we do not: of madvise only MADV_DONTNEED is the program's own. */
static unsigned allow_stacks(struct sock_filter *filter, unsigned used)
{
	const struct sock_filter more[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};

	memcpy(filter + used, more, sizeof(more));
	return used + sizeof(more) / sizeof(more[0]);
}

/* By bare system calls: the library is not to learn of it. */
static void confine(int more)
{
	struct sock_filter filter[96] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .filter = filter };
	unsigned used = allow(filter, 1, own, sizeof(own) / sizeof(own[0]));

	if (more)
		used = allow(filter, used, listed, sizeof(listed) / sizeof(listed[0]));
	used = allow_stacks(filter, used);
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = (unsigned short)used;
	if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		exit(77);
}

static void *trace(void *count)
{
	for (long n = 0; n < *(long *)count; n++)
		BURIN_TRACE("confined.event", "n=%ld", n);
	return NULL;
}

/* No buffer of the C library's: it would want memory. */
static int next_line(void)
{
	char byte;
	ssize_t got;

	while ((got = read(STDIN_FILENO, &byte, 1)) == 1 && byte != '\n')
		continue;
	return got == 1;
}

static void answer(void)
{
	if (write(STDOUT_FILENO, "1\n", 2) != 2)
		_exit(1);
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[3]) : 1;
	const char *how = argc > 2 ? argv[2] : "";

	next_line();
	answer();
	next_line();
	confine(argc > 1 && !strcmp(argv[1], "listed"));
	answer();
	while (next_line()) {
		pthread_t thread;

		if (!strcmp(how, "threads") && pthread_create(&thread, NULL, trace, &count) == 0)
			pthread_join(thread, NULL);
		if (!strcmp(how, "fork")) {
			pid_t child = fork();

			if (child == 0) {
				trace(&count);
				exit(0);
			}
			if (child > 0)
				waitpid(child, NULL, 0);
		}
		trace(&count);
		answer();
	}
	return 5;
}
