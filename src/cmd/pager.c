/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A pager; see pager.h. */
#include "cmd/pager.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

static bool is_allowed(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && geteuid() != 0 && getauxval(AT_SECURE) == 0 && term &&
	       strcmp(term, "dumb");
}

/* The pager does not inherit the limits of a command that reads a trace. */
__attribute__((noreturn)) static void pager_run(int input)
{
	const char *command = getenv("PAGER");
	struct rlimit limit;

	dup2(input, STDIN_FILENO);
	close(input);
	signal(SIGPIPE, SIG_DFL);
	if (getrlimit(RLIMIT_DATA, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_DATA, &limit);
	}
	if (command && *command)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp("less", "less", "-FRX", (char *)NULL);
	execlp("cat", "cat", (char *)NULL);
	_exit(127);
}

void pager_begin(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (!is_allowed() || (command && !strcmp(command, "cat")) || pipe(ends))
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		close(ends[1]);
		pager_run(ends[0]);
	}
	close(ends[0]);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Ctrl-C is for the pager, which goes on; without it, a write fails. */
		signal(SIGINT, SIG_IGN);
	}
	close(ends[1]);
}

void pager_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0)
		if (kill(pager, 0))
			break;
	pager = 0;
}
