/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program with functions and with probes as <sys/sdt.h> makes them, whose calls and arguments are known:
 *
 *	probed N	N times: work(n, text, 3 n), mark(), the probe step, and guarded if a recorder has asked for it; prints the sum of
 *			work's results, and how often guarded was asked for
 *	probed wait	the same 3 times, for each line that it reads, up to the end of the input
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	int a, b;
};

/* A note: where the probe is, the base against prelinking, the counter of users, and texts. */
#define PROBE(name, counter, arguments, ...)                                                          \
	__asm__ volatile("990: nop\n"                                                                 \
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                \
			 ".balign 4\n .4byte 992f-991f, 994f-993f, 3\n"                               \
			 "991: .asciz \"stapsdt\"\n 992: .balign 4\n"                                 \
			 "993: .8byte 990b, _.stapsdt.base, " counter "\n"                            \
			 ".asciz \"demo\"\n .asciz \"" name "\"\n .asciz \"" arguments "\"\n"         \
			 "994: .balign 4\n .popsection\n"                                             \
			 ".ifndef _.stapsdt.base\n"                                                   \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"      \
			 ".weak _.stapsdt.base\n .hidden _.stapsdt.base\n _.stapsdt.base: .space 1\n" \
			 ".size _.stapsdt.base, 1\n .popsection\n .endif\n" ::__VA_ARGS__)

unsigned short demo_counter __attribute__((section(".probes"), used, visibility("hidden")));

static long sum, asked;

__attribute__((noinline)) static long work(long n, const char *text, int factor)
{
	__asm__ volatile("" ::: "memory");
	return n + factor + text[0];
}

enum shade {
	DARK = 1,
	LIGHT = 2,
	NEGATIVE = -3
};

__attribute__((noinline)) static enum shade mark(enum shade shade, unsigned char small, const char *name,
						 double ratio, struct pair *pair, short e, int f,
						 long seventh, const char *eighth)
{
	__asm__ volatile("" ::"r"(small), "r"(name), "x"(ratio), "r"(pair), "r"((int)e), "r"(f), "r"(seventh),
			 "r"(eighth)
			 : "memory");
	return shade == DARK ? LIGHT : DARK;
}

/* A call that no compiler sees through, so that all arguments are passed. */
static enum shade (*volatile called)(enum shade, unsigned char, const char *, double, struct pair *, short,
				     int, long, const char *) = mark;

static void steps(long count)
{
	struct pair pair = { 1, 0 };
	static const char text[] = "text";
#ifdef __x86_64__
	static short table[4] = { 10, 20, 30, 40 };
#endif

	for (long n = 0; n < count; n++) {
		pair.b = (int)-n;
		sum += work(n, n % 2 ? "odd" : "even", (int)n * 3);
		called(n % 3 == 0   ? DARK
		       : n % 3 == 1 ? LIGHT
				    : NEGATIVE,
		       (unsigned char)n, text, 0.5, &pair, (short)-n, (int)n, -n, "eight");
#ifdef __x86_64__
		PROBE("step", "0", "-8@%0 -4@4(%1) 4@$7 8@%2 -2@2(%3,%4,2) 8f@%%xmm0", "r"(n), "r"(&pair),
		      "r"(text), "r"(table), "r"(n % 3), "m"(pair), "m"(table));
		if (*(volatile unsigned short *)&demo_counter) {
			asked++;
			PROBE("guarded", "demo_counter", "4@%k0 1@%b0", "a"((int)n + 256));
		}
#endif
	}
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc > 1 && strcmp(argv[1], "wait") != 0)
		steps(strtol(argv[1], NULL, 10));
	else
		for (puts("ready"); fflush(stdout) == 0 && fgets(line, sizeof(line), stdin);
		     printf("%ld\n", asked))
			steps(3);
	printf("%ld %ld\n", sum, asked);
	return 0;
}
