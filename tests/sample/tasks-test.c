/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tasks and mappings, as the kernel tells of them. */
#include "place.h"

static void fork_of(struct place *place, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		    uint64_t time)
{
	struct synthetic bytes;

	synthetic_task(&bytes, PERF_RECORD_FORK, pid, tid, ppid, ptid, time);
	place_tell(place, &bytes);
}

static void end_of(struct place *place, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct synthetic bytes;

	synthetic_task(&bytes, PERF_RECORD_EXIT, pid, tid, pid, tid, time);
	place_tell(place, &bytes);
}

static void name_of(struct place *place, uint32_t pid, uint32_t tid, uint64_t time, int exec,
		    const char *name)
{
	struct synthetic bytes;

	synthetic_name(&bytes, pid, tid, time, exec, name);
	place_tell(place, &bytes);
}

static void map_of(struct place *place, uint32_t pid, uint64_t begin, uint64_t bytes_count, uint64_t offset,
		   uint64_t inode, const char *path)
{
	struct synthetic bytes;

	synthetic_map(&bytes, pid, 1, begin, bytes_count, offset, inode, path);
	place_tell(place, &bytes);
}

static void expect(struct place *place, uint32_t tid, uint64_t address, const char *path, uint64_t offset)
{
	uint64_t found = 0;
	const char *at = place_at(place, tid, address, &found);

	if (!path) {
		assert_null(at);
		return;
	}
	assert_non_null(at);
	assert_string_equal(at, path);
	assert_int_equal(found, offset);
}

/* What is mapped later lies over what was there; the rest of that stays. */
static void overlay(void **state)
{
	struct place *place = *state;

	name_of(place, 1, 1, 1, 1, "one");
	map_of(place, 1, 0x1000, 0x4000, 0, 11, "/a");
	map_of(place, 1, 0x2000, 0x1000, 0x10000, 12, "/b"); /* a hole in the middle */
	expect(place, 1, 0x1fff, "/a", 0xfff);
	expect(place, 1, 0x2000, "/b", 0x10000);
	expect(place, 1, 0x2fff, "/b", 0x10fff);
	expect(place, 1, 0x3000, "/a", 0x2000);
	expect(place, 1, 0x4fff, "/a", 0x3fff);
	expect(place, 1, 0x5000, NULL, 0);
	map_of(place, 1, 0x1000, 0x4000, 0x500, 13, "/c"); /* over all of it: nobody has told of an munmap */
	expect(place, 1, 0x2345, "/c", 0x1845);
	map_of(place, 1, 0x800, 0x1000, 0, 14, "/d"); /* over its front */
	expect(place, 1, 0x17ff, "/d", 0xfff);
	expect(place, 1, 0x1800, "/c", 0xd00);
	map_of(place, 1, 0x4800, 0x1000, 0, 15, "/e"); /* over its end */
	expect(place, 1, 0x47ff, "/c", 0x3cff);
	expect(place, 1, 0x4800, "/e", 0);
	expect(place, 1, 0, NULL, 0);
	expect(place, 1, UINT64_MAX, NULL, 0);
}

/* What was read from /proc fills holes only. */
static void fill(void **state)
{
	struct place *place = *state;
	struct sample_image *image;
	struct sample_task *task;

	name_of(place, 1, 1, 1, 1, "one");
	map_of(place, 1, 0x2000, 0x1000, 0, 11, "/real");
	map_of(place, 1, 0x5000, 0x1000, 0, 11, "/real");
	task = tasks_find(&place->tasks, 1);
	image = images_named(&place->images, WIRE_IMAGE_MODULE, "/guess", 0, NULL, 0);
	assert_non_null(image);
	assert_int_equal(
		mappings_fill(
			&task->process->mappings,
			&(struct mapping){ .begin = 0x1000, .end = 0x7000, .offset = 0x100, .image = image }),
		0);
	expect(place, 1, 0x1fff, "/guess", 0x10ff);
	expect(place, 1, 0x2000, "/real", 0);
	expect(place, 1, 0x3000, "/guess", 0x2100);
	expect(place, 1, 0x4fff, "/guess", 0x40ff);
	expect(place, 1, 0x5fff, "/real", 0xfff);
	expect(place, 1, 0x6000, "/guess", 0x5100);
	expect(place, 1, 0x7000, NULL, 0);
}

