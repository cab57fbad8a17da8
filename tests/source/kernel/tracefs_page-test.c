/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pages of the kernel's trace buffer: records, times and sizes. Where libtraceevent is there, it decides: it reads the same pages and the
 * descriptions of all tracepoints of this kernel.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef BURIN_LIBTRACEEVENT
#include <event-parse.h>
#include <kbuffer.h>
#endif

#include "source/kernel/points/tracefs.h"
#include "source/kernel/mechanisms/tracefs_page.h"

enum {
	PAGE = 4096,
	RECORDS = 400,
	TURNS = 3000,
};

struct page {
	char bytes[PAGE];
	unsigned used;
	uint64_t time;
	struct tracefs_record records[RECORDS];
	unsigned count;
};

static void put(struct page *page, const void *bytes, unsigned count)
{
	memcpy(page->bytes + 16 + page->used, bytes, count);
	page->used += count;
}

static void put_word(struct page *page, uint32_t type, uint64_t time)
{
	put(page, &(uint32_t){ type | (uint32_t)(time & 0x7ffffff) << 5 }, 4);
}

/* A record of some words, by its short or its long form. */
static void put_record(struct page *page, unsigned words, uint64_t delta)
{
	put_word(page, words <= 28 && random() % 4 ? words : 0, delta);
	if ((*(uint32_t *)(page->bytes + 16 + page->used - 4) & 31) == 0)
		put(page, &(uint32_t){ words * 4 + 4 }, 4);
	page->time += delta;
	page->records[page->count++] =
		(struct tracefs_record){ page->time, page->bytes + 16 + page->used, words * 4 };
	for (unsigned n = 0; n < words; n++)
		put(page, &(uint32_t){ (uint32_t)random() }, 4);
}

/* What is no record: more of the time, the time itself, a discarded record. */
static void put_other(struct page *page, unsigned which)
{
	const uint64_t delta = (uint64_t)random() << 8;

	if (which == 0) {
		put_word(page, 30, delta);
		put(page, &(uint32_t){ (uint32_t)(delta >> 27) }, 4);
		page->time += delta;
	} else if (which == 1) {
		page->time += delta;
		put_word(page, 31, page->time);
		put(page, &(uint32_t){ (uint32_t)(page->time >> 27) }, 4);
	} else {
		put_word(page, 29, 5);
		put(page, &(uint32_t){ 12 }, 4);
		put(page, "discarded", 8);
		page->time += 5;
	}
}

static void make_page(struct page *page)
{
	const unsigned most = (unsigned)random() % (PAGE - 16);

	*page = (struct page){ .time = 1000000000000ull + (uint64_t)random() };
	memcpy(page->bytes, &page->time, 8);
	while (page->used + 4 * 64 + 16 < most && page->count < RECORDS)
		if (random() % 8 == 0)
			put_other(page, (unsigned)random() % 3);
		else
			put_record(page, 1 + (unsigned)random() % 60, (uint64_t)random() % (1 << 27));
	if (random() % 2) /* the rest is empty */
		put_word(page, 29, 0);
	memcpy(page->bytes + 8, &page->used, 4);
}

#ifdef BURIN_LIBTRACEEVENT
static void check_by_library(const struct page *page)
{
	struct kbuffer *reader = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	unsigned long long time;
	const char *raw;

	assert_non_null(reader);
	assert_int_equal(kbuffer_load_subbuffer(reader, (void *)page->bytes), 0);
	raw = kbuffer_read_event(reader, &time);
	for (unsigned n = 0; n < page->count; n++, raw = kbuffer_next_event(reader, &time)) {
		assert_ptr_equal(raw, page->records[n].raw);
		assert_int_equal(time, page->records[n].time);
		assert_int_equal(kbuffer_event_size(reader), page->records[n].bytes);
	}
	assert_null(raw);
	kbuffer_free(reader);
}
#endif

