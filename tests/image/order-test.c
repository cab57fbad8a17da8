/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The order in which images are read: those of the system and of the user who runs the command first, then what other users may have
 * written, by size. Else a few large maps of code take the time until the deadline, and nothing has a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/leb128.h"
#include "image/symbolize/symbolize.h"

enum {
	LARGE = 1 << 20, /* bytes of a map */
	OTHER = 65534,	 /* a user */
	IMAGES = 4,
};

static uint32_t order[2 * IMAGES]; /* numbers of images, as their locations come */
static unsigned order_count;

static int on_entry(void *data, const void *bytes, size_t count)
{
	const unsigned char *at = bytes, *end = at + count;
	uint64_t what, image;

	(void)data;
	at = leb128_get(at, end, &what);
	if (!at || !leb128_get(at, end, &image))
		return -EINVAL;
	if (what == WIRE_SYMBOLS_LOCATION || what == WIRE_SYMBOLS_FUNCTION)
		if (order_count < 2 * IMAGES)
			order[order_count++] = (uint32_t)image;
	return 0;
}

/* A file with a map's line, and zeros up to a size. */
static int make_map(off_t bytes)
{
	static const char line[] = "0 1000 jitted\n";
	const int file = memfd_create("map", MFD_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(write(file, line, sizeof(line) - 1), sizeof(line) - 1);
	assert_int_equal(ftruncate(file, bytes), 0);
	return file;
}

/* A copy of this program, as another user's; if that is not possible, as ours. */
static int copy_program(void)
{
	const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
	char bytes[1 << 16];
	ssize_t got;

	assert_true(from >= 0 && to >= 0);
	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)got), got);
	close(from);
	if (geteuid() == 0 && fchown(to, OTHER, OTHER) != 0)
		fail();
	return to;
}

static __attribute__((noinline)) uint64_t offset_of_this(void)
{
	extern const char __ehdr_start[];

	return (uint64_t)((uintptr_t)offset_of_this - (uintptr_t)__ehdr_start);
}

static void test_others_last(void **state)
{
	const uint64_t inside = 16, own = offset_of_this();
	struct symbolize_image images[IMAGES] = {
		{ .kind = WIRE_IMAGE_JIT, .path = "/map", .file = make_map(LARGE), .offsets = &inside },
		{ .kind = WIRE_IMAGE_FILE, .path = "/other", .file = copy_program(), .offsets = &own },
		{ .kind = WIRE_IMAGE_JIT, .path = "/map", .file = make_map(64), .offsets = &inside },
		{ .kind = WIRE_IMAGE_FILE, .path = "/own", .offsets = &own },
	};
	const struct symbolize_options options = { .children = 1, .entry = on_entry };
	struct symbolize_counts counts;
	uint32_t place[IMAGES + 1] = { 0 };

	(void)state;
	images[3].file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (uint32_t n = 0; n < IMAGES; n++) {
		images[n].number = n + 1;
		images[n].count = 1;
	}
	assert_int_equal(symbolize(images, IMAGES, &options, &counts), 0);
	assert_int_equal(counts.named, IMAGES);
	for (unsigned n = order_count; n--;)
		place[order[n]] = n + 1;
	assert_true(place[4] < place[3]); /* a map may be a link to any file */
	assert_true(place[3] < place[1]); /* the smaller one first */
	if (geteuid() == 0)
		assert_true(place[4] < place[2]);
	for (unsigned n = 0; n < IMAGES; n++)
		close(images[n].file);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_others_last) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
