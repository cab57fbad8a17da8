/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel BLOCKS: what a record of a system call costs, by mechanism, in ns above getppid without any. They take turns, block by
 * block; the results are of the fastest block of each. All record the entry of the call, and no process reads.
 *
 *	empty		a BPF program that does nothing
 *	burin		Burin's program, which appends to a ring
 *	ringbuf		a BPF program that writes 32 bytes to a BPF ring buffer, without waking a reader
 *	ringbuf_same	the same with Burin's work: the filter by task, the table of calls, 16 bytes as in Burin's header
 *	tracefs		the kernel's own tracer, in an instance that is removed
 *	perf		a perf event with a ring that is overwritten
 *
 * A mechanism that is not there has no line.
 *
 * kernel rate CALLS SECONDS: that many calls in each millisecond, for recorders.
 *
 * kernel calls BLOCKS: what getppid costs beside others' programs: the fastest block, and the one in the middle.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/mount.h>
#include <linux/perf_event.h>

#include "control/remains.h"
#include "mechanisms.h"
#include "session/clock.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/bpf/kernel_types.h"
#include "source/kernel/points/tracefs.h"

enum {
	CALLS = 500, /* of a block */
	RINGBUF_BYTES = 1 << 20,
	PERF_BYTES = 65 * 4096, /* the ring, behind a page for its control */
};

enum mechanism {
	NONE,
	EMPTY,
	BURIN,
	RINGBUF,
	RINGBUF_SAME,
	TRACEFS,
	PERF,
	MECHANISMS
};

static const char *const names[MECHANISMS] = { "none",	       "empty",	  "burin", "ringbuf",
					       "ringbuf_same", "tracefs", "perf" };

static struct kernel_source source;
static struct session session;
static char session_path[256];
static struct kernel_follow follow;
static int ringbuf = -1, ringbuf_program = -1, same_program = -1, calls_map = -1, empty_program = -1,
	   tracing = -1, perf_event = -1, link_file = -1;
static void *perf_memory;
static uint64_t *consumed;
static const uint64_t *produced;

/* ---- BPF */

static void prepare_ringbuf(void)
{
	struct bpf_program code = { .count = 0 };
	unsigned full;
	void *memory;

	ringbuf = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_RINGBUF, 0, 0, RINGBUF_BYTES, 0 });
	if (ringbuf < 0)
		return;
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ringbuf, 0);
	consumed = memory == MAP_FAILED ? NULL : memory;
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ringbuf, 4096);
	produced = memory == MAP_FAILED ? NULL : memory;
	bpf_put_copy(&code, BPF_REG_6, BPF_REG_1);
	bpf_put_map(&code, BPF_REG_1, ringbuf);
	bpf_put_set(&code, BPF_REG_2, 32);
	bpf_put_set(&code, BPF_REG_3, 0);
	bpf_put_call(&code, BPF_FUNC_ringbuf_reserve);
	full = bpf_put_jump(&code, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_copy(&code, BPF_REG_7, BPF_REG_0);
	bpf_put_call(&code, BPF_FUNC_ktime_get_ns);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 0, BPF_REG_0);
	bpf_put_call(&code, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 8, BPF_REG_0);
	bpf_put_load(&code, BPF_DW, BPF_REG_1, BPF_REG_6, 8);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 16, BPF_REG_1);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 24, BPF_REG_1);
	bpf_put_copy(&code, BPF_REG_1, BPF_REG_7);
	bpf_put_set(&code, BPF_REG_2, BPF_RB_NO_WAKEUP);
	bpf_put_call(&code, BPF_FUNC_ringbuf_submit);
	bpf_land(&code, full);
	bpf_put_set(&code, BPF_REG_0, 0);
	bpf_put_end(&code);
	ringbuf_program = bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
}

