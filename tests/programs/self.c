/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that controls its own tracing (burin/control.h), and says results.
 *
 *	self switch | status | snapshot DIR | crash DIR | signal DIR | nothing
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burin/burin.h"
#include "burin/control.h"

static const char *directory;
static volatile sig_atomic_t told = 1;

static void work(unsigned from, unsigned to)
{
	for (unsigned n = from; n < to; n++) {
		BURIN_TRACE("self.step", "n=%u", n);
		BURIN_TRACE("other.step", "n=%u", n);
	}
}

static void on_signal(int number)
{
	told = burin_snapshot(directory);
	if (number == SIGSEGV)
		_exit(told == 0 ? 40 : 41);
}

static void print_status(void)
{
	struct burin_session_status status = { .size = sizeof(status) };
	int error = burin_status(&status);

	printf("status %d written %llu lost %llu events %u on %u paused %u\n", error,
	       (unsigned long long)status.written, (unsigned long long)status.lost, status.events, status.on,
	       status.paused);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	directory = argc > 2 ? argv[2] : "";
	if (!strcmp(what, "nothing")) {
		printf("%d %d %d\n", burin_enable("*"), burin_snapshot("/nonexistent"),
		       burin_status(&(struct burin_session_status){
			       .size = sizeof(struct burin_session_status) }));
		return 0;
	}
	print_status();
	work(0, 10);
	printf("enable %d\n", burin_enable("self.*"));
	work(10, 20);
	print_status();
	if (!strcmp(what, "switch")) {
		printf("disable %d\n", burin_disable("self.*"));
		work(20, 30);
		printf("wrong %d %d\n", burin_enable(""),
		       burin_status(&(struct burin_session_status){ .size = 1 }));
		print_status();
	} else if (!strcmp(what, "snapshot")) {
		printf("snapshot %d\n", burin_snapshot(directory));
		printf("again %d\n", burin_snapshot(directory));
		work(20, 30);
	} else if (!strcmp(what, "signal")) {
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
		printf("snapshot %d\n", (int)told);
	} else if (!strcmp(what, "crash")) {
		char *heap = malloc(64);

		signal(SIGSEGV, on_signal);
		fflush(stdout);
		/* The allocator's own words are spoiled: an allocation in the handler would crash. */
		memset(heap - 16, 0xff, 64);
		raise(SIGSEGV);
	}
	return 0;
}
