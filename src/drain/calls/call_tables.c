/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of calls; see call_tables.h.
 *
 * Functions and images are append-only in the session: a number, once published, keeps its meaning. So a
 * round copies what is new, and no lock is needed. The count of functions is loaded before that of images:
 * then each function that is copied has its image in the table. A damaged entry still gets its number, as an
 * address without a name, or all behind it would shift.
 *
 * Open calls cannot be read at one moment, since threads go on calling. With a snapshot they are looked at
 * twice, before and after the moment at which all records end (write_open_at()):
 *
 *	begun before the first look, still open		found by the first one
 *	begun between it and the moment, still open	found by the second one
 *	ended before the moment				has a record
 *	ended after the moment				one look finds it; a record of it counts more
 *
 * A call is missed that begins behind the first look, and ends between the moment and the second one. A look
 * of a millisecond or more was interrupted, so both are repeated, up to OPEN_TRIES times.
 *
 * Segments are read in order of stack and depth. is_above() then sees that each call is deeper and younger
 * than the one below it. One that is not belongs to damaged memory, or to a stack that changed while it was
 * read, and is counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "drain/calls/call_tables.h"
#include "drain/calls/open_values.h"
#include "file/create.h"
#include "ring/ring_deps.h"
#include "session/clock.h"

static const char images_name[] = ".burin/calls.images", functions_name[] = ".burin/calls.functions",
		  open_name[] = ".burin/calls.open", values_name[] = ".burin/calls.values",
		  counts_name[] = ".burin/calls.counts";

enum {
	OPEN_TRIES = 5,
	OPEN_NS = 1000000, /* for a look that was not interrupted */
};

void call_tables_init(struct call_tables *tables, const struct session *session, int directory)
{
	*tables = (struct call_tables){
		.session = session, .directory = directory, .images.fd = -1, .functions.fd = -1
	};
}

/* The tables of a trace whose recorder has died are written anew, from the beginning. */
static int call_tables_begin(struct call_tables *tables)
{
	int error;

	create_remove(tables->directory, images_name);
	create_remove(tables->directory, functions_name);
	error = table_writer_begin(&tables->images, tables->directory, images_name, WIRE_TABLE_IMAGES);
	if (!error)
		error = table_writer_begin(&tables->functions, tables->directory, functions_name,
					   WIRE_TABLE_STACKS);
	/* Images are written first, also when a full block of functions goes to the file by itself. */
	tables->functions.refers[0] = &tables->images;
	tables->begun = true;
	return error;
}

/* Copy a text that another process may be changing. Return: its length. */
static size_t call_tables_copy_path(const struct session *session, uint32_t offset,
				    char path[WIRE_CALL_PATH_MAX + 1])
{
	size_t bytes = 0;

	while (bytes < WIRE_CALL_PATH_MAX && offset + bytes < WIRE_CALL_TEXT) {
		path[bytes] = ((const volatile char *)session->calls.text)[offset + bytes];
		if (!path[bytes])
			break;
		bytes++;
	}
	path[bytes] = 0;
	return bytes;
}

static int add_images(struct call_tables *tables, uint32_t count)
{
	static char path[WIRE_CALL_PATH_MAX + 1];
	struct table_writer *table = &tables->images;

	for (; !table->error && tables->image_count < count; tables->image_count++) {
		struct wire_call_image image;
		size_t bytes;

		memcpy(&image, &tables->session->calls.images[tables->image_count], sizeof(image));
		bytes = call_tables_copy_path(tables->session, image.path, path);
		if (image.build_id_bytes > WIRE_CALL_BUILD_ID_MAX)
			image.build_id_bytes = 0;
		table_writer_number(table, *path == '/' ? WIRE_IMAGE_FILE : WIRE_IMAGE_ANONYMOUS);
		table_writer_number(table, 0);
		table_writer_text(table, image.build_id, image.build_id_bytes);
		table_writer_text(table, path, bytes);
		table_writer_end(table);
	}
	return table->error;
}

