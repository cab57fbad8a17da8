/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin_emit_args: limits, truncation, sizes, and strings that change while they are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "burin/burin.h"
#include "source/tracepoint/fields/serialize.h"
#include "source/tracepoint/fields/site_types.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"
#include "wire/wire_record.h"

const unsigned char burin_off;

static unsigned char payload[1 << 17];
static size_t payload_bytes;
static bool lost;

void burin_emit(struct burin_site *site, unsigned state, void *buffer, size_t bytes)
{
	const unsigned char *all = buffer;

	(void)site;
	assert_int_equal(state, 1);
	payload_bytes = bytes;
	lost = !buffer;
	if (lost)
		return;
	assert_int_equal((uintptr_t)buffer % 8, 0);
	for (size_t at = WIRE_HEADROOM + bytes; at % 8; at++)
		assert_int_equal(all[at], 0);
	memcpy(payload, all + WIRE_HEADROOM, bytes);
	memset(buffer, 0xaa, WIRE_HEADROOM); /* it may */
}

/* The types of a length and a pointer. */
#define PAIR(type) ((uint64_t)(type) << 4)

static void emit(uint64_t types, const union burin_arg *args)
{
	struct burin_site site = { .types = types };

	burin_emit_args(&site, 1, args);
}

static void emit_text(const char *text)
{
	emit(WIRE_STR, &(union burin_arg){ .p = text });
}

static void assert_text(const char *text)
{
	assert_false(lost);
	assert_int_equal(payload_bytes, strlen(text) + 1);
	assert_memory_equal(payload, text, payload_bytes);
}

static char *filled(size_t length, char c)
{
	char *text = malloc(length + 1);

	assert_non_null(text);
	memset(text, c, length);
	text[length] = '\0';
	return text;
}

/* Every length around the tiers' borders is recorded whole, as the first argument or behind another. */
static void whole_strings(void **state)
{
	(void)state;
	for (size_t length = 0; length <= WIRE_STRING_MAX;
	     length += length < 1100 || length > 4000 ? 1 : 97) {
		char *text = filled(length, 'a');
		union burin_arg args[] = { { .u = 0x1122334455667788 }, { .p = text }, { .u = 7 } };

		emit_text(text);
		assert_text(text);
		emit(WIRE_U16 | WIRE_STR << 4 | WIRE_U8 << 8, args);
		assert_int_equal(payload_bytes, 2 + length + 1 + 1);
		assert_memory_equal(payload, "\x88\x77", 2);
		assert_memory_equal(payload + 2, text, length + 1);
		assert_int_equal(payload[payload_bytes - 1], 7);
		free(text);
	}
}

/* What lies behind a string's NUL is not recorded: neither in the record nor in what fills its last word. */
static void no_remains(void **state)
{
	(void)state;
	for (unsigned type = 1; type < 16; type++) {
		if (type == WIRE_STR || type == WIRE_BYTES)
			continue;
		for (size_t length = 0; length < 40; length++) {
			char text[64];
			union burin_arg args[] = { { .u = UINT64_MAX }, { .p = text }, { .u = UINT64_MAX } };

			memset(text, 'r', sizeof(text));
			text[length] = '\0';
			emit(type | WIRE_STR << 4, args); /* burin_emit above looks behind the payload */
			emit(type | WIRE_STR << 4 | type << 8, args);
			emit_text(text);
			assert_text(text);
		}
	}
}

/* Two strings fill the first tier's buffer at every place. */
static void many_strings(void **state)
{
	(void)state;
	for (size_t length = 0; length < 600; length++) {
		char *text = filled(length, 'b');
		union burin_arg args[WIRE_ARGS_MAX];
		size_t at = 0;

		for (int i = 0; i < WIRE_ARGS_MAX; i++)
			args[i].p = i % 5 == 4 ? "tail" : text;
		emit(0xddddddddddddddddu, args);
		for (int i = 0; i < WIRE_ARGS_MAX; i++) {
			const char *want = args[i].p;

			assert_memory_equal(payload + at, want, strlen(want) + 1);
			at += strlen(want) + 1;
		}
		assert_int_equal(payload_bytes, at);
		free(text);
	}
}

