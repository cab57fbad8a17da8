/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The history in a trace (drain/changelog.h): a list of events too long for one record continues in the next. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/number.h"
#include "base/nolibc.h"
#include "drain/changelog.h"
#include "wire/wire_names.h"
#include "wire/wire_packet.h"

enum {
	EVENTS = WIRE_ID_MAX,
	FILE_MAX = 4 << 20,
};

/* The parts of a session that a history needs. */
static struct session session;

static bool is_on(uint32_t id)
{
	return id % 3 != 0; /* the longest list: "1-2 4-5 7-8" */
}

static struct wire_change *change_of(uint64_t number)
{
	return (struct wire_change *)(session.history + number % WIRE_CHANGES * wire_change_bytes(EVENTS));
}

static void make_change(uint64_t number, enum wire_change_kind kind)
{
	struct wire_change *change = change_of(number);
	char *bits = (char *)(change + 1);

	*change = (struct wire_change){ .number = number, .kind = (uint8_t)kind, .time = 1, .pid = 1 };
	for (uint32_t id = 1; id <= EVENTS; id++)
		if (is_on(id))
			bits[(id - 1) / 8] = (char)(bits[(id - 1) / 8] | 1 << (id - 1) % 8);
	session.shared->history = number;
}

static int make_session(void **state)
{
	(void)state;
	session.geometry.events_max = EVENTS;
	session.shared = calloc(1, sizeof(*session.shared));
	session.desired = calloc(EVENTS, 1);
	session.history = calloc(WIRE_CHANGES, wire_change_bytes(EVENTS));
	session.events = calloc(1, sizeof(*session.events));
	if (!session.shared || !session.desired || !session.history || !session.events)
		return -1;
	session.events->count = EVENTS;
	for (uint32_t id = 1; id <= EVENTS; id++)
		session.desired[id - 1] = is_on(id) ? WIRE_ON : WIRE_OFF;
	return 0;
}

static int free_session(void **state)
{
	(void)state;
	free(session.shared);
	free(session.desired);
	free(session.history);
	free(session.events);
	return 0;
}

/* The contents of all records of a kind. */
struct contents {
	unsigned records;
	uint32_t next; /* the id at which the next record must begin */
	uint8_t on[EVENTS + 1];
};

static const char *skip_text(const char *at)
{
	return at + strlen(at) + 1;
}

static void take_list(struct contents *contents, const char *list, uint32_t first, uint32_t last)
{
	while (*list) {
		const char *end;
		uint64_t from = nolibc_number(list, 10, &end), to = from;

		if (*end == '-')
			to = nolibc_number(end + 1, 10, &end);
		assert_true(from >= first && from <= to && to <= last);
		assert_true(*end == ' ' || !*end);
		for (; from <= to; from++)
			contents->on[from]++;
		list = *end ? end + 1 : end;
	}
}

static void take_record(struct contents *contents, const char *record, const char *kind)
{
	const char *at = record + sizeof(struct wire_extended) + 8;
	uint32_t first, last;

	if (strcmp(at, kind) != 0)
		return;
	at = skip_text(at) + 8; /* pid, uid */
	at = skip_text(skip_text(skip_text(at))) + 8;
	first = number_load32(at);
	last = number_load32(at + 4);
	assert_int_equal(first, contents->next);
	take_list(contents, at + 16, first, last);
	contents->next = last + 1;
	contents->records++;
}

static void read_file(int directory, struct contents *contents, const char *kind)
{
	char *bytes = malloc(FILE_MAX);
	int fd = openat(directory, "changes", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, bytes, FILE_MAX);

	*contents = (struct contents){ .next = 1 };
	assert_true(got > 0 && got < FILE_MAX);
	for (ssize_t packet = 0; packet < got;) {
		const struct wire_packet *header = (const struct wire_packet *)(bytes + packet);
		const uint64_t content = header->content_bits / 8;

		for (uint64_t at = sizeof(*header); at < content;) {
			const char *record = bytes + packet + at;

			take_record(contents, record, kind);
			at += wire_stride(number_load16(record + 2));
		}
		packet += (ssize_t)(header->packet_bits / 8);
	}
	close(fd);
	free(bytes);
}

