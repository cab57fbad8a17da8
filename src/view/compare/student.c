/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of probability; see student.h.
 *
 * The chance of t is the regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun, 26.5.8, evaluated from the
 * front as Lentz does).
 */
#include "view/compare/student.h"

#include <math.h>

enum {
	STEPS = 300,	 /* of the continued fraction; 30 are enough near its middle */
	BISECTIONS = 80, /* of a bound */
	ASYMPTOTIC = 10, /* from this on, the series of the trigamma function is exact to 1e-10 */
};

/* A partial denominator or numerator is not 0. */
static double student_nonzero(double number)
{
	return fabs(number) < 1e-300 ? 1e-300 : number;
}

/* The continued fraction of the incomplete beta function. */
static double student_fraction(double x, double a, double b)
{
	double numerator = 1, denominator = 1 / student_nonzero(1 - (a + b) * x / (a + 1)),
	       value = denominator;

	for (int m = 1; m <= STEPS; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
			     odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double factor;

		denominator = 1 / student_nonzero(1 + even * denominator);
		numerator = student_nonzero(1 + even / numerator);
		value *= denominator * numerator;
		denominator = 1 / student_nonzero(1 + odd * denominator);
		numerator = student_nonzero(1 + odd / numerator);
		factor = denominator * numerator;
		value *= factor;
		if (fabs(factor - 1) < 1e-14)
			break;
	}
	return value;
}

/* The regularised incomplete beta function. @rest: 1 - @x, which is exact where x is near 1 */
static double student_beta(double x, double rest, double a, double b)
{
	double front;

	if (!(x > 0))
		return 0;
	if (!(rest > 0))
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
	if (x < (a + 1) / (a + b + 2))
		return front * student_fraction(x, a, b) / a;
	return 1 - front * student_fraction(rest, b, a) / b;
}

double student_chance(double t, double freedom)
{
	const double square = t * t;

	if (isnan(t))
		return 1;
	if (isinf(square))
		return 0;
	return student_beta(freedom / (freedom + square), square / (freedom + square), freedom / 2, 0.5);
}

double student_bound(double chance, double freedom)
{
	double low = 0, high = 1;

	while (student_chance(high, freedom) > chance && high < 1e12)
		high *= 2;
	for (int n = 0; n < BISECTIONS; n++) {
		const double middle = (low + high) / 2;

		if (student_chance(middle, freedom) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double student_trigamma(double x)
{
	double sum = 0, square;

	for (; x < ASYMPTOTIC; x++)
		sum += 1 / (x * x);
	square = 1 / (x * x);
	return sum + 1 / x + square / 2 +
	       square / x * (1.0 / 6 - square * (1.0 / 30 - square * (1.0 / 42 - square / 30)));
}

double student_variance_median(double freedom)
{
	/* Wilson and Hilferty: the cube root of a variance is nearly normal. */
	const double root = 1 - 2 / (9 * freedom);

	return root * root * root;
}