static void reads_pages(void **state)
{
	static struct page made;
	struct tracefs_page page;
	struct tracefs_record record;

	(void)state;
	srandom(1);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		make_page(&made);
		assert_true(tracefs_page_begin(&page, made.bytes, PAGE));
		assert_int_equal(tracefs_page_is_full(made.bytes, PAGE), made.used > PAGE / 2);
		for (unsigned n = 0; n < made.count; n++) {
			assert_true(tracefs_page_next(&page, &record));
			assert_ptr_equal(record.raw, made.records[n].raw);
			assert_int_equal(record.time, made.records[n].time);
			assert_int_equal(record.bytes, made.records[n].bytes);
		}
		assert_false(tracefs_page_next(&page, &record));
#ifdef BURIN_LIBTRACEEVENT
		check_by_library(&made);
#endif
	}
}

/* Of any damage: records lie within the page, one behind the other. */
static void survives_damage(void **state)
{
	static struct page made;
	struct tracefs_record record;
	unsigned begun = 0;

	(void)state;
	srandom(2);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		const unsigned count = turn % 7 ? PAGE : (unsigned)random() % PAGE;
		char *bytes = malloc(count + 1); /* an exact copy, for the sanitizers */
		struct tracefs_page page;
		const char *before;

		make_page(&made);
		for (long damage = random() % 9; damage >= 0; damage--)
			made.bytes[8 + (size_t)random() % (made.used + 8)] = (char)random();
		memcpy(bytes, made.bytes, count);
		before = bytes;
		if (tracefs_page_begin(&page, bytes, count))
			begun++;
		else
			page = (struct tracefs_page){ .at = bytes, .end = bytes };
		while (tracefs_page_next(&page, &record)) {
			assert_true(record.raw >= before && record.raw + record.bytes <= bytes + count);
			before = record.raw + record.bytes;
		}
		free(bytes);
	}
	assert_true(begun > TURNS / 4);
}

#ifdef BURIN_LIBTRACEEVENT
/* Fields of a tracepoint as the library reads them. */
static int check_fields(void *context, const struct tracepoint *point)
{
	unsigned *checked = context;
	char path[300], text[16 << 10], *print;
	struct tep_handle *library = tep_alloc();
	struct tep_event *event = NULL;
	int file;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/%s/format", point->system, point->name);
	file = openat((int)checked[1], path, O_RDONLY | O_CLOEXEC);
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got < 0 ? 0 : got] = 0;
	print = strstr(text, "print fmt:"); /* parsing it leaks memory in version 1.7 */
	if (print)
		strcpy(print, "print fmt: \"\"\n");
	assert_non_null(library);
	if (print && tep_parse_format(library, &event, text, strlen(text), point->system) == 0) {
		assert_int_equal(event->id, point->id);
		for (unsigned n = 0; n < point->count; n++) {
			const struct tracepoint_field *field = &point->fields[n];
			const struct tep_format_field *theirs = tep_find_field(event, field->name);

			if (field->kind >= TRACEPOINT_CALL) /* computed; the kernel does not have it */
				continue;
			assert_non_null(theirs);
			assert_int_equal(theirs->offset, field->offset);
			assert_int_equal(theirs->size, field->size);
			assert_int_equal(!!(theirs->flags & TEP_FIELD_IS_DYNAMIC),
					 field->kind == TRACEPOINT_TEXT ||
						 (field->kind == TRACEPOINT_OTHER &&
						  strstr(field->type, "__data_loc")));
			if (field->kind == TRACEPOINT_ARRAY)
				assert_int_equal(theirs->elementsize, field->element);
			checked[0]++;
		}
	}
	tep_free(library);
	return 0;
}
#endif

static void agrees_on_fields(void **state)
{
#ifdef BURIN_LIBTRACEEVENT
	static const char *const all[] = { NULL };
	const int events = tracefs_open();
	unsigned checked[2] = { 0, (unsigned)events };

	(void)state;
	if (events < 0)
		skip();
	assert_int_equal(tracefs_each(events, all, check_fields, checked), 0);
	assert_true(checked[0] > 1000);
	close(events);
#else
	(void)state;
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_pages),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(agrees_on_fields),
	};

#ifdef BURIN_LIBTRACEEVENT
	tep_set_loglevel(TEP_LOG_NONE);
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
