/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that gives up the processor's counter, in which reading the clock is SIGSEGV, and goes on with tracepoints: clockless HOW.
 * HOW: strict, by strict seccomp, where each system call but four is SIGKILL, too; tsc, by PR_SET_TSC, in threads and children that it makes
 * afterwards, and it gets it back; refused, strict seccomp that the kernel does not permit. Its status is 3.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"

static char text[1000];

/* Five records. */
static void *trace(void *unused)
{
	BURIN_TRACE("clockless.none", "nothing");
	BURIN_TRACE("clockless.number", "n=%d", 1);
	BURIN_TRACE("clockless.text", "s=%s", "text");
	BURIN_TRACE("clockless.long", "s=%s", text);
	BURIN_BEGIN("clockless.span", "n=%d", 1);
	return unused;
}

static int strict(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 77;
	trace(NULL);
	if (write(STDOUT_FILENO, "end\n", 4) != 4)
		return 78;
	return (int)syscall(SYS_exit, 3);
}

static int tsc(void)
{
	pthread_t thread;
	int status = 0;
	pid_t child;

	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
		return 77;
	trace(NULL);
	if (pthread_create(&thread, NULL, trace, NULL) == 0)
		pthread_join(thread, NULL);
	child = fork();
	if (child == 0) {
		trace(NULL);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0 || prctl(PR_SET_TSC, PR_TSC_ENABLE) != 0)
		return 78;
	trace(NULL);
	return write(STDOUT_FILENO, "end\n", 4) == 4 ? 3 : 79;
}

static int refused(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { .len = 1, .filter = all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
		return 78;
	trace(NULL);
	return write(STDOUT_FILENO, "end\n", 4) == 4 ? 3 : 79;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	memset(text, 'x', sizeof(text) - 1);
	trace(NULL);
	if (strcmp(how, "strict") == 0)
		return strict();
	return strcmp(how, "tsc") == 0 ? tsc() : refused();
}
