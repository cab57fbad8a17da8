/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose events of the kernel are known:
 *
 *	systemcalls getppid N		calls getppid N times
 *	systemcalls fork N		makes N children, one after the other, each of which calls getppid once
 *	systemcalls order N		an event, getppid, an event; N times
 *	systemcalls paths PATH...	opens each; then NULL, and an address where nothing is
 *	systemcalls unread PATH...	opens each, whose page is not mapped; after `+`, the page is there
 *	systemcalls exec PATH		executes it; the page of the path is not mapped
 *	systemcalls execat PATH		the same by execveat
 *	systemcalls exec-list PATH	the same as exec, with two arguments, of which the first one is in that page, too
 *	systemcalls exec-thread PATH	the same as exec, by a second thread
 *	systemcalls bind PATH		binds a socket to it; the page of the address is not mapped
 *	systemcalls switch N		two threads on one CPU wait for each other N times; prints of each its id and how often
 *					it was switched away from, up to its last getppid
 *	systemcalls serve		for each line, a number: N times an event, getppid, an event; -1: a child that ends;
 *					prints the number
 *	systemcalls flood N		sends itself N packets of 100 + n % 1000 bytes over the loopback and calls getppid after each, while a
 *					timer interrupts it every 50 microseconds
 *	systemcalls arguments N		calls with 0 to 6 arguments of both sizes, each of which fails at once; N times
 *	systemcalls identify N		three threads make N threads and children each, one after the other, and each of these calls tgkill
 *					with the process's id and its own; then a thread executes the program, which calls it once more
 *	systemcalls upper N		calls getpgrp N times, with bits in the upper half of the call's number, which the kernel ignores
 *	systemcalls unnamed N		makes calls whose numbers have no name, 666 with arguments from 1 to 6, 180, 0x40000027 and -1; N times
 *	systemcalls old N		calls getpid N times as programs of 32 bits do (int 0x80)
 *	systemcalls wait		waits for a line, calls getppid 3 times, and waits for its end
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"

static long count;
static int pipes[2][2];

static void ask(void)
{
	syscall(SYS_getppid);
}

/* The numbers are those that tests/kernel/module.test expects. Halves of registers that an int leaves alone have bits, too. */
static void call_with_arguments(void)
{
	const long address = 0x1122334455667788, size = 0x0123456789abcdef, bad = 0x7654321fffffff0;

	ask();
	syscall(SYS_close, bad);
#ifdef SYS_dup2 /* not on aarch64 */
	syscall(SYS_dup2, bad, bad - 1);
#endif
	syscall(SYS_lseek, bad, address, bad - 2);
	syscall(SYS_pwrite64, bad, address, size, address + 1);
	syscall(SYS_setsockopt, bad, bad - 1, bad - 2, address, bad - 3);
	syscall(SYS_sendto, bad, address, size, bad - 1, address + 1, bad - 2);
}

static void call_by_lower_half(void)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(0x700000000 | SYS_getpgrp) : "rcx", "r11", "memory");
	(void)result;
#endif
}

static void call_unnamed(void)
{
	for (long n = 0; n < count; n++) {
		syscall(666, 1L, 2L, 3L, 4L, 5L, 6L);
		syscall(180); /* nfsservctl, which no kernel has any more */
		syscall(0x40000027);
		syscall(-1);
	}
}

static void call_old(void)
{
#ifdef __x86_64__
	for (long n = 0, result; n < count; n++)
		__asm__ volatile("int $0x80" : "=a"(result) : "0"(20) : "memory");
#endif
}

