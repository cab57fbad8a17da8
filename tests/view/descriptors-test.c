/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Descriptors have a path only if the recorded calls prove it, also beside other threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "synth.h"
#include "view/syscalls/values/descriptor_calls.h"
#include "view/syscalls/syscall_dump.h"
#include "wire/wire_event.h"

enum {
	MAIN,
	OTHER,
	CHILD,
	A = 1, /* objects */
	B,
};

static struct descriptors all;
static uint64_t now;

static void begin(size_t thread, struct descriptor_change change)
{
	assert_true(descriptors_begin(&all, thread, &change, ++now));
}

static uint32_t end(size_t thread, int64_t result)
{
	uint32_t made;

	assert_true(descriptors_end(&all, thread, result, ++now, &made));
	return made;
}

static void begin_open(size_t thread, uint32_t object)
{
	begin(thread, (struct descriptor_change){ .action = DESCRIPTOR_OPEN, .object = object });
}

static void open_as(size_t thread, uint32_t object, int64_t result)
{
	begin_open(thread, object);
	end(thread, result);
}

static void begin_close(size_t thread, uint32_t first, uint32_t last)
{
	begin(thread, (struct descriptor_change){ .action = DESCRIPTOR_CLOSE, .first = first, .last = last });
}

static void begin_replace(size_t thread, uint32_t from, uint32_t to)
{
	begin(thread, (struct descriptor_change){ .action = DESCRIPTOR_REPLACE, .first = from, .last = to });
}

static void begin_exec(size_t thread)
{
	begin(thread, (struct descriptor_change){ .action = DESCRIPTOR_EXEC });
}

static uint32_t object(size_t thread, uint64_t descriptor)
{
	return descriptors_object(&all, thread, descriptor, UINT64_MAX);
}

/* A process whose exec was recorded. */
static int begin_process(void **state)
{
	(void)state;
	now = 100;
	assert_true(descriptors_executed(&all, MAIN));
	return 0;
}

static int end_process(void **state)
{
	(void)state;
	descriptors_free(&all);
	return 0;
}

static void make_thread(void)
{
	assert_true(descriptors_fork(&all, MAIN, OTHER, true, true, now));
}

static void opened_closed_and_copied(void **state)
{
	(void)state;
	assert_int_equal(object(MAIN, 3), 0);
	begin_open(MAIN, A);
	assert_int_equal(object(MAIN, 3), 0);
	assert_int_equal(end(MAIN, 3), A);
	open_as(MAIN, B, -2);
	assert_int_equal(object(MAIN, 3), A);
	begin(MAIN, (struct descriptor_change){ .action = DESCRIPTOR_COPY, .first = 3 });
	assert_int_equal(end(MAIN, 7), A);
	begin_replace(MAIN, 3, 1);
	assert_int_equal(end(MAIN, 1), A);
	begin_close(MAIN, 3, 3);
	assert_int_equal(object(MAIN, 3), 0);
	end(MAIN, 0);
	assert_int_equal(object(MAIN, 3), 0);
	assert_int_equal(object(MAIN, 1), A);
	open_as(MAIN, B, 3);
	begin_replace(MAIN, 9, 3); /* by one that is not known */
	assert_int_equal(end(MAIN, 3), 0);
	begin_close(MAIN, 2, UINT32_MAX);
	end(MAIN, 0);
	assert_int_equal(object(MAIN, 7), 0);
	assert_int_equal(object(MAIN, 1), A);
	assert_int_equal(object(OTHER, 1), 0); /* of a process whose begin was not recorded */
	open_as(OTHER, B, 3);
	assert_int_equal(object(OTHER, 3), 0);
	begin_exec(OTHER); /* until it executes */
	end(OTHER, 0);
	open_as(OTHER, B, 3);
	assert_int_equal(object(OTHER, 3), B);
}

