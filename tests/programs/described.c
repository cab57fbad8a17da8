/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions whose arguments need all rules of the ABI, and some that compilers change. Debug information describes them. */
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>

#define APART __attribute__((noinline))
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

enum color {
	RED = 1,
	BLUE = 7
};
enum sign {
	MINUS = -1,
	PLUS = 1
};
struct small {
	int a, b;
}; /* one register */
struct pair {
	long a;
	double b;
}; /* one of each kind */
struct floats {
	float a, b, c;
}; /* two vectors */
struct large {
	long a[5];
}; /* memory */
struct nothing {
};
struct bits {
	unsigned a : 3, b : 20;
	long c;
};
struct wide {
	long double d;
};
union both {
	int i;
	float f;
};
typedef const char *text_t;

volatile long sink;
void *volatile nothing; /* clang may copy a function for constants */

KEPT int plain(unsigned char a, short b, text_t s, enum color c, enum sign d, bool e, float f, const double g)
{
	sink += a + b + c + d + e + (long)f + (long)g + s[0];
	return b;
}
KEPT long after_small(struct small s, int n, struct pair p, int m, double x)
{
	return sink = s.a + s.b + n + p.a + (long)p.b + m + (long)x;
}
KEPT int after_large(struct large l, int n, struct floats f, double x)
{
	return (int)(sink = l.a[4] + n + (long)f.c + (long)x);
}
KEPT struct large result_large(int n)
{
	sink = n;
	return (struct large){ { n, n } };
}
KEPT struct pair result_pair(int n)
{
	sink = n;
	return (struct pair){ n, n };
}
KEPT struct wide result_wide(int n)
{
	sink = n;
	return (struct wide){ n };
}
KEPT long double result_long(int n)
{
	sink = n;
	return n;
}
KEPT int after_odd(long double a, __int128 b, double complex c, float complex d, struct nothing e,
		   struct bits f, union both g, int n, double x)
{
	sink = (long)a + (long)b + (long)creal(c) + (long)crealf(d) + (long)f.b + g.i;
	return n + (int)x;
}
KEPT int on_stack(int a, int b, int c, int d, int e, struct pair p, int g, int h, double x)
{
	return (int)(sink = a + b + c + d + e + p.a + g + h + (long)x);
}
KEPT int split(int a, int b, int c, int d, int e, __int128 w, int g, int h)
{
	return (int)(sink = a + b + c + d + e + (long)w + g + h);
}
KEPT int unused(int a, int b, int c)
{
	sink = b;
	return b;
}
KEPT int names(int function, int arg2, int arg1, int retval, double fparg1, int argc)
{
	return (int)(sink = function + arg2 + arg1 + retval + (long)fparg1 + argc);
}
KEPT int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l)
{
	return (int)(sink = a + b + c + d + e + f + g + h + i + j + k + l);
}
KEPT int old(a, f, c)
char a;
float f;
int c;
{
	return (int)(sink = a + (long)f + c);
}
KEPT int *pointer(void *p, int (*f)(int), const struct large *l, unsigned char *u, char **t)
{
	sink = (long)p + (long)f + (long)l + (long)u + (long)t;
	return NULL;
}
/* The compiler changes how these are called. */
static APART int cloned(int a, const struct large *l, int c)
{
	sink = a + l->a[1];
	return c + (int)l->a[0];
}
static APART int constant(int a, int b, int c)
{
	sink = a * b;
	return c + b;
}
static APART int dropped(int a, int b, int c)
{
	sink = b + c;
	return 1;
}

int main(void)
{
	const struct large l = { { 1, 2, 3, 4, 5 } };
	const struct pair p = { 3, 4 };

	plain(200, -300, "text", BLUE, MINUS, true, 1.5f, -2.25);
	after_small((struct small){ 1, 2 }, 10, p, 20, 30.5);
	after_large(l, 11, (struct floats){ 1, 2, 3 }, 12.5);
	result_large(13);
	result_pair(14);
	result_wide(15);
	result_long(16);
	after_odd(1, 2, 3, 4, (struct nothing){}, (struct bits){ 1, 2, 3 }, (union both){ 5 }, 17, 18.5);
	on_stack(1, 2, 3, 4, 5, p, 7, 8, 9.5);
	split(1, 2, 3, 4, 5, 6, 7, 8);
	unused(1, 2, 3);
	names(1, 2, 3, 4, 5.5, 6);
	many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	old('x', 1.5, 3);
	pointer(nothing, (int (*)(int))nothing, nothing, nothing, nothing);
	cloned(1, &l, 3);
	cloned(2, &l, 4);
	constant(1, 5, 6);
	constant(2, 5, 7);
	dropped(1, 2, 3);
	dropped(4, 5, 6);
	puts("done");
	return 0;
}
