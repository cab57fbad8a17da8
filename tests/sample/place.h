/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A trace's folder and tables for a unit test. */
#ifndef BURIN_TESTS_SAMPLE_PLACE_H
#define BURIN_TESTS_SAMPLE_PLACE_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/sample/attribute.h"
#include "synthetic.h"

struct place {
	char path[64];
	int directory;
	struct interned images_table, tasks_table, stacks_table;
	struct images images;
	struct tasks tasks;
	struct kernel kernel;
	struct stacks stacks;
	struct attribution attribution;
};

static inline int place_set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	strcpy(place->path, "/tmp/burin-sample-XXXXXX");
	place->directory = mkdtemp(place->path) ? open(place->path, O_RDONLY | O_DIRECTORY) : -1;
	assert_int_equal(interned_begin(&place->images_table, place->directory, "images", WIRE_TABLE_IMAGES),
			 0);
	assert_int_equal(interned_begin(&place->tasks_table, place->directory, "tasks", WIRE_TABLE_TASKS), 0);
	assert_int_equal(interned_begin(&place->stacks_table, place->directory, "stacks", WIRE_TABLE_STACKS),
			 0);
	assert_int_equal(images_init(&place->images, &place->images_table), 0);
	assert_int_equal(tasks_init(&place->tasks, &place->images, &place->tasks_table), 0);
	kernel_init(&place->kernel, &place->images);
	stacks_init(&place->stacks, &place->stacks_table);
	place->attribution = (struct attribution){ .tasks = &place->tasks,
						   .images = &place->images,
						   .kernel = &place->kernel,
						   .stacks = &place->stacks,
						   .max_depth = 127,
						   .stacks_wanted = true };
	*state = place;
	return 0;
}

static inline int place_tear_down(void **state)
{
	struct place *place = *state;

	tasks_free(&place->tasks);
	kernel_free(&place->kernel);
	images_free(&place->images);
	stacks_free(&place->stacks);
	assert_int_equal(interned_flush(&place->stacks_table), 0);
	interned_close(&place->images_table);
	interned_close(&place->tasks_table);
	interned_close(&place->stacks_table);
	unlinkat(place->directory, "images", 0);
	unlinkat(place->directory, "tasks", 0);
	unlinkat(place->directory, "stacks", 0);
	close(place->directory);
	rmdir(place->path);
	free(place);
	return 0;
}

static inline void place_tell(struct place *place, const struct synthetic *bytes)
{
	const struct record record = synthetic_parsed(bytes);

	assert_int_not_equal(record.kind, RECORD_DAMAGED);
	tasks_take(&place->tasks, &record, record.time);
}

/* What lies at an address of a process: the path of its image, and the offset. */
static inline const char *place_at(struct place *place, uint32_t tid, uint64_t address, uint64_t *offset)
{
	const struct sample_task *task = tasks_find(&place->tasks, tid);
	const struct mapping *mapping = task ? mappings_find(&task->process->mappings, address) : NULL;

	if (!mapping)
		return NULL;
	*offset = mapping->offset + (address - mapping->begin);
	return mapping->image->path;
}

#endif
