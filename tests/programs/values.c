/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments: how many, of which types, strings and byte arrays of every length and in every plight. */
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burin/burin.h"
#include "modes.h"

static int numbers(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	BURIN_TRACE("args.none");
	BURIN_TRACE("args.text", "only a text, 100%%");
	BURIN_TRACE("args.1", "%d", 1);
	BURIN_TRACE("args.2", "%d %d", 1, 2);
	BURIN_TRACE("args.3", "%d %d %d", 1, 2, 3);
	BURIN_TRACE("args.4", "%d %d %d %d", 1, 2, 3, 4);
	BURIN_TRACE("args.5", "%d %d %d %d %d", 1, 2, 3, 4, 5);
	BURIN_TRACE("args.6", "%d %d %d %d %d %d", 1, 2, 3, 4, 5, 6);
	BURIN_TRACE("args.7", "%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7);
	BURIN_TRACE("args.8", "%d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8);
	BURIN_TRACE("args.9", "%d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
	BURIN_TRACE("args.10", "%d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	BURIN_TRACE("args.11", "%d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
	BURIN_TRACE("args.12", "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	BURIN_TRACE("args.13", "%d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
		    12, 13);
	BURIN_TRACE("args.14", "%d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
		    12, 13, 14);
	BURIN_TRACE("args.15", "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		    11, 12, 13, 14, 15);
	BURIN_TRACE("args.16", "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9,
		    10, 11, 12, 13, 14, 15, 16);
	BURIN_TRACE("args.texts", "%s %s %s %s %s %s %s %s %s %s %s %s %s %s %s %s", "a", "bb", "ccc", "dddd",
		    "eeeee", "ffffff", "ggggggg", "hhhhhhhh", "", "j", "kk", "lll", "mmmm", "nnnnn", "oooooo",
		    "ppppppp");
	return 0;
}

static int types(int argc, char **argv)
{
	char text[] = "text";
	void *pointer = (void *)0x123456789abc;

	(void)argc;
	(void)argv;
	BURIN_TRACE("types.small", "b=%d c=%c i8=%hhd u8=%hhu i16=%hd u16=%hu", (bool)true, 'x',
		    (signed char)-128, (unsigned char)255, (short)-32768, (unsigned short)65535);
	BURIN_TRACE("types.big", "i32=%d u32=%u i64=%ld u64=%lu ill=%lld ull=%llu", -2147483647 - 1,
		    4294967295u, -9223372036854775807L - 1, 18446744073709551615ul, -1ll, 1ull << 63);
	BURIN_TRACE("types.float", "f=%f d=%g l=%Lg", 0.5f, -1e300, 2.25L);
	BURIN_TRACE("types.pointer", "p=%p text=%p null=%p", pointer, text, (void *)0);
	BURIN_TRACE("types.bases", "hex=%#x oct=%o Hex=%lX", 0xdeadu, 0755, 0xfeedfacecafebeeful);
	BURIN_TRACE("types.mixed", "a=%hhu s=%s b=%lld t=%s c=%c", (unsigned char)1, "one", 2ll, "two", '3');
	return 0;
}

/* Strings of every length up to one beyond the limit that is the argument. */
static int lengths(int argc, char **argv)
{
	const long limit = mode_number(argc, argv, 1, 4096), most = limit + 40;
	char *text = malloc((size_t)most + 1);

	for (long n = 0; n <= most; n++) {
		memset(text, 'a' + (int)(n % 26), (size_t)n);
		text[n] = 0;
		BURIN_TRACE("length.text", "n=%ld s=%s after=%u", n, text, (unsigned)n ^ 0x5a5a5a5au);
		if (n % 16 == 0)
			usleep(100); /* nothing is to be lost here */
	}
	free(text);
	return 0;
}

/* Strings and byte arrays that end at the end of the last page that may be read. */
static int page_end(int argc, char **argv)
{
	const size_t page = 4096;
	char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end;

	(void)argc;
	(void)argv;
	if (pages == MAP_FAILED || mprotect(pages + 2 * page, page, PROT_NONE) != 0)
		return 90;
	end = pages + 2 * page;
	memset(pages, 'e', 2 * page - 1);
	for (size_t n = 0; n < 300; n++)
		BURIN_TRACE("page.text", "n=%zu s=%s", n, end - 1 - n);
	BURIN_TRACE("page.text", "n=%zu s=%s", page + 100, end - 1 - page - 100);
	for (size_t n = 0; n < 100; n++)
		BURIN_TRACE("page.bytes", "b=%p", BURIN_BYTES(end - n, n));
	return 0;
}

/* Strings that are NULL, empty, no UTF-8, cut within a character. */
static int odd(int argc, char **argv)
{
	const char *volatile null = NULL;
	char wide[64] = "";

	(void)argc;
	(void)argv;
	BURIN_TRACE("odd.null", "s=%s t=%s", (const char *)null, "behind");
	BURIN_TRACE("odd.empty", "s=%s t=%s", "", "behind");
	BURIN_TRACE("odd.bytes", "s=%s", "\x01\xff\xfe\x80 end");
	for (int n = 0; n < 20; n++)
		strcat(wide, "\xc3\xa4"); /* 40 bytes, each second a boundary */
	BURIN_TRACE("odd.wide", "s=%s", wide);
	BURIN_TRACE("odd.wide", "s=%s", wide + 2);
	BURIN_TRACE("odd.shifted", "x=%c s=%s", 'x', wide);
	BURIN_TRACE("odd.none", "b=%p", BURIN_BYTES(NULL, 10));
	BURIN_TRACE("odd.negative", "b=%p", BURIN_BYTES(wide, (size_t)-1));
	return 0;
}

static int bytes(int argc, char **argv)
{
	unsigned char data[9000];

	(void)argc;
	(void)argv;
	for (unsigned n = 0; n < sizeof(data); n++)
		data[n] = (unsigned char)(n * 7);
	for (unsigned n = 0; n < 70; n++)
		BURIN_TRACE("bytes.some", "n=%u b=%p after=%d", n, BURIN_BYTES(data + n, n), -1);
	BURIN_TRACE("bytes.many", "b=%p c=%p", BURIN_BYTES(data, sizeof(data)), BURIN_BYTES(data, 3));
	return 0;
}

/* One string of so many bytes, `times` times. */
static int large(int argc, char **argv)
{
	const long size = mode_number(argc, argv, 1, 8192), times = mode_number(argc, argv, 2, 5);
	char *text = malloc((size_t)size + 1);

	for (long n = 0; n < times; n++) {
		memset(text, 'A' + (int)n % 26, (size_t)size);
		text[size] = 0;
		BURIN_TRACE("large.text", "n=%ld s=%s", n, text);
		usleep(2000);
	}
	free(text);
	return 0;
}

/* Several strings that together do not fit in any record. */
static int too_large(int argc, char **argv)
{
	const long size = 60000, times = mode_number(argc, argv, 1, 3);
	char *text = malloc((size_t)size + 1);

	memset(text, 'x', (size_t)size);
	text[size] = 0;
	for (long n = 0; n < times; n++)
		BURIN_TRACE("toolarge.text", "a=%s b=%s", text, text);
	BURIN_TRACE("toolarge.after");
	free(text);
	return 0;
}

/* A string that another thread changes all the time, its length too. */
static char changing[8192];
static volatile bool done;

static void *change(void *data)
{
	unsigned seed = 12345;

	(void)data;
	while (!done) {
		unsigned at;

		seed = seed * 1103515245 + 12345;
		at = seed >> 8;
		((volatile char *)changing)[at % (sizeof(changing) - 1)] = seed & 0x80000000 ? 0 : 'y';
		((volatile char *)changing)[at % 97] = seed & 0x40000000 ? 0 : 'z';
	}
	return NULL;
}

static int race(int argc, char **argv)
{
	const long times = mode_number(argc, argv, 1, 2000);
	pthread_t thread;

	memset(changing, 'x', sizeof(changing) - 1);
	pthread_create(&thread, NULL, change, NULL);
	for (long n = 0; n < times; n++) {
		BURIN_TRACE("race.text", "n=%ld s=%s t=%s mark=%x", n, changing + n % 90, changing + 5000,
			    0x5eed5eedu);
		if (n % 8 == 0)
			usleep(200);
	}
	done = true;
	pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "numbers", numbers }, { "types", types },
		{ "lengths", lengths }, { "page-end", page_end },
		{ "odd", odd },		{ "bytes", bytes },
		{ "large", large },	{ "too-large", too_large },
		{ "race", race },	{ 0 },
	};

	return mode_run(modes, argc, argv);
}
