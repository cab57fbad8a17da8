/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the samples of a trace refer to: `.burin/profile`, tasks and images; spots are in spots.c, stacks, places and
 * names in places.c.
 *
 * Beside a recorder that is still writing, a table is read before those that it refers to, since these may only
 * have become longer meanwhile: spots, then stacks, tasks and symbols, then images.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "read/profile.h"

static const char profile_file[] = ".burin/profile";

enum {
	PROFILE_BYTES = 1 << 20,
};

/* ---- .burin/profile ---- */

static int load_values(struct burin_profile *profile)
{
	char *data;
	size_t bytes = 0;
	int result = read_directory_load(profile->trace, profile_file, PROFILE_BYTES, &data, &bytes);

	if (result == -ENOMEM)
		return result;
	if (result) {
		if (result != -ENOENT)
			read_fault(profile->trace, BURIN_FAULT_TABLE, profile_file, 0, "cannot read: %s",
				   result == -EBADF ? "not a regular file" : burin_fault_name(result));
		return 0;
	}
	profile->told = true;
	if (strlen(data) != bytes && profile->trace->strict)
		read_fault(profile->trace, BURIN_FAULT_TABLE, profile_file, strlen(data),
			   "a NUL byte in the text");
	for (char *at = data; *at && !result;) {
		char *end = strchrnul(at, '\n'), *next = *end ? end + 1 : end, *equals;

		*end = '\0';
		equals = strchr(at, '=');
		if (equals && equals != at) {
			*equals = '\0';
			result = read_recording_add(&profile->values, at, equals + 1);
		} else {
			read_fault(profile->trace, BURIN_FAULT_TABLE, profile_file, (uint64_t)(at - data),
				   "a line that is no key=value");
		}
		at = next;
	}
	free(data);
	return result;
}

const char *burin_profile_value(const struct burin_profile *profile, const char *key)
{
	for (unsigned n = 0; n < profile->values.count; n++) {
		if (!strcmp(profile->values.lines[n].key, key))
			return profile->values.lines[n].value;
	}
	return NULL;
}

