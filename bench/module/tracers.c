/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tracers MECHANISM COMMAND...: run a command while another tracer of the kernel records all system calls, into buffers that no
 * process reads. Prints how many bytes it produced, where it says so.
 *
 *	perf	perf events of raw_syscalls on CPU 0, into a ring that is overwritten
 *	bpf	a BPF program writes 40 bytes to a BPF ring buffer, without a wake-up, until it is full
 *	lttng	LTTng's modules, driven by the ioctls of /proc/lttng as its daemon does, into buffers that are overwritten
 *	lttng+	the same, and sched_switch
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "bpf/bpf_program.h"
#include "mechanisms.h"

enum {
	PERF_PAGES = 64,
	RINGBUF_BYTES = 16 << 20,
	LTTNG_PART = 256 << 10,
	LTTNG_PARTS = 8
};

static const char *const points[2] = { "sys_enter", "sys_exit" };
static struct perf_event_mmap_page *rings[2];
static const uint64_t *produced;
static int channel = -1;

static int fail(const char *what)
{
	fprintf(stderr, "tracers: %s: %m\n", what);
	return -1;
}

/* ---- perf events */

static long point_number(const char *name)
{
	char path[128], text[16] = "";
	int file;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/raw_syscalls/%s/id", name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, text, sizeof(text) - 1) <= 0)
		return fail(path);
	close(file);
	return strtol(text, NULL, 10);
}

static int open_perf(void)
{
	for (int n = 0; n < 2; n++) {
		struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
						.watermark = 1,
						.wakeup_watermark = 1 << 30 };
		const long number = point_number(points[n]);
		void *memory;

		if (number < 0)
			return -1;
		attr.config = (uint64_t)number;
		if (mechanism_perf(&attr, -1, 0, (size_t)4096 * (PERF_PAGES + 1), &memory) < 0)
			return fail("a perf event");
		rings[n] = memory;
	}
	return 0;
}

static uint64_t perf_bytes(void)
{
	return 0 - rings[0]->data_head - rings[1]->data_head; /* it is written backwards */
}

/* ---- BPF */

/* The time, the task, and the first two words of the context: what a record of a system call has at least. */
static int program_of(int ring)
{
	struct bpf_program code = { .count = 0 };
	unsigned full;

	bpf_put_copy(&code, BPF_REG_6, BPF_REG_1);
	bpf_put_map(&code, BPF_REG_1, ring);
	bpf_put_set(&code, BPF_REG_2, 40);
	bpf_put_set(&code, BPF_REG_3, 0);
	bpf_put_call(&code, BPF_FUNC_ringbuf_reserve);
	full = bpf_put_jump(&code, BPF_JEQ, BPF_REG_0, 0);
	bpf_put_copy(&code, BPF_REG_7, BPF_REG_0);
	bpf_put_call(&code, BPF_FUNC_ktime_get_ns);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 0, BPF_REG_0);
	bpf_put_call(&code, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 8, BPF_REG_0);
	for (int word = 0; word < 2; word++) {
		bpf_put_load(&code, BPF_DW, BPF_REG_1, BPF_REG_6, 8 * word);
		bpf_put_store(&code, BPF_DW, BPF_REG_7, 16 + 8 * word, BPF_REG_1);
	}
	bpf_put_set(&code, BPF_REG_1, 0);
	bpf_put_store(&code, BPF_DW, BPF_REG_7, 32, BPF_REG_1);
	bpf_put_copy(&code, BPF_REG_1, BPF_REG_7);
	bpf_put_set(&code, BPF_REG_2, BPF_RB_NO_WAKEUP);
	bpf_put_call(&code, BPF_FUNC_ringbuf_submit);
	bpf_land(&code, full);
	bpf_put_set(&code, BPF_REG_0, 0);
	bpf_put_end(&code);
	return bpf_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
}

