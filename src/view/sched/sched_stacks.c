/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stacks of waits; see sched_stacks.h.
 *
 * All samples are read first, into two lists by thread and end. Both are complete before the first wait is looked up,
 * since the sample of a wait has the time of its end, and a wake-up's may be later in the trace than the kernel's
 * record of it.
 *
 * Two clocks and two records. The kernel makes its event and the sample of one moment one after the other, and an
 * interrupt can come between: SLACK_NS. Their times are converted by different pairs of clocks: CLOCKS_NS. So neither
 * list has exactly the times of the intervals, and a look-up accepts what lies within this much. That is safe, since
 * a thread has one wait at a time: a sample that is wrong would have to end within some microseconds of another wait
 * of the same thread.
 *
 * A stack becomes one string, made once: the object of the wait, then functions of the program. Equal strings have
 * one number, so rows can be merged by it. Frames of the kernel through which all threads go (says_nothing()) are
 * left out where the program's are missing.
 *
 * Names come from the trace, any bytes: they are cut to NAME_BYTES, and the sum of SCHED_FRAMES of them fits the
 * buffer.
 */
#include "view/sched/sched_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "view/sched/sched_read.h"
#include "view/sched/wait_object.h"

enum {
	/* By which a sample may be later than the kernel's event: an interrupt can come between. */
	SLACK_NS = 20000,
	CLOCKS_NS =
		1000, /* by which it may be earlier, since their times are converted from different clocks */

	NAME_BYTES = 512,
};

/* ---- the samples */

static int sched_stacks_add(struct sched_stack_list *list, const struct sched_stack *stack)
{
	if (!array_reserve(list->stacks, list->room, list->count + 1))
		return -ENOMEM;
	list->stacks[list->count++] = *stack;
	return 0;
}

static int sched_stacks_take_record(struct sched_stacks *stacks, const struct burin_record *record,
				    const struct burin_event *wait, const struct burin_event *wake)
{
	const uint64_t time = sched_read_ns(stacks->trace, record->time);
	struct burin_sample sample;
	int64_t woken;

	if ((record->event != wait && record->event != wake) ||
	    burin_profile_sample(stacks->profile, record, &sample) || !sample.stack)
		return 0;
	if (record->event == wait)
		return sched_stacks_add(
			&stacks->sleepers,
			&(struct sched_stack){ .tid = record->tid,
					       .stack = sample.stack,
					       .begin = time > sample.weight ? time - sample.weight : 0,
					       .end = time });
	if (burin_record_i64(record, (unsigned)burin_event_find(wake, "woken"), &woken) || woken < 0)
		return 0;
	return sched_stacks_add(&stacks->wakers, &(struct sched_stack){ .tid = (uint32_t)woken,
									.stack = sample.stack,
									.begin = time,
									.end = time });
}

static int by_thread(const void *a, const void *b)
{
	const struct sched_stack *one = a, *other = b;

	return number_order(one->tid, other->tid) ?: number_order(one->end, other->end);
}

static void sched_stacks_sort(struct sched_stack_list *list)
{
	if (list->count)
		qsort(list->stacks, list->count, sizeof(*list->stacks), by_thread);
}

static const struct burin_event *sched_stacks_find_event(const struct burin_trace *trace, const char *name)
{
	for (unsigned id = 1; id <= burin_trace_events(trace); id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (event && strcmp(event->name, name) == 0)
			return event;
	}
	return NULL;
}

static int sched_stacks_read_samples(struct sched_stacks *stacks, const struct burin_event *wait,
				     const struct burin_event *wake)
{
	const struct burin_record *record;
	struct burin_cursor *cursor;
	int result = burin_cursor_open(&cursor, stacks->trace, NULL);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0)
		result = sched_stacks_take_record(stacks, record, wait, wake);
	burin_cursor_close(cursor);
	sched_stacks_sort(&stacks->sleepers);
	sched_stacks_sort(&stacks->wakers);
	return result;
}

int sched_stacks_make(struct sched_stacks *stacks, const struct burin_trace *trace,
		      struct view_strings *strings)
{
	const struct burin_event *wait = sched_stacks_find_event(trace, "sample.off-cpu"),
				 *wake = sched_stacks_find_event(trace, "sample.waker");
	int result;