static int call_tables_add_functions(struct call_tables *tables, uint32_t count)
{
	struct table_writer *table = &tables->functions;

	if (!tables->image_count) /* each function has one, unless the session is damaged */
		return table->error;
	for (; !table->error && tables->function_count < count; tables->function_count++) {
		struct wire_call_function function;

		memcpy(&function, &tables->session->calls.functions[tables->function_count + 1],
		       sizeof(function));
		if (function.image - 1 >=
		    tables->image_count) /* a damaged entry: an address without a name */
			function = (struct wire_call_function){ .image = 1, .offset = UINT64_MAX };
		table_writer_number(table, tables->function_count + 1); /* it has no caller */
		table_writer_number(table, function.image);
		table_writer_number(table, function.offset);
		table_writer_end(table);
	}
	return table->error;
}

static uint32_t call_tables_bounded(uint32_t count, uint32_t max)
{
	return count < max ? count : max;
}

int call_tables_skip(struct call_tables *tables)
{
	const struct wire_calls *header = tables->session->calls.header;
	uint32_t functions;

	if (!header)
		return 0;
	functions = call_tables_bounded(__atomic_load_n(&header->functions, __ATOMIC_ACQUIRE),
					tables->session->geometry.functions_max - 1);
	tables->before = calloc(functions + 1, sizeof(*tables->before));
	if (!tables->before)
		return -ENOMEM;
	tables->before_count = functions + 1;
	for (uint32_t n = 1; n <= functions; n++)
		tables->before[n] = session_call_count(tables->session, n);
	return 0;
}

int call_tables_round(struct call_tables *tables)
{
	const struct wire_calls *header = tables->session->calls.header;
	uint32_t images, functions;
	int error = 0;

	if (!header || tables->directory < 0)
		return 0;
	/* The functions first: their images are there already. Acquire pairs with the release in call_functions.c. */
	functions = call_tables_bounded(__atomic_load_n(&header->functions, __ATOMIC_ACQUIRE),
					tables->session->geometry.functions_max - 1);
	images =
		call_tables_bounded(__atomic_load_n(&header->images, __ATOMIC_ACQUIRE), WIRE_CALL_IMAGES_MAX);
	if (functions <= tables->function_count)
		return 0;
	if (!tables->begun)
		error = call_tables_begin(tables);
	if (!error)
		error = add_images(tables, images);
	if (!error)
		error = call_tables_add_functions(tables, functions);
	return error ? error : table_writer_flush(&tables->functions);
}

/* A segment in use, and the head that it had when it was found. */
struct found {
	uint32_t number;
	struct wire_call_segment head;
};

static int by_stack(const void *one, const void *other)
{
	const struct found *a = one, *b = other;

	return number_order(a->head.stack, b->head.stack) ?: number_order(a->head.depth, b->head.depth);
}

/* The segments in use, by stack and depth. Return: NULL: no memory. */
static struct found *find_segments(const struct session *session, size_t *count)
{
	const uint32_t segments =
		call_tables_bounded(session->calls.header->segments, session->geometry.call_segments);
	struct found *found = calloc((size_t)segments + 1, sizeof(*found));

	*count = 0;
	for (uint32_t number = 1; found && number <= segments; number++) {
		struct found *one = &found[*count];

		one->number = number;
		/* Acquire: pairs with the release in session/calls/call_stacks.c. */
		if (!__atomic_load_n(&session_call_segment_at(session, number)->tid, __ATOMIC_ACQUIRE))
			continue;
		memcpy(&one->head, session_call_segment_at(session, number), sizeof(one->head));
		*count += one->head.tid && one->head.stack && one->head.stack != WIRE_CALL_VALUES_STACK;
	}
	if (found)
		qsort(found, *count, sizeof(*found), by_stack);
	return found;
}

/* The last call that was added. */
struct open_before {
	uint32_t stack;
	uint64_t depth, start;
};

/* The tables of open calls while they are written. */
struct open_tables {
	struct table_writer open, values;
	const struct event_table *events;
	struct open_values found;
	struct open_before before;
	struct open_window {
		uint64_t since, until;	    /* begins behind the first, up to the second */
		bool records_follow, first; /* of two looks */
	} window;
};

/* Whether a call can be above the one before it: deeper, and not older. */
static bool is_above(const struct open_before *before, uint32_t stack, uint64_t depth, uint64_t start)
{
	return start <= ring_clock() && depth <= UINT32_MAX &&
	       (stack != before->stack || (depth > before->depth && start >= before->start));
}

