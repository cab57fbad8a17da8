/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A trace's folder and tables for a unit test. */
#ifndef BURIN_TESTS_PERF_FIXTURE_H
#define BURIN_TESTS_PERF_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/perf/stacks/attribute.h"
#include "synthetic.h"

struct fixture {
	char path[64];
	int directory;
	struct table_writer images_table, tasks_table, stacks_table;
	struct images images;
	struct tasks tasks;
	struct kernel kernel;
	struct stacks stacks;
	struct attribution attribution;
};

static inline int fixture_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	strcpy(fixture->path, "/tmp/burin-sample-XXXXXX");
	fixture->directory = mkdtemp(fixture->path) ? open(fixture->path, O_RDONLY | O_DIRECTORY) : -1;
	assert_int_equal(mkdirat(fixture->directory, ".burin", 0700), 0);
	assert_int_equal(
		table_writer_begin(&fixture->images_table, fixture->directory, "images", WIRE_TABLE_IMAGES),
		0);
	assert_int_equal(
		table_writer_begin(&fixture->tasks_table, fixture->directory, "tasks", WIRE_TABLE_TASKS), 0);
	assert_int_equal(
		table_writer_begin(&fixture->stacks_table, fixture->directory, "stacks", WIRE_TABLE_STACKS),
		0);
	images_init(&fixture->images, &fixture->images_table);
	assert_int_equal(tasks_init(&fixture->tasks, &fixture->images, &fixture->tasks_table), 0);
	kernel_init(&fixture->kernel, &fixture->images);
	stacks_init(&fixture->stacks, &fixture->stacks_table);
	fixture->attribution = (struct attribution){ .tasks = &fixture->tasks,
						     .images = &fixture->images,
						     .kernel = &fixture->kernel,
						     .stacks = &fixture->stacks,
						     .max_depth = 127,
						     .stacks_wanted = true };
	*state = fixture;
	return 0;
}

static inline int fixture_tear_down(void **state)
{
	struct fixture *fixture = *state;

	tasks_free(&fixture->tasks);
	kernel_free(&fixture->kernel);
	images_free(&fixture->images);
	stacks_free(&fixture->stacks);
	assert_int_equal(table_writer_flush(&fixture->stacks_table), 0);
	table_writer_close(&fixture->images_table);
	table_writer_close(&fixture->tasks_table);
	table_writer_close(&fixture->stacks_table);
	unlinkat(fixture->directory, "images", 0);
	unlinkat(fixture->directory, "tasks", 0);
	unlinkat(fixture->directory, "stacks", 0);
	unlinkat(fixture->directory, ".burin", AT_REMOVEDIR);
	close(fixture->directory);
	rmdir(fixture->path);
	free(fixture);
	return 0;
}

static inline void fixture_take(struct fixture *fixture, const struct synthetic *bytes)
{
	const struct record record = synthetic_parsed(bytes);

	assert_int_not_equal(record.kind, RECORD_DAMAGED);
	tasks_take(&fixture->tasks, &record, record.time);
}

/* The location of an address of a process: the image's path, and the offset. */
static inline const char *fixture_find(struct fixture *fixture, uint32_t tid, uint64_t address,
				       uint64_t *offset)
{
	const struct sample_task *task = tasks_find(&fixture->tasks, tid);
	const struct mapping *mapping = task ? mappings_find(&task->process->mappings, address) : NULL;

	if (!mapping)
		return NULL;
	*offset = mapping->offset + (address - mapping->begin);
	return mapping->image->path;
}

#endif