static void check_file(int directory, const char *kind)
{
	static struct contents contents;

	read_file(directory, &contents, kind);
	assert_int_equal(contents.next, EVENTS + 1);
	assert_true(contents.records > 1);
	for (uint32_t id = 1; id <= EVENTS; id++)
		assert_int_equal(contents.on[id], is_on(id));
}

/* A directory for a trace. */
static int make_directory(char path[])
{
	int directory;

	assert_non_null(mkdtemp(path));
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(directory, ".burin", 0700), 0);
	return directory;
}

static void remove_directory(int directory, const char *path)
{
	unlinkat(directory, "changes", 0);
	unlinkat(directory, ".burin", AT_REMOVEDIR);
	close(directory);
	rmdir(path);
}

static void test_long_lists(void **state)
{
	char path[] = "/tmp/burin-changelog-XXXXXX";
	const int directory = make_directory(path);
	struct changelog log;

	(void)state;
	assert_int_equal(changelog_begin(&log, &session, directory, true), 0);
	make_change(1, WIRE_CHANGE_ON);
	assert_int_equal(changelog_finish(&log), 0);
	changelog_free(&log);
	check_file(directory, "on");
	check_file(directory, "state"); /* at the end */
	remove_directory(directory, path);
}

/* A change after the last look at the history, while the states at the end are written. */
static void test_between_chunks(void **state)
{
	char path[] = "/tmp/burin-changelog-XXXXXX", next_path[] = "/tmp/burin-changelog-XXXXXX";
	const int directory = make_directory(path), next = make_directory(next_path);
	struct changelog log;

	(void)state;
	assert_int_equal(changelog_begin(&log, &session, directory, false), 0);
	make_change(2, WIRE_CHANGE_ON);
	assert_int_equal(changelog_finish(&log), 0);
	make_change(3, WIRE_CHANGE_OFF);
	assert_int_equal(changelog_next(&log, next), 0);
	assert_int_equal(changelog_finish(&log), 0);
	changelog_free(&log);
	check_file(directory, "on");
	check_file(next, "off");
	remove_directory(directory, path);
	remove_directory(next, next_path);
}

/* Leave bytes behind the last record, as a writer that was killed before it had committed them. */
static void write_uncommitted(const struct changelog *log)
{
	static char bytes[1 << 16];
	const off_t at = (off_t)(log->stream.packet_at + wire_stride(log->stream.content));

	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(pwrite(log->stream.fd, bytes, sizeof(bytes), at), sizeof(bytes));
}

/* A writer is killed, and so is the one that continues: by other records, since the session has lost those of the first. */
static void test_two_kills(void **state)
{
	char path[] = "/tmp/burin-changelog-XXXXXX";
	const int directory = make_directory(path);
	struct changelog log;

	(void)state;
	assert_int_equal(changelog_begin(&log, &session, directory, false), 0);
	make_change(4, WIRE_CHANGE_ON);
	assert_int_equal(changelog_round(&log), 0);
	write_uncommitted(&log);
	changelog_free(&log);
	make_change(5, WIRE_CHANGE_OFF);
	memset(change_of(5) + 1, 0,
	       wire_change_bytes(EVENTS) - sizeof(struct wire_change)); /* a short record */
	assert_int_equal(changelog_resume(&log, &session, directory), 0);
	assert_int_equal(changelog_round(&log), 0);
	assert_int_not_equal(log.stream.content % WIRE_ALIGN, 0); /* the last record has padding */
	changelog_free(&log);
	assert_int_equal(changelog_resume(&log, &session, directory), 0);
	assert_int_equal(changelog_finish(&log), 0);
	changelog_free(&log);
	check_file(directory, "on");
	remove_directory(directory, path);
}