/* Add the arguments of an open call, if it has any. @number: of its entry; @shared: the frame that was read */
static void add_values(struct call_tables *tables, struct open_tables *open, const struct found *found,
		       uint32_t number, const struct wire_call_frame *frame,
		       const struct wire_call_frame *shared)
{
	const uint32_t slot =
		(uint32_t)(((uintptr_t)shared & (WIRE_CALL_SEGMENT - 1)) / sizeof(struct wire_call_frame));
	char payload[OPEN_VALUES_MAX];
	uint16_t event;
	uint32_t bytes;

	if (!(frame->flags & WIRE_CALL_WITH_VALUES))
		return;
	bytes = open_values_take(&open->found, open->events, found->number, slot, frame,
				 found->head.depth + slot - 1, &event, payload);
	if (!bytes) { /* if it ended meanwhile, they are in its record */
		tables->without_values += !(frame->flags & WIRE_CALL_ENDING) &&
					  __atomic_load_n(&shared->start, __ATOMIC_RELAXED) == frame->start;
		return;
	}
	table_writer_number(&open->values, number);
	table_writer_number(&open->values, event);
	table_writer_text(&open->values, payload, bytes);
	table_writer_end(&open->values);
}

/*
 * Add the open calls of a segment. Their thread may be changing them: it fills a frame before it stores the begin, and clears it from
 * the top down. So a frame that is read after the one below it belongs to that call or a later one.
 */
