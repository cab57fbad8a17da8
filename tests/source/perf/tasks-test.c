/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tasks and mappings from the kernel's records. */
#include <stdio.h>

#include "fixture.h"

static void fork_of(struct fixture *fixture, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		    uint64_t time)
{
	struct synthetic bytes;

	synthetic_task(&bytes, PERF_RECORD_FORK, pid, tid, ppid, ptid, time);
	fixture_take(fixture, &bytes);
}

static void end_of(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct synthetic bytes;

	synthetic_task(&bytes, PERF_RECORD_EXIT, pid, tid, pid, tid, time);
	fixture_take(fixture, &bytes);
}

static void name_of(struct fixture *fixture, uint32_t pid, uint32_t tid, uint64_t time, int exec,
		    const char *name)
{
	struct synthetic bytes;

	synthetic_name(&bytes, pid, tid, time, exec, name);
	fixture_take(fixture, &bytes);
}

static void map_of(struct fixture *fixture, uint32_t pid, uint64_t begin, uint64_t bytes_count,
		   uint64_t offset, uint64_t inode, const char *path)
{
	struct synthetic bytes;

	synthetic_map(&bytes, pid, 1, begin, bytes_count, offset, inode, path);
	fixture_take(fixture, &bytes);
}

static void expect(struct fixture *fixture, uint32_t tid, uint64_t address, const char *path, uint64_t offset)
{
	uint64_t found = 0;
	const char *at = fixture_find(fixture, tid, address, &found);

	if (!path) {
		assert_null(at);
		return;
	}
	assert_non_null(at);
	assert_string_equal(at, path);
	assert_int_equal(found, offset);
}

/* A later mapping replaces earlier ones where they overlap; their rest stays. */
static void overlay(void **state)
{
	struct fixture *fixture = *state;

	name_of(fixture, 1, 1, 1, 1, "one");
	map_of(fixture, 1, 0x1000, 0x4000, 0, 11, "/a");
	map_of(fixture, 1, 0x2000, 0x1000, 0x10000, 12, "/b"); /* a hole in the middle */
	expect(fixture, 1, 0x1fff, "/a", 0xfff);
	expect(fixture, 1, 0x2000, "/b", 0x10000);
	expect(fixture, 1, 0x2fff, "/b", 0x10fff);
	expect(fixture, 1, 0x3000, "/a", 0x2000);
	expect(fixture, 1, 0x4fff, "/a", 0x3fff);
	expect(fixture, 1, 0x5000, NULL, 0);
	map_of(fixture, 1, 0x1000, 0x4000, 0x500, 13,
	       "/c"); /* over all of it: the kernel reports no munmap */
	expect(fixture, 1, 0x2345, "/c", 0x1845);
	map_of(fixture, 1, 0x800, 0x1000, 0, 14, "/d"); /* over its front */
	expect(fixture, 1, 0x17ff, "/d", 0xfff);
	expect(fixture, 1, 0x1800, "/c", 0xd00);
	map_of(fixture, 1, 0x4800, 0x1000, 0, 15, "/e"); /* over its end */
	expect(fixture, 1, 0x47ff, "/c", 0x3cff);
	expect(fixture, 1, 0x4800, "/e", 0);
	expect(fixture, 1, 0, NULL, 0);
	expect(fixture, 1, UINT64_MAX, NULL, 0);
}

/* A mapping from /proc fills only holes. */
static void fill(void **state)
{
	struct fixture *fixture = *state;
	struct sample_image *image;
	struct sample_task *task;

	name_of(fixture, 1, 1, 1, 1, "one");
	map_of(fixture, 1, 0x2000, 0x1000, 0, 11, "/real");
	map_of(fixture, 1, 0x5000, 0x1000, 0, 11, "/real");
	task = tasks_find(&fixture->tasks, 1);
	image = images_named(&fixture->images, WIRE_IMAGE_MODULE, "/guess", 0, NULL, 0);
	assert_non_null(image);
	assert_int_equal(
		mappings_fill(
			&task->process->mappings,
			&(struct mapping){ .begin = 0x1000, .end = 0x7000, .offset = 0x100, .image = image }),
		0);
	expect(fixture, 1, 0x1fff, "/guess", 0x10ff);
	expect(fixture, 1, 0x2000, "/real", 0);
	expect(fixture, 1, 0x3000, "/guess", 0x2100);
	expect(fixture, 1, 0x4fff, "/guess", 0x40ff);
	expect(fixture, 1, 0x5fff, "/real", 0xfff);
	expect(fixture, 1, 0x6000, "/guess", 0x5100);
	expect(fixture, 1, 0x7000, NULL, 0);
}

