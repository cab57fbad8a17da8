/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The handler of SIGBUS; see guard.h. It finds the mapping in /proc/self/maps with system calls only, and maps anonymous
 * pages over the missing part. It covers one page first and doubles the size each time the next access fails too. Of a
 * truncated file the whole rest is missing, but on a full file system only single pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file/guard.h"

enum {
	GUARD_HOLES = 64,	   /* recorded separately */
	GUARD_HOLE_MAX = 64 << 20, /* bytes covered at a time */
	GUARD_LINE = 512,
};

/* A part of a mapping that is covered with zeros. */
struct hole {
	uintptr_t begin, end;
	bool reported; /* guard_truncated() has reported it */
	char name[GUARD_LINE];
};

static struct {
	uintptr_t page; /* of the system: 4, 16 or 64 KiB */
	bool locked;	/* a spin lock: the handler may run in several threads, and allocates nothing */
	bool many;	/* more holes than GUARD_HOLES: every mapping counts as truncated */
	unsigned count;
	struct hole holes[GUARD_HOLES];
} guard;

static void guard_lock(void)
{
	while (__atomic_test_and_set(&guard.locked, __ATOMIC_ACQUIRE))
		continue;
}

static void guard_unlock(void)
{
	__atomic_clear(&guard.locked, __ATOMIC_RELEASE);
}

static const char *parse_hex(const char *text, uintptr_t *value)
{
	for (*value = 0;; text++) {
		if (*text >= '0' && *text <= '9')
			*value = *value << 4 | (uintptr_t)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			*value = *value << 4 | (uintptr_t)(*text - 'a' + 10);
		else
			return text;
	}
}

/* A mapping, from its line "BEGIN-END rwxs OFFSET DEVICE INODE NAME". */
struct mapping {
	uintptr_t begin, end;
	int protection;
	char name[GUARD_LINE];
};

/* Parse a line. Return: whether its mapping has the address, and is shared and not executable. */
static bool is_around(const char *line, uintptr_t address, struct mapping *mapping)
{
	const char *at = parse_hex(line, &mapping->begin), *name;

	at = parse_hex(at + (*at == '-'), &mapping->end);
	if (address < mapping->begin || address >= mapping->end || strlen(at) < 5 || at[3] == 'x' ||
	    at[4] != 's')
		return false;
	mapping->protection = (at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0);
	name = strchr(at, '/');
	if (name)
		memcpy(mapping->name, name, strlen(name) + 1);
	return true;
}

static bool guard_find_mapping(uintptr_t address, struct mapping *mapping)
{
	char buffer[GUARD_LINE], line[GUARD_LINE];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	bool found = false;
	ssize_t got;

	while (fd >= 0 && !found && (got = read(fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t n = 0; n < got && !found; n++) {
			if (buffer[n] != '\n') {
				if (used + 1 < sizeof(line))
					line[used++] = buffer[n];
				continue;
			}
			line[used] = 0;
			used = 0;
			found = is_around(line, address, mapping);
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Find the hole that ends at @begin, or add one. Return: NULL: there is no room. */
static struct hole *hole_at(uintptr_t begin)
{
	for (unsigned n = 0; n < guard.count; n++)
		if (guard.holes[n].end == begin && !guard.holes[n].reported)
			return &guard.holes[n];
	if (guard.count == GUARD_HOLES) {
		guard.many = true;
		return NULL;
	}
	guard.holes[guard.count] = (struct hole){ .begin = begin, .end = begin };
	return &guard.holes[guard.count++];
}

static bool guard_cover(uintptr_t address)
{
	struct mapping mapping = { 0 };
	const uintptr_t begin = address & ~(guard.page - 1);
	uintptr_t bytes = guard.page;
	struct hole *hole;
	void *pages;

	if (!guard_find_mapping(address, &mapping))
		return false;
	guard_lock();
	hole = hole_at(begin);
	if (hole) {
		if (hole->end != hole->begin)
			bytes = hole->end - hole->begin;
		if (bytes > GUARD_HOLE_MAX)
			bytes = GUARD_HOLE_MAX;
		if (bytes > mapping.end - begin)
			bytes = mapping.end - begin;
		hole->end = begin + bytes;
		memcpy(hole->name, mapping.name, sizeof(hole->name));
	}
	guard_unlock();
	pages = mmap((void *)begin, bytes, mapping.protection,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return pages != MAP_FAILED;
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	const int saved = errno;

	(void)context;
	/* Restore the default for any other fault: the access is repeated and has its usual effect. */
	if (info->si_code != BUS_ADRERR || !guard_cover((uintptr_t)info->si_addr))
		signal(signal_number, SIG_DFL);
	errno = saved;
}

void guard_begin(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_RESTART };

	guard.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

static bool guard_meets(const struct hole *hole, const void *base, size_t bytes)
{
	const uintptr_t begin = (uintptr_t)base;

	return hole->begin < begin + bytes && hole->end > begin;
}

bool guard_truncated(const void *base, size_t bytes)
{
	bool truncated;

	if (__atomic_load_n(&guard.count, __ATOMIC_RELAXED) == 0)
		return false;
	guard_lock();
	truncated = guard.many;
	for (unsigned n = 0; n < guard.count; n++) {
		if (!guard_meets(&guard.holes[n], base, bytes))
			continue;
		truncated = guard.holes[n].reported = true;
	}
	guard_unlock();
	return truncated;
}

void guard_forget(const void *base, size_t bytes)
{
	unsigned kept = 0;

	guard_lock();
	for (unsigned n = 0; n < guard.count; n++)
		if (!guard_meets(&guard.holes[n], base, bytes) && kept++ != n)
			guard.holes[kept - 1] = guard.holes[n];
	guard.count = kept;
	guard_unlock();
}

const char *guard_unreported(void)
{
	for (unsigned n = 0; n < guard.count; n++)
		if (!guard.holes[n].reported)
			return guard.holes[n].name;
	return NULL;
}