static int open_bpf(void)
{
	const int ring = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_RINGBUF, 0, 0, RINGBUF_BYTES, 0 });
	const int program = ring < 0 ? -1 : program_of(ring);
	void *memory;

	if (program < 0)
		return fail("bpf");
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ring, 4096);
	if (memory == MAP_FAILED)
		return fail("mmap of the BPF ring buffer");
	produced = memory;
	for (int n = 0; n < 2; n++)
		if (bpf_watch(points[n], program) < 0)
			return fail(points[n]);
	return 0;
}

/* ---- LTTng: the interface of its modules 2.13 (their abi.h), which its daemon uses too */

struct lttng_channel {
	uint64_t part_bytes;
	uint64_t parts;
	uint32_t switch_us;
	uint32_t read_us;
	uint32_t output; /* 1: by mmap */
	int32_t overwrite;
	char unused[288];
} __attribute__((packed));

struct lttng_event {
	char name[256];
	uint32_t kind; /* 0: a tracepoint; 5: system calls */
	uint64_t token;
	char unused[8];
	char details[288]; /* of system calls: zeros for entry and exit, all ABIs, by name */
} __attribute__((packed));

#define LTTNG_SESSION  _IO(0xf6, 0x45)
#define LTTNG_CHANNEL  _IOW(0xf6, 0x55, struct lttng_channel)
#define LTTNG_START    _IO(0xf6, 0x56)
#define LTTNG_STREAM   _IO(0xf6, 0x62)
#define LTTNG_EVENT    _IOW(0xf6, 0x63, struct lttng_event)
#define LTTNG_ENABLE   _IO(0xf6, 0x82)
#define LTTNG_SNAPSHOT _IO(0xf6, 0x00)
#define LTTNG_POSITION _IOR(0xf6, 0x02, unsigned long)

static int lttng_event_on(const char *name, uint32_t kind)
{
	struct lttng_event event = { .kind = kind, .token = kind + 1 };
	int file;

	snprintf(event.name, sizeof(event.name), "%s", name);
	file = ioctl(channel, LTTNG_EVENT, &event);
	return file < 0 || ioctl(file, LTTNG_ENABLE) != 0 ? fail(name) : 0;
}

static int open_lttng(bool switches)
{
	struct lttng_channel how = {
		.part_bytes = LTTNG_PART, .parts = LTTNG_PARTS, .output = 1, .overwrite = 1
	};
	const int lttng = open("/proc/lttng", O_RDWR | O_CLOEXEC);
	const int session = lttng < 0 ? -1 : ioctl(lttng, LTTNG_SESSION);

	channel = session < 0 ? -1 : ioctl(session, LTTNG_CHANNEL, &how);
	if (channel < 0)
		return fail("/proc/lttng");
	if (lttng_event_on("*", 5) != 0 || (switches && lttng_event_on("sched_switch", 0) != 0))
		return -1;
	return ioctl(session, LTTNG_START) != 0 ? fail("LTTng's session") : 0;
}

/* Of the only CPU. */
static uint64_t lttng_bytes(void)
{
	const int stream = ioctl(channel, LTTNG_STREAM);
	unsigned long position = 0;

	if (stream < 0 || ioctl(stream, LTTNG_SNAPSHOT) != 0 || ioctl(stream, LTTNG_POSITION, &position) != 0)
		fail("LTTng's position");
	return position;
}

static int begin(const char *mechanism)
{
	if (strcmp(mechanism, "perf") == 0)
		return open_perf();
	if (strcmp(mechanism, "bpf") == 0)
		return open_bpf();
	if (strncmp(mechanism, "lttng", 5) == 0)
		return open_lttng(mechanism[5] == '+');
	fprintf(stderr, "tracers: '%s': it is perf, bpf, lttng or lttng+\n", mechanism);
	return -1;
}

int main(int argc, char **argv)
{
	int status = 0;
	pid_t child;

	if (argc < 3 || begin(argv[1]) != 0)
		return 2;
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 1;
	printf("tracer_bytes %" PRIu64 "\n", rings[0] ? perf_bytes() : produced ? *produced : lttng_bytes());
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
