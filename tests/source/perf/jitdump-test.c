/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Code made at run time: records of a jitdump without code are skipped, and are not a loss; a map that is written late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/perf/tasks/images.h"
#include "source/perf/tasks/jitdump.h"

enum {
	LOAD,
	MOVE,
	CODE = 0x10000,
	PID = 0x7ffffff0, /* of no process */
};

static struct {
	unsigned char bytes[4096];
	size_t used;
} dump;

static void put(const void *bytes, size_t count)
{
	memcpy(dump.bytes + dump.used, bytes, count);
	dump.used += count;
}

static void begin(void)
{
	const uint32_t header[10] = { 0x4a695444, 1, sizeof(header) };

	dump.used = 0;
	put(header, sizeof(header));
}

/* A load record, with @stored bytes of code. */
static void load(uint64_t time, uint64_t address, uint64_t size, uint32_t stored)
{
	const uint32_t head[2] = { LOAD, 16 + 40 + 2 + stored };
	const uint64_t more[6] = { time, 0, address, address, size, 1 };

	put(head, sizeof(head));
	put(more, sizeof(more));
	put("f", 2);
	dump.used += stored;
}

static void move(uint64_t time, uint64_t from, uint64_t to, uint64_t size)
{
	const uint32_t head[2] = { MOVE, 16 + 48 };
	const uint64_t more[7] = { time, 0, from, from, to, size, 1 };

	put(head, sizeof(head));
	put(more, sizeof(more));
}

static void no_code(void **state)
{
	struct sample_image image = { .kind = WIRE_IMAGE_JITDUMP, .fd = memfd_create("dump", MFD_CLOEXEC) };
	struct jit jit = { .pid = PID, .dump = &image };
	struct images images;
	struct jit_state shared = { .images = &images };
	uint64_t offset;

	(void)state;
	images_init(&images, NULL);
	begin();
	load(1, CODE, 0, 0);
	load(2, UINT64_MAX - 7, 8, 8); /* its end is 0 */
	load(3, CODE, 16, 16);
	load(4, CODE + 8, 0, 0);
	move(5, CODE, 2 * CODE, 0);
	assert_int_equal(write(image.fd, dump.bytes, dump.used), dump.used);
	assert_ptr_equal(jit_find(&jit, &shared, NULL, CODE + 8, 10, &offset), &image);
	assert_int_equal(images.budget.over[BUDGET_MAPPINGS], 0);
	assert_int_equal(shared.late, 0);
	/* A move from an address without code is counted as late. */
	dump.used = 0;
	move(11, 5 * CODE, 6 * CODE, 16);
	load(12, 3 * CODE, 16, 16);
	assert_int_equal(write(image.fd, dump.bytes, dump.used), dump.used);
	assert_ptr_equal(jit_find(&jit, &shared, NULL, 3 * CODE, 20, &offset), &image);
	assert_int_equal(shared.late, 1);
	jit_clear(&jit);
	close(image.fd);
	images_free(&images);
}

/* Java writes its map at its end. The image of the code before is then named by it. */
static void late_map(void **state)
{
	struct jit jit = { .pid = (uint32_t)getpid() };
	struct images images;
	struct jit_state shared = { .images = &images };
	struct sample_image *before;
	uint64_t offset;
	char path[64];
	int file;

	(void)state;
	images_init(&images, NULL);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	before = jit_find(&jit, &shared, "/usr/bin/java", CODE, 1, &offset);
	assert_non_null(before);
	assert_int_equal(before->fd, -1);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(file >= 0);
	shared.round++;
	assert_ptr_equal(jit_find(&jit, &shared, "/usr/bin/java", CODE, 2, &offset), before);
	assert_true(before->fd >= 0);
	close(file);
	unlink(path);
	jit_clear(&jit);
	images_free(&images);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_code), cmocka_unit_test(late_map) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
