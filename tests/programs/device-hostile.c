/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * device-hostile MODE SEED: what a program that means harm, or is broken, does with /dev/burin. For tests/kernel/stress.test.
 *
 *	refused		requests and mappings that must be refused: each line is `ok WHAT` or `wrong WHAT: RESULT instead of EXPECTED`
 *	stream		the same for consumed positions, in a session in stream mode
 *	poll		the same for waiting readers, in a session in stream mode with small packets, in which sys_enter_getppid alone is on
 *	losses		what wakes a reader while records are lost, in the same session
 *	locked		descriptors and mappings that are older than the lockdown of the kernel, which it begins
 *	random		20,000 random requests and mappings, in four threads; the kernel must survive them
 *
 * Each program ends with the line `done`.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "wire/wire_device.h"
#include "wire/wire_event.h"
#include "wire/wire_filter.h"

enum {
	THREADS = 4,
	REQUESTS = 5000, /* of a thread */
	PAGE = 4096,
	POLL_TURNS = 500,
	POLL_CALLS = 600, /* more than two packets of 4096 bytes have room for */
	POLL_MS = 30000	  /* a wake-up that was lost, and no slow machine */
};

static int device;
static const struct wire_session *session;
static const struct wire_geometry *geometry;

static void expect(const char *what, long got, int expected)
{
	const int error = got == -1 ? errno : 0;

	if (error == expected)
		printf("ok %s\n", what);
	else
		printf("wrong %s: %s instead of %s\n", what, error ? strerrorname_np(error) : "success",
		       expected ? strerrorname_np(expected) : "success");
}

static void expect_true(const char *what, bool is)
{
	printf(is ? "ok %s\n" : "wrong %s\n", what);
}

static void expect_refused(const char *what, long got)
{
	printf(got == -1 ? "ok %s\n" : "wrong %s: success\n", what);
}

/* ---- requests */

static struct wire_device_change change_now(void)
{
	return (struct wire_device_change){ .version = WIRE_DEVICE_VERSION,
					    .changes = session->changes,
					    .paused = session->paused };
}

/* The request with one field that is wrong. */
#define REFUSED(error, field, value)                                                                  \
	do {                                                                                          \
		struct wire_device_change change_ = change_now();                                     \
		change_.field = (value);                                                              \
		expect("change with " #field " " #value, ioctl(device, WIRE_DEVICE_CHANGE, &change_), \
		       error);                                                                        \
	} while (0)

static void refuse_heads(void)
{
	REFUSED(EINVAL, version, 0);
	REFUSED(EINVAL, version, UINT32_MAX);
	REFUSED(EAGAIN, changes, session->changes + 1);
	REFUSED(EAGAIN, changes, session->changes - 2);
	REFUSED(EINVAL, count, UINT32_MAX);
	REFUSED(EINVAL, count, geometry->events_max + 1);
	REFUSED(EINVAL, paused, 2);
	REFUSED(EINVAL, size_packets, 1);
	REFUSED(EINVAL, size_packets, UINT32_MAX);
	REFUSED(EINVAL, size_packets, geometry->ring_packets + 1);
	REFUSED(EINVAL, drafts, WIRE_CHANGES_AT_ONCE + 1);
	REFUSED(EINVAL, drafts, UINT32_MAX);
	REFUSED(EINVAL, filters_bytes, UINT32_MAX);
	REFUSED(EFAULT, filters_bytes, WIRE_FILTER_ALIGN);
	REFUSED(EINVAL, reserved, 1);
	REFUSED(EINVAL, reserved, UINT32_MAX);
}

/* Memory that ends where the next page is not mapped. */
static char *edge(void)
{
	static char *page;

	if (!page) {
		page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(page + PAGE, PAGE);
	}
	return page + PAGE;
}