/* A fork copies, what either maps later is its own; an exec begins anew. */
static void fork_and_exec(void **state)
{
	struct place *place = *state;
	struct sample_task *task;

	name_of(place, 1, 1, 1, 1, "parent");
	map_of(place, 1, 0x1000, 0x1000, 0, 11, "/parent");
	fork_of(place, 2, 2, 1, 1, 5);
	expect(place, 2, 0x1000, "/parent", 0); /* without exec */
	assert_string_equal(tasks_find(&place->tasks, 2)->name, "parent");
	map_of(place, 2, 0x2000, 0x1000, 0, 12, "/child");
	expect(place, 1, 0x2000, NULL, 0);
	expect(place, 2, 0x2000, "/child", 0);
	task = tasks_find(&place->tasks, 2);
	assert_int_not_equal(tasks_number(&place->tasks, task), 0);
	name_of(place, 2, 2, 6, 1, "program");
	expect(place, 2, 0x1000, NULL, 0);
	expect(place, 1, 0x1000, "/parent", 0);
	map_of(place, 2, 0x1000, 0x1000, 0, 13, "/program");
	map_of(place, 2, 0x9000, 0x1000, 0, 14, "/loader");
	assert_string_equal(tasks_find(&place->tasks, 2)->process->program->path, "/program");
	assert_int_equal(tasks_number(&place->tasks, tasks_find(&place->tasks, 2)), 2); /* entered anew */
	assert_int_equal(tasks_find(&place->tasks, 2)->since, 6);
}

static void threads(void **state)
{
	struct place *place = *state;
	uint32_t before;

	name_of(place, 1, 1, 1, 1, "main");
	fork_of(place, 1, 11, 1, 1, 2);
	map_of(place, 1, 0x1000, 0x1000, 0, 11, "/late"); /* mapped by the first thread, seen by the second */
	expect(place, 11, 0x1000, "/late", 0);
	before = tasks_number(&place->tasks, tasks_find(&place->tasks, 11));
	assert_int_equal(tasks_number(&place->tasks, tasks_find(&place->tasks, 11)), before);
	name_of(place, 1, 11, 3, 0, "worker");
	assert_int_not_equal(tasks_number(&place->tasks, tasks_find(&place->tasks, 11)), before);
	expect(place, 11, 0x1000, "/late", 0);
	assert_string_equal(tasks_find(&place->tasks, 1)->name, "main");
	end_of(place, 1, 1, 4); /* the first thread ends, the other goes on */
	for (unsigned n = 0; n <= TASKS_KEPT_ROUNDS; n++)
		tasks_round(&place->tasks);
	assert_null(tasks_find(&place->tasks, 1));
	expect(place, 11, 0x1000, "/late", 0);
}

/* An id that is used again is somebody else. */
static void reuse(void **state)
{
	struct place *place = *state;
	uint32_t first;

	name_of(place, 1, 1, 1, 1, "shell");
	fork_of(place, 2, 2, 1, 1, 10);
	name_of(place, 2, 2, 11, 1, "first");
	map_of(place, 2, 0x1000, 0x1000, 0, 11, "/first");
	first = tasks_number(&place->tasks, tasks_find(&place->tasks, 2));
	end_of(place, 2, 2, 12);
	tasks_round(&place->tasks);
	expect(place, 2, 0x1000, "/first", 0); /* it is kept for a while */
	fork_of(place, 2, 2, 1, 1, 20);
	expect(place, 2, 0x1000, NULL, 0);
	assert_int_equal(tasks_find(&place->tasks, 2)->since, 20);
	assert_int_not_equal(tasks_number(&place->tasks, tasks_find(&place->tasks, 2)), first);
	for (unsigned n = 0; n <= TASKS_KEPT_ROUNDS; n++)
		tasks_round(&place->tasks);
	assert_non_null(tasks_find(&place->tasks, 2)); /* its predecessor's end is not its */
}

static void forgotten(void **state)
{
	struct place *place = *state;

	name_of(place, 1, 1, 1, 1, "one");
	end_of(place, 1, 1, 2);
	end_of(place, 1, 1, 2);	  /* told twice */
	end_of(place, 77, 77, 2); /* nobody knows it */
	for (unsigned n = 0; n < TASKS_KEPT_ROUNDS; n++)
		tasks_round(&place->tasks);
	assert_non_null(tasks_find(&place->tasks, 1));
	tasks_round(&place->tasks);
	assert_null(tasks_find(&place->tasks, 1));
	assert_int_equal(place->tasks.ended, 0);
	fork_of(place, 3, 3, 99, 99, 5); /* by somebody unknown */
	expect(place, 3, 0x1000, NULL, 0);
	assert_non_null(tasks_find(&place->tasks, 3));
	map_of(place, 5, 0x1000, 0x1000, 0, 11, "/x"); /* of somebody unknown */
	expect(place, 5, 0x1000, "/x", 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(overlay), CASE(fill), CASE(fork_and_exec), CASE(threads), CASE(reuse), CASE(forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