static void call_tables_add_open(struct call_tables *tables, struct open_tables *open,
				 const struct found *found)
{
	struct table_writer *table = &open->open;
	struct open_before *before = &open->before;
	const struct wire_call_segment *head = &found->head;
	const struct wire_call_frame *frames =
		(const struct wire_call_frame *)session_call_segment_at(tables->session, found->number);

	if (memcmp(frames, head, offsetof(struct wire_call_segment, next)) != 0)
		return; /* it belongs to another stack by now */
	for (uint32_t n = 1; n <= WIRE_CALL_FRAMES; n++) {
		const uint64_t start = __atomic_load_n(&frames[n].start, __ATOMIC_ACQUIRE),
			       depth = (uint64_t)head->depth + n - 1;
		const uint32_t function = __atomic_load_n(&frames[n].function, __ATOMIC_RELAXED),
			       flags = __atomic_load_n(&frames[n].flags, __ATOMIC_RELAXED);

		if (!start || !function)
			continue;
		/* The call has ended, and maybe another one has begun in its frame: both have what the looks are for. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&frames[n].start, __ATOMIC_RELAXED) != start)
			continue;
		if (start <= open->window.since ||
		    (start > open->window.until && (open->window.first || start <= ring_clock())))
			continue;
		if (function > tables->function_count || !is_above(before, head->stack, depth, start)) {
			tables->refused++;
			continue;
		}
		table_writer_number(table, head->stack);
		table_writer_number(table, head->tid);
		table_writer_number(table, head->pid);
		table_writer_number(table, depth);
		table_writer_number(table, function);
		table_writer_number(table, start);
		table_writer_number(table, open->window.records_follow || (flags & WIRE_CALL_ENDING) != 0);
		add_values(tables, open, found, table_writer_end(table),
			   &(struct wire_call_frame){ .start = start, .function = function, .flags = flags },
			   &frames[n]);
		*before = (struct open_before){ head->stack, depth, start };
	}
}

static int add_all_open(struct call_tables *tables, struct open_tables *open)
{
	size_t count;
	struct found *found = find_segments(tables->session, &count);
	int error = found ? 0 : -ENOMEM;

	for (size_t n = 0; !error && !open->open.error && n < count; n++)
		call_tables_add_open(tables, open, &found[n]);
	free(found);
	return error ?: table_writer_flush(&open->open) ?: table_writer_flush(&open->values);
}

/* Write the tables of open calls anew. */
static int begin_open(struct call_tables *tables, struct open_tables *open)
{
	int error;

	create_remove(tables->directory, open_name);
	create_remove(tables->directory, values_name);
	error = table_writer_begin(&open->open, tables->directory, open_name, WIRE_TABLE_OPEN);
	return error;
}

static int add_open_of(struct call_tables *tables, struct open_tables *open, struct open_window window)
{
	int error = open_values_find(&open->found, tables->session);

	open->window = window;
	/* Each look begins again with the first stack. */
	open->before = (struct open_before){ 0 };
	if (!error && open->found.count && open->values.fd < 0)
		error = table_writer_begin(&open->values, tables->directory, values_name, WIRE_TABLE_VALUES);
	if (!error)
		error = add_all_open(tables, open);
	open_values_free(&open->found);
	return error;
}

static void end_open(struct open_tables *open)
{
	table_writer_close(&open->open);
	if (open->values.fd >= 0)
		table_writer_close(&open->values);
}

static int call_tables_write_open(struct call_tables *tables, const struct event_table *events)
{
	struct open_tables open = { .events = events, .values.fd = -1 };
	int error = begin_open(tables, &open);

	if (error)
		return error;
	error = add_open_of(tables, &open, (struct open_window){ .until = UINT64_MAX });
	end_open(&open);
	return error;
}

static int write_counts(struct call_tables *tables)
{
	struct table_writer table;
	int error;

	create_remove(tables->directory, counts_name);
	error = table_writer_begin(&table, tables->directory, counts_name, WIRE_TABLE_COUNTS);
	if (error)
		return error;
	for (uint32_t n = 1; !table.error && n <= tables->function_count; n++) {
		const uint64_t before = n < tables->before_count ? tables->before[n] : 0,
			       now = session_call_count(tables->session, n),
			       count = now > before ? now - before : 0;

		if (!count)
			continue;
		table_writer_number(&table, n);
		table_writer_number(&table, count);
		table_writer_end(&table);
	}
	error = table_writer_flush(&table);
	table_writer_close(&table);
	return error;
}

/* The calls that are open at a moment. Return: 0 or -errno. */
static int write_open_at(struct call_tables *tables, const struct event_table *events,
			 uint64_t (*moment)(void *data), void *data)
{
	struct open_tables open = { .events = events, .values.fd = -1 };
	const uint64_t before = ring_clock();
	uint64_t until;
	int error = begin_open(tables, &open);

	if (error)
		return error;
	error = call_tables_round(tables);
	if (!error)
		error = add_open_of(tables, &open, (struct open_window){ 0, before, true, true });
	until = moment(data);
	if (!error)
		error = call_tables_round(tables);
	if (!error)
		error = add_open_of(tables, &open, (struct open_window){ before, until, true, false });
	end_open(&open);
	return error;
}

int call_tables_open(struct call_tables *tables, const struct event_table *events,
		     uint64_t (*moment)(void *data), void *data)
{
	int error = call_tables_round(tables);

	if (error || !tables->begun) {
		moment(data);
		return error;
	}
	for (unsigned n = 0; !error && n < OPEN_TRIES; n++) {
		const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

		tables->refused = tables->without_values = 0;
		error = write_open_at(tables, events, moment, data);
		if (clock_ns(CLOCK_MONOTONIC) - begin_ns < OPEN_NS) /* few calls fit between both looks */
			break;
	}
	/* After a snapshot, call_tables_finish() must not write them for another moment. */
	tables->opened = !error;
	return error;
}

int call_tables_finish(struct call_tables *tables, const struct event_table *events)
{
	int error = call_tables_round(tables);

	if (!tables->begun)
		return error;
	if (!error && !tables->opened)
		error = call_tables_write_open(tables, events);
	if (!error)
		error = write_counts(tables);
	table_writer_finish(&tables->images, tables->directory, images_name, 0);
	table_writer_finish(&tables->functions, tables->directory, functions_name, 0);
	call_tables_free(tables);
	return error;
}

int call_tables_next(struct call_tables *tables, int directory)
{
	int error = 0;

	tables->directory = directory;
	if (tables->begun)
		error = table_writer_next(&tables->images, directory, images_name);
	if (!error && tables->begun)
		error = table_writer_next(&tables->functions, directory, functions_name);
	return error;
}

void call_tables_free(struct call_tables *tables)
{
	if (tables->begun) {
		table_writer_close(&tables->images);
		table_writer_close(&tables->functions);
	}
	tables->begun = false;
	free(tables->before);
	tables->before = NULL;
	tables->before_count = 0;
}
