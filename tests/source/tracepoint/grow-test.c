/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Strings that have another length when they are recorded than when they were measured, each case for
 * certain: the second tier is compiled with a measure that lies. (stage-test.c has the same with a second
 * thread, by chance.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "source/tracepoint/fields/text_load.h"

static size_t measured; /* what every string is said to be */

#define text_length(text, max) ((void)(text), measured < (max) + 1 ? measured : (size_t)(max) + 1)
#include "source/tracepoint/fields/serialize.c"

const unsigned char burin_off;

static unsigned char payload[1 << 16];
static size_t payload_bytes;

void burin_emit(struct burin_site *site, unsigned state, void *buffer, size_t bytes)
{
	(void)site;
	(void)state;
	payload_bytes = bytes;
	if (buffer)
		memcpy(payload, (unsigned char *)buffer + WIRE_HEADROOM, bytes);
}

/* Records a string of `actual` bytes between two integers after it was measured, and compares. */
static void record(size_t said, size_t actual)
{
	static char text[8192], want[8192];
	struct burin_site site = { .types = WIRE_U8 | WIRE_STR << 4 | WIRE_U32 << 8 };
	union burin_arg args[] = { { .u = 0x77 }, { .p = text }, { .u = 0x12345678 } };
	size_t limit = said <= WIRE_STRING_MAX ? said : WIRE_STRING_MAX, length;

	memset(text, 'g', sizeof(text));
	text[actual] = '\0';
	memset(want, 'g', sizeof(want));
	length = actual <= limit ? actual : limit;
	if (actual > limit && limit >= 3)
		memcpy(want + limit - 3, WIRE_TRUNCATED, 3);
	want[length] = '\0';
	measured = said;
	payload_bytes = 0;
	emit_measured(&site, 1, site.types, args);
	assert_int_equal(payload_bytes, 1 + length + 1 + 4);
	assert_int_equal(payload[0], 0x77);
	assert_memory_equal(payload + 1, want, length + 1);
	assert_memory_equal(payload + 1 + length + 1, "\x78\x56\x34\x12", 4);
}

static void grown(void **state)
{
	(void)state;
	for (size_t said = 0; said < 40; said++)
		for (size_t actual = said; actual < 80; actual++)
			record(said, actual);
	record(600, 601);
	record(600, 8000);
	record(4095, 4096);
	record(4096, 4097);
}

static void shrunk(void **state)
{
	(void)state;
	for (size_t said = 0; said < 80; said++)
		for (size_t actual = 0; actual <= said; actual++)
			record(said, actual);
	record(4096, 0);
	record(600, 599);
	record(5000, 4000);
	record(5000, 3);
	record(5000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(grown), cmocka_unit_test(shrunk) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
