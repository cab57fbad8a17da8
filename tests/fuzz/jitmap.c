/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Maps of code made at run time: perf-PID.map and jitdump, read as a whole and while they grow. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image/names/jitmap.h"

enum {
	WANTED = 64,
};

static int compare(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* Addresses that may be in it: those that it speaks of, at any place. */
static size_t choose(const uint8_t *data, size_t size, uint64_t wanted[WANTED])
{
	size_t count = 0, kept = 0;

	for (size_t at = 0; at + 8 <= size && count < WANTED / 2; at += size / WANTED / 8 * 8 + 8)
		memcpy(&wanted[count++], data + at, 8);
	for (size_t n = 0; count < WANTED; n++)
		wanted[count++] = n < 16 ? 0x1000 + n * 16 : n * 8;
	qsort(wanted, count, sizeof(*wanted), compare);
	for (size_t n = 0; n < count; n++)
		if (!kept || wanted[kept - 1] != wanted[n])
			wanted[kept++] = wanted[n];
	return kept;
}

static void look(const struct jitmap *map, const struct jitmap_name *names, size_t count)
{
	unsigned sum = 0;

	for (size_t n = 0; n < count; n++) {
		const struct jitmap_name *name = &names[n];

		if (!name->name)
			continue;
		FUZZ_HOLDS(name->name >= map->text &&
			   name->bytes <= (size_t)(map->text + map->bytes - name->name));
		for (uint32_t at = 0; at < name->bytes; at++)
			sum += (unsigned char)name->name[at];
		if (name->file)
			sum += (unsigned)strlen(name->file);
	}
	fuzz_use(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int file = memfd_create("map", MFD_CLOEXEC);
	uint64_t wanted[WANTED], at = 0, before = 0;
	struct jitmap_name names[WANTED];
	struct jitdump_window window = { .bytes = 0 };
	struct jitdump_record record;
	const size_t count = choose(data, size, wanted);
	struct jitmap map;

	FUZZ_HOLDS(file >= 0 && write(file, data, size) == (ssize_t)size);
	FUZZ_HOLDS(jitmap_read(&map, file) == 0);
	jitmap_find(&map, wanted, count, names);
	look(&map, names, count);
	jitdump_find(&map, wanted, count, names);
	look(&map, names, count);
	jitmap_free(&map);
	while (jitdump_next(&window, file, size, &at, &record)) {
		FUZZ_HOLDS(at > before && at <= size);
		before = at;
	}
	close(file);
	return 0;
}
