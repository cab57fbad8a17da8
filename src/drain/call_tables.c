/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of calls; see call_tables.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drain/call_tables.h"
#include "file/create.h"

static const char images_name[] = ".burin/calls.images", functions_name[] = ".burin/calls.functions",
		  open_name[] = ".burin/calls.open", counts_name[] = ".burin/calls.counts";

void call_tables_init(struct call_tables *tables, const struct session *session, int directory)
{
	*tables = (struct call_tables){
		.session = session, .directory = directory, .images.fd = -1, .functions.fd = -1
	};
}

/* The tables of a trace whose recorder has died are written anew, from the beginning. */
static int begin(struct call_tables *tables)
{
	int error;

	create_remove(tables->directory, images_name);
	create_remove(tables->directory, functions_name);
	error = table_writer_begin(&tables->images, tables->directory, images_name, WIRE_TABLE_IMAGES);
	if (!error)
		error = table_writer_begin(&tables->functions, tables->directory, functions_name,
					   WIRE_TABLE_STACKS);
	tables->functions.refers[0] = &tables->images;
	tables->begun = true;
	return error;
}

/* Copy a text that another process may be changing. Return: its length. */
static size_t copy_path(const struct session *session, uint32_t offset, char path[WIRE_CALL_PATH_MAX + 1])
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
		bytes = copy_path(tables->session, image.path, path);
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

static int add_functions(struct call_tables *tables, uint32_t count)
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

static uint32_t bounded(uint32_t count, uint32_t max)
{
	return count < max ? count : max;
}

int call_tables_round(struct call_tables *tables)
{
	const struct wire_calls *header = tables->session->calls.header;
	uint32_t images, functions;
	int error = 0;

	if (!header || tables->directory < 0)
		return 0;
	/* The functions first: their images are there already. Acquire pairs with the release in call_functions.c. */
	functions = bounded(__atomic_load_n(&header->functions, __ATOMIC_ACQUIRE),
			    tables->session->geometry.functions_max - 1);
	images = bounded(__atomic_load_n(&header->images, __ATOMIC_ACQUIRE), WIRE_CALL_IMAGES_MAX);
	if (functions <= tables->function_count)
		return 0;
	if (!tables->begun)
		error = begin(tables);
	if (!error)
		error = add_images(tables, images);
	if (!error)
		error = add_functions(tables, functions);
	return error ? error : table_writer_flush(&tables->functions);
}

/* Add the open calls of a segment. */
static void add_open(const struct call_tables *tables, struct table_writer *table, uint32_t number)
{
	struct wire_call_frame frames[WIRE_CALL_FRAMES + 1];
	struct wire_call_segment head;

	memcpy(frames, session_call_segment_at(tables->session, number), sizeof(frames));
	memcpy(&head, frames, sizeof(head));
	for (uint32_t n = 1; head.tid && n <= WIRE_CALL_FRAMES; n++) {
		if (!frames[n].start || !frames[n].function || frames[n].function > tables->function_count)
			continue;
		table_writer_number(table, head.stack);
		table_writer_number(table, head.tid);
		table_writer_number(table, head.pid);
		table_writer_number(table, head.depth + n - 1);
		table_writer_number(table, frames[n].function);
		table_writer_number(table, frames[n].start);
		table_writer_number(table, (frames[n].flags & WIRE_CALL_ENDING) != 0);
		table_writer_end(table);
	}
}

static int write_open(struct call_tables *tables)
{
	const uint32_t segments =
		bounded(tables->session->calls.header->segments, tables->session->geometry.call_segments);
	struct table_writer table;
	int error;

	create_remove(tables->directory, open_name);
	error = table_writer_begin(&table, tables->directory, open_name, WIRE_TABLE_OPEN);
	if (error)
		return error;
	for (uint32_t number = 1; !table.error && number <= segments; number++)
		add_open(tables, &table, number);
	error = table_writer_flush(&table);
	table_writer_close(&table);
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
		const uint64_t count = session_call_count(tables->session, n);

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

int call_tables_finish(struct call_tables *tables)
{
	int error = call_tables_round(tables);

	if (!tables->begun)
		return error;
	if (!error)
		error = write_open(tables);
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
}
