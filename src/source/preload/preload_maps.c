/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where code is mapped: the part of /proc/self/maps that is recorded for the recorder.
 *
 * Later libraries and generated code are not announced. So each sample looks up its address. If it is in no recorded
 * mapping, the signal's handler reads the file again and records new mappings before the sample. That does not find
 * code that replaced other code at the same address. But then a library was closed: dlclose() marks the mappings stale.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "source/preload/preload.h"

enum {
	MAPS_MAX = 2048,
	MAPS_LINE = 4096 + 160,
};

struct recorded_map {
	uint64_t begin, end, offset, inode;
};

/* The thread that set `busy` owns it. Others skip, not wait: a handler may have interrupted the owner. */
static struct {
	bool busy, stale;
	bool overflow; /* there are more mappings than MAPS_MAX; never reset */
	unsigned current, count[2];
	struct recorded_map
		recorded[2][MAPS_MAX]; /* by address, as in the file; one is current, one is being filled */
	char line[MAPS_LINE];
} maps;

static const struct recorded_map *find(uint64_t address)
{
	const struct recorded_map *recorded = maps.recorded[maps.current];
	unsigned low = 0, high = maps.count[maps.current];

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (recorded[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < maps.count[maps.current] && recorded[low].begin <= address ? &recorded[low] : NULL;
}

/* Parse a number, and skip the character behind it. Not by strtoull(), which is not async-signal-safe. */
static uint64_t take_number(const char **at, unsigned base)
{
	uint64_t number = 0;

	for (;; (*at)++) {
		const char c = **at;
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
							      : 16;

		if (digit >= base)
			break;
		number = number * base + digit;
	}
	if (**at)
		(*at)++;
	return number;
}

/* Parse a line of the file. Return: whether the mapping is executable. */
static bool parse(const char *line, struct preload_map *map)
{
	bool code;

	map->begin = take_number(&line, 16);
	map->end = take_number(&line, 16);
	code = strnlen(line, 5) == 5 && line[2] == 'x';
	if (!code)
		return false;
	line += 5;
	map->offset = take_number(&line, 16);
	map->major = (uint32_t)take_number(&line, 16);
	map->minor = (uint32_t)take_number(&line, 16);
	map->inode = take_number(&line, 10);
	while (*line == ' ')
		line++;
	map->path = *line ? line : "//anon";
	return map->end > map->begin;
}

/* Record the mapping in a line unless it is already recorded. */
static void take_line(const char *line)
{
	const unsigned next = !maps.current;
	const struct recorded_map *recorded;
	struct preload_map map;

	if (!parse(line, &map))
		return;
	if (maps.count[next] == MAPS_MAX) {
		maps.overflow = true;
		return;
	}
	recorded = find(map.begin);
	if ((recorded && recorded->begin == map.begin && recorded->end == map.end &&
	     recorded->offset == map.offset && recorded->inode == map.inode) ||
	    preload_put_map(&map))
		maps.recorded[next][maps.count[next]++] =
			(struct recorded_map){ map.begin, map.end, map.offset, map.inode };
}

/* The kernel returns whole lines, as many as fit; but that is not documented. */
static void read_all(int fd)
{
	size_t used = 0;
	ssize_t got;

	/* A line that does not fit ends it. */
	while (used < sizeof(maps.line) - 1 &&
	       (got = read(fd, maps.line + used, sizeof(maps.line) - 1 - used)) > 0) {
		char *line = maps.line, *end;

		used += (size_t)got;
		maps.line[used] = 0;
		while ((end = strchr(line, '\n'))) {
			*end = 0;
			take_line(line);
			line = end + 1;
		}
		used -= (size_t)(line - maps.line);
		memmove(maps.line, line, used);
		if (used == sizeof(maps.line) - 1) /* no path is as long as that */
			used = 0;
	}
}

static void read_again(void)
{
	const unsigned next = !maps.current;
	const int saved = errno, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		maps.count[next] = 0;
		maps.overflow = false;
		/* Before reading: they may become stale again meanwhile. */
		__atomic_store_n(&maps.stale, false, __ATOMIC_RELAXED);
		read_all(fd);
		close(fd);
		maps.current = next;
	}
	errno = saved;
}

void preload_maps_look(uint64_t address)
{
	if (__atomic_exchange_n(&maps.busy, true, __ATOMIC_ACQUIRE))
		return;
	if (__atomic_load_n(&maps.stale, __ATOMIC_RELAXED) || (!find(address) && !maps.overflow))
		read_again();
	__atomic_store_n(&maps.busy, false, __ATOMIC_RELEASE);
}

void preload_maps_invalidate(void)
{
	__atomic_store_n(&maps.stale, true, __ATOMIC_RELAXED);
}

void preload_maps_forked(void)
{
	maps.busy = false;
}