static void long_strings_are_cut(void **state)
{
	char *text = filled(5000, 'c');
	char want[WIRE_STRING_MAX + 1];

	(void)state;
	memset(want, 'c', sizeof(want));
	strcpy(want + WIRE_STRING_MAX - 3, WIRE_TRUNCATED);
	emit_text(text);
	assert_text(want);
	text[WIRE_STRING_MAX + 1] = '\0';
	emit_text(text);
	assert_text(want);
	text[WIRE_STRING_MAX] = '\0';
	emit_text(text);
	assert_text(text);
	free(text);
}

static void cuts_respect_utf8(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "0123456789", "0123456789" },
		{ "0123456789a", "0123456" WIRE_TRUNCATED },
		{ "01234\xc3\xa4 789abc", "01234\xc3\xa4" WIRE_TRUNCATED },
		{ "012345\xc3\xa4 89abc", "012345" WIRE_TRUNCATED },
		{ "0123\xe2\x82\xac 89abc", "0123\xe2\x82\xac" WIRE_TRUNCATED },
		{ "01234\xe2\x82\xac 9abc", "01234" WIRE_TRUNCATED },
		{ "012345\xe2\x82\xac abc", "012345" WIRE_TRUNCATED },
		{ "012\xf0\x9f\x98\x80 789abc", "012\xf0\x9f\x98\x80" WIRE_TRUNCATED },
		{ "0123\xf0\x9f\x98\x80 89abc", "0123" WIRE_TRUNCATED },
		{ "012345\xf0\x9f\x98\x80 abc", "012345" WIRE_TRUNCATED },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
		  "\x80\x80\x80\x80\x80\x80\x80" WIRE_TRUNCATED },
		{ "\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4",
		  "\xe4\xe4\xe4\xe4\xe4\xe4" WIRE_TRUNCATED },
	};

	(void)state;
	burin_string_max = 10;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		emit_text(cases[i].text);
		assert_text(cases[i].want);
	}
	for (burin_string_max = 0; burin_string_max < 20; burin_string_max++) {
		emit_text("a text of more than twenty bytes");
		assert_int_equal(payload_bytes, burin_string_max + 1);
	}
	burin_string_max = WIRE_STRING_MAX;
}

static void null_and_empty(void **state)
{
	union burin_arg args[] = { { .p = NULL }, { .p = "" }, { .u = 5 }, { .p = NULL }, { .u = 1 } };

	(void)state;
	emit_text(NULL);
	assert_text(WIRE_NULL);
	emit(WIRE_STR | WIRE_STR << 4 | PAIR(WIRE_BYTES) << 8 | WIRE_BOOL << 16, args);
	assert_int_equal(payload_bytes, 4 + 1 + 2 + 1);
	assert_memory_equal(payload, WIRE_NULL "\0\0\0\0\1", 8);
}

/* Up to the largest record, and one byte more. */
static void sizes(void **state)
{
	unsigned char *bytes = malloc(1 << 16);
	union burin_arg args[2 * WIRE_ARGS_MAX];

	(void)state;
	assert_non_null(bytes);
	for (int i = 0; i < 1 << 16; i++)
		bytes[i] = (unsigned char)(i * 31 >> 3);
	burin_string_max = UINT32_MAX;
	for (uint64_t length = 65528 - 20 - 2 - 3; length <= 65528 - 20 - 2 + 3; length++) {
		args[0].u = length;
		args[1].p = bytes;
		emit(PAIR(WIRE_BYTES), args);
		assert_int_equal(payload_bytes, length + 2);
		assert_int_equal(lost, length + 2 > WIRE_LENGTH_MAX - WIRE_HEADROOM);
		if (!lost)
			assert_memory_equal(payload + 2, bytes, length);
	}
	args[0].u = 1 << 20;
	emit(PAIR(WIRE_BYTES), args);
	assert_true(lost);
	assert_int_equal(payload_bytes, 65535 + 2);
	args[0].u = (uint64_t)-1;
	emit(PAIR(WIRE_BYTES), args);
	assert_int_equal(payload_bytes, 2);
	burin_string_max = WIRE_STRING_MAX;
	for (int i = 0; i < WIRE_ARGS_MAX; i++)
		args[2 * i] = (union burin_arg){ .u = 8192 },
			 args[2 * i + 1] = (union burin_arg){ .p = bytes };
	emit(0xe0e0e0e0e0e0e0e0, args);
	assert_int_equal(payload_bytes, 8 * (4096 + 2));
	burin_string_max = 8192;
	emit(0xe0e0e0e0e0e0e0e0, args);
	assert_true(lost);
	burin_string_max = WIRE_STRING_MAX;
	free(bytes);
}