uint64_t burin_profile_number(const struct burin_profile *profile, const char *key)
{
	const char *text = burin_profile_value(profile, key);
	uint64_t value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

int burin_profile_value_at(const struct burin_profile *profile, unsigned n, const char **key,
			   const char **value)
{
	if (n >= profile->values.count)
		return -ENOENT;
	*key = profile->values.lines[n].key;
	*value = profile->values.lines[n].value;
	return 0;
}

/* ---- Events ---- */

/* The field of that name and type, in bytes from the payload's beginning. */
static bool find_field(const struct read_event *event, const char *name, unsigned type, uint32_t *offset)
{
	int field = burin_event_find(&event->open, name);

	if (field < 0 || event->fields[field].open.type != type)
		return false;
	*offset = event->offsets[field];
	return true;
}

static const char *event_value(const struct burin_profile *profile, const char *prefix, const char *name)
{
	char key[WIRE_NAME_MAX + 16];

	snprintf(key, sizeof(key), "%s.%s", prefix, name);
	return burin_profile_value(profile, key);
}

static int load_events(struct burin_profile *profile)
{
	const struct burin_trace *trace = profile->trace;
	static const char prefix[] = "sample.";

	profile->events = calloc(trace->event_count + 1, sizeof(*profile->events));
	if (!profile->events)
		return -ENOMEM;
	for (unsigned n = 0; n < trace->event_count; n++) {
		const struct read_event *event = read_event_find(trace, WIRE_STREAM_RECORDS, n + 1);
		struct read_sample_event *sample = &profile->events[n];
		const char *all;

		if (!event || event->variable || strncmp(event->open.name, prefix, sizeof(prefix) - 1) != 0 ||
		    !find_field(event, "spot", WIRE_U32, &sample->spot))
			continue;
		sample->sample = true;
		sample->weighted = find_field(event, "weight", WIRE_U64, &sample->weight);
		sample->unit = event_value(profile, "unit", event->open.name);
		all = event_value(profile, "weight", event->open.name);
		sample->all = all ? strtoull(all, NULL, 10) : 0;
		if (!sample->unit || (!sample->weighted && !sample->all))
			sample->unit = "samples";
		if (!sample->all)
			sample->all = 1;
	}
	return 0;
}

static const struct read_sample_event *sample_event(const struct burin_profile *profile,
						    const struct burin_event *event)
{
	const struct read_sample_event *sample;

	if (event->id - 1 >= profile->trace->event_count)
		return NULL;
	sample = &profile->events[event->id - 1];
	/* An announcement's event has an id of its own kind. */
	return sample->sample && burin_trace_event(profile->trace, event->id) == event ? sample : NULL;
}

int burin_profile_is_sample(const struct burin_profile *profile, const struct burin_event *event)
{
	return sample_event(profile, event) != NULL;
}

const char *burin_profile_unit(const struct burin_profile *profile, const struct burin_event *event)
{
	const struct read_sample_event *sample = sample_event(profile, event);

	return sample ? sample->unit : "samples";
}

int burin_profile_sample(const struct burin_profile *profile, const struct burin_record *record,
			 struct burin_sample *sample)
{
	const struct read_sample_event *event = sample_event(profile, record->event);
	uint32_t number;

	if (!event)
		return -EINVAL;
	number = number_load32(record->payload + event->spot);
	sample->spot = burin_profile_spot(profile, number, &sample->task, &sample->stack) ? 0 : number;
	sample->weight = event->weighted ? number_load64(record->payload + event->weight) : event->all;
	return 0;
}

/* ---- Tasks and images ---- */

static const char *take_string(struct burin_profile *profile, struct read_entry *entry, bool raw,
			       size_t *bytes)
{
	const char *text = read_entry_text(entry, raw, bytes);

	return read_arena_keep(&profile->arena, text, *bytes);
}

static int take_task(void *data, struct read_entry *entry)
{
	struct burin_task task;
	size_t bytes;

	task.tid =
		(uint32_t)read_entry_number(entry, UINT32_MAX, "the thread's number has more than 32 bits");
	task.pid =
		(uint32_t)read_entry_number(entry, UINT32_MAX, "the process's number has more than 32 bits");
	task.since = read_entry_number(entry, UINT64_MAX, "");
	task.image =
		(uint32_t)read_entry_number(entry, UINT32_MAX, "the image's number has more than 32 bits");
	task.name = take_string(data, entry, false, &bytes);
	task.path = take_string(data, entry, false, &bytes);
	if (!entry->reason)
		*(struct burin_task *)entry->row = task;
	return task.name && task.path ? 0 : -ENOMEM;
}

static int take_image(void *data, struct read_entry *entry)
{
	struct burin_image image = { .names = BURIN_NAMES_UNTOLD, .remedy = "" };
	size_t bytes;

	image.kind = (unsigned)read_entry_number(entry, WIRE_IMAGES - 1, "an unknown kind of image");
	image.size = read_entry_number(entry, UINT64_MAX, "");
	image.build_id = (const unsigned char *)take_string(data, entry, true, &image.build_id_bytes);
	image.path = take_string(data, entry, false, &bytes);
	if (!entry->reason && !image.kind)
		entry->reason = "an unknown kind of image";
	if (!entry->reason)
		*(struct burin_image *)entry->row = image;
	return image.build_id && image.path ? 0 : -ENOMEM;
}

static void settle_images(struct burin_profile *profile)
{
	const struct read_image_state *states = profile->states.items;

	for (size_t n = 0; n < profile->states.count; n++) {
		if (states[n].image - 1 >= profile->image_count) {
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/symbols", 0,
				   "a state of image %" PRIu32 ", which is not there", states[n].image);
			continue;
		}
		profile->images[states[n].image - 1].names = states[n].state;
		profile->images[states[n].image - 1].remedy = states[n].remedy;
	}
}

