/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The session's clock; see clock.h. */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/ring_deps.h"
#include "session/clock.h"

uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static ssize_t clock_read_file(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, text, bytes - 1);
	close(fd);
	if (got >= 0)
		text[got] = 0;
	return got;
}

#ifdef __x86_64__
/* Clocks of guests, which the kernel computes from the processor's counter and numbers of the host. */
static bool computed_from_tsc(const char *clocksource)
{
	return strcmp(clocksource, "kvm-clock\n") == 0 ||
	       strcmp(clocksource, "hyperv_clocksource_tsc_page\n") == 0;
}

/* The counter's rate never changes. A host that may move the guest to another machine does not promise it. */
static bool is_invariant(void)
{
	enum {
		POWER_LEAF = 0x80000007,
		INVARIANT_TSC = 1 << 8
	};
	unsigned a, b, c, d;

	return __get_cpuid(POWER_LEAF, &a, &b, &c, &d) && d & INVARIANT_TSC;
}

/*
 * The kernel lets programs compute a guest's clock by themselves only if the host promises that the counters of all
 * processors agree. Otherwise each read is a system call, and takes at least as long as one.
 */
static bool is_read_without_system_call(void)
{
	enum {
		TRIES = 5
	}; /* the fastest was disturbed least */
	uint64_t library = UINT64_MAX, kernel = UINT64_MAX;
	struct timespec now;

	for (int tries = 0; tries < TRIES; tries++) {
		uint64_t begin = __builtin_ia32_rdtsc(), middle, end;

		clock_gettime(CLOCK_MONOTONIC, &now);
		middle = __builtin_ia32_rdtsc();
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		end = __builtin_ia32_rdtsc();
		library = middle - begin < library ? middle - begin : library;
		kernel = end - middle < kernel ? end - middle : kernel;
	}
	return library + library / 2 < kernel;
}

static bool kernel_trusts_tsc(void)
{
	char name[32];

	if (clock_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
			    sizeof(name)) <= 0)
		return false;
	return strcmp(name, "tsc\n") == 0 ||
	       (computed_from_tsc(name) && is_invariant() && is_read_without_system_call());
}

/* The kernel's own calibration, read from the page of a perf event; 0: unknown. */
static uint64_t tsc_hz_from_perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY };
	volatile struct perf_event_mmap_page *page;
	uint64_t hz = 0;
	int fd;

	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		/* ns = ticks * time_mult >> time_shift */
		if (page->cap_user_time && page->time_mult)
			hz = (uint64_t)(((__uint128_t)1000000000 << page->time_shift) / page->time_mult);
		munmap((void *)page, 4096);
	}
	close(fd);
	return hz;
}

enum {
	CLOCK_MEASURE_NS = 1500000, /* error about 100 ppm; corrected at the end of a recording */
};

/* The start of our own calibration; zero: it has not begun. */
static struct clock_pair measured_from;

/* Our own calibration, for kernels whose perf events are closed or have no rate. It sleeps only for the rest of the time
 * since clock_rate_begin(). */
static uint64_t tsc_hz_measured(void)
{
	struct timespec pause = { 0 };
	struct clock_pair now;

	clock_rate_begin();
	clock_read_pair(WIRE_CLOCK_TSC, &now);
	if (now.raw_ns - measured_from.raw_ns < CLOCK_MEASURE_NS) {
		pause.tv_nsec = (long)(CLOCK_MEASURE_NS - (now.raw_ns - measured_from.raw_ns));
		nanosleep(&pause, NULL);
		clock_read_pair(WIRE_CLOCK_TSC, &now);
	}
	return (uint64_t)((__uint128_t)(now.ticks - measured_from.ticks) * 1000000000 /
			  (now.raw_ns - measured_from.raw_ns));
}
#endif

static void read_boot_id(uint8_t *id)
{
	char text[64];
	unsigned nibbles = 0;

	memset(id, 0, 16);
	if (clock_read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text)) < 36)
		return;
	for (const char *c = text; *c && nibbles < 32; c++) {
		int value = *c >= '0' && *c <= '9' ? *c - '0' : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10 : -1;

		if (value < 0)
			continue;
		id[nibbles / 2] = (uint8_t)(id[nibbles / 2] << 4 | value);
		nibbles++;
	}
}

void clock_detect(struct clock_info *clock)
{
	*clock = (struct clock_info){ 0 };
	read_boot_id(clock->boot_id);
#ifdef __x86_64__
	clock->is_tsc = kernel_trusts_tsc();
#endif
}

void clock_rate_begin(void)
{
#ifdef __x86_64__
	if (measured_from.raw_ns == 0)
		clock_read_pair(WIRE_CLOCK_TSC, &measured_from);
#endif
}

uint64_t clock_rate(bool is_tsc)
{
	static uint64_t hz; /* found once, so that a process always reports the same rate */

	if (!is_tsc)
		return 1000000000;
#ifdef __x86_64__
	if (hz == 0)
		hz = tsc_hz_from_perf();
	if (hz == 0)
		hz = tsc_hz_measured();
#endif
	return hz;
}

void clock_read_pair(uint32_t clock, struct clock_pair *pair)
{
	uint64_t best = UINT64_MAX;

	/* Take the fastest of five tries: it was disturbed least. */
	for (int tries = 0; tries < 5; tries++) {
		uint64_t before = clock_ns(CLOCK_MONOTONIC), ticks = before, after;
		int64_t realtime;

#ifdef __x86_64__
		if (clock == WIRE_CLOCK_TSC)
			ticks = __builtin_ia32_rdtsc();
#endif
		if (clock == WIRE_CLOCK_GUEST)
			ticks = ring_clock();
		realtime = (int64_t)clock_ns(CLOCK_REALTIME);
		after = clock_ns(CLOCK_MONOTONIC);
		if (after - before < best) {
			best = after - before;
			*pair = (struct clock_pair){ .ticks = ticks,
						     .realtime_ns = realtime,
						     .raw_ns = before };
		}
	}
}