/* Strings that end with the last byte before memory that may not be read. */
static void page_ends(void **state)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	memset(pages, 'p', 4095);
	for (int length = 0; length < 700; length++) {
		const char *text = pages + 4095 - length;
		union burin_arg args[] = { { .u = 1 }, { .p = text } };

		emit_text(text);
		assert_text(text);
		emit(WIRE_I32 | WIRE_STR << 4, args);
		assert_int_equal(payload_bytes, 4 + length + 1);
		assert_memory_equal(payload + 4, text, length + 1);
		burin_string_max = 64;
		emit_text(text);
		assert_int_equal(payload_bytes, (length <= 64 ? length : 64) + 1);
		burin_string_max = WIRE_STRING_MAX;
	}
	munmap(pages, 8192);
}

/* Scalars of 0 to 16 bytes before a string of any length, whose page ends behind it or later. */
static void before_strings(void **state)
{
	static const unsigned scalars[][3] = {
		{ 0 },
		{ WIRE_U8 },
		{ WIRE_I16 },
		{ WIRE_U8, WIRE_I16 },
		{ WIRE_I32 },
		{ WIRE_F32 },
		{ WIRE_I32, WIRE_U8 },
		{ WIRE_I16, WIRE_U32 },
		{ WIRE_U8, WIRE_I16, WIRE_I32 },
		{ WIRE_I64 },
		{ WIRE_U32, WIRE_I32 },
		{ WIRE_F64 },
		{ WIRE_I64, WIRE_BOOL },
		{ WIRE_I64, WIRE_I64 },
	};
	static const int rooms[] = { 1, 2, 15, 16, 17, 1000 };
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	for (size_t shape = 0; shape < sizeof(scalars) / sizeof(scalars[0]); shape++) {
		union burin_arg args[4];
		unsigned char want[16];
		unsigned bytes = 0, count = 0;
		uint64_t types = 0;

		for (; count < 3 && scalars[shape][count]; count++) {
			args[count].u = 0x8182838485868788 + count * 0x1010101010101010;
			memcpy(want + bytes, &args[count].u, format_type_bytes(scalars[shape][count]));
			bytes += format_type_bytes(scalars[shape][count]);
			types |= (uint64_t)scalars[shape][count] << 4 * count;
		}
		types |= (uint64_t)WIRE_STR << 4 * count;
		for (size_t room = 0; room < sizeof(rooms) / sizeof(rooms[0]); room++)
			for (int length = 0; length < 700; length++) {
				char *text = pages + 4096 - rooms[room] - length;

				memset(pages, 'q', 4096);
				for (int n = 0; n < length; n++)
					text[n] = (char)('a' + n % 26);
				text[length] = '\0';
				args[count].p = text;
				emit(types, args);
				assert_int_equal(payload_bytes, bytes + length + 1);
				assert_memory_equal(payload, want, bytes);
				assert_memory_equal(payload + bytes, text, length + 1);
			}
	}
	munmap(pages, 8192);
}

static char restless[6000];
static bool enough;

static void *scribble(void *data)
{
	uint32_t random = 1;

	(void)data;
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		random = random * 1664525 + 1013904223;
		size_t place = random >> 8 & (random & 1 ? 63 : 4095);

		*(volatile char *)&restless[place] = random & 2 ? '\0' : 'z';
		*(volatile char *)&restless[(place * 7) & 4095] = 'y';
	}
	return NULL;
}

