/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A small compiler of code at run time, which reports it as such compilers do. x86-64.
 *
 *	jitted map MS			/tmp/perf-PID.map, which is removed at the end
 *	jitted late-map MS		the same, written at the very end, and left there
 *	jitted dump MS FOLDER		FOLDER/jit-PID.dump, which is removed at the end
 *	jitted late-dump MS FOLDER	the same; what it reports is written at the very end
 *	jitted wild-dump MS FOLDER	the same; then whatever may stand in such a file
 *	jitted falling-dump MS FOLDER N	the same; then N loads, each below the one before
 *	jitted small-dump MS FOLDER N	the same; then N records that are headers and nothing more
 *	jitted nothing MS		reports nothing
 *	jitted foreign MS FILE		the same, but FILE is mapped as if it were its dump
 *
 * It runs first(), then second(), at the same address; then second() again after it has moved; MS each.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const unsigned char template[] = {
	0x55,			   /* push %rbp */
	0x48, 0x89, 0xe5,	   /* mov %rsp,%rbp */
	0xb9, 0x40, 0x0d, 0x03, 0, /* mov $200000,%ecx */
	0xff, 0xc9, 0x75, 0xfc,	   /* dec %ecx; jne to the dec */
	0x5d, 0xc3,		   /* pop %rbp; ret */
};

enum {
	ROOM = 1 << 16,
	LOOP = 9, /* offset of the loop */
};

static unsigned char told[4096]; /* what was not written yet */
static size_t told_bytes;
static int file = -1;
static int is_late, is_dump;
static unsigned char *memory;

static void put(const void *bytes, size_t count)
{
	memcpy(told + told_bytes, bytes, count);
	told_bytes += count;
}

static void put32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void flush(void)
{
	if (told_bytes && write(file, told, told_bytes) != (ssize_t)told_bytes)
		abort();
	told_bytes = 0;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void put_head(uint32_t kind, size_t bytes)
{
	put32(kind);
	put32((uint32_t)(16 + bytes));
	put64(now());
}

static void put_lines(uint64_t address)
{
	static const char source[] = "made.up", same[] = "\xff";

	put_head(2, 16 + 2 * 16 + sizeof(source) + sizeof(same));
	put64(address);
	put64(2);
	put64(address);
	put32(10);
	put32(0);
	put(source, sizeof(source));
	put64(address + LOOP);
	put32(20);
	put32(0);
	put(same, sizeof(same));
}

static void tell_load(const unsigned char *at, const char *name, uint64_t index)
{
	const uint64_t address = (uint64_t)at;
	char line[64];

	if (is_dump) {
		put_lines(address);
		put_head(0, 40 + strlen(name) + 1 + sizeof(template));
		put32((uint32_t)getpid());
		put32((uint32_t)getpid());
		put64(address);
		put64(address);
		put64(sizeof(template));
		put64(index);
		put(name, strlen(name) + 1);
		put(template, sizeof(template));
	} else {
		put(line,
		    (size_t)snprintf(line, sizeof(line), "%lx %zx %s\n", address, sizeof(template), name));
	}
	if (!is_late && file >= 0)
		flush();
}

static void tell_move(const unsigned char *from, const unsigned char *to)
{
	if (!is_dump) {
		tell_load(to, "second", 2);
		return;
	}
	put_head(1, 48);
	put32((uint32_t)getpid());
	put32((uint32_t)getpid());
	put64((uint64_t)to);
	put64((uint64_t)from);
	put64((uint64_t)to);
	put64(sizeof(template));
	put64(2);
	if (!is_late)
		flush();
}

/* Records with any numbers in them, most of which end where they say. */
static void tell_anything(void)
{
	srandom(42);
	for (unsigned n = 0; n < 20000; n++) {
		const uint64_t near = (uint64_t)memory + (uint64_t)random() % (2 * ROOM);
		const size_t bytes = 40 + (size_t)random() % 64;

		put_head((uint32_t)random() % 4, bytes + (random() % 5000 == 0));
		for (size_t at = 0; at < bytes; at += 8)
			put64(random() % 2   ? near
			      : random() % 2 ? (uint64_t)random() % 256
					     : ~(uint64_t)random());
		told_bytes -= (8 - bytes % 8) % 8;
		flush();
	}
}

/* As fast as can be: what is written so is not what it takes to read it. */
static void tell_much(long count, int loads)
{
	const struct {
		uint32_t kind, bytes;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
		char name[8], code[16];
	} load = { .kind = loads ? 0 : 3,
		   .bytes = loads ? sizeof(load) : 16,
		   .time = now(),
		   .size = 16,
		   .name = "piece" };
	const size_t each = load.bytes;
	char *all = malloc((size_t)count * each);

	for (long n = 0; all && n < count; n++) {
		memcpy(all + (size_t)n * each, &load, each);
		if (loads) {
			const uint64_t address = UINT64_C(0x600000000000) - (uint64_t)n * 32;

			memcpy(all + (size_t)n * each + offsetof(__typeof__(load), vma), &address, 8);
			memcpy(all + (size_t)n * each + offsetof(__typeof__(load), address), &address, 8);
		}
	}
	for (size_t done = 0; all && done < (size_t)count * each;) {
		const ssize_t wrote = write(file, all + done, (size_t)count * each - done);

		if (wrote <= 0)
			abort();
		done += (size_t)wrote;
	}
	free(all);
}

static void make(unsigned char *at)
{
	mprotect(memory, ROOM, PROT_READ | PROT_WRITE);
	memcpy(at, template, sizeof(template));
	mprotect(memory, ROOM, PROT_READ | PROT_EXEC);
}

__attribute__((noinline)) void run(const unsigned char *at, long ms)
{
	struct timespec time;
	void (*call)(void);
	long end = -1, spent;

	*(const void **)&call = at;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
		spent = time.tv_sec * 1000 + time.tv_nsec / 1000000;
		end = end < 0 ? spent + ms : end;
		call();
	} while (spent < end);
}

static int begin_dump(const char *folder, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/jit-%d.dump", folder, getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		return 1;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32((uint32_t)getpid());
	put64(now());
	put64(0);
	return 0;
}

static int begin_map(char *path, size_t bytes)
{
	snprintf(path, bytes, "/tmp/perf-%d.map", getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	return file < 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const long ms = argc > 2 ? atol(argv[2]) : 0;
	char path[4096] = "";

	is_late = strncmp(what, "late-", 5) == 0;
	is_dump = strstr(what, "dump") != NULL;
	if (is_dump ? argc < 4 || begin_dump(argv[3], path, sizeof(path))
		    : strcmp(what, "map") == 0 && begin_map(path, sizeof(path)))
		return 1;
	if (strcmp(what, "foreign") == 0 && argc > 3 &&
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[3], O_RDONLY), 0) == MAP_FAILED)
		return 1;
	memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	make(memory + 256);
	tell_load(memory + 256, "first", 1);
	run(memory + 256, ms);
	make(memory + 256);
	tell_load(memory + 256, "second", 2);
	run(memory + 256, ms);
	make(memory + 4096);
	tell_move(memory + 256, memory + 4096);
	run(memory + 4096, ms);
	if (strcmp(what, "wild-dump") == 0) {
		tell_anything();
		run(memory + 4096, ms);
	}
	if (argc > 4) {
		tell_much(atol(argv[4]), strcmp(what, "falling-dump") == 0);
		run(memory + 4096, ms);
	}
	if (strcmp(what, "late-map") == 0 && begin_map(path, sizeof(path)))
		return 1;
	if (file >= 0)
		flush();
	if (*path && strcmp(what, "late-map") != 0)
		unlink(path);
	return 0;
}
