/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose first thread is in a system call while a recorder loads its library by it: it prints the result, errno and the seconds
 * that the call took.
 *
 *	interrupted		a sleep of 3 s
 *	interrupted signal	pause(), which a signal ends while the library is loaded
 *	interrupted recv	recv() on a socket with a limit of 2 s; so with read, accept
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static pthread_t self;

static void on_signal(int number)
{
	(void)number;
}

static void *watch(void *data)
{
	/* It is mapped long before it is ready. */
	for (int found = 0; !found;) {
		char line[512];
		FILE *maps = fopen("/proc/self/maps", "r");
		while (!found && fgets(line, sizeof(line), maps))
			found = strstr(line, "libburin-calls") != NULL;
		fclose(maps);
	}
	pthread_kill(self, SIGUSR1);
	for (;;)
		pause();
	return data;
}

/* Wait in vain on a socket that nothing comes to. */
static int limited(const char *call)
{
	const struct timeval limit = { .tv_sec = 2 };
	const struct sockaddr_un nowhere = { .sun_family = AF_UNIX };
	int ends[2], listening = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	bind(listening, (const struct sockaddr *)&nowhere, sizeof(nowhere.sun_family)); /* any free name */
	listen(listening, 1);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (strcmp(call, "accept") == 0)
		return accept(listening, NULL, NULL);
	return (int)(strcmp(call, "read") == 0 ? read(ends[0], &byte, 1) : recv(ends[0], &byte, 1, 0));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	struct timespec begin, end;
	pthread_t id;
	int result;
	self = pthread_self();
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (strcmp(how, "signal") == 0)
		pthread_create(&id, NULL, watch, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	puts("done");
	fflush(stdout);
	errno = 77;
	if (!*how)
		result = nanosleep(&(struct timespec){ .tv_sec = 3 }, NULL);
	else
		result = strcmp(how, "signal") == 0 ? pause() : limited(how);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%d %d %.1f\n", result, errno,
	       (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}
