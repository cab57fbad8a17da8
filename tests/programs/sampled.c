/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Programs whose samples are known beforehand: nearly all of them are in busy(), called by outer().
 *
 *	sampled spin MS			one thread
 *	sampled threads N MS		N threads, named worker-0, worker-1, ..., one after the other, MS each
 *	sampled pool N US		N threads, all named pool, four at a time, US microseconds of processor time each
 *	sampled fork MS			a child that does not execute anything, then itself
 *	sampled exec MS PROGRAM...	first itself, then PROGRAM
 *	sampled library MS FILE		in busy() of a library, which is closed then
 *	sampled replace MS FILE WITH	the same; but FILE is replaced by WITH as soon as it is mapped
 *	sampled jit			in memory that it has made
 *	sampled touch N [wait]		half a second of sleep, or the end of its input, then N thousand page faults
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sampled.h"

static void named(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static void *work(void *data)
{
	const long *args = data;
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", args[0]);
	named(name);
	outer(args[1]);
	return NULL;
}

static int threads(long count, long ms)
{
	for (long n = 0; n < count; n++) {
		long args[] = { n, ms };
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, args) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

static void *pooled(void *data)
{
	const long *us = data;
	struct timespec used = { 0 };

	named("pool");
	while (used.tv_sec * 1000000 + used.tv_nsec / 1000 < *us)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return NULL;
}

static int pool(long count, long us)
{
	pthread_t threads[4];
	long running;

	for (; count > 0; count -= running) {
		for (running = 0; running < 4 && running < count; running++)
			if (pthread_create(&threads[running], NULL, pooled, &us) != 0)
				return 1;
		for (long n = 0; n < running; n++)
			pthread_join(threads[n], NULL);
	}
	return 0;
}

static int in_child(long ms)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		named("the-child");
		outer(ms);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	outer(ms);
	return status;
}

static int in_library(long ms, const char *path, const char *with)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(long);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	if (with && rename(with, path) != 0)
		return 1;
	*(void **)&call = dlsym(library, "outer");
	if (!call)
		return 1;
	call(ms);
	dlclose(library);
	return 0;
}

/* A loop of 2^31 turns or so, in code without a file; a map of it, as just-in-time compilers leave it. */
static int in_memory(void)
{
	static const unsigned char code[] = {
		0xb9, 0, 0, 0, 0x20, 0xff, 0xc9, 0x75, 0xfc, 0xc3
	}; /* mov ecx; dec; jnz; ret */
	unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void);
	char path[64];
	FILE *map;

	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, code, sizeof(code));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0)
		return 1;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx made_up\n", (unsigned long)memory, sizeof(code));
	fclose(map);
	*(void **)&call = memory;
	call();
	usleep(200000); /* the recorder looks for the map when it has the samples */
	unlink(path);
	return 0;
}

static int touch(long thousands, int waits)
{
	const size_t bytes = 1000 * 4096;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || sysconf(_SC_PAGESIZE) != 4096)
		return 1;
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	if (!waits)
		usleep(500000);
	else
		while (getchar() != EOF)
			continue;
	for (long n = 0; n < thousands; n++) {
		for (size_t at = 0; at < bytes; at += 4096)
			((volatile char *)memory)[at] = 1;
		madvise(memory, bytes, MADV_DONTNEED);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const long number = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(what, "spin") == 0) {
		outer(number);
		return 0;
	}
	if (strcmp(what, "threads") == 0 && argc == 4)
		return threads(number, atol(argv[3]));
	if (strcmp(what, "pool") == 0 && argc == 4)
		return pool(number, atol(argv[3]));
	if (strcmp(what, "fork") == 0)
		return in_child(number);
	if (strcmp(what, "library") == 0 && argc == 4)
		return in_library(number, argv[3], NULL);
	if (strcmp(what, "replace") == 0 && argc == 5)
		return in_library(number, argv[3], argv[4]);
	if (strcmp(what, "jit") == 0)
		return in_memory();
	if (strcmp(what, "touch") == 0)
		return touch(number, argc > 3);
	if (strcmp(what, "exec") == 0 && argc > 3) {
		outer(number);
		execv(argv[3], argv + 3);
	}
	return 2;
}
