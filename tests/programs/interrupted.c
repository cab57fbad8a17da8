/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program whose first thread is in a system call while a recorder loads its library by it: it prints the result, errno and the seconds
 * that the call took.
 *
 *	interrupted		a sleep of 3 s
 *	interrupted signal	pause(), which a signal ends while the library is loaded
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	struct timespec begin, end;
	pthread_t id;
	int result;
	(void)argv;
	self = pthread_self();
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (argc > 1)
		pthread_create(&id, NULL, watch, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	puts("done");
	fflush(stdout);
	errno = 77;
	result = argc > 1 ? pause() : nanosleep(&(struct timespec){ .tv_sec = 3 }, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%d %d %.1f\n", result, errno,
	       (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}
