/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments; see guest_options.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/nolibc.h"
#include "base/number.h"
#include "session/events/wait_for_reader.h"
#include "source/guest/guest_options.h"

struct guest_options guest_options = { .kernel = true,
				       .user = true,
				       .level_kernel = true,
				       .level_user = true,
				       .stacks = GUEST_STACKS,
				       .stack_bits = GUEST_STACK_BITS };

/* A hexadecimal number up to a character. Return: what is behind that; NULL: it is not one. */
static const char *take_address(const char *text, char end, uint64_t *address)
{
	const char *behind;

	if (strncmp(text, "0x", 2) == 0)
		text += 2;
	*address = nolibc_number(text, 16, &behind);
	return behind != text && *behind == end ? behind + 1 : NULL;
}

/* A plus sign is before an address that moves with the kernel. */
static bool take_sign(const char **text)
{
	const bool moves = **text == '+';

	*text += moves;
	return moves;
}

static bool take_range(const char *text)
{
	struct guest_range range = { .moves = take_sign(&text) };

	if (guest_options.given_count == GUEST_RANGES)
		return false;
	text = take_address(text, '-', &range.begin);
	if (!text || !take_address(text, 0, &range.end) || range.begin >= range.end)
		return false;
	guest_options.given[guest_options.given_count++] = range;
	return true;
}

/* An address, or a time: a decimal number and "ns". */
static bool take_mark(const char *text, struct guest_mark *mark)
{
	const char *behind;
	const uint64_t time = nolibc_number(text, 10, &behind);

	if (behind != text && strcmp(behind, "ns") == 0) {
		mark->time = time;
		return time != 0;
	}
	mark->moves = take_sign(&text);
	mark->address = 0;
	if (!take_address(text, 0, &mark->given))
		return false;
	mark->address = mark->given;
	return mark->address != 0;
}

/* Bytes of a kernel's stack. Return: false: it is not a number that one can have. */
static bool take_stack(const char *text)
{
	uint64_t bytes;

	if (!take_address(text, 0, &bytes))
		return false;
	for (unsigned bits = GUEST_STACK_BITS; bits <= GUEST_STACK_BITS_MAX; bits++)
		if (bytes == UINT64_C(1) << bits) {
			guest_options.stack_bits = bits;
			return true;
		}
	return false;
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
	guest_options.level_kernel = guest_options.kernel;
	guest_options.level_user = guest_options.user;
	return guest_options.kernel || guest_options.user;
}

const char *guest_options_value(const char *argument, const char *key)
{
	const size_t bytes = strlen(key);

	return strncmp(argument, key, bytes) == 0 && argument[bytes] == '=' ? argument + bytes + 1 : NULL;
}

bool guest_options_take(const char *argument)
{
	const char *value;

	if ((value = guest_options_value(argument, "level")) != NULL)
		return take_level(value);
	if ((value = guest_options_value(argument, "range")) != NULL)
		return take_range(value);
	if ((value = guest_options_value(argument, "tasks")) != NULL)
		return guest_options.has_tasks = take_tasks(value);
	if ((value = guest_options_value(argument, "stack")) != NULL)
		return take_stack(value);
	if ((value = guest_options_value(argument, "stacks")) != NULL)
		return take_address(value, 0, &guest_options.stacks) && guest_options.stacks > 1;
	if ((value = guest_options_value(argument, "anchor")) != NULL)
		return take_address(value, 0, &guest_options.anchor) != NULL;
	if ((value = guest_options_value(argument, "start")) != NULL)
		return take_mark(value, &guest_options.start);
	if ((value = guest_options_value(argument, "stop")) != NULL)
		return take_mark(value, &guest_options.stop);
	if ((value = guest_options_value(argument, "snapshot")) != NULL)
		return take_mark(value, &guest_options.snapshot) && !guest_options.snapshot.time;
	if ((value = guest_options_value(argument, "clock")) != NULL)
		return guest_options.instructions = strcmp(value, "instructions") == 0;
	if ((value = guest_options_value(argument, "threads")) != NULL)
		return guest_options.by_vcpu = strcmp(value, "vcpu") == 0;
	if ((value = guest_options_value(argument, "lossless")) != NULL)
		return session_waits = strcmp(value, "on") == 0;
	if ((value = guest_options_value(argument, "report")) != NULL)
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

static void move_mark(struct guest_mark *mark, uint64_t distance)
{
	if (mark->moves)
		mark->address = mark->given + distance;
}

void guest_options_move(uint64_t distance)
{
	struct guest_options *options = &guest_options;

	options->moved = distance;
	for (unsigned n = 0; n < options->given_count; n++) {
		const struct guest_range *given = &options->given[n];
		const uint64_t moved = given->moves ? distance : 0;

		options->ranges[n] = (struct guest_range){ given->begin + moved, given->end + moved, false };
	}
	options->range_count = options->given_count;
	join_ranges();
	move_mark(&options->start, distance);
	move_mark(&options->stop, distance);
	move_mark(&options->snapshot, distance);
}

void guest_options_complete(void)
{
	guest_options_move(0);
	if (!guest_options.range_count)
		return;
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

bool guest_options_is_shared(uint64_t address)
{
	return !(address >> 63) && guest_options.level_kernel != guest_options.level_user &&
	       (guest_options.kernel || guest_options.user);
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
