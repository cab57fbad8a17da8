/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * uprobe TURNS: what a record of a probe in a program (a uprobe, at a nop) costs, by mechanism, in ns above the function without one.
 * They take turns; the results are of the fastest block of each. No process reads.
 *
 *	empty	a BPF program that does nothing
 *	burin	Burin's program, with two arguments of the function
 *	perf	a perf event with a ring that is overwritten, without arguments
 *
 * A mechanism that is not there has no line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "control/remains.h"
#include "mechanisms.h"
#include "session/clock.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probes/probe.h"

enum {
	CALLS = 200,		/* of a block */
	BLOCKS = 50,		/* of a mechanism before the next one has its turn */
	PERF_BYTES = 65 * 4096, /* the ring, behind a page for its control */
};

enum mechanism {
	NONE,
	EMPTY,
	BURIN,
	PERF,
	MECHANISMS
};

static const char probe[] = "u:/proc/self/exe:probed(number:i32, at:ptr)";
static const char *const names[MECHANISMS] = { "none", "empty", "burin", "perf" };

static struct kernel_source source;
static struct session session;
static char session_path[256];
static struct tracepoint place;
static int program = -1, event = -1;
static void *perf_memory;

/* The kernel steps over a nop at once; other instructions it would have to run elsewhere. */
__attribute__((naked, noinline)) void probed(int number, const void *at);
void probed(int number, const void *at)
{
	(void)number;
	(void)at;
	__asm__ volatile("nop\n\tret");
}

static int take_place(void *context, const struct tracepoint *point)
{
	*(struct tracepoint *)context = *point;
	return 0;
}

static bool open_perf(void)
{
	struct perf_event_attr attr = { .config1 = (uint64_t)(uintptr_t) "/proc/self/exe",
					.config2 = place.site };
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	const bool typed = file && fscanf(file, "%u", &attr.type) == 1;

	if (file)
		fclose(file);
	event = typed ? mechanism_perf(&attr, 0, -1, PERF_BYTES, &perf_memory) : -1;
	return event >= 0;
}

/* Return: false: the mechanism is not there. */
static bool begin(enum mechanism which)
{
	if (which == EMPTY)
		event = program < 0 ? -1 : probe_attach(&place, program);
	return which == NONE || (which == EMPTY && event >= 0) ||
	       (which == BURIN && mechanism_burin(&source, &session, probe)) ||
	       (which == PERF && open_perf());
}

static void end(enum mechanism which)
{
	if (which == BURIN) {
		kernel_source_finish(&source);
		kernel_source_close(&source);
	}
	if (which == PERF)
		munmap(perf_memory, PERF_BYTES);
	if (which == EMPTY || which == PERF)
		close(event);
}

/* ns of a call in the fastest block */
static double measure(enum mechanism which)
{
	double least = 1e9;

	for (unsigned block = 0; block < BLOCKS; block++) {
		uint64_t before, taken;

		if (which == BURIN)
			mechanism_burin_empty(&source);
		before = clock_ns(CLOCK_MONOTONIC);
		for (int n = 0; n < CALLS; n++)
			probed(n, &before);
		taken = clock_ns(CLOCK_MONOTONIC) - before;
		least = (double)taken / CALLS < least ? (double)taken / CALLS : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	const unsigned turns = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 9;
	double least[MECHANISMS] = { 1e9, 1e9, 1e9, 1e9 };
	char text[PROBE_WHY] = "";
	const char *why;
	int file = -1;

	if (session_create(&session,
			   &(struct session_options){
				   .buffer_bytes = 256 << 10, .packet_bytes = 64 << 10, .string_max = 4096 },
			   session_path, sizeof(session_path), &why) != 0) {
		fprintf(stderr, "uprobe: no session: %s\n", why);
		return 1;
	}
	if (probe_find(probe, &file, take_place, &place, text) != 0) {
		fprintf(stderr, "uprobe: %s\n", text);
		return 1;
	}
	program = mechanism_empty(BPF_PROG_TYPE_KPROBE);
	for (unsigned turn = 0; turn < turns; turn++)
		for (unsigned which = 0; which < MECHANISMS; which++) {
			double taken;

			if (!begin((enum mechanism)which))
				continue;
			taken = measure((enum mechanism)which);
			least[which] = taken < least[which] ? taken : least[which];
			end((enum mechanism)which);
		}
	for (unsigned which = 0; which < MECHANISMS; which++)
		if (least[which] < 1e9)
			printf("%s_ns %.1f\n", names[which],
			       least[which] - (which == NONE ? 0 : least[NONE]));
	close(file);
	remains_remove_path(session_path, geteuid(), NULL);
	return 0;
}