/* A fork copies the mappings; later ones belong to one process. An exec begins an empty address space. */
static void fork_and_exec(void **state)
{
	struct fixture *fixture = *state;
	struct sample_task *task;

	name_of(fixture, 1, 1, 1, 1, "parent");
	map_of(fixture, 1, 0x1000, 0x1000, 0, 11, "/parent");
	fork_of(fixture, 2, 2, 1, 1, 5);
	expect(fixture, 2, 0x1000, "/parent", 0); /* without exec */
	assert_string_equal(tasks_find(&fixture->tasks, 2)->name, "parent");
	map_of(fixture, 2, 0x2000, 0x1000, 0, 12, "/child");
	expect(fixture, 1, 0x2000, NULL, 0);
	expect(fixture, 2, 0x2000, "/child", 0);
	task = tasks_find(&fixture->tasks, 2);
	assert_int_not_equal(tasks_number(&fixture->tasks, task), 0);
	name_of(fixture, 2, 2, 6, 1, "program");
	expect(fixture, 2, 0x1000, NULL, 0);
	expect(fixture, 1, 0x1000, "/parent", 0);
	map_of(fixture, 2, 0x1000, 0x1000, 0, 13, "/program");
	map_of(fixture, 2, 0x9000, 0x1000, 0, 14, "/loader");
	assert_string_equal(tasks_find(&fixture->tasks, 2)->process->program->path, "/program");
	assert_int_equal(tasks_number(&fixture->tasks, tasks_find(&fixture->tasks, 2)), 2); /* a new entry */
	assert_int_equal(tasks_find(&fixture->tasks, 2)->since, 6);
}

static void threads(void **state)
{
	struct fixture *fixture = *state;
	uint32_t before;

	name_of(fixture, 1, 1, 1, 1, "main");
	fork_of(fixture, 1, 11, 1, 1, 2);
	map_of(fixture, 1, 0x1000, 0x1000, 0, 11,
	       "/late"); /* mapped by the first thread, valid for the second, too */
	expect(fixture, 11, 0x1000, "/late", 0);
	before = tasks_number(&fixture->tasks, tasks_find(&fixture->tasks, 11));
	assert_int_equal(tasks_number(&fixture->tasks, tasks_find(&fixture->tasks, 11)), before);
	name_of(fixture, 1, 11, 3, 0, "worker");
	assert_int_not_equal(tasks_number(&fixture->tasks, tasks_find(&fixture->tasks, 11)), before);
	expect(fixture, 11, 0x1000, "/late", 0);
	assert_string_equal(tasks_find(&fixture->tasks, 1)->name, "main");
	end_of(fixture, 1, 1, 4); /* the first thread ends, the other runs on */
	name_of(fixture, 1, 11, 5 + TASKS_KEPT_NS, 0, "worker");
	assert_null(tasks_find(&fixture->tasks, 1));
	expect(fixture, 11, 0x1000, "/late", 0);
}

/* A reused id is another thread. */
static void reuse(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first;

	name_of(fixture, 1, 1, 1, 1, "shell");
	fork_of(fixture, 2, 2, 1, 1, 10);
	name_of(fixture, 2, 2, 11, 1, "first");
	map_of(fixture, 2, 0x1000, 0x1000, 0, 11, "/first");
	first = tasks_number(&fixture->tasks, tasks_find(&fixture->tasks, 2));
	end_of(fixture, 2, 2, 12);
	name_of(fixture, 1, 1, 13, 0, "shell");
	expect(fixture, 2, 0x1000, "/first", 0); /* it is kept for a while */
	fork_of(fixture, 2, 2, 1, 1, 20);
	expect(fixture, 2, 0x1000, NULL, 0);
	assert_int_equal(tasks_find(&fixture->tasks, 2)->since, 20);
	assert_int_not_equal(tasks_number(&fixture->tasks, tasks_find(&fixture->tasks, 2)), first);
	name_of(fixture, 1, 1, 13 + TASKS_KEPT_NS, 0, "shell");
	assert_non_null(tasks_find(&fixture->tasks, 2)); /* its predecessor's end does not affect it */
}