static void refuse_addresses(void)
{
	const uint64_t wrong[] = { 0,	       1,	   (uintptr_t)edge() - 8, 0xffffffff81000000,
				   UINT64_MAX, 1ull << 63, 0x00007ffffffff000 };
	char what[64];

	for (unsigned n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++) {
		struct wire_device_change change = change_now();

		snprintf(what, sizeof(what), "change at %#" PRIx64, wrong[n]);
		expect(what, ioctl(device, WIRE_DEVICE_CHANGE, wrong[n]), EFAULT);
		snprintf(what, sizeof(what), "counts at %#" PRIx64, wrong[n]);
		expect(what, ioctl(device, WIRE_DEVICE_COUNTS, wrong[n]), EFAULT);
		snprintf(what, sizeof(what), "entries at %#" PRIx64, wrong[n]);
		change.count = 1;
		change.entries = wrong[n];
		expect(what, ioctl(device, WIRE_DEVICE_CHANGE, &change), EFAULT);
		change = change_now();
		snprintf(what, sizeof(what), "history at %#" PRIx64, wrong[n]);
		change.drafts = 1;
		change.history = wrong[n];
		expect(what, ioctl(device, WIRE_DEVICE_CHANGE, &change), EFAULT);
		change = change_now();
		change.rules = wrong[n];
		if (wrong[n])
			expect("rules there", ioctl(device, WIRE_DEVICE_CHANGE, &change), EFAULT);
	}
}

static void refuse_entry(const char *what, struct wire_journal_entry entry, int error)
{
	/* Not aligned: the kernel copies bytes. */
	char *place = edge() - sizeof(entry) - 3;
	struct wire_device_change change = change_now();

	memcpy(place, &entry, sizeof(entry));
	change.count = 1;
	change.entries = (uintptr_t)place;
	expect(what, ioctl(device, WIRE_DEVICE_CHANGE, &change), error);
}

static void refuse_entries(void)
{
	refuse_entry("an event with id 0", (struct wire_journal_entry){ .id = 0, .desired = WIRE_ON },
		     EINVAL);
	refuse_entry("an event that is not there",
		     (struct wire_journal_entry){ .id = (uint16_t)geometry->events_max, .desired = WIRE_ON },
		     EINVAL);
	refuse_entry("an event beyond the table",
		     (struct wire_journal_entry){ .id = UINT16_MAX, .desired = WIRE_ON }, EINVAL);
	refuse_entry("a state that is none", (struct wire_journal_entry){ .id = 1, .desired = 200 }, EINVAL);
	refuse_entry("a state that only the kernel sets",
		     (struct wire_journal_entry){ .id = 1, .desired = WIRE_UNFIT }, EINVAL);
	refuse_entry("a condition that is missing",
		     (struct wire_journal_entry){ .id = 1, .desired = WIRE_CONDITIONAL }, EINVAL);
	refuse_entry("an event that is switched off",
		     (struct wire_journal_entry){ .id = 1, .desired = WIRE_OFF }, 0);
}

/* ---- filters */

/* A filter of one test, and room for what does not belong there. */
struct program {
	struct wire_filter head;
	struct wire_filter_test test;
	char text[16];
} __attribute__((aligned(64)));

static const struct wire_event *event_of(unsigned id)
{
	static const char *whole;

	if (!whole)
		whole = mmap(NULL, geometry->file_bytes, PROT_READ, MAP_SHARED, device, 0);
	return (const struct wire_event *)(whole + geometry->events_offset + sizeof(struct wire_events)) +
	       (id - 1);
}

static void seal(struct program *program)
{
	program->head.checksum = hash_stable((const char *)program + sizeof(program->head.checksum),
					     sizeof(*program) - sizeof(program->head.checksum));
}

/* One that is valid for the first event, sched_switch: prev_pid is at most 10. */
static struct program program_now(void)
{
	struct program program = {
		.head = { .bytes = sizeof(program), .tests = 1, .types = event_of(1)->types, .prefix = 26 },
		.test = { .op = WIRE_FILTER_32,
			  .then = WIRE_FILTER_YES,
			  .otherwise = WIRE_FILTER_NO,
			  .span = 10 },
		.text = "*",
	};

	seal(&program);
	return program;
}