/* The work of Burin's program, with a BPF ring buffer. */
static void prepare_same(int events)
{
	static const char *const types[] = { "btf_trace_sys_enter" };
	const uint32_t call = SYS_getppid;
	struct bpf_program code = { .count = 0 };
	unsigned ends[4];
	uint32_t type;

	calls_map = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, 4, 8, 512, 0 });
	if (kernel_types_find(types, &type, 1) != 0 || kernel_follow_open(&follow, events) != 0 ||
	    bpf_map_set(calls_map, &call, &(uint64_t){ 1 }) != 0)
		return;
	kernel_follow_process(&follow, getpid());
	bpf_put_copy(&code, BPF_REG_6, BPF_REG_1);
	bpf_put_call(&code, BPF_FUNC_get_current_pid_tgid);
	bpf_put_alu(&code, BPF_AND, BPF_REG_0, KERNEL_FOLLOW_TASKS - 1);
	bpf_put_copy(&code, BPF_REG_8, BPF_REG_0);
	bpf_put_value(&code, BPF_REG_1, follow.members);
	bpf_put_alu_register(&code, BPF_ADD, BPF_REG_1, BPF_REG_0);
	bpf_put_load(&code, BPF_B, BPF_REG_1, BPF_REG_1, 0);
	ends[0] = bpf_put_jump(&code, BPF_JLT, BPF_REG_1, KERNEL_FOLLOW_RECORDED);
	bpf_put_load(&code, BPF_DW, BPF_REG_1, BPF_REG_6, 8);
	bpf_put_store(&code, BPF_W, BPF_REG_10, -4, BPF_REG_1);
	bpf_put_map(&code, BPF_REG_1, calls_map);
	bpf_put_address(&code, BPF_REG_2, -4);
	bpf_put_call(&code, BPF_FUNC_map_lookup_elem);
	ends[1] = bpf_put_jump(&code, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_load(&code, BPF_H, BPF_REG_9, BPF_REG_0, 0);
	ends[2] = bpf_put_jump(&code, BPF_JEQ, BPF_REG_9, 0);
	bpf_put_map(&code, BPF_REG_1, ringbuf);
	bpf_put_set(&code, BPF_REG_2, 16);
	bpf_put_set(&code, BPF_REG_3, 0);
	bpf_put_call(&code, BPF_FUNC_ringbuf_reserve);
	ends[3] = bpf_put_jump(&code, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_copy(&code, BPF_REG_7, BPF_REG_0);
	bpf_put_call(&code, BPF_FUNC_ktime_get_ns);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 0, BPF_REG_0);
	bpf_put_store(&code, BPF_W, BPF_REG_7, 8, BPF_REG_8);
	bpf_put_store(&code, BPF_W, BPF_REG_7, 12, BPF_REG_9);
	bpf_put_copy(&code, BPF_REG_1, BPF_REG_7);
	bpf_put_set(&code, BPF_REG_2, BPF_RB_NO_WAKEUP);
	bpf_put_call(&code, BPF_FUNC_ringbuf_submit);
	for (unsigned n = 0; n < 4; n++)
		bpf_land(&code, ends[n]);
	bpf_put_set(&code, BPF_REG_0, 0);
	bpf_put_end(&code);
	same_program = bpf_load_typed(&code, type);
}

/* ---- tracefs and perf */

static int write_file(const char *path, const char *text)
{
	const int file = openat(tracing, path, O_WRONLY | O_CLOEXEC);
	const bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		close(file);
	return done;
}

static bool prepare_tracefs(int events)
{
	char pid[16];

	tracing = events < 0 ? -1 : openat(events, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tracing < 0 || mkdirat(tracing, "instances/burin-bench", 0700) != 0)
		return false;
	snprintf(pid, sizeof(pid), "%d", getpid());
	return write_file("instances/burin-bench/set_event_pid", pid) &&
	       write_file("instances/burin-bench/tracing_on", "1");
}

/* For each block anew: an event that is open has a probe at the tracepoint, enabled or not. */
static bool open_perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	char text[16] = "";
	const int file = openat(tracing, "events/raw_syscalls/sys_enter/id", O_RDONLY | O_CLOEXEC);

	const ssize_t got = file < 0 ? -1 : read(file, text, sizeof(text) - 1);

	if (file >= 0)
		close(file);
	if (got <= 0)
		return false;
	attr.config = strtoul(text, NULL, 10);
	perf_event = mechanism_perf(&attr, 0, -1, PERF_BYTES, &perf_memory);
	return perf_event >= 0;
}

/* ---- the measurement */

/* Return: false: the mechanism is not there. */
static bool begin(enum mechanism which)
{
	switch (which) {
	case EMPTY:
		link_file = empty_program < 0 ? -1 : bpf_watch("sys_enter", empty_program);
		return link_file >= 0;
	case RINGBUF:
		link_file = ringbuf_program < 0 || !consumed || !produced
				    ? -1
				    : bpf_watch("sys_enter", ringbuf_program);
		return link_file >= 0;
	case RINGBUF_SAME:
		link_file = same_program < 0 || !consumed || !produced ? -1 : bpf_watch(NULL, same_program);
		return link_file >= 0;
	case BURIN: /* a source of its own for each block, so that nothing else is attached meanwhile */
		return mechanism_burin(&source, &session, "syscalls:sys_enter_getppid");
	case TRACEFS:
		return write_file("instances/burin-bench/events/raw_syscalls/sys_enter/enable", "1");
	case PERF:
		return open_perf();
	default:
		return true;
	}
}

