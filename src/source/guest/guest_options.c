/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments; see guest_options.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/nolibc.h"
#include "base/number.h"
#include "source/guest/guest_options.h"

struct guest_options guest_options = { .kernel = true, .user = true };

/* A hexadecimal number up to a character. Return: what is behind that; NULL: it is not one. */
static const char *take_address(const char *text, char end, uint64_t *address)
{
	const char *behind;

	if (strncmp(text, "0x", 2) == 0)
		text += 2;
	*address = nolibc_number(text, 16, &behind);
	return behind != text && *behind == end ? behind + 1 : NULL;
}

static bool take_range(const char *text)
{
	struct guest_range range;

	if (guest_options.range_count == GUEST_RANGES)
		return false;
	text = take_address(text, '-', &range.begin);
	if (!text || !take_address(text, 0, &range.end) || range.begin >= range.end)
		return false;
	guest_options.ranges[guest_options.range_count++] = range;
	return true;
}

static bool take_tasks(const char *text)
{
	struct guest_options *options = &guest_options;

	for (unsigned n = 0; n < GUEST_TASK_PLACES; n++) {
		text = take_address(text, n + 1 < GUEST_TASK_PLACES ? ':' : 0, &options->tasks[n]);
		if (!text)
			return false;
	}
	options->task_begin = UINT64_MAX;
	for (unsigned n = GUEST_TASK_STACK; n < GUEST_TASK_PLACES; n++) {
		const uint64_t begin = options->tasks[n], end = begin + GUEST_TASK_NAME;

		if (end > GUEST_TASK_MAX)
			return false;
		options->task_begin = begin < options->task_begin ? begin : options->task_begin;
		options->task_end = end > options->task_end ? end : options->task_end;
	}
	return true;
}

static bool take_level(const char *text)
{
	guest_options.kernel = strcmp(text, "kernel") == 0;
	guest_options.user = strcmp(text, "user") == 0;
	return guest_options.kernel || guest_options.user;
}

static const char *value_of(const char *argument, const char *key)
{
	const size_t bytes = strlen(key);

	return strncmp(argument, key, bytes) == 0 && argument[bytes] == '=' ? argument + bytes + 1 : NULL;
}

bool guest_options_take(const char *argument)
{
	const char *value;

	if ((value = value_of(argument, "level")) != NULL)
		return take_level(value);
	if ((value = value_of(argument, "range")) != NULL)
		return take_range(value);
	if ((value = value_of(argument, "tasks")) != NULL)
		return guest_options.has_tasks = take_tasks(value);
	if ((value = value_of(argument, "start")) != NULL)
		return guest_options.starts = take_address(value, 0, &guest_options.start) != NULL;
	if ((value = value_of(argument, "stop")) != NULL)
		return guest_options.stops = take_address(value, 0, &guest_options.stop) != NULL;
	if ((value = value_of(argument, "snapshot")) != NULL)
		return guest_options.snaps = take_address(value, 0, &guest_options.snapshot) != NULL;
	if ((value = value_of(argument, "clock")) != NULL)
		return guest_options.instructions = strcmp(value, "instructions") == 0;
	if ((value = value_of(argument, "report")) != NULL)
		return guest_options.report = strcmp(value, "on") == 0;
	return false;
}

static int compare(const void *one, const void *other)
{
	const struct guest_range *a = one, *b = other;

	return number_order(a->begin, b->begin);
}

/* Sort the ranges, and join those that overlap or touch: then the last one that begins before an address decides. */
static void join_ranges(void)
{
	struct guest_range *ranges = guest_options.ranges;
	unsigned kept = 0;

	qsort(ranges, guest_options.range_count, sizeof(*ranges), compare);
	for (unsigned n = 0; n < guest_options.range_count; n++)
		if (!kept || ranges[n].begin > ranges[kept - 1].end)
			ranges[kept++] = ranges[n];
		else if (ranges[n].end > ranges[kept - 1].end)
			ranges[kept - 1].end = ranges[n].end;
	guest_options.range_count = kept;
}

void guest_options_complete(void)
{
	if (!guest_options.range_count)
		return;
	join_ranges();
	/*
	 * The kernel's half of the address space calls no functions of the other one. The reverse happens: without code of the
	 * lower half, some calls of the kernel's functions early in a boot of Linux were not seen.
	 */
	guest_options.kernel &= guest_options.ranges[guest_options.range_count - 1].end >> 63 != 0;
}

bool guest_options_code(uint64_t address)
{
	return address >> 63 ? guest_options.kernel : guest_options.user;
}

bool guest_options_function(uint64_t address)
{
	const struct guest_range *ranges = guest_options.ranges;
	unsigned from = 0, count = guest_options.range_count;

	if (!count)
		return true;
	while (count) { /* the ranges before `from` begin at or before the address, those behind from + count do not */
		const unsigned middle = from + count / 2;

		if (ranges[middle].begin <= address) {
			count -= middle + 1 - from;
			from = middle + 1;
		} else {
			count = middle - from;
		}
	}
	return from && address < ranges[from - 1].end;
}