	*stacks = (struct sched_stacks){ .trace = trace, .strings = strings };
	if (wake && burin_event_find(wake, "woken") < 0)
		wake = NULL;
	if (!wait && !wake)
		return 0;
	result = burin_profile_open(&stacks->profile, trace);
	if (result)
		return result == -ENODATA ? 0 : result;
	stacks->texts = calloc((size_t)burin_profile_stacks(stacks->profile) + 1, sizeof(*stacks->texts));
	result = stacks->texts ? sched_stacks_read_samples(stacks, wait, wake) : -ENOMEM;
	if (result)
		sched_stacks_free(stacks);
	return result;
}

void sched_stacks_free(struct sched_stacks *stacks)
{
	burin_profile_close(stacks->profile);
	free(stacks->sleepers.stacks);
	free(stacks->wakers.stacks);
	free(stacks->texts);
	*stacks = (struct sched_stacks){ .profile = NULL };
}

/* ---- look-up */

/* The first stack of a thread that ends at a time or later. Return: NULL: there is none. */
static const struct sched_stack *sched_stacks_find(const struct sched_stack_list *list, uint32_t tid,
						   uint64_t time)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct sched_stack *at = &list->stacks[middle];

		if (at->tid < tid || (at->tid == tid && at->end < time))
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->stacks[low].tid == tid ? &list->stacks[low] : NULL;
}

const char *sched_frame_name(const struct burin_profile *profile, uint32_t location, char *room, size_t bytes)
{
	struct burin_frame frame;
	const char *name = NULL;

	for (uint32_t n = 0; !burin_profile_frame(profile, location, n, &frame); n++)
		name = frame.function ? frame.function : name;
	return name ? name : burin_profile_address(profile, location, room, bytes);
}

/* The object that a thread waits for, by the part of its stack in the kernel; "": unknown. */
static const char *sched_stacks_object_of(const struct burin_profile *profile, uint32_t number)
{
	char room[NAME_BYTES];
	struct burin_stack frame;
	struct burin_location location;

	for (; !burin_profile_stack(profile, number, &frame); number = frame.caller) {
		const struct burin_image *image = burin_profile_location(profile, frame.location, &location)
							  ? NULL
							  : burin_profile_image(profile, location.image);
		const char *object;

		if (!image || (image->kind != BURIN_IMAGE_KERNEL && image->kind != BURIN_IMAGE_MODULE))
			break;
		object = wait_object(sched_frame_name(profile, frame.location, room, sizeof(room)));
		if (object)
			return object;
	}
	return "";
}

/* Functions through which every thread goes to sleep or is woken. Other frames of the kernel say more. */
static bool says_nothing(const char *function)
{
	static const char *const starts[] = { "__schedule", "schedule",	    "try_to_wake_up",  "__wake_up",
					      "wake_up",    "default_wake", "autoremove_wake", NULL };

	for (unsigned n = 0; starts[n]; n++)
		if (strncmp(function, starts[n], strlen(starts[n])) == 0)
			return true;
	return false;
}

/* The frame of the program in which it slept or woke; of a stack that has none, that of the kernel. */
static uint32_t first_frame(const struct burin_profile *profile, uint32_t number)
{
	const struct view_pair pair = { .stack = number, .state = VIEW_WAITING };
	const uint32_t own = view_own_frame(profile, &pair);
	char room[NAME_BYTES];
	struct burin_stack frame;

	if (own != number)
		return own;
	while (!burin_profile_stack(profile, number, &frame) && frame.caller &&
	       says_nothing(sched_frame_name(profile, frame.location, room, sizeof(room))))
		number = frame.caller;
	return number;
}

/* The object of the wait, and the functions from the program's innermost one on, a line each. */
static uint32_t sched_stacks_text_of(struct sched_stacks *stacks, uint32_t number, bool sleeps)
{
	const uint32_t given = number;
	char text[(SCHED_FRAMES + 1) * NAME_BYTES], room[NAME_BYTES];
	struct burin_stack frame;
	size_t used;

	if (number > burin_profile_stacks(stacks->profile))
		return 0;
	if (stacks->texts[number])
		return stacks->texts[number];
	used = (size_t)snprintf(text, sizeof(text), "%s",
				sleeps ? sched_stacks_object_of(stacks->profile, number) : "");
	number = first_frame(stacks->profile, number);
	for (unsigned n = 0; n < SCHED_FRAMES && !burin_profile_stack(stacks->profile, number, &frame);
	     n++, number = frame.caller)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "\n%.*s", NAME_BYTES - 2,
			sched_frame_name(stacks->profile, frame.location, room, sizeof(room)));
	return stacks->texts[given] = view_string(stacks->strings, text);
}