static void end(enum mechanism which)
{
	if (which == EMPTY || which == RINGBUF || which == RINGBUF_SAME)
		close(link_file);
	if (which == BURIN) {
		kernel_source_finish(&source);
		kernel_source_close(&source);
	}
	if (which == TRACEFS)
		write_file("instances/burin-bench/events/raw_syscalls/sys_enter/enable", "0");
	if (which == PERF) {
		munmap(perf_memory, PERF_BYTES);
		close(perf_event);
	}
}

/* ns of a call in a block */
static double measure(enum mechanism which)
{
	uint64_t before, after;

	if (which == BURIN)
		mechanism_burin_empty(&source);
	if (which == RINGBUF || which == RINGBUF_SAME)
		__atomic_store_n(consumed, *produced, __ATOMIC_RELEASE);
	before = clock_ns(CLOCK_MONOTONIC);
	for (int n = 0; n < CALLS; n++)
		syscall(SYS_getppid);
	after = clock_ns(CLOCK_MONOTONIC);
	return (double)(after - before) / CALLS;
}

static int by_value(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Calls at a pace, in steps of a millisecond. Prints the calls, and the processor time that they took, without the waiting. */
static int run_rate(unsigned calls_per_ms, unsigned seconds)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	uint64_t calls = 0, before;

	for (uint64_t step = 1; step <= seconds * 1000ull; step++) {
		for (unsigned n = 0; n < calls_per_ms; n++)
			syscall(SYS_getppid);
		calls += calls_per_ms;
		before = clock_ns(CLOCK_MONOTONIC);
		if (before < begin + step * 1000000)
			usleep((unsigned)((begin + step * 1000000 - before) / 1000));
	}
	printf("calls %" PRIu64 "\nelapsed_s %.3f\ncpu_s %.3f\n", calls,
	       (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9,
	       (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
	return 0;
}

static int run_calls(unsigned blocks)
{
	double *values = calloc(blocks, sizeof(*values));

	if (!values)
		return 1;
	for (unsigned n = 0; n < blocks; n++)
		values[n] = measure(NONE);
	qsort(values, blocks, sizeof(*values), by_value);
	printf("fastest_ns %.1f\nmedian_ns %.1f\n", values[0], values[blocks / 2]);
	free(values);
	return 0;
}

int main(int argc, char **argv)
{
	enum {
		TURN = 200
	}; /* blocks of a mechanism before the next one has its turn */
	const unsigned turns = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 9;
	double *values[MECHANISMS], none = 0;
	unsigned counts[MECHANISMS] = { 0 };
	const char *why;
	int events;

	if (argc == 4 && strcmp(argv[1], "rate") == 0)
		return run_rate((unsigned)strtoul(argv[2], NULL, 10), (unsigned)strtoul(argv[3], NULL, 10));
	if (argc == 3 && strcmp(argv[1], "calls") == 0 && strtoul(argv[2], NULL, 10))
		return run_calls((unsigned)strtoul(argv[2], NULL, 10));
	if (session_create(&session,
			   &(struct session_options){
				   .buffer_bytes = 256 << 10, .packet_bytes = 64 << 10, .string_max = 4096 },
			   session_path, sizeof(session_path), &why) != 0) {
		fprintf(stderr, "kernel: no session: %s\n", why);
		return 1;
	}
	empty_program = mechanism_empty(BPF_PROG_TYPE_RAW_TRACEPOINT);
	prepare_ringbuf();
	events = tracefs_open();
	prepare_same(events);
	prepare_tracefs(events);
	if (events >= 0)
		close(events);
	for (unsigned which = 0; which < MECHANISMS; which++) {
		values[which] = calloc((size_t)turns * TURN, sizeof(double));
		if (!values[which])
			return 1;
	}
	for (unsigned turn = 0; turn < turns; turn++)
		for (unsigned which = 0; which < MECHANISMS; which++) {
			if (!begin((enum mechanism)which))
				continue;
			measure((enum mechanism)which);
			for (unsigned n = 0; n < TURN; n++)
				values[which][counts[which]++] = measure((enum mechanism)which);
			end((enum mechanism)which);
		}
	for (unsigned which = 0; which < MECHANISMS; which++) {
		if (!counts[which])
			continue;
		qsort(values[which], counts[which], sizeof(double), by_value);
		if (which == NONE)
			none = values[which][0];
		printf("%s_ns %.1f\n", names[which], values[which][0] - (which == NONE ? 0 : none));
	}
	if (tracing >= 0)
		unlinkat(tracing, "instances/burin-bench", AT_REMOVEDIR);
	remains_remove_path(session_path, geteuid(), NULL);
	return 0;
}
