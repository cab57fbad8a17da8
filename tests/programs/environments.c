/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Executes itself in every way, with environments of all kinds. tests/source/calls/hooks.test compiles it with hooks.
 *
 *	environments ME WAY KIND	a child of fork, or of vfork or posix_spawn, executes ME, which is this file
 *	environments child ...	print the variables that do not matter to Burin
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
	LARGE = 20000, /* variables */
};

__attribute__((noinline)) int in_child(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static int is_ours(const char *variable)
{
	return strncmp(variable, "BURIN_", 6) == 0 || strncmp(variable, "LD_PRELOAD=", 11) == 0 ||
	       strncmp(variable, "ASAN_OPTIONS=", 13) == 0;
}

static int child(void)
{
	unsigned count = 0;
	const char *preload = getenv("PRELOADED"), *first = NULL;

	in_child(1);
	for (char **at = environ; *at; at++)
		if (!is_ours(*at)) {
			first = first ? first : *at;
			count++;
		}
	printf("%u %s %s\n", count, first ? first : "none",
	       !preload || strstr(getenv("LD_PRELOAD"), preload) ? "right" : "wrong");
	return 0;
}

static char **environment_of(const char *kind)
{
	static char *own[] = { "A=1", "B=2", NULL }, *none[] = { NULL }, *preload[4], text[4096], name[4096];
	static char *large[LARGE + 1];

	if (strcmp(kind, "own") == 0)
		return own;
	if (strcmp(kind, "none") == 0)
		return none;
	if (strcmp(kind, "null") == 0)
		return NULL;
	if (strcmp(kind, "preload") == 0) {
		snprintf(text, sizeof(text), "LD_PRELOAD=%s", getenv("OTHER"));
		snprintf(name, sizeof(name), "PRELOADED=%s", getenv("OTHER"));
		preload[0] = name;
		preload[1] = text;
		return preload;
	}
	if (strcmp(kind, "large") == 0) {
		for (unsigned n = 0; n < LARGE; n++)
			large[n] = "A=1";
		return large;
	}
	return environ;
}

__attribute__((noinline)) static void execute(const char *me, const char *way, char **to)
{
	char *arguments[] = { "me", "child", NULL };

	if (strcmp(way, "execve") == 0 || strcmp(way, "vfork") == 0)
		execve(me, arguments, to);
	if (strcmp(way, "execvpe") == 0)
		execvpe(me, arguments, to);
	if (strcmp(way, "execle") == 0)
		execle(me, "me", "child", NULL, to);
	if (strcmp(way, "fexecve") == 0)
		fexecve(open(me, O_RDONLY), arguments, to);
	environ = to;
	if (strcmp(way, "execv") == 0)
		execv(me, arguments);
	if (strcmp(way, "execvp") == 0)
		execvp(me, arguments);
	if (strcmp(way, "execl") == 0)
		execl(me, "me", "child", "3", "4", "5", "6", "7", "8", NULL);
	if (strcmp(way, "execlp") == 0)
		execlp(me, "me", "child", NULL);
	_exit(9);
}

int main(int count, char **words)
{
	const char *way = words[2];
	char *arguments[] = { "me", "child", NULL };
	int status = -1;
	pid_t pid = 0;
	char **to;

	if (strcmp(words[1], "child") == 0)
		return child();
	if (count < 4)
		return 2;
	to = environment_of(words[3]);
	if (strcmp(way, "posix_spawn") == 0)
		posix_spawn(&pid, words[1], NULL, NULL, arguments, to);
	else if (strcmp(way, "posix_spawnp") == 0)
		posix_spawnp(&pid, words[1], NULL, NULL, arguments, to);
	else
		pid = strcmp(way, "vfork") == 0 ? vfork() : fork();
	if (pid == 0)
		execute(words[1], way, to);
	waitpid(pid, &status, 0);
	return status != 0;
}