static void two_threads_at_once(void **state)
{
	(void)state;
	make_thread();
	open_as(MAIN, A, 3);
	assert_int_equal(object(OTHER, 3), A);
	begin_close(OTHER, 3, 3); /* ... and opened before that ends, whichever was first */
	begin_open(MAIN, B);
	assert_int_equal(end(MAIN, 3), 0);
	end(OTHER, 0);
	assert_int_equal(object(MAIN, 3), 0);
	begin_close(MAIN, 3, 3);
	end(MAIN, 0);
	begin_open(MAIN, B); /* a close that begins and ends within */
	begin_close(OTHER, 3, 3);
	end(OTHER, 0);
	assert_int_equal(end(MAIN, 3), 0);
	begin_close(MAIN, 3, 3);
	end(MAIN, 0);
	begin_open(MAIN, B); /* one that goes on */
	begin_close(OTHER, 3, 3);
	assert_int_equal(end(MAIN, 3), 0);
	end(OTHER, -9);
	assert_int_equal(object(MAIN, 3), 0);
	begin_open(MAIN, B); /* another number */
	begin_close(OTHER, 3, 3);
	assert_int_equal(end(MAIN, 4), B);
	end(OTHER, 0);
	begin_replace(MAIN, 4, 5); /* two replace one */
	begin_replace(OTHER, 3, 5);
	assert_int_equal(end(MAIN, 5), 0);
	assert_int_equal(end(OTHER, 5), 0);
	begin(MAIN, (struct descriptor_change){ .action = DESCRIPTOR_COPY, .first = 4 }); /* of which? */
	begin_close(OTHER, 4, 4);
	assert_int_equal(end(MAIN, 6), 0);
	end(OTHER, 0);
	open_as(MAIN, B, 3);
	open_as(MAIN, B, 4);
	begin(MAIN, (struct descriptor_change){
			    .action = DESCRIPTOR_OPEN, .under = true, .first = 4, .object = A });
	begin_replace(OTHER, 3, 4); /* at which directory? */
	end(OTHER, 4);
	assert_int_equal(end(MAIN, 6), 0);
	begin_close(MAIN, 4, 4);
	end(MAIN, 0);
	open_as(MAIN, B, 4);
	begin_open(MAIN, A); /* all that are closed */
	begin_close(OTHER, 3, UINT32_MAX);
	assert_int_equal(end(MAIN, 4), 0);
	descriptors_exit(&all, OTHER, ++now); /* killed in it */
	begin_close(MAIN, 4, 4);
	end(MAIN, 0);
	open_as(MAIN, A, 4);
	assert_int_equal(object(MAIN, 4), A);
}

static void children_and_programs(void **state)
{
	(void)state;
	open_as(MAIN, A, 3);
	begin(MAIN,
	      (struct descriptor_change){ .action = DESCRIPTOR_OPEN, .object = B, .close_on_exec = true });
	end(MAIN, 4);
	make_thread();
	begin(OTHER, (struct descriptor_change){ .action = DESCRIPTOR_NOTHING }); /* fork */
	open_as(MAIN, A, 5);
	assert_true(descriptors_fork(&all, OTHER, CHILD, false, false, now - 2));
	assert_int_equal(object(CHILD, 3), A);
	assert_int_equal(object(CHILD, 4), B);
	assert_int_equal(object(CHILD, 5), 0); /* before or after the copy? */
	begin_close(CHILD, 3, 3);
	end(CHILD, 0);
	assert_int_equal(object(MAIN, 3), A);
	open_as(CHILD, A, 3);
	begin_exec(CHILD);
	end(CHILD, -2);
	assert_int_equal(object(CHILD, 4), B);
	begin_exec(CHILD);
	end(CHILD, 0);
	assert_int_equal(object(CHILD, 3), A);
	assert_int_equal(object(CHILD, 4), 0);
	begin(CHILD, (struct descriptor_change){
			     .action = DESCRIPTOR_INHERIT, .first = 3, .last = 3, .close_on_exec = true });
	end(CHILD, 0);
	begin_exec(CHILD);
	end(CHILD, 0);
	assert_int_equal(object(CHILD, 3), 0);
	begin_exec(MAIN); /* one of two threads: the other one has no table from then on */
	end(MAIN, 0);
	assert_int_equal(object(MAIN, 3), 0);
	open_as(MAIN, A, 3);
	assert_int_equal(object(MAIN, 3), A);
}

