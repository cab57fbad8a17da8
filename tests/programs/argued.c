/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls functions with known arguments, in all the ways that these can be passed, hostile ones too. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, used)) /* arguments stay what they are */

enum {
	PAGE = 4096,
	THREADS = 3,
	EACH = 200
};

static volatile int sink;
static char changing[] = "before";
static jmp_buf back;

APART static int widths(signed char a, unsigned short b, int c, unsigned long d)
{
	sink = a + b;
	return (int)(c + (long)d);
}

APART static double floats(float f, int n, double d)
{
	sink = n;
	return (double)f + d;
}

APART static float halved(double d)
{
	sink = 1;
	return (float)(d / 2);
}

APART static const char *text(const char *s, char c, _Bool b)
{
	sink = c + b;
	return s == changing ? s : NULL;
}

APART static long many(int a, int b, int c, int d, int e, int f, int g, const char *h, double i, long j)
{
	sink = a + b + c + d + e + f + (int)i + (int)strlen(h);
	return g + j;
}

APART static double vectors(double a, double b, double c, double d, double e, double f, double g, double h,
			    double i)
{
	sink = 2;
	return a + b + c + d + e + f + g + h + i;
}

APART static int changes(char *s)
{
	int length;

	strcpy(s, "after");
	length = (int)strlen(s);
	__asm__ volatile("" : "+r"(length)); /* otherwise strlen() may return to the caller by itself */
	return length;
}

APART static int sums(int count, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, count);
	for (int n = 0; n < count; n++)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}

static int recurses(int depth);
static int (*volatile again)(int) = recurses; /* so that it does not become a loop */

APART static int recurses(int depth)
{
	return depth ? again(depth - 1) + 1 : 0;
}

APART static int leaves(int value)
{
	sink = value;
	longjmp(back, value);
}

APART static int off(int value)
{
	return value + sink * 0;
}

APART static int threaded(const char *name, int n)
{
	sink = name[0];
	return n * 2;
}

static void *work(void *name)
{
	for (int n = 0; n < EACH; n++)
		threaded(name, n);
	return NULL;
}

static void hostile(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char endless[3 * PAGE];

	memset(endless, 'e', sizeof(endless) - 1);
	memset(pages, 'p', PAGE);
	strcpy(pages + PAGE - 6, "whole");
	munmap(pages + PAGE, PAGE);
	text(NULL, 'n', 0);
	text((const char *)0x10, 'h', 1);
	text((const char *)-1L, 'k', 1);
	text((const char *)0x8000000000000000ul, 'c', 1);
	text(pages + PAGE - 6, 'w', 1);
	pages[PAGE - 1] = 'p';
	text(pages + PAGE - 3, 'u', 1); /* it has no end */
	text(endless, 'e', 1);
	text("control \t\"\n", 't', 1);
}

static void in_threads(void)
{
	static char names[THREADS][2] = { "a", "b", "c" };
	pthread_t threads[THREADS];

	for (int n = 0; n < THREADS; n++)
		pthread_create(&threads[n], NULL, work, names[n]);
	for (int n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
}

static void in_processes(void)
{
	pid_t child = fork();

	if (child == 0) {
		sink = widths(1, 2, 3, 4);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Usage: argued [DEPTH]: only recurse */
int main(int argc, char **argv)
{
	if (argc > 1)
		return recurses(atoi(argv[1])) != atoi(argv[1]);
	widths(-5, 65535, -123456, 1ul << 40);
	floats(1.5f, -3, -2.25);
	halved(0.75);
	text(changing, 'x', 1);
	many(1, 2, 3, 4, 5, 6, -7, "eight", 9.5, 1l << 33);
	vectors(1, 2, 3, 4, 5, 6, 7, 8, 9.25);
	changes(changing);
	sums(3, 10, 20, 30);
	recurses(3);
	if (!setjmp(back))
		leaves(7);
	off(1);
	hostile();
	in_threads();
	in_processes();
	puts("done");
	return 0;
}