static int add_filter(const void *filters, uint32_t bytes, uint32_t filter)
{
	const struct wire_journal_entry entry = {
		.id = 1, .desired = WIRE_CONDITIONAL, .conditional = 1, .filter = filter
	};
	struct wire_device_change change = change_now();

	change.count = 1;
	change.entries = (uintptr_t)&entry;
	change.filters = (uintptr_t)filters;
	change.filters_bytes = bytes;
	return ioctl(device, WIRE_DEVICE_CHANGE, &change);
}

#define FILTER_REFUSED(field, value)                                                            \
	do {                                                                                    \
		struct program program_ = program_now();                                        \
		program_.field = (value);                                                       \
		seal(&program_);                                                                \
		expect("filter with " #field " " #value,                                        \
		       add_filter(&program_, sizeof(program_), session->filters_used), EINVAL); \
	} while (0)

static void refuse_filters(void)
{
	struct program program = program_now();
	const uint32_t used = session->filters_used, bytes = sizeof(program);

	FILTER_REFUSED(head.bytes, 0);
	FILTER_REFUSED(head.bytes, 65535);
	FILTER_REFUSED(head.bytes, 2 * sizeof(struct program));
	FILTER_REFUSED(head.tests, 0);
	FILTER_REFUSED(head.tests, 65535);
	FILTER_REFUSED(head.types, 0);
	FILTER_REFUSED(head.types, UINT64_MAX);
	FILTER_REFUSED(head.prefix, 0);
	FILTER_REFUSED(test.op, 255);
	FILTER_REFUSED(test.op, WIRE_FILTER_64);
	FILTER_REFUSED(test.op, WIRE_FILTER_GLOB);
	FILTER_REFUSED(test.op, WIRE_FILTER_SUBJECT + WIRE_FILTER_GLOB);
	FILTER_REFUSED(test.op, WIRE_FILTER_32 + WIRE_FILTER_MORE);
	FILTER_REFUSED(test.arg, 200);
	FILTER_REFUSED(test.then, 0);
	FILTER_REFUSED(test.otherwise, 1);
	FILTER_REFUSED(test.offset, 2000);
	program.head.checksum++;
	expect("filter with another checksum", add_filter(&program, bytes, used), EINVAL);
	program.head.checksum--;
	expect("filter at no place", add_filter(&program, bytes, used + 1), EINVAL);
	expect("filter in the header", add_filter(&program, bytes, 8), EINVAL);
	expect("filter behind the end", add_filter(&program, bytes, used + bytes), EINVAL);
	expect("filter at the end of numbers", add_filter(&program, bytes, 0xffffffc0), EINVAL);
	expect("filter that is not there", add_filter(NULL, 0, used), EINVAL);
	expect("part of a filter", add_filter(&program, bytes / 2, used), EINVAL);
	expect("filters of an odd size", add_filter(&program, bytes - 1, used), EINVAL);
	expect_true("filters in use", session->filters_used == used);
	expect("a filter", add_filter(&program, bytes, used), 0);
	expect_true("filters in use then", session->filters_used == used + bytes);
	expect("the same filter", add_filter(NULL, 0, used), 0);
	refuse_entry("the event off", (struct wire_journal_entry){ .id = 1, .desired = WIRE_OFF }, 0);
	expect_true("filters in use at last", session->filters_used == WIRE_FILTERS_FIRST);
}

/* Drafts of all ones: number, time and program are the kernel's, texts have an end. */
static void refuse_drafts(void)
{
	const uint64_t bytes = wire_change_bytes(geometry->events_max);
	struct wire_change *draft = malloc(bytes);
	struct wire_device_change change = change_now();

	memset(draft, 0xff, bytes);
	change.drafts = 1;
	change.history = (uintptr_t)draft;
	expect("a draft of an unknown kind", ioctl(device, WIRE_DEVICE_CHANGE, &change), EINVAL);
	draft->kind = WIRE_CHANGE_RULE;
	expect("a draft with a reserved field", ioctl(device, WIRE_DEVICE_CHANGE, &change), EINVAL);
	free(draft);
}