static int load(struct burin_profile *profile)
{
	static const struct read_table tasks = {
		".burin/tasks", WIRE_TABLE_TASKS, 6, sizeof(struct burin_task), 0, take_task
	};
	static const struct read_table images = {
		".burin/images", WIRE_TABLE_IMAGES, 4, sizeof(struct burin_image), 0, take_image
	};
	int result = load_values(profile);
	bool samples = profile->told;

	if (!result)
		result = load_events(profile);
	for (unsigned n = 0; n < profile->trace->event_count && !result; n++)
		samples |= profile->events[n].sample;
	if (!result && !samples)
		return -ENODATA;
	if (!result)
		result = read_spots_load(profile);
	if (!result)
		result = read_stacks_load(profile);
	if (!result)
		result = read_table_load(profile->trace, &tasks, profile, (void **)&profile->tasks,
					 &profile->task_count);
	if (!result)
		result = read_symbols_load(profile);
	if (!result)
		result = read_table_load(profile->trace, &images, profile, (void **)&profile->images,
					 &profile->image_count);
	if (!result)
		settle_images(profile);
	return result;
}

int burin_profile_open(struct burin_profile **profile, const struct burin_trace *trace)
{
	struct burin_profile *made = calloc(1, sizeof(*made));
	int result;

	*profile = NULL;
	if (!made)
		return -ENOMEM;
	made->trace = trace;
	result = load(made);
	if (result)
		burin_profile_close(made);
	else
		*profile = made;
	return result;
}

void burin_profile_close(struct burin_profile *profile)
{
	if (!profile)
		return;
	read_recording_free(&profile->values);
	read_arena_free(&profile->arena);
	free(profile->events);
	free(profile->tasks);
	free(profile->images);
	free(profile->stacks);
	free(profile->spots);
	free(profile->places.items);
	free(profile->place_index);
	free(profile->functions.items);
	free(profile->texts.items);
	free(profile->text_same);
	free(profile->states.items);
	free(profile->ranges.items);
	free(profile);
}

uint32_t burin_profile_tasks(const struct burin_profile *profile)
{
	return profile->task_count;
}

uint32_t burin_profile_images(const struct burin_profile *profile)
{
	return profile->image_count;
}

const struct burin_task *burin_profile_task(const struct burin_profile *profile, uint32_t number)
{
	return number - 1 < profile->task_count && profile->tasks[number - 1].name
		       ? &profile->tasks[number - 1]
		       : NULL;
}

const struct burin_image *burin_profile_image(const struct burin_profile *profile, uint32_t number)
{
	return number - 1 < profile->image_count && profile->images[number - 1].kind
		       ? &profile->images[number - 1]
		       : NULL;
}

const char *burin_image_name(const struct burin_image *image)
{
	const char *slash;

	if (!image)
		return "[unknown]";
	if (image->kind == BURIN_IMAGE_KERNEL)
		return "[kernel]";
	if (image->kind == BURIN_IMAGE_VDSO)
		return "[vdso]";
	if (!*image->path)
		return image->kind == BURIN_IMAGE_JIT ? "[jit]" : "[anon]";
	slash = *image->path == '/' ? strrchr(image->path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : image->path;
}

const char *burin_cut_name(unsigned cut)
{
	static const char *const names[] = {
		[BURIN_CUT_NONE] = "whole",
		[BURIN_CUT_DEPTH] = "stack too deep",
		[BURIN_CUT_STACK] = "copy of the stack ended",
		[BURIN_CUT_TABLES] = "no unwind information",
		[BURIN_CUT_MEMORY] = "address in no mapping",
		[BURIN_CUT_IMAGE] = "image unreadable",
		[BURIN_CUT_RING] = "stack lost",
	};

	return cut < BURIN_CUTS ? names[cut] : "?";
}

char *burin_profile_address(const struct burin_profile *profile, uint32_t place, char *out, size_t size)
{
	const struct read_place *entry = read_place_at(profile, place);
	const char *name;

	if (!entry) {
		snprintf(out, size, "[unknown]");
	} else if (!entry->image) {
		snprintf(out, size, "[%s]",
			 burin_cut_name(entry->offset < BURIN_CUTS ? (unsigned)entry->offset : BURIN_CUTS));
	} else {
		name = burin_image_name(burin_profile_image(profile, entry->image));
		snprintf(out, size, "%s+0x%" PRIx64, name, entry->size ? entry->begin : entry->offset);
	}
	return out;
}