static void what_is_not_seen(void **state)
{
	(void)state;
	open_as(MAIN, A, 3);
	begin(MAIN, (struct descriptor_change){ .action = DESCRIPTOR_HIDE });
	end(MAIN, 0);
	assert_int_equal(object(MAIN, 3), 0);
	open_as(MAIN, A, 4);
	assert_int_equal(object(MAIN, 4), 0);
	begin_exec(MAIN);
	end(MAIN, 0);
	open_as(MAIN, A, 4);
	assert_int_equal(object(MAIN, 4), A);
	open_as(MAIN, B, 4); /* a close was not recorded: others may not have been, either */
	assert_int_equal(object(MAIN, 4), 0);
	open_as(MAIN, B, 5);
	assert_int_equal(object(MAIN, 5), 0);
	begin(MAIN, (struct descriptor_change){ .action = DESCRIPTOR_SEPARATE });
	for (int other = 0; other < 2; other++) { /* of an own table; of a process that was there before */
		begin(other ? OTHER : MAIN, (struct descriptor_change){ .action = DESCRIPTOR_HIDE_ALL });
		assert_true(descriptors_fork(&all, other ? OTHER : MAIN, CHILD, false, false, now));
		for (int programs = 0; programs < 2; programs++) {
			begin_exec(CHILD);
			end(CHILD, 0);
			open_as(CHILD, A, 6);
			assert_int_equal(object(CHILD, 6), 0);
		}
	}
}

static void unshared(void **state)
{
	(void)state;
	open_as(MAIN, A, 3);
	make_thread();
	begin(OTHER, (struct descriptor_change){ .action = DESCRIPTOR_SEPARATE });
	end(OTHER, 0);
	assert_int_equal(object(OTHER, 3), 0);
	assert_int_equal(object(MAIN, 3), A);
	begin_exec(OTHER); /* of one thread that was made with a table of its own */
	assert_true(descriptors_fork(&all, MAIN, OTHER, false, true, now));
	open_as(OTHER, A, 5);
	assert_int_equal(object(OTHER, 5), 0);
	begin_exec(MAIN); /* perhaps that of the other one, which had this one's place then */
	end(MAIN, 0);
	assert_int_equal(object(MAIN, 3), 0);
}

static void very_many(void **state)
{
	(void)state;
	for (uint32_t n = 3; n < 70000; n++)
		open_as(MAIN, A, n);
	open_as(MAIN, A, INT64_MAX);
	assert_int_equal(object(MAIN, 65535), A);
	assert_int_equal(object(MAIN, 65536), 0);
	for (uint32_t n = 0; n < 200; n++)
		assert_true(descriptors_fork(&all, MAIN, CHILD + n, false, false, now));
	assert_int_equal(object(CHILD, 3), A);
	assert_int_equal(object(CHILD + 199, 3), 0);
	for (uint32_t n = 0; n < 200; n++)
		descriptors_exit(&all, CHILD + n, now);
	assert_true(descriptors_fork(&all, MAIN, CHILD, false, false, now + 1));
	assert_int_equal(object(CHILD, 69), A);
	assert_true(descriptors_fork(&all, CHILD, CHILD, false, false, now + 1));
}

/* ---- traces */

static const char *open_fields = "dfd=%d filename=%s flags=%d";

