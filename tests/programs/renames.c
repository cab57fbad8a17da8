/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that change their names. Each record says what its thread is called.
 *
 *	renames self N | silent N | flip N | other N | begin | forks | exec | errors | quick
 *
 * self, silent and flip wait for the end of their input when they are done.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"

static void here(const char *name)
{
	BURIN_TRACE("rename.here", "name=%s", name);
}

static void become(const char *name, unsigned n)
{
	if (n % 2)
		pthread_setname_np(pthread_self(), name);
	else
		prctl(PR_SET_NAME, name, 0, 0, 0);
}

static void change(unsigned count, unsigned names, bool silently)
{
	char name[16];

	for (unsigned n = 0; n < count; n++) {
		snprintf(name, sizeof(name), "n%u", n % names);
		become(name, n);
		if (!silently || n + 1 == count)
			here(name);
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	here(name);
}

static sem_t turn, done;
static char given[16];

static void *renamed(void *data)
{
	unsigned count = *(const unsigned *)data;

	for (unsigned n = 0; n < count; n++) {
		sem_wait(&turn);
		here(given);
		here(given);
		sem_post(&done);
	}
	return NULL;
}

/* A thread is given its names by another one. */
static int other(unsigned count)
{
	char own[16] = "";
	pthread_t thread;

	prctl(PR_GET_NAME, own, 0, 0, 0);
	strcpy(given, own);
	sem_init(&turn, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, renamed, &count);
	here(own);
	for (unsigned n = 0; n < count; n++) {
		if (n) {
			snprintf(given, sizeof(given), "given %u", n % 1000);
			if (pthread_setname_np(thread, given) != 0)
				return 1;
		}
		sem_post(&turn);
		sem_wait(&done);
	}
	pthread_join(thread, NULL);
	here(own);
	return 0;
}

static void *begun(void *data)
{
	BURIN_TRACE("rename.begin");
	sem_wait(&turn);
	here("begun");
	return data;
}

/* A thread is given its name while it records for the first time. */
static int begin(void)
{
	pthread_t thread;

	here("renames");
	sem_init(&turn, 0, 0);
	if (pthread_create(&thread, NULL, begun, NULL) != 0 || pthread_setname_np(thread, "begun") != 0)
		return 1;
	sem_post(&turn);
	return pthread_join(thread, NULL);
}

static int forks(void)
{
	int status = 1;
	pid_t pid;

	become("parent", 0);
	here("parent");
	pid = fork();
	if (pid == 0) {
		here("parent");
		become("child", 1);
		here("child");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	here("parent");
	pid = vfork();
	if (pid == 0) {
		here("parent");
		prctl(PR_SET_NAME, "lent", 0, 0, 0);
		here("lent");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	here("parent");
	return status;
}

static int replaced(char *path, bool again)
{
	char *const arguments[] = { path, (char *)"again", NULL };

	here("renames");
	become(again ? "second" : "first", 0);
	here(again ? "second" : "first");
	if (!again)
		execv(path, arguments);
	return !again;
}

static int errors(void)
{
	char read[16] = "";
	pthread_t thread;
	unsigned none = 0;

	errno = 77;
	if (pthread_setname_np(pthread_self(), "sixteen letters!") != ERANGE || errno != 77)
		return 1;
	if (pthread_setname_np(pthread_self(), "") != 0 || pthread_getname_np(pthread_self(), read, 16) ||
	    *read)
		return 2;
	if (prctl(PR_SET_NAME, (char *)NULL) != -1 || errno != EFAULT)
		return 3;
	if (prctl(PR_GET_DUMPABLE) != 1 || prctl(-1, 2L, 3L, 4L, 5L) != -1 || errno != EINVAL)
		return 4;
	if (pthread_create(&thread, NULL, renamed, &none) != 0)
		return 5;
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		pthread_setname_np(thread, "about to end");
	return 0;
}

static void last_word(void)
{
	here("renames");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

	if (!strcmp(what, "self"))
		change(count, count, false);
	else if (!strcmp(what, "silent"))
		change(count, count, true);
	else if (!strcmp(what, "flip"))
		change(count, 2, false);
	else if (!strcmp(what, "other"))
		return other(count);
	else if (!strcmp(what, "begin"))
		return begin();
	else if (!strcmp(what, "forks"))
		return forks();
	else if (!strcmp(what, "exec") || !strcmp(what, "again"))
		return replaced(argv[0], what[0] == 'a');
	else if (!strcmp(what, "errors"))
		return errors();
	else if (!strcmp(what, "quick")) {
		at_quick_exit(last_word);
		here("renames");
		quick_exit(6);
	}
	return 0;
}