/* Of threads that ended one after another, one lives again by an exec, and one has its id reused: the others go in time. */
static void ended_in_order(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t tid = 1; tid <= 5; tid++)
		name_of(fixture, tid, tid, 1, 1, "thread");
	for (uint32_t tid = 1; tid <= 5; tid++)
		end_of(fixture, tid, tid, 10 * tid);
	name_of(fixture, 3, 3, 60, 1, "exec");
	fork_of(fixture, 1, 1, 3, 3, 61);
	name_of(fixture, 3, 3, 25 + TASKS_KEPT_NS, 0, "exec");
	assert_null(tasks_find(&fixture->tasks, 2));
	assert_non_null(tasks_find(&fixture->tasks, 4));
	name_of(fixture, 3, 3, 45 + TASKS_KEPT_NS, 0, "exec");
	assert_null(tasks_find(&fixture->tasks, 4));
	assert_non_null(tasks_find(&fixture->tasks, 5));
	name_of(fixture, 3, 3, 65 + TASKS_KEPT_NS, 0, "exec");
	assert_null(tasks_find(&fixture->tasks, 5));
	assert_null(fixture->tasks.youngest);
	assert_non_null(tasks_find(&fixture->tasks, 1));
	assert_non_null(tasks_find(&fixture->tasks, 3));
}

static void forgotten(void **state)
{
	struct fixture *fixture = *state;

	name_of(fixture, 1, 1, 1, 1, "one");
	end_of(fixture, 1, 1, 2);
	end_of(fixture, 1, 1, 2);   /* twice */
	end_of(fixture, 77, 77, 2); /* unknown */
	name_of(fixture, 2, 2, 2 + TASKS_KEPT_NS, 1, "two");
	assert_non_null(tasks_find(&fixture->tasks, 1));
	name_of(fixture, 2, 2, 3 + TASKS_KEPT_NS, 1, "two");
	assert_null(tasks_find(&fixture->tasks, 1));
	assert_null(fixture->tasks.oldest);
	assert_null(fixture->tasks.youngest);
	fork_of(fixture, 3, 3, 99, 99, 5); /* by an unknown thread */
	expect(fixture, 3, 0x1000, NULL, 0);
	assert_non_null(tasks_find(&fixture->tasks, 3));
	map_of(fixture, 5, 0x1000, 0x1000, 0, 11, "/x"); /* of an unknown process */
	expect(fixture, 5, 0x1000, "/x", 0);
}

/* The map that a program writes at its end is opened when its last thread ends, or its first one, and not at the end of each. */
static void map_at_end(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t pid = (uint32_t)getpid();
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	for (int leader_is_last = 0; leader_is_last < 2; leader_is_last++) {
		const uint32_t last = leader_is_last ? pid : pid + 2;
		struct jit_state shared = { .images = &fixture->images };
		struct sample_image *image;
		struct jit *jit;
		uint64_t offset;
		int file;

		unlink(path);
		fork_of(fixture, pid, pid, 1, 1, 10);
		fork_of(fixture, pid, pid + 1, pid, pid, 11);
		fork_of(fixture, pid, pid + 2, pid, pid, 12);
		jit = &tasks_find(&fixture->tasks, pid)->process->jit;
		image = jit_find(jit, &shared, "/usr/bin/java", 0x1000, 13, &offset);
		assert_non_null(image);
		if (!leader_is_last)
			end_of(fixture, pid, pid, 14);
		file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(file >= 0);
		end_of(fixture, pid, pid + 1, 15);
		assert_int_equal(image->fd, -1);
		end_of(fixture, pid, last, 16);
		assert_true(image->fd >= 0);
		close(file);
		end_of(fixture, pid, pid + 2, 17); /* again, or at last */
	}
	unlink(path);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(overlay), CASE(fill),	     CASE(fork_and_exec), CASE(threads),
		CASE(reuse),   CASE(ended_in_order), CASE(forgotten),	  CASE(map_at_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
