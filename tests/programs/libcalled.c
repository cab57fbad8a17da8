/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls library functions known numbers of times, in all the ways that a call can go. No hooks. Usage: libcalled PLUGIN */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 3,
	EACH = 500
};

static volatile int handled;
static jmp_buf back;

static void handle(int number)
{
	(void)number;
	handled += (int)labs(-1L * (long)getpid()) > 0;
}

static void *work(void *unused)
{
	char text[32];

	for (int n = 0; n < EACH; n++) {
		snprintf(text, sizeof(text), "%d %s %.1f", n, "text",
			 n / 2.0); /* vector registers, arguments on the stack */
		if (strtod(text, NULL) != n)
			abort();
	}
	return unused;
}

static int order(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Leaves qsort() without an end. */
static int leave(const void *one, const void *other)
{
	(void)one;
	(void)other;
	longjmp(back, 1);
}

int main(int argc, char **argv)
{
	const char *words[] = { "d", "a", "c", "b" };
	pthread_t threads[THREADS];
	void *plugin;
	int status;
	pid_t child;

	signal(SIGUSR1, handle);
	for (int n = 0; n < THREADS; n++)
		pthread_create(&threads[n], NULL, work, NULL);
	for (int n = 0; n < 100; n++)
		raise(SIGUSR1);
	for (int n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	qsort(words, 4, sizeof(*words), order);
	for (int n = 0; n < 10; n++)
		if (!setjmp(back))
			qsort(words, 4, sizeof(*words), leave);
	child = fork();
	if (child == 0)
		_exit(atoi("7"));
	waitpid(child, &status, 0);
	plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
	for (int n = 0; n < 20 && plugin; n++)
		((void (*)(void))dlsym(plugin, "plugged"))();
	if (plugin)
		dlclose(plugin);
	printf("%s%s%s%s %d %d %s\n", words[0], words[1], words[2], words[3], handled, WEXITSTATUS(status),
	       plugin ? "plugin" : "none");
	return 0;
}
