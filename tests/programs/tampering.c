/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that works against the commands that change its code: tests/source/calls/tampering.test attaches to it. At random moments it
 * changes what they read, and puts it back. Compiled with room for hooks. It ends with its standard input.
 *
 *	tampering WAY SEED
 *
 * table: the table of places (wire/wire_patch.h), so that it has any bytes, or describes memory that is not code.
 * code: the bytes and the protection of functions that are not called.
 * mappings: these functions and the table vanish, or other memory is in their place.
 * elf: headers and tables of the library and of the C library.
 * threads, forks, execs: threads, and processes that execute another program or end; the program executes itself.
 *
 * Exit code: 0; 1: memory was changed that is not code; 3: a function gave a wrong result.
 */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/wire_patch.h"

#define FUNCTION __attribute__((noinline))

enum {
	PAGE = 4096,
	CANARY = 8 * PAGE,
	CANARIES = 3,
	PATCHES_MAX = 1 << 16,
	NOP = 0x90,
};

/* Functions that are not called, in a page of their own. */
#define VICTIM(n)                                                          \
	FUNCTION __attribute__((section("tampered"))) int victim##n(int x) \
	{                                                                  \
		__asm__ volatile("" : "+r"(x));                            \
		return x + n;                                              \
	}
#define VICTIMS(n) \
	VICTIM(n##0) VICTIM(n##1) VICTIM(n##2) VICTIM(n##3) VICTIM(n##4) VICTIM(n##5) struct victims##n
FUNCTION __attribute__((section("tampered"), aligned(PAGE))) int victim0(int x)
{
	return x;
}
VICTIMS(1);
VICTIMS(2);
VICTIMS(3);
VICTIMS(4);

static uint64_t seed;
static char *way_name;
static struct wire_patches *table; /* of the library, once it is loaded */
static uint8_t *canaries[CANARIES];
static volatile int over;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* Commands look at what is there now. */
static void stay(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000 * (long)pick(3000) }, NULL);
}