/* The lines of a trace in which a program opens, reads and closes; before that it executes. */
static char *dumped(const char *calls, uint64_t lost, bool without_paths)
{
	static char text[4096];
	const struct synth_options options = { .kernel_calls = calls };
	struct view_dump dump = { .file = memfd_create("dump", MFD_CLOEXEC), .without_paths = without_paths };
	struct burin_trace *trace;
	struct synth *synth;
	struct synth_ring *ring;
	uint32_t executed, opens, opened, reads, closes;
	char root[128], path[160];
	ssize_t bytes;

	assert_non_null(synth_directory(root, sizeof(root)));
	snprintf(path, sizeof(path), "%s/trace", root);
	synth = synth_new(path, &options);
	executed =
		synth_event(synth, "kernel.syscalls:sys_exit_execve", "ret=%ld", 0x5, WIRE_KIND_EVENT, "", 0);
	opens = synth_event(synth, "kernel.syscalls:sys_enter_openat", open_fields, 0x4d4, WIRE_KIND_EVENT,
			    "", 0);
	opened =
		synth_event(synth, "kernel.syscalls:sys_exit_openat", "ret=%ld", 0x5, WIRE_KIND_EVENT, "", 0);
	reads = synth_event(synth, "kernel.syscalls:sys_enter_read", "fd=%u", 0x8, WIRE_KIND_EVENT, "", 0);
	closes = synth_event(synth, "kernel.syscalls:sys_enter_close", "fd=%u", 0x8, WIRE_KIND_EVENT, "", 0);
	ring = synth_ring(synth, 0, false);
	synth_recordf(ring, 1000, executed, 1, "q", (uint64_t)0);
	synth_recordf(ring, 2000, opens, 1, "dsd", -100, "/a<\n", 0);
	synth_recordf(ring, 3000, opened, 1, "q", (uint64_t)3);
	synth_recordf(ring, 4000, opens, 1, "dsd", 3, "b", 0);
	synth_recordf(ring, 5000, opened, 1, "q", (uint64_t)4);
	if (lost)
		synth_lose(ring, BURIN_LOST_FULL, lost);
	synth_recordf(ring, 6000, reads, 1, "d", 4);
	synth_recordf(ring, 7000, closes, 1, "d", 4);
	synth_recordf(ring, 8000, reads, 1, "d", 4);
	synth_recordf(ring, 9000, opens, 1, "dsd", 5, "b", 0); /* at an unknown directory */
	synth_recordf(ring, 10000, opened, 1, "q", (uint64_t)6);
	synth_finish(synth);
	assert_true(dump.file >= 0);
	assert_int_equal(burin_trace_open(&trace, path, NULL, NULL), 0);
	assert_int_equal(view_syscall_dump(trace, &dump), 0);
	burin_trace_close(trace);
	bytes = pread(dump.file, text, sizeof(text) - 1, 0);
	close(dump.file);
	synth_remove(root);
	assert_true(bytes > 0);
	text[bytes] = 0;
	return text;
}

static void paths_in_lines(void **state)
{
	const char *text = dumped("1000 20000", 0, false);

	(void)state;
	for (const char *const *wanted =
		     (const char *const[]){ "\"/a<\\n\", O_RDONLY) = 3</a\\x3c\\n> <",
					    "openat(3</a\\x3c\\n>, \"b\", O_RDONLY) = 4</a\\x3c\\n/b> <",
					    "read(4</a\\x3c\\n/b> <unf", "close(4</a\\x3c\\n/b> <unf",
					    "read(4 <unf", "openat(5, \"b\", O_RDONLY) = 6 <", NULL };
	     *wanted; wanted++)
		if (!strstr(text, *wanted))
			fail_msg("%s is not in %s", *wanted, text);
}

/* A lost record may be that of a close; so may one that was not chosen. */
static void no_paths(void **state)
{
	(void)state;
	assert_null(strstr(dumped("0 20000", 1, false), "</a"));
	assert_null(strstr(dumped(NULL, 0, false), "</a"));
	assert_null(strstr(dumped("all", 0, false), "</a"));
	assert_null(strstr(dumped("0", 0, false), "</a"));
	assert_null(strstr(dumped("0 20000 ", 0, false), "</a"));
	assert_null(strstr(dumped("0 20000", 0, true), "</a"));
	open_fields = "dfd=%d filename=%s others=%d"; /* it may be closed by an exec */
	assert_null(strstr(dumped("0 20000", 0, false), "</a"));
	open_fields = "dfd=%d filename=%s flags=%d";
}

/* Before and behind the time when all rings record, a close may be missing. */
static void ends_of_rings(void **state)
{
	const char *text;

	(void)state;
	assert_null(strstr(dumped("1001 20000", 0, false), "</a")); /* the exec does not count */
	text = dumped("0 5000", 0, false);
	assert_non_null(strstr(text, "= 3</a"));
	assert_null(strstr(text, "= 4<"));
	assert_null(strstr(text, "read(4<"));
	text = dumped("0 6000", 0, false);
	assert_non_null(strstr(text, "= 4</a"));
	assert_null(strstr(text, "read(4<"));
	text = dumped("0 6001", 0, false);
	assert_non_null(strstr(text, "read(4</a"));
	assert_null(strstr(text, "close(4<"));
}

int main(void)
{
#define PROCESS_TEST(name) cmocka_unit_test_setup_teardown(name, begin_process, end_process)
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(opened_closed_and_copied),
		PROCESS_TEST(two_threads_at_once),
		PROCESS_TEST(children_and_programs),
		PROCESS_TEST(what_is_not_seen),
		PROCESS_TEST(unshared),
		PROCESS_TEST(very_many),
		cmocka_unit_test(paths_in_lines),
		cmocka_unit_test(no_paths),
		cmocka_unit_test(ends_of_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