/* A string that changes while it is recorded: exactly one NUL, at the end, and never longer than the limit.
 */
static void race(void **state)
{
	union burin_arg args[] = { { .p = restless }, { .u = 0x5a5a5a5a }, { .p = restless + 5 } };
	unsigned lengths[3] = { 0 };
	pthread_t thread;

	(void)state;
	memset(restless, 'x', sizeof(restless) - 1);
	assert_int_equal(pthread_create(&thread, NULL, scribble, NULL), 0);
	for (int round = 0; round < 300000; round++) {
		size_t first, second;

		burin_string_max = round % 3 ? WIRE_STRING_MAX : 40;
		emit(WIRE_STR | WIRE_U32 << 4 | WIRE_STR << 8, args);
		first = strnlen((char *)payload, payload_bytes);
		assert_true(first <= burin_string_max && first + 5 < payload_bytes);
		assert_memory_equal(payload + first + 1, "ZZZZ", 4);
		second = strnlen((char *)payload + first + 5, payload_bytes - first - 5);
		assert_true(second <= burin_string_max);
		assert_int_equal(first + 1 + 4 + second + 1, payload_bytes);
		lengths[first < 16 ? 0 : first < 500 ? 1 : 2]++;
		if (round % 64 == 0) /* long again */
			for (size_t i = 0; i < 4096; i++)
				if (!restless[i])
					*(volatile char *)&restless[i] = 'w';
	}
	enough = true;
	pthread_join(thread, NULL);
	burin_string_max = WIRE_STRING_MAX;
	printf("# lengths below 16: %u, below 500: %u, others: %u\n", lengths[0], lengths[1], lengths[2]);
}

/* Texts with a length: never a byte beyond it, none behind a NUL, and cut at the limit. */
static void counted_texts(void **state)
{
	(void)state;
	for (size_t length = 0; length < 1200; length += length < 40 || length > 500 ? 1 : 13) {
		char *text = filled(length, 'c'), *only = malloc(length ? length : 1);
		union burin_arg args[] = { { .u = 9 }, { .u = length }, { .p = only }, { .u = 7 } };

		assert_non_null(only);
		memcpy(only, text, length); /* its end is the end of the memory */
		emit(PAIR(WIRE_STR), args + 1);
		assert_text(text);
		emit(WIRE_U8 | PAIR(WIRE_STR) << 4 | WIRE_U8 << 12, args);
		assert_int_equal(payload_bytes, length + 3);
		assert_memory_equal(payload + 1, text, length + 1);
		assert_int_equal(payload[length + 2], 7);
		args[1].u = (uint64_t)-1; /* no limit, as for printf */
		args[2].p = text;
		emit(PAIR(WIRE_STR), args + 1);
		assert_text(text);
		args[1].u = length + 100; /* it ends before */
		emit(PAIR(WIRE_STR), args + 1);
		assert_text(text);
		burin_string_max = 16;
		args[1].u = length;
		emit(PAIR(WIRE_STR), args + 1);
		assert_int_equal(payload_bytes, (length <= 16 ? length : 16) + 1);
		assert_int_equal(strlen((char *)payload), payload_bytes - 1);
		burin_string_max = WIRE_STRING_MAX;
		free(only);
		free(text);
	}
	emit(PAIR(WIRE_STR), (const union burin_arg[]){ { .u = 0 }, { .p = NULL } });
	assert_text("");
	emit(PAIR(WIRE_STR), (const union burin_arg[]){ { .u = 3 }, { .p = NULL } });
	assert_text(WIRE_NULL);
}