FUNCTION static int worked(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static void *work(void *unused)
{
	for (int n = 0; !over; n = (n + 1) % 1000000) {
		if (worked(n) != n + 1)
			_exit(3);
		if (n % 1000 == 0)
			usleep(100);
	}
	return unused;
}

static void *wait_for_end(void *unused)
{
	while (getchar() != EOF)
		continue;
	over = 1;
	return unused;
}

/* ---- canaries: NOPs that are not code: private, shared, and of a file that cannot be written */

static void make_canaries(void)
{
	FILE *file = tmpfile();

	for (unsigned n = 0; n < CANARY; n++)
		putc(NOP, file);
	fflush(file);
	for (unsigned n = 0; n < CANARIES; n++)
		canaries[n] = mmap(NULL, CANARY, n < 2 ? PROT_READ | PROT_WRITE : PROT_READ,
				   n == 1 ? MAP_SHARED : MAP_PRIVATE, fileno(file), 0);
}

static void check_canaries(void)
{
	for (unsigned n = 0; n < CANARIES; n++)
		for (unsigned at = 0; at < CANARY; at++)
			if (canaries[n][at] != NOP) {
				fprintf(stderr, "memory %u has %02x at %u\n", n, canaries[n][at], at);
				_exit(1);
			}
}

/* ---- ways */

static uint8_t *victims(void)
{
	return (uint8_t *)((uintptr_t)&victim0 & ~(uintptr_t)(PAGE - 1));
}

static struct wire_patch *patches_of(const struct wire_patch_object *object)
{
	return (struct wire_patch *)(uintptr_t)object->patches;
}

/* The object with this program. */
static struct wire_patch_object *own_object(void)
{
	for (uint64_t n = 0; n < table->objects; n++)
		if ((uintptr_t)&victim0 - table->object[n].begin <
		    table->object[n].end - table->object[n].begin)
			return &table->object[n];
	return NULL;
}

static void scribble(void *at, size_t bytes)
{
	uint8_t *out = at;

	for (unsigned n = pick(6) + 1; n; n--)
		out[pick((uint32_t)bytes)] = (uint8_t)(pick(3) ? pick(256) : pick(2) ? 0 : 0xff);
}

static void forge(struct wire_patch *patch)
{
	patch->address = (uintptr_t)canaries[pick(CANARIES)] + pick(CANARY - WIRE_PATCH_BYTES);
	patch->bytes = (uint8_t)(2 + pick(15));
	patch->raw = (uint8_t)(pick(255) + 1);
	patch->on = (uint8_t)pick(256);
	memset(patch->now, NOP, sizeof(patch->now));
	memset(patch->on_text, pick(2) ? 0xf9 : NOP, sizeof(patch->on_text));
	memset(patch->off_text, pick(2) ? NOP : 0xcc, sizeof(patch->off_text));
}

static void tamper_table(void)
{
	static struct wire_patch saved[PATCHES_MAX];
	struct wire_patch_object *object = own_object(), former;
	const uint64_t objects = table->objects;
	struct wire_patch *patches;

	if (!object || !object->count || object->count > PATCHES_MAX)
		return;
	former = *object;
	patches = patches_of(object);
	memcpy(saved, patches, former.count * sizeof(*patches));
	switch (pick(5)) {
	case 0:
		for (uint64_t n = 0; n < former.count; n++)
			if (patches[n].address - (uintptr_t)victims() < PAGE && !pick(4))
				scribble(&patches[n], sizeof(*patches));
		break;
	case 1:
		for (uint64_t n = 0; n < former.count; n++)
			forge(&patches[n]);
		break;
	case 2:
		scribble(object, sizeof(*object));
		break;
	case 3:
		object->count =
			pick(2) ? UINT64_MAX / sizeof(*patches) + pick(100) : former.count + pick(1 << 20);
		break;
	default:
		table->objects = pick(2) ? UINT64_MAX : WIRE_PATCH_OBJECTS;
		table->version = pick(4) ? WIRE_PATCH_VERSION : pick(9);
	}
	stay();
	table->version = WIRE_PATCH_VERSION;
	table->objects = objects;
	*object = former;
	memcpy(patches, saved, former.count * sizeof(*patches));
}

static void tamper_code(void)
{
	uint8_t saved[PAGE];

	mprotect(victims(), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(saved, victims(), PAGE);
	for (unsigned n = pick(4); n; n--)
		scribble(victims() + pick(200), 5);
	if (pick(2))
		mprotect(victims(), PAGE, pick(2) ? PROT_NONE : PROT_READ | PROT_EXEC);
	stay();
	mprotect(victims(), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(victims(), saved, PAGE);
	mprotect(victims(), PAGE, PROT_READ | PROT_EXEC);
}

static void replace(void *at, size_t bytes, int protection)
{
	void *away = mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, canaries[0] - ((size_t)1 << 30));

	if (away == MAP_FAILED)
		return;
	if (pick(4))
		mmap(at, pick(2) ? bytes : PAGE, pick(3) ? PROT_READ : PROT_NONE,
		     (pick(2) ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	stay();
	mremap(away, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	mprotect(at, bytes, protection);
}

static void tamper_mappings(void)
{
	const struct wire_patch_object *object = own_object();
	const size_t bytes =
		object ? (object->count * sizeof(struct wire_patch) + PAGE - 1) & ~(size_t)(PAGE - 1) : 0;

	if (!bytes || pick(2))
		replace(victims(), PAGE, PROT_READ | PROT_EXEC);
	else
		replace(patches_of(object), bytes, PROT_READ | PROT_WRITE);
}

static void tamper_elf(void)
{
	static uint8_t saved[4 * PAGE];
	const size_t bytes = pick(2) ? PAGE : sizeof(saved);
	Dl_info info;
	uint8_t *begin;

	if (!dladdr(dlsym(RTLD_DEFAULT, pick(2) ? "call_patches" : "free"), &info))
		return;
	begin = info.dli_fbase;
	if (mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0)
		return;
	memcpy(saved, begin, bytes);
	if (!pick(4))
		((Elf64_Ehdr *)begin)->e_phoff = pick(2) ? UINT64_MAX - pick(1000) : pick(1 << 20);
	else if (pick(2))
		scribble(begin, sizeof(Elf64_Ehdr) + 10 * sizeof(Elf64_Phdr));
	else
		for (unsigned n = 0; n < 100; n++)
			scribble(begin + 1024, bytes - 1024);
	stay();
	memcpy(begin, saved, bytes);
	mprotect(begin, bytes, PROT_READ);
}

static void *short_work(void *count)
{
	for (unsigned n = *(unsigned *)count; n; n--)
		worked((int)n);
	return NULL;
}

static void tamper_threads(void)
{
	unsigned counts[8], begun = 0;
	pthread_t ids[8];

	for (unsigned n = 0; n < 8; n++) {
		counts[n] = pick(100);
		begun += pthread_create(&ids[begun], NULL, short_work, &counts[n]) == 0;
	}
	while (begun)
		pthread_join(ids[--begun], NULL);
}

static void tamper_forks(void)
{
	const pid_t child = fork();

	if (child == 0) {
		worked(1);
		stay();
		if (pick(2))
			execlp("true", "true", NULL);
		_exit(0);
	}
	stay();
	waitpid(child, NULL, 0);
}

static void tamper_execs(void)
{
	char number[24];

	for (unsigned n = pick(200); n && !over; n--)
		stay();
	snprintf(number, sizeof(number), "%u", pick(1 << 30));
	if (!over)
		execl("/proc/self/exe", "tampering", way_name, number, NULL);
}

static const struct way {
	const char *name;
	void (*tamper)(void);
	int needs_table;
} ways[] = { { "table", tamper_table, 1 },	 { "code", tamper_code, 1 },
	     { "mappings", tamper_mappings, 1 }, { "elf", tamper_elf, 1 },
	     { "threads", tamper_threads, 0 },	 { "forks", tamper_forks, 0 },
	     { "execs", tamper_execs, 0 } };

int main(int argc, char **argv)
{
	const struct way *way = ways;
	pthread_t id;

	if (argc != 3)
		return 2;
	way_name = argv[1];
	seed = strtoull(argv[2], NULL, 10);
	while (strcmp(way->name, way_name) != 0)
		if (++way == ways + sizeof(ways) / sizeof(*ways))
			return 2;
	make_canaries();
	pthread_create(&id, NULL, wait_for_end, NULL);
	for (unsigned n = 0; n < 2; n++)
		pthread_create(&id, NULL, work, NULL);
	puts("ready");
	fflush(stdout);
	while (!over) {
		table = dlsym(RTLD_DEFAULT, "call_patches");
		if (table || !way->needs_table)
			way->tamper();
		else
			usleep(1000);
		check_canaries();
	}
	return 0;
}
