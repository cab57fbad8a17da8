/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose threads wait in known ways:
 *
 *	schedule wake N		a thread sleeps in read N times, and is woken each time by the first thread, which waits until it
 *				sleeps; prints the ids of the sleeper and of the waker
 *				(sleeps in take(), woken in give())
 *	schedule futex N	the same in a futex (sleeps in wait_for_word(), woken in wake_word())
 *	schedule tcp N		the same in recvfrom, over a connection of the loopback
 *	schedule udp N		the same, by datagrams
 *	schedule chain N	a span "chain.request", N times: the first thread waits for a second one, which waits for a third one,
 *				which sleeps for 2 ms; prints the ids of the three
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "burin/burin.h"

static long count;
static int ask[2][2], answer[2][2];
static int word;
static volatile pid_t sleeper;

/* Functions whose names the stacks of waits have. Each has something left to do behind its call. */

__attribute__((noinline)) static void take(int file)
{
	char byte;

	if (read(file, &byte, 1) != 1)
		abort();
}

__attribute__((noinline)) static void give(int file)
{
	if (write(file, "", 1) != 1)
		abort();
}

static void give_byte(void)
{
	give(ask[0][1]);
}

__attribute__((noinline)) static void wait_for_word(void)
{
	if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) != 0)
		abort();
}

__attribute__((noinline)) static void wake_word(void)
{
	if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 1)
		abort();
}

/* Wait until a thread sleeps in a system call that is not one of the start. */
static void await_sleep(pid_t thread, const char *call)
{
	char path[64], state[256];

	for (;;) {
		ssize_t got;
		int file;

		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
		file = open(path, O_RDONLY);
		got = read(file, state, sizeof(state) - 1);
		close(file);
		state[got > 0 ? got : 0] = 0;
		if (!strstr(state, ") S "))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
		file = open(path, O_RDONLY);
		got = read(file, state, sizeof(state) - 1);
		close(file);
		state[got > 0 ? got : 0] = 0;
		if (strncmp(state, call, strlen(call)) == 0)
			return;
	}
}

static void *sleep_in_read(void *unused)
{
	(void)unused;
	sleeper = gettid();
	for (long n = 0; n < count; n++)
		take(ask[0][0]);
	return NULL;
}

static void *sleep_in_futex(void *unused)
{
	(void)unused;
	sleeper = gettid();
	for (long n = 0; n < count; n++)
		wait_for_word();
	return NULL;
}

static void *sleep_in_recv(void *unused)
{
	char byte;

	(void)unused;
	sleeper = gettid();
	for (long n = 0; n < count; n++)
		if (recv(ask[0][0], &byte, 1, 0) != 1)
			abort();
	return NULL;
}

static void send_byte(void)
{
	if (send(ask[0][1], "", 1, 0) != 1)
		abort();
}

/* ask[0]: two sockets, of which the second one sends to the first one. */
static void connect_sockets(int type)
{
	const int socket_of_listener = socket(AF_INET, type, 0);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);

	ask[0][1] = socket(AF_INET, type, 0);
	if (bind(socket_of_listener, (struct sockaddr *)&address, bytes) ||
	    (type == SOCK_STREAM && listen(socket_of_listener, 1)) ||
	    getsockname(socket_of_listener, (struct sockaddr *)&address, &bytes) ||
	    connect(ask[0][1], (struct sockaddr *)&address, bytes))
		abort();
	ask[0][0] = type == SOCK_STREAM ? accept(socket_of_listener, NULL, NULL) : socket_of_listener;
}

/* A way to sleep, and to end that. */
static const struct wait {
	const char *name;
	int call;
	void *(*sleep)(void *);
	void (*wake)(void);
} waits[] = { { "wake", SYS_read, sleep_in_read, give_byte },
	      { "futex", SYS_futex, sleep_in_futex, wake_word },
	      { "tcp", SYS_recvfrom, sleep_in_recv, send_byte },
	      { "udp", SYS_recvfrom, sleep_in_recv, send_byte } };

static void wake(const struct wait *wait)
{
	char call[16];
	pthread_t thread;

	if (*wait->name == 't' || *wait->name == 'u')
		connect_sockets(*wait->name == 't' ? SOCK_STREAM : SOCK_DGRAM);
	else if (pipe(ask[0]))
		abort();
	if (pthread_create(&thread, NULL, wait->sleep, NULL))
		abort();
	snprintf(call, sizeof(call), "%d ", wait->call);
	for (long n = 0; n < count; n++) {
		while (!sleeper)
			continue;
		await_sleep(sleeper, call);
		wait->wake();
	}
	pthread_join(thread, NULL);
	printf("%d %d\n", sleeper, gettid());
}

/* The thread @number of a chain: for each request it asks the next one, or sleeps. */
static void *answer_requests(void *data)
{
	const long number = (long)data;

	printf("%d\n", gettid());
	for (long n = 0; n < count; n++) {
		take(ask[number][0]);
		if (number == 0) {
			give(ask[1][1]);
			take(answer[1][0]);
		} else {
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		}
		give(answer[number][1]);
	}
	return NULL;
}

static void run_chain(void)
{
	static const char *const names[] = { "middle", "last" };
	pthread_t threads[2];

	printf("%d\n", gettid());
	fflush(stdout);
	for (long n = 0; n < 2; n++) {
		if (pipe(ask[n]) || pipe(answer[n]) ||
		    pthread_create(&threads[n], NULL, answer_requests, (void *)n))
			abort();
		pthread_setname_np(threads[n], names[n]);
	}
	for (long n = 0; n < count; n++) {
		BURIN_SCOPE("chain.request", "n=%ld", n);
		give(ask[0][1]);
		take(answer[0][0]);
	}
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	for (unsigned n = 0; n < sizeof(waits) / sizeof(waits[0]); n++)
		if (strcmp(what, waits[n].name) == 0) {
			wake(&waits[n]);
			return 0;
		}
	if (strcmp(what, "chain") != 0)
		return 2;
	run_chain();
	return 0;
}