/* Whether the file has the bytes of a text. */
static bool has_text(int directory, const char *text)
{
	char bytes[1 << 16];
	int fd = openat(directory, "changes", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, bytes, sizeof(bytes));

	close(fd);
	return got > 0 && memmem(bytes, (size_t)got, text, strlen(text));
}

/* The session ends before the recorder, which had no turn, has seen its rule and its events. */
static void test_after_the_end(void **state)
{
	const struct session_options options = {
		.buffer_bytes = 1 << 16, .packet_bytes = 1 << 12, .string_max = 100, .program = "test"
	};
	const struct session_rule rule = { .state = WIRE_CONDITIONAL,
					   .level = WIRE_LEVEL_MAX,
					   .where = "n == 3" };
	static const struct session_event events[] = {
		{ .name = "late.fits", .format = "n=%d", .file = "", .types = WIRE_I32 },
		{ .name = "late.unfit", .format = "m=%d", .file = "", .types = WIRE_I32 },
	};
	char path[] = "/tmp/burin-changelog-XXXXXX", session_path[SESSION_PATH_MAX];
	const int directory = make_directory(path);
	struct session real;
	struct changelog log;
	const char *why;
	uint16_t ids[2];

	(void)state;
	assert_int_equal(session_create(&real, &options, session_path, sizeof(session_path), &why), 0);
	unlink(session_path);
	assert_int_equal(changelog_begin(&log, &real, directory, false), 0);
	assert_int_equal(session_change_begin(&real), 0);
	assert_int_equal(session_change_rule(&real, "late.*", &rule), 0);
	assert_int_equal(session_change_commit(&real), 0);
	assert_int_equal(session_event_register(&real, events, 2, ids), 0);
	assert_int_equal(real.switches[ids[0] - 1], WIRE_CONDITIONAL);
	session_end(&real);
	assert_int_equal(real.switches[ids[0] - 1], WIRE_OFF);
	assert_int_equal(changelog_finish(&log), 0);
	changelog_free(&log);
	assert_true(has_text(directory, "--where n == 3: there is no field 'n'"));
	session_leave(&real);
	remove_directory(directory, path);
}

/* After the end of a session, no event of it comes on: neither a later one nor by a later change. */
static void test_stays_off(void **state)
{
	const struct session_options options = {
		.buffer_bytes = 1 << 16, .packet_bytes = 1 << 12, .string_max = 100, .program = "test"
	};
	const struct session_event event = {
		.name = "late", .format = "n=%d", .file = "", .types = WIRE_I32
	};
	char session_path[SESSION_PATH_MAX];
	struct session real;
	const char *why;
	unsigned matched;
	uint16_t id;

	(void)state;
	assert_int_equal(session_create(&real, &options, session_path, sizeof(session_path), &why), 0);
	unlink(session_path);
	assert_int_equal(session_switch_glob(&real, "*", WIRE_ON, WIRE_LEVEL_MAX, &matched), 0);
	session_end(&real);
	assert_int_equal(session_event_register(&real, &event, 1, &id), 0);
	assert_int_equal(real.switches[id - 1], WIRE_OFF);
	assert_int_equal(session_switch_glob(&real, "late", WIRE_ON, WIRE_LEVEL_MAX, &matched), 0);
	assert_int_equal(matched, 1);
	assert_int_equal(real.switches[id - 1], WIRE_OFF);
	session_leave(&real);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{ "changelog: a list of events too long for one record continues in the next",
		  test_long_lists, NULL, NULL, NULL },
		{ "changelog: a change between two chunks is in the second", test_between_chunks, NULL, NULL,
		  NULL },
		{ "changelog: two writers were killed, one after the other; the third continues",
		  test_two_kills, NULL, NULL, NULL },
		{ "changelog: rules and states are in it, also if the session ended before they were seen",
		  test_after_the_end, NULL, NULL, NULL },
		{ "changelog: no event comes on after the end of its session", test_stays_off, NULL, NULL,
		  NULL },
	};

	return cmocka_run_group_tests(tests, make_session, free_session);
}