static void fork_one(void)
{
	const pid_t child = fork();

	if (child == 0) {
		ask();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void fork_children(void)
{
	for (long n = 0; n < count; n++)
		fork_one();
}

static void trace_order(void)
{
	for (long n = 0; n < count; n++) {
		BURIN_TRACE("order.before", "n=%ld", n);
		ask();
		BURIN_TRACE("order.after", "n=%ld", n);
	}
}

static void open_path(const char *path)
{
	const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);

	if (file >= 0)
		close((int)file);
}

/* A copy of bytes in a page of its own, which the process has not touched. */
static const void *unmapped(const void *bytes, size_t size)
{
	const int file = memfd_create("page", MFD_CLOEXEC);
	void *page;

	if (file < 0 || ftruncate(file, 4096) || pwrite(file, bytes, size, 0) < 0)
		abort();
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		abort();
	close(file);
	return page;
}

static const char *unmapped_text(const char *text)
{
	return unmapped(text, strlen(text) + 1);
}

static void bind_unmapped(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int file = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	bind(file, unmapped(&address, sizeof(address)), sizeof(address));
	close(file);
}

static void open_unmapped(const char *path)
{
	const char *page = unmapped_text(*path == '+' ? path + 1 : path);

	if (*path == '+')
		(void)*(volatile const char *)page;
	open_path(page);
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void *switch_thread(void *data)
{
	const long which = (long)data;
	long before;
	char byte = 0;

	for (long n = 0; n < count; n++) {
		if (which == 0 && write(pipes[0][1], &byte, 1) != 1)
			abort();
		if (read(pipes[1 - which][0], &byte, 1) != 1)
			abort();
		if (which == 1 && write(pipes[1][1], &byte, 1) != 1)
			abort();
	}
	do { /* until it was not switched around the mark */
		before = switches();
		ask();
	} while (before != switches());
	printf("%ld %ld\n", (long)gettid(), before);
	return NULL;
}

static void switch_threads(void)
{
	pthread_t threads[2];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (pipe(pipes[0]) || pipe(pipes[1]))
		abort();
	for (long n = 0; n < 2; n++)
		if (pthread_create(&threads[n], NULL, switch_thread, (void *)n))
			abort();
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void flood(void)
{
	const struct itimerval every = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sockaddr_in self = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(self);
	char bytes[1100] = "";

	signal(SIGALRM, on_alarm); /* interrupted calls go on */
	if (file < 0 || bind(file, (struct sockaddr *)&self, length) ||
	    getsockname(file, (struct sockaddr *)&self, &length) ||
	    connect(file, (struct sockaddr *)&self, length))
		abort();
	setitimer(ITIMER_REAL, &every, NULL);
	for (long n = 0; n < count; n++) {
		const size_t size = 100 + (size_t)n % 1000;

		if (send(file, bytes, size, 0) != (ssize_t)size ||
		    recv(file, bytes, sizeof(bytes), 0) != (ssize_t)size)
			abort();
		ask();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%ld\n", (long)alarms);
	close(file);
}

static void wait_for_lines(void)
{
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return;
	for (int n = 0; n < 3; n++)
		ask();
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
}

static void serve(void)
{
	char line[32];

	for (puts("ready"); fflush(stdout) == 0 && fgets(line, sizeof(line), stdin); printf("%ld\n", count)) {
		count = strtol(line, NULL, 10);
		if (count < 0)
			fork_one();
		trace_order();
	}
}

static void *execute(void *path)
{
	execl(unmapped_text(path), path, NULL);
	return NULL;
}

static void execute_list(const char *path)
{
	const char *text = unmapped_text(path);

	execl(text, text, "getppid", NULL);
}

static void execute_by_thread(char *path)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute, path);
	pthread_join(thread, NULL);
}

static void *identify(void *unused)
{
	(void)unused;
	syscall(SYS_tgkill, getpid(), gettid(), 0);
	return NULL;
}

static void *make_threads(void *unused)
{
	pthread_t thread;
	pid_t child;

	(void)unused;
	for (long n = 0; n < count; n++) {
		child = n % 4 ? -1 : fork();
		if (child == 0) {
			identify(NULL);
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
		else if (pthread_create(&thread, NULL, identify, NULL) == 0)
			pthread_join(thread, NULL);
		identify(NULL);
	}
	return NULL;
}

static void *execute_again(void *unused)
{
	(void)unused;
	identify(NULL);
	execl("/proc/self/exe", "systemcalls", "identify", "0", NULL);
	return NULL;
}

static void identify_threads(void)
{
	pthread_t threads[3];

	for (unsigned n = 0; count && n < 3; n++)
		pthread_create(&threads[n], NULL, make_threads, NULL);
	for (unsigned n = 0; count && n < 3; n++)
		pthread_join(threads[n], NULL);
	identify(NULL);
	if (count && pthread_create(&threads[0], NULL, execute_again, NULL) == 0)
		pthread_join(threads[0], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	if (strcmp(what, "getppid") == 0)
		for (long n = 0; n < count; n++)
			ask();
	else if (strcmp(what, "fork") == 0)
		fork_children();
	else if (strcmp(what, "order") == 0)
		trace_order();
	else if (strcmp(what, "switch") == 0)
		switch_threads();
	else if (strcmp(what, "serve") == 0)
		serve();
	else if (strcmp(what, "flood") == 0)
		flood();
	else if (strcmp(what, "arguments") == 0)
		for (long n = 0; n < count; n++)
			call_with_arguments();
	else if (strcmp(what, "identify") == 0)
		identify_threads();
	else if (strcmp(what, "upper") == 0)
		for (long n = 0; n < count; n++)
			call_by_lower_half();
	else if (strcmp(what, "unnamed") == 0)
		call_unnamed();
	else if (strcmp(what, "old") == 0)
		call_old();
	else if (strcmp(what, "wait") == 0)
		wait_for_lines();
	else if (strcmp(what, "unread") == 0)
		for (int n = 2; n < argc; n++)
			open_unmapped(argv[n]);
	else if (strcmp(what, "exec") == 0)
		execl(unmapped_text(argv[2]), argv[2], NULL);
	else if (strcmp(what, "exec-list") == 0)
		execute_list(argv[2]);
	else if (strcmp(what, "execat") == 0)
		syscall(SYS_execveat, AT_FDCWD, unmapped_text(argv[2]), argv + 2, environ, 0);
	else if (strcmp(what, "exec-thread") == 0)
		execute_by_thread(argv[2]);
	else if (strcmp(what, "bind") == 0)
		bind_unmapped(argv[2]);
	else if (strcmp(what, "paths") == 0)
		for (int n = 2; n < argc + 2; n++)
			open_path(n < argc ? argv[n] : n == argc ? NULL : (const char *)8);
	else
		return 2;
	return 0;
}
