/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where code lies: what of /proc/self/maps the recorder has been told.
 *
 * Nobody tells of a library that is loaded later, or of code that a program makes. So each sample asks
 * whether its address is known; if not, the file is read again, in the signal's handler, and what is new is
 * told before the sample. Code that has taken the place of other is not found out that way: but before it
 * came, a library was closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "source/timer/timer.h"

enum {
	MAPS_MAX = 2048,
	MAPS_LINE = 4096 + 160,
};

struct known {
	uint64_t begin, end, offset, inode;
};

/* All of it belongs to who has made `busy` true. Nobody waits for it: he may have interrupted who has it. */
static struct {
	bool busy, stale;
	bool overflow; /* there is more than is known, and ever will be */
	unsigned current, count[2];
	struct known known[2][MAPS_MAX]; /* by address, as they are in the file */
	char line[MAPS_LINE];
} maps;

static const struct known *find(uint64_t address)
{
	const struct known *known = maps.known[maps.current];
	unsigned low = 0, high = maps.count[maps.current];

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (known[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < maps.count[maps.current] && known[low].begin <= address ? &known[low] : NULL;
}

/* A number, and the character behind it. Without libc, which makes no promise for signal handlers. */
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

/* A line of the file. Return: whether it is of code. */
static bool parse(const char *line, struct timer_map *map)
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

/* Code of which a line tells: told unless it is known, and known if it was told. */
static void take_line(const char *line)
{
	const unsigned next = !maps.current;
	const struct known *known;
	struct timer_map map;

	if (!parse(line, &map))
		return;
	if (maps.count[next] == MAPS_MAX) {
		maps.overflow = true;
		return;
	}
	known = find(map.begin);
	if ((known && known->begin == map.begin && known->end == map.end && known->offset == map.offset &&
	     known->inode == map.inode) ||
	    timer_tell_map(&map))
		maps.known[next][maps.count[next]++] =
			(struct known){ map.begin, map.end, map.offset, map.inode };
}

/* The kernel gives whole lines, as many as fit; but it is not asked to. */
static void read_all(int fd)
{
	size_t used = 0;
	ssize_t got;

	while ((got = read(fd, maps.line + used, sizeof(maps.line) - 1 - used)) > 0) {
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

static void look_again(void)
{
	const unsigned next = !maps.current;
	const int saved = errno, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		maps.count[next] = 0;
		__atomic_store_n(&maps.stale, false,
				 __ATOMIC_RELAXED); /* before: it may be so again meanwhile */
		read_all(fd);
		close(fd);
		maps.current = next;
	}
	errno = saved;
}

void timer_maps_look(uint64_t address)
{
	if (__atomic_exchange_n(&maps.busy, true, __ATOMIC_ACQUIRE))
		return;
	if (__atomic_load_n(&maps.stale, __ATOMIC_RELAXED) || (!find(address) && !maps.overflow))
		look_again();
	__atomic_store_n(&maps.busy, false, __ATOMIC_RELEASE);
}

void timer_maps_stale(void)
{
	__atomic_store_n(&maps.stale, true, __ATOMIC_RELAXED);
}

void timer_maps_forked(void)
{
	maps.busy = false;
}