uint32_t sched_stack_of(struct view_strings *strings, const char *names)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	char text[(SCHED_FRAMES + 1) * NAME_BYTES], name[NAME_BYTES];
	const char *object = NULL;
	size_t used = 1; /* the object is put before it */
	bool first = true;

	text[1] = 0;
	for (size_t bytes; (bytes = strspn(names, letters)); names += bytes + (names[bytes] == ' ')) {
		snprintf(name, sizeof(name), "%.*s", (int)bytes, names);
		object = object ? object : wait_object(name);
		if ((first && says_nothing(name)) || used + 2 * sizeof(name) > sizeof(text))
			continue;
		first = false;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "\n%s", name);
	}
	if (first)
		return 0;
	snprintf(name, sizeof(name), "%s", object ? object : "");
	memmove(text + strlen(name), text + 1, strlen(text + 1) + 1);
	memcpy(text, name, strlen(name));
	return view_string(strings, text);
}

uint32_t sched_stack_join(struct view_strings *strings, uint32_t kernel, uint32_t program)
{
	char text[(SCHED_FRAMES + 1) * NAME_BYTES];
	const char *object, *functions;

	if (!kernel || !program)
		return kernel ? kernel : program;
	object = strings->texts[kernel];
	functions = strchr(strings->texts[program], '\n');
	snprintf(text, sizeof(text), "%.*s%s", (int)strcspn(object, "\n"), object,
		 functions ? functions : object + strcspn(object, "\n"));
	return view_string(strings, text);
}

uint32_t sched_stacks_sleeper(struct sched_stacks *stacks, uint32_t tid, uint64_t begin, uint64_t end)
{
	/* The wait before ended when the thread ran again, so before this one began. */
	const struct sched_stack *stack = sched_stacks_find(&stacks->sleepers, tid, begin + 1);

	return stack && stack->begin <= (end > begin + SLACK_NS ? end : begin + SLACK_NS)
		       ? sched_stacks_text_of(stacks, stack->stack, true)
		       : 0;
}

uint32_t sched_stacks_waker(struct sched_stacks *stacks, uint32_t tid, uint64_t time)
{
	/* The kernel's event is recorded first, and the thread runs again only after both. */
	const struct sched_stack *stack = sched_stacks_find(&stacks->wakers, tid,
							    time > CLOCKS_NS ? time - CLOCKS_NS : 0),
				 *sleep = sched_stacks_find(&stacks->sleepers, tid, time);
	uint64_t last = time + SLACK_NS;

	if (sleep && sleep->begin <= last && sleep->end > last)
		last = sleep->end;
	return stack && stack->end <= last ? sched_stacks_text_of(stacks, stack->stack, false) : 0;
}

/* ---- output */

/* The line behind this one; NULL: there is none. */
static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

/* The bytes that are printed of it. */
static size_t shown_bytes(const char *stack)
{
	const char *line = stack;

	for (unsigned n = 0; line && n <= SCHED_FRAMES_TEXT; n++)
		line = next_line(line);
	return line ? (size_t)(line - stack) : strlen(stack);
}

bool sched_stack_same(const char *one, const char *other)
{
	const size_t bytes = shown_bytes(one);

	return shown_bytes(other) == bytes && memcmp(one, other, bytes) == 0;
}

void sched_stack_text(const char *stack, struct view_buffer *out)
{
	const size_t object = strcspn(stack, "\n");
	const char *line = stack;

	if (object)
		view_buffer_print(out, "for %.*s, ", (int)object, stack);
	view_buffer_print(out, "at ");
	for (unsigned n = 0; (line = next_line(line)) && n < SCHED_FRAMES_TEXT; n++)
		view_buffer_print(out, "%s%.*s", n ? " < " : "", (int)strcspn(line, "\n"), line);
	if (line)
		view_buffer_print(out, " < …");
}

void sched_stack_json(const char *stack, const char *key, struct json *json)
{
	const size_t object = strcspn(stack, "\n");
	char name[NAME_BYTES];

	if (object) {
		snprintf(name, sizeof(name), "%.*s", (int)object, stack);
		json_text(json, "for", name);
	}
	json_array(json, key);
	for (const char *line = stack; (line = next_line(line));) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, "\n"), line);
		json_text(json, NULL, name);
	}
	json_end(json);
}