static void refuse_requests(void)
{
	struct wire_device_counts counts = { .ring = UINT32_MAX };
	struct wire_device_consume consume = { .ring = 0 };
	const int reader = open(WIRE_DEVICE_PATH, O_RDONLY | O_CLOEXEC),
		  other = open(WIRE_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	expect("a request without number", ioctl(device, 0, 0), ENOTTY);
	expect("an unknown request", ioctl(device, _IOW(0xB7, 99, uint64_t), &counts), ENOTTY);
	expect("a request with another size", ioctl(device, _IOW(0xB7, 1, uint64_t), &counts), ENOTTY);
	expect("reset by a reader", ioctl(reader, WIRE_DEVICE_RESET), EBADF);
	expect("claim by a reader", ioctl(reader, WIRE_DEVICE_CLAIM), EBADF);
	expect("counts of no ring", ioctl(device, WIRE_DEVICE_COUNTS, &counts), EINVAL);
	counts = (struct wire_device_counts){ .ring = 0, .reserved = 1 };
	expect("counts with a reserved field", ioctl(device, WIRE_DEVICE_COUNTS, &counts), EINVAL);
	counts.reserved = 0;
	expect("counts", ioctl(device, WIRE_DEVICE_COUNTS, &counts), 0);
	expect("release without claim", ioctl(device, WIRE_DEVICE_RELEASE), EPERM);
	expect("consume without claim", ioctl(device, WIRE_DEVICE_CONSUME, &consume), EPERM);
	expect("claim", ioctl(device, WIRE_DEVICE_CLAIM), 0);
	expect("claim of another", ioctl(other, WIRE_DEVICE_CLAIM), EBUSY);
	expect("reset beside a claim", ioctl(other, WIRE_DEVICE_RESET), EBUSY);
	expect("release of another's claim", ioctl(other, WIRE_DEVICE_RELEASE), EPERM);
	expect("release", ioctl(device, WIRE_DEVICE_RELEASE), 0);
	expect("claim of the other", ioctl(other, WIRE_DEVICE_CLAIM), 0);
	close(other);
	expect("claim after the other closed", ioctl(device, WIRE_DEVICE_CLAIM), 0);
	expect("release again", ioctl(device, WIRE_DEVICE_RELEASE), 0);
	expect("write", write(device, "x", 1), EINVAL);
	expect("read", read(device, &counts, 1), EINVAL);
	close(reader);
}

/* ---- mappings */

static void *mapped(int protection, int flags, uint64_t bytes, uint64_t offset)
{
	return mmap(NULL, bytes, protection, flags, device, (off_t)offset);
}

static void refuse_map(const char *what, int protection, int flags, uint64_t bytes, uint64_t offset,
		       int error)
{
	void *memory = mapped(protection, flags, bytes, offset);

	expect(what, memory == MAP_FAILED ? -1 : 0, error);
	if (memory != MAP_FAILED)
		munmap(memory, bytes);
}

static void refuse_maps(void)
{
	const uint64_t whole = geometry->file_bytes;

	refuse_map("a map to write", PROT_READ | PROT_WRITE, MAP_SHARED, PAGE, 0, EPERM);
	refuse_map("a map to execute", PROT_READ | PROT_EXEC, MAP_SHARED, PAGE, 0, EPERM);
	refuse_map("a private map to write", PROT_READ | PROT_WRITE, MAP_PRIVATE, PAGE, 0, EPERM);
	refuse_map("a private map", PROT_READ, MAP_PRIVATE, PAGE, 0, EINVAL);
	refuse_map("all of it", PROT_READ, MAP_SHARED, whole, 0, 0);
	refuse_map("a page more than all", PROT_READ, MAP_SHARED, whole + PAGE, 0, EINVAL);
	refuse_map("a page behind the end", PROT_READ, MAP_SHARED, PAGE, whole, EINVAL);
	refuse_map("the last page and one more", PROT_READ, MAP_SHARED, 2 * PAGE, whole - PAGE, EINVAL);
	refuse_map("a place far behind", PROT_READ, MAP_SHARED, PAGE, 1ull << 62, EINVAL);
	expect_refused(
		"a place before the end of offsets",
		mapped(PROT_READ, MAP_SHARED, 2 * PAGE, INT64_MAX & -(uint64_t)PAGE) == MAP_FAILED ? -1 : 0);
	refuse_map("a place within a page", PROT_READ, MAP_SHARED, PAGE, 1, EINVAL);
	refuse_map("nothing", PROT_READ, MAP_SHARED, 0, 0, EINVAL);
	refuse_map("a terabyte", PROT_READ, MAP_SHARED, 1ull << 40, 0, EINVAL);
}

/* A mapping stays read-only by every way to change it. */
static void refuse_changes(void)
{
	const uint64_t whole = geometry->file_bytes;
	char *memory = mapped(PROT_READ, MAP_SHARED, whole, 0), *moved;
	struct iovec here = { &(uint64_t){ 1 }, 8 }, there = { memory, 8 };
	const int own = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	expect("mprotect to write", mprotect(memory, PAGE, PROT_READ | PROT_WRITE), EACCES);
	expect("mprotect to execute", mprotect(memory, PAGE, PROT_READ | PROT_EXEC), EACCES);
	expect("process_vm_writev", process_vm_writev(getpid(), &here, 1, &there, 1, 0), EFAULT);
	expect("a write by /proc/self/mem", pwrite(own, here.iov_base, 8, (off_t)(uintptr_t)memory), EIO);
	moved = mremap(memory, whole, whole + PAGE, MREMAP_MAYMOVE);
	expect("mremap beyond the end", moved == MAP_FAILED ? -1 : 0, EFAULT);
	expect_refused("advice to remove", madvise(memory, PAGE, MADV_REMOVE));
	expect("advice not to need it", madvise(memory, PAGE, MADV_DONTNEED), 0);
	moved = mremap(memory, whole, PAGE, 0);
	expect("mremap to a page", moved == MAP_FAILED ? -1 : 0, 0);
	expect_true("the magic after that", memcmp(memory, session, 8) == 0);
	munmap(memory, PAGE);
	close(own);
}

/* A mapping lives longer than its descriptor, and a child has its own. */
static void keep_maps(void)
{
	const int file = open(WIRE_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	char *memory = mmap(NULL, geometry->file_bytes, PROT_READ, MAP_SHARED, file, 0);
	pid_t child;
	int status = 1;

	close(file);
	child = fork();
	if (child == 0)
		_exit(memcmp(memory, session, sizeof(session->geometry.magic)) != 0);
	waitpid(child, &status, 0);
	expect("a map whose descriptor is closed",
	       memory != MAP_FAILED && memory[geometry->file_bytes - 1] == 0 ? 0 : -1, 0);
	expect_true("a map in a child", status == 0);
	munmap(memory, geometry->file_bytes);
}

/* ---- consumed positions */

static void consume(const char *what, uint32_t ring, uint32_t reserved, uint64_t sequence, int error)
{
	struct wire_device_consume request = { .ring = ring, .reserved = reserved, .sequence = sequence };

	expect(what, ioctl(device, WIRE_DEVICE_CONSUME, &request), error);
}

static struct wire_device_counts counts_of(uint32_t ring)
{
	struct wire_device_counts counts = { .ring = ring };

	expect("counts", ioctl(device, WIRE_DEVICE_COUNTS, &counts), 0);
	return counts;
}

/* The caller has events on, so CPU 0 has packets. */
static void stream(void)
{
	struct wire_device_counts counts;

	expect("claim", ioctl(device, WIRE_DEVICE_CLAIM), 0);
	counts = counts_of(0);
	expect_true("some packets", counts.produced > 3);
	consume("no ring", UINT32_MAX, 0, 0, EINVAL);
	consume("the names", geometry->cpus + geometry->locked + 1, 0, 0, EINVAL);
	consume("a reserved field", 0, 1, 1, EINVAL);
	consume("a packet behind the last", 0, 0, UINT64_MAX, ERANGE);
	consume("half of all numbers", 0, 0, 1ull << 63, ERANGE);
	consume("a packet that comes much later", 0, 0, counts.produced + 100000, ERANGE);
	consume("two packets", 0, 0, 2, 0);
	consume("the same again", 0, 0, 2, 0);
	consume("a packet that was given back", 0, 0, 1, ERANGE);
	expect_true("they are counted", counts_of(0).consumed == 2);
}

/* ---- lockdown */

static void lock(const char *level)
{
	const int file = open("/sys/kernel/security/lockdown", O_WRONLY | O_CLOEXEC);

	expect(level, write(file, level, strlen(level)) < 0 ? -1 : 0, 0);
	close(file);
}

/* Pages that were mapped and read stay readable. */
static void use_locked(void)
{
	struct wire_device_counts counts = { .ring = 0 };
	const volatile char *memory = mapped(PROT_READ, MAP_SHARED, geometry->file_bytes, 0);
	const int buffer = open("/sys/kernel/debug/burin/buffers/cpu0", O_RDONLY | O_CLOEXEC);
	char bytes[PAGE];
	int status = -1;
	pid_t child;

	expect_true("a map, and the view in debugfs", memory != MAP_FAILED && buffer >= 0);
	expect("a read", read(buffer, bytes, sizeof(bytes)) < 0 ? -1 : 0, 0);
	lock("integrity");
	expect("a read with integrity", read(buffer, bytes, sizeof(bytes)), EPERM);
	expect("counts with integrity", ioctl(device, WIRE_DEVICE_COUNTS, &counts), 0);
	fflush(stdout);
	expect_true("ls with integrity", system("burin ls kernel >/dev/null") == 0);
	lock("confidentiality");
	expect("counts", ioctl(device, WIRE_DEVICE_COUNTS, &counts), EPERM);
	refuse_map("a map", PROT_READ, MAP_SHARED, PAGE, 0, EPERM);
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(memory[geometry->file_bytes - 1] == 0 ? 0 : 1);
	waitpid(child, &status, 0);
	expect_true("a page that was not mapped is SIGBUS",
		    WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* ---- a reader that waits */

static _Atomic unsigned begun, ended; /* turns */

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		abort();
}

/* Completes packets of CPU 1 at another moment of each turn: before, while and after the reader goes to sleep. */
static void *complete_packets(void *unused)
{
	stay_on(1);
	for (unsigned turn = 1; turn <= POLL_TURNS; turn++) {
		while (atomic_load(&begun) < turn)
			sched_yield();
		for (unsigned n = 0; n < turn * 37 % 4000; n++)
			__asm__ volatile("");
		for (int n = 0; n < POLL_CALLS; n++)
			syscall(SYS_getppid);
		atomic_store(&ended, turn);
	}
	return unused;
}

static int readable(int ms)
{
	struct pollfd wait = { .fd = device, .events = POLLIN };

	return poll(&wait, 1, ms);
}

/* Give all complete packets of CPU 1 back. */
static bool take_all(void)
{
	struct wire_device_counts counts = { .ring = 1 };
	struct wire_device_consume request = { .ring = 1 };

	if (ioctl(device, WIRE_DEVICE_COUNTS, &counts) != 0 || counts.produced == 0)
		return false;
	request.sequence = counts.produced - 1;
	return ioctl(device, WIRE_DEVICE_CONSUME, &request) == 0;
}

static void wait_for_packets(void)
{
	unsigned woken = 0, empty = 0, taken = 0;
	pthread_t writer;

	expect("claim", ioctl(device, WIRE_DEVICE_CLAIM), 0);
	expect_true("nothing to read", readable(0) == 0);
	stay_on(0);
	if (pthread_create(&writer, NULL, complete_packets, NULL) != 0)
		exit(1);
	for (unsigned turn = 1; turn <= POLL_TURNS; turn++) {
		atomic_store(&begun, turn);
		woken += readable(POLL_MS) == 1;
		while (atomic_load(&ended) < turn)
			sched_yield();
		taken += take_all();
		empty += readable(0) == 0;
	}
	pthread_join(writer, NULL);
	printf("%s %u of %u waits ended\n", woken == POLL_TURNS ? "ok" : "wrong", woken, POLL_TURNS);
	printf("%s %u of %u times all packets were given back\n", taken == POLL_TURNS ? "ok" : "wrong", taken,
	       POLL_TURNS);
	printf("%s %u of %u times there was nothing to read then\n", empty == POLL_TURNS ? "ok" : "wrong",
	       empty, POLL_TURNS);
}

/* A reader that waits for the next change, as by epoll's edges, sleeps on while records are lost: they complete no packet. */
static void lose_records(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	const int edges = epoll_create1(EPOLL_CLOEXEC);
	uint64_t before;

	stay_on(0);
	while ((before = counts_of(0).lost[WIRE_LOST_FULL]) == 0)
		for (int n = 0; n < POLL_CALLS; n++)
			syscall(SYS_getppid);
	expect("epoll", epoll_ctl(edges, EPOLL_CTL_ADD, device, &event), 0);
	expect_true("packets to read", epoll_wait(edges, &event, 1, POLL_MS) == 1);
	for (int n = 0; n < POLL_CALLS; n++)
		syscall(SYS_getppid);
	expect_true("records were lost", counts_of(0).lost[WIRE_LOST_FULL] >= before + POLL_CALLS);
	expect_true("no loss wakes the reader", epoll_wait(edges, &event, 1, 0) == 0);
}

/* ---- chance */

struct chance {
	uint64_t state;
};

static uint64_t next(struct chance *chance)
{
	chance->state ^= chance->state << 13;
	chance->state ^= chance->state >> 7;
	chance->state ^= chance->state << 17;
	return chance->state * 0x2545f4914f6cdd1d;
}

/* Small, near a power of two, or anything. */
static uint64_t odd(struct chance *chance)
{
	const uint64_t bits = next(chance);

	switch (bits & 3) {
	case 0:
		return bits >> 8 & 15;
	case 1:
		return (1ull << (bits >> 8 & 63)) + (bits >> 16 & 3) - 1;
	case 2:
		return (bits >> 8) % (geometry->file_bytes * 2);
	default:
		return next(chance);
	}
}

/* A filter with a few wrong bytes. */
static struct program random_filter(struct chance *chance)
{
	struct program program = program_now();

	if (next(chance) % 4)
		program.head.types = event_of(1 + (unsigned)(next(chance) % 18))->types;
	for (uint64_t n = next(chance) % 3; n > 0; n--)
		((unsigned char *)&program)[4 + next(chance) % (sizeof(program) - 4)] =
			(unsigned char)odd(chance);
	seal(&program);
	return program;
}

static void random_change(struct chance *chance, int file)
{
	struct wire_journal_entry entries[8];
	static char rules[WIRE_RULES_MAX];
	struct wire_device_change change = change_now();
	struct program program;

	for (unsigned n = 0; n < 8; n++)
		entries[n] = (struct wire_journal_entry){ .id = (uint16_t)(next(chance) % 800),
							  .desired = next(chance) & 1 };
	change.count = (uint32_t)(next(chance) % 9);
	change.entries = (uintptr_t)entries;
	if (next(chance) % 4 == 0) {
		program = random_filter(chance);
		change.filters = (uintptr_t)&program;
		change.filters_bytes = sizeof(program);
		entries[0] = (struct wire_journal_entry){ .id = (uint16_t)(1 + next(chance) % 18),
							  .desired = WIRE_CONDITIONAL,
							  .conditional = 1,
							  .filter = session->filters_used,
							  .sample = (uint32_t)odd(chance),
							  .limit = (uint32_t)odd(chance) };
		change.count = 1;
	}
	if (next(chance) % 8 == 0)
		change.size_packets = (uint32_t)(next(chance) % (2 * geometry->ring_packets));
	if (next(chance) % 16 == 0)
		change.paused = next(chance) & 1;
	if (next(chance) % 16 == 0)
		change.rules = (uintptr_t)rules;
	if (next(chance) % 4 == 0)
		((uint64_t *)&change)[next(chance) % (sizeof(change) / 8)] = odd(chance);
	if (next(chance) % 16 == 0)
		((uint32_t *)&change)[next(chance) % (sizeof(change) / 4)] = (uint32_t)odd(chance);
	(void)ioctl(file, WIRE_DEVICE_CHANGE, &change);
}

static void random_map(struct chance *chance, int file)
{
	const uint64_t bytes = (odd(chance) & -(uint64_t)PAGE) + PAGE, offset = odd(chance) & -(uint64_t)PAGE;
	volatile const char *memory = mmap(NULL, bytes, (int)(next(chance) & 1) | PROT_READ,
					   next(chance) % 8 ? MAP_SHARED : MAP_PRIVATE, file, (off_t)offset);

	if (memory == MAP_FAILED)
		return;
	for (int n = 0; n < 8; n++)
		(void)memory[next(chance) % bytes];
	if (next(chance) & 1)
		(void)mprotect((void *)memory, bytes, PROT_READ | PROT_WRITE);
	munmap((void *)memory, bytes);
}

static void random_request(struct chance *chance, int file)
{
	uint64_t words[8];

	for (unsigned n = 0; n < 8; n++)
		words[n] = odd(chance);
	if (next(chance) & 1)
		words[0] &= 7; /* a ring */
	(void)ioctl(file,
		    next(chance) % 4
			    ? (unsigned long)(next(chance) % 2 ? WIRE_DEVICE_CONSUME : WIRE_DEVICE_COUNTS)
			    : (unsigned long)odd(chance),
		    next(chance) % 8 ? (uintptr_t)words : odd(chance));
}

static void *misuse(void *seed)
{
	struct chance chance = { (uintptr_t)seed * 0x9e3779b97f4a7c15 | 1 };
	int file = open(WIRE_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	for (int n = 0; n < REQUESTS; n++) {
		const uint64_t which = next(&chance) % 64;

		if (which < 20)
			random_change(&chance, file);
		else if (which < 30)
			random_map(&chance, file);
		else if (which < 57)
			random_request(&chance, file);
		else if (which < 58)
			(void)poll(&(struct pollfd){ .fd = file, .events = (short)odd(&chance) }, 1,
				   (int)(odd(&chance) & 3));
		else if (which < 60)
			(void)ioctl(file, which & 1 ? WIRE_DEVICE_CLAIM : WIRE_DEVICE_RELEASE);
		else if (which < 61)
			(void)ioctl(file, WIRE_DEVICE_RESET);
		else {
			close(file);
			file = open(WIRE_DEVICE_PATH, which & 1 ? O_RDWR | O_CLOEXEC : O_RDONLY | O_CLOEXEC);
		}
	}
	close(file);
	return NULL;
}

static void misuse_all(unsigned long seed)
{
	pthread_t threads[THREADS];

	for (unsigned long n = 0; n < THREADS; n++)
		if (pthread_create(&threads[n], NULL, misuse, (void *)(seed * THREADS + n + 1)) != 0)
			exit(1);
	for (int n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	device = open(WIRE_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	session = mmap(NULL, sizeof(*session), PROT_READ, MAP_SHARED, device, 0);
	if (device < 0 || session == MAP_FAILED) {
		perror(WIRE_DEVICE_PATH);
		return 1;
	}
	geometry = &session->geometry;
	if (strcmp(argv[1], "refused") == 0) {
		refuse_heads();
		refuse_addresses();
		refuse_entries();
		refuse_filters();
		refuse_drafts();
		refuse_requests();
		refuse_maps();
		refuse_changes();
		keep_maps();
	} else if (strcmp(argv[1], "stream") == 0) {
		stream();
	} else if (strcmp(argv[1], "poll") == 0) {
		wait_for_packets();
	} else if (strcmp(argv[1], "losses") == 0) {
		lose_records();
	} else if (strcmp(argv[1], "locked") == 0) {
		use_locked();
	} else {
		misuse_all(strtoul(argv[2], NULL, 10));
	}
	puts("done");
	return 0;
}