/* Arrays of each type and many lengths; cut between elements. */
static void arrays(void **state)
{
	static unsigned char elements[8 * 1200];

	(void)state;
	for (size_t i = 0; i < sizeof(elements); i++)
		elements[i] = (unsigned char)(i * 7);
	for (unsigned type = 1; type < 16; type++) {
		const unsigned size = format_type_bytes(type);

		for (unsigned count = 0; size && type != WIRE_PTR && count <= 1200;
		     count += count < 20 ? 1 : 59) {
			const unsigned limits[] = { WIRE_STRING_MAX, 100 };

			for (unsigned n = 0; n < 2; n++) {
				const unsigned kept = count < limits[n] / size ? count : limits[n] / size;
				union burin_arg args[] = { { .u = count }, { .p = elements }, { .u = 0x55 } };
				uint16_t got;

				burin_string_max = limits[n];
				emit(PAIR(type) | WIRE_U8 << 8, args);
				memcpy(&got, payload, 2);
				assert_int_equal(got, kept);
				assert_int_equal(payload_bytes, 2 + kept * size + 1);
				assert_memory_equal(payload + 2, elements, kept * size);
				assert_int_equal(payload[payload_bytes - 1], 0x55);
				emit(PAIR(type), args);
				assert_int_equal(payload_bytes, 2 + kept * size);
				assert_memory_equal(payload, &got, 2);
				assert_memory_equal(payload + 2, elements, kept * size);
			}
		}
	}
	burin_string_max = WIRE_STRING_MAX;
	emit(PAIR(WIRE_I32), (const union burin_arg[]){ { .u = 5 }, { .p = NULL } });
	assert_int_equal(payload_bytes, 2);
	emit(PAIR(WIRE_I32), (const union burin_arg[]){ { .u = (uint64_t)-1 }, { .p = elements } });
	assert_int_equal(payload_bytes, 2);
}

static void address_or_text(void **state)
{
	(void)state;
	assert_int_equal(site_types_complete("%s", WIRE_STR), WIRE_STR);
	assert_int_equal(site_types_complete("%p", WIRE_STR), WIRE_PTR);
	assert_int_equal(site_types_complete("%p %d %s %p", 0xdd4d), 0xcd4c);
	assert_int_equal(site_types_complete("%p%p%p%p%p%p%p%p%p%p%p%p%p%p%p%p", 0xdddddddddddddddd),
			 0xcccccccccccccccc);
	assert_int_equal(site_types_complete("%p %d", 0xdd), 0xdc); /* faulty: for format_parse to say */
	assert_int_equal(site_types_complete("%p", 0xdd), 0xdc);
	assert_int_equal(site_types_complete("%", 0xd), 0xd);
	assert_int_equal(site_types_complete("%d %.*s %p", 0xdd44), 0xcd04);
	assert_int_equal(site_types_complete("%.*s", 0xd5), 0xd5); /* faulty */
	assert_int_equal(site_types_complete("%p %p", 0xd0e0), 0xd0e0);
	assert_int_equal(site_types_complete("%s %p", 0xdd0), 0xcd0); /* a std::string first */
	assert_int_equal(site_types_complete("%d %p", 0xd40), 0xc40); /* an array first */
	assert_int_equal(site_types_of_records(0xcd04), 0xcd4);
	assert_int_equal(site_types_of_records(0xe04e0), 0xe4e);
	assert_int_equal(site_types_of_records(0x400d40), 0x400d40);
	assert_int_equal(site_types_of_records(0xd0d0d0d0d0d0d0d0), 0xdddddddd);
	assert_int_equal(site_types_of_records(0xf0f0f0f0f0f0f0f0), 0xf0f0f0f0f0f0f0f0);
	assert_int_equal(site_types_complete("", 0xd), 0xd);
}

static void careful(void **state)
{
	(void)state;
	serialize_careful();
	page_ends(NULL);
	before_strings(NULL);
	whole_strings(NULL);
	cuts_respect_utf8(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_strings),
		cmocka_unit_test(no_remains),
		cmocka_unit_test(many_strings),
		cmocka_unit_test(long_strings_are_cut),
		cmocka_unit_test(cuts_respect_utf8),
		cmocka_unit_test(null_and_empty),
		cmocka_unit_test(sizes),
		cmocka_unit_test(page_ends),
		cmocka_unit_test(before_strings),
		cmocka_unit_test(race),
		cmocka_unit_test(address_or_text),
		cmocka_unit_test(counted_texts),
		cmocka_unit_test(arrays),
		cmocka_unit_test(careful),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
