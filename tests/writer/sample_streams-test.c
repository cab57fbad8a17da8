/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Streams of samples over several chunks: where the losses of a stream stand that has no sample yet. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/wire_packet.h"
#include "writer/sample_streams.h"

enum {
	BEGIN = 1000, /* ticks */
	FIRST = 1500, /* of the first sample, which is read after the chunk's end */
	LOST = 8,
};

static int make_directory(char *path)
{
	const int directory = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;

	assert_int_equal(mkdirat(directory, ".burin", 0777), 0);
	return directory;
}

static void remove_directory(int directory, const char *path)
{
	static const char *const files[] = { "samples0", ".burin/contexts", ".burin/tasks", ".burin/stacks" };

	for (unsigned n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		unlinkat(directory, files[n], 0);
	assert_int_equal(unlinkat(directory, ".burin", AT_REMOVEDIR), 0);
	close(directory);
	assert_int_equal(rmdir(path), 0);
}

/* The last packet of the stream. */
static struct wire_packet last_packet(int directory)
{
	struct wire_packet packet = { .magic = 0 }, next;
	const int fd = openat(directory, "samples0", O_RDONLY);
	off_t at = 0;

	assert_true(fd >= 0);
	while (pread(fd, &next, sizeof(next), at) == (ssize_t)sizeof(next)) {
		assert_int_equal(next.magic, WIRE_MAGIC);
		packet = next;
		at += (off_t)(packet.packet_bits / 8);
	}
	close(fd);
	return packet;
}

static void lose_before_the_first_sample(void **state)
{
	char paths[][40] = { "/tmp/burin-sample_streams-XXXXXX", "/tmp/burin-sample_streams-XXXXXX" };
	const int first = make_directory(paths[0]), second = make_directory(paths[1]);
	struct session *session = calloc(1, sizeof(*session));
	const struct samples_record record = { .id = 1, .tid = 1, .time = FIRST, .task = 1, .stack = 1 };
	struct table_writer tasks, stacks;
	struct wire_packet packet;
	struct samples samples;

	(void)state;
	assert_int_equal(table_writer_begin(&tasks, first, ".burin/tasks", WIRE_TABLE_TASKS), 0);
	assert_int_equal(table_writer_begin(&stacks, first, ".burin/stacks", WIRE_TABLE_STACKS), 0);
	assert_int_equal(samples_begin(&samples, session, first, 1, &tasks, &stacks, BEGIN), 0);
	samples_lost(&samples, 0, LOST);
	assert_int_equal(samples_finish(&samples), 0);
	samples_next(&samples, second);
	assert_true(samples_put(&samples, 0, &record));
	assert_int_equal(samples_commit(&samples), 0);
	assert_int_equal(samples_finish(&samples), 0);
	samples_free(&samples);

	packet = last_packet(first);
	assert_int_equal(packet.discarded, LOST);
	assert_int_equal(packet.time_end, BEGIN);
	packet = last_packet(second);
	assert_int_equal(packet.discarded, 0);
	assert_int_equal(packet.time_begin, FIRST);
	table_writer_close(&tasks);
	table_writer_close(&stacks);
	remove_directory(first, paths[0]);
	remove_directory(second, paths[1]);
	free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lose_before_the_first_sample) };

	return cmocka_run_group_tests_name("sample_streams", tests, NULL, NULL);
}
