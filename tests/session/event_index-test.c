/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Registering many events takes a number of comparisons in proportion to their number; each text is found, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/session.h"
#include "writer/event_table.h"

enum {
	EVENTS = 8000,
	ENUMS = 1000, /* different ones */
};

static uint64_t compared;

int __real_strcmp(const char *one, const char *other);
int __real_strncmp(const char *one, const char *other, size_t bytes);
int __wrap_strcmp(const char *one, const char *other);
int __wrap_strncmp(const char *one, const char *other, size_t bytes);

int __wrap_strcmp(const char *one, const char *other)
{
	compared++;
	return __real_strcmp(one, other);
}

int __wrap_strncmp(const char *one, const char *other, size_t bytes)
{
	compared++;
	return __real_strncmp(one, other, bytes);
}

static uint16_t registered(struct session *session, unsigned n, const char *format)
{
	char name[40], enums[40];
	const struct session_event event = {
		.name = name, .format = format, .file = "", .enums = enums, .types = WIRE_I32
	};
	uint16_t id;

	snprintf(name, sizeof(name), "event.%u", n);
	snprintf(enums, sizeof(enums), "e%u one=1\n", n % ENUMS);
	assert_int_equal(session_event_is_taken(session, &event), *format == 'm');
	assert_int_equal(session_event_register(session, &event, 1, &id), 0);
	return id;
}

static void comparisons(void **state)
{
	const struct session_options options = {
		.buffer_bytes = 1 << 16, .packet_bytes = 1 << 12, .string_max = 100, .program = "test"
	};
	struct session session, other;
	struct event_table table = { 0 };
	char path[SESSION_PATH_MAX];
	const char *why;

	(void)state;
	assert_int_equal(session_create(&session, &options, path, sizeof(path), &why), 0);
	assert_int_equal(session_join(&other, path, &why), 0);
	unlink(path);
	compared = 0;
	for (unsigned n = 0; n < EVENTS; n++)
		assert_int_equal(registered(n % 3 ? &session : &other, n, "n=%d"), n + 1);
	for (unsigned n = 0; n < EVENTS; n++) {
		assert_int_equal(registered(&session, n, "n=%d"), n + 1);
		assert_int_equal(registered(&other, n, "m=%d"), 0);
	}
	assert_in_range(compared, 1, 40 * EVENTS);
	compared = 0;
	assert_int_equal(event_table_update(&table, &session), 0);
	assert_in_range(compared, 1, 10 * EVENTS);
	assert_int_equal(table.count, EVENTS);
	for (unsigned n = 0; n < EVENTS; n++) {
		char name[40];

		snprintf(name, sizeof(name), "event.%u", n);
		assert_string_equal(table_text(&table, table.entries[n].name), name);
		assert_int_equal(table.entries[n].enums, table.entries[n % ENUMS].enums);
		assert_int_equal(session.entries[n].enums, session.entries[n % ENUMS].enums);
	}
	event_table_free(&table);
	session_leave(&other);
	session_leave(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(comparisons) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
